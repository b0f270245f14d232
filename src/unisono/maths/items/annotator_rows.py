"""Annotators in the item model: regressions of ratings on the expected truth, and the latent classes behind gains.

M-step of the rows B_k = [F_k, b_k]. Everything is solved for the deviation from the prior's center, [I, 0] as a rule,
so that what the data do not determine stays at "answers the truth". Under `ml` the prior's precision is zero; under
`bayes` the rows have covariances. S (K, D, q, q) are sums of E[abar abar'] over the answers of annotator k on dimension
d, C (K, D, q) sums of y E[abar].

Classes, dimension by dimension: usual, a spammer, or flipped.

    F_kdd given z_kd = z  ~  N(m_kz, 1/(gain h_k)),      m_kz = c_z r_k^(e_z t/2)                             eq. B18

with c = (1, .3, -1) and e = (1, 0, 1): who follows the truth on a small part of the scale, or on all of it, has gains
as small or as large as the standard deviation of the errors; what a spammer answers has no such scale. t and h_k: how
far annotators can be told apart, and how strongly each is shrunk towards the others. p(z_kd) is what the diagnosis
makes of the answers, and stays: gains are shrunk towards what is expected of them, so that classes which followed the
gains would prove themselves right wherever answers are few.

    K annotators, D dimensions, Z classes
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items.item_data import ItemData
from unisono.maths.items.item_estep import Stats
from unisono.maths.items.item_params import identity_rows
from unisono.maths.items.item_priors import SPAMMER_GAIN
from unisono.maths.linalg.small_spd import inverse_and_logdet, logdets

CLASSES = ("usual", "spammer", "flipped")
USUAL_CLASS, SPAMMER_CLASS, FLIPPED_CLASS = range(len(CLASSES))
CLASS_GAINS = np.array([1.0, SPAMMER_GAIN, -1.0])  # c_z; 1 and -1 are what the words mean
NOISE_EXPONENTS = np.array([1.0, 0.0, 1.0])  # e_z: 1 is as the standard deviation of the errors, 0 not at all


def usual_classes(K: int, D: int) -> np.ndarray:
    """(K, D, Z) nobody is anything but usual."""
    return np.tile(np.eye(len(CLASSES))[USUAL_CLASS], (K, D, 1))


def class_centers(r: np.ndarray, told_apart: float = 1.0) -> np.ndarray:
    """(K, Z) m_kz, the gains expected of annotators with noise scales r (K,) if they are of a class."""
    return np.asarray(CLASS_GAINS * r[:, None] ** (told_apart * NOISE_EXPONENTS / 2))


def weight_of_gain(gain: np.ndarray) -> np.ndarray:
    """How much gains say of following the truth: 0 at a spammer's and below, 1 from the usual one on."""
    return np.clip((gain - SPAMMER_GAIN) / (1 - SPAMMER_GAIN), 0.0, 1.0)


def expected_gain(classes: np.ndarray, centers: np.ndarray = CLASS_GAINS) -> np.ndarray:
    """(K, D) E[m_kz] under probabilities (K, D, Z); `centers` (K, Z), or of everybody with the noise of the pool."""
    return np.asarray((classes * centers[..., None, :]).sum(axis=2))


def gain_variance(classes: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """(K, D) var m_kz."""
    away = centers[:, None, :] - expected_gain(classes, centers)[:, :, None]
    return np.asarray((classes * away**2).sum(axis=2))


def class_term(classes: np.ndarray, centers: np.ndarray, precision: np.ndarray) -> float:
    """What not knowing the classes adds to the bound: gains spread with their centers.                    eq. B22"""
    return float(-0.5 * precision @ gain_variance(classes, centers).sum(axis=1))


PSEUDO_INVERSE_RCOND = 1e-12  # numerical: directions of normal equations below this share are undetermined


class Rows(NamedTuple):
    """Estimated rows and, under `bayes`, their covariances."""

    B: np.ndarray  # (K, D, q)
    cov: np.ndarray  # (K, D, q, q) zero where a coefficient is not free


class RowPrior(NamedTuple):
    """Normal prior of every row; under `ml` its precision is zero and its center only says what fixed entries are."""

    center: np.ndarray  # (K, D, q)
    precision: np.ndarray  # (K, D, q, q) within a row
    coupling: np.ndarray  # (K, D, D) precision between the biases of different dimensions, zero on the diagonal


def flat_prior(K: int, D: int) -> RowPrior:
    """No prior at all: maximum likelihood."""
    q = D + 1
    return RowPrior(
        np.broadcast_to(identity_rows(D), (K, D, q)),
        np.broadcast_to(0.0, (K, D, q, q)),
        np.broadcast_to(0.0, (K, D, D)),
    )


def common_prior(gain: np.ndarray, precision: np.ndarray, bias: np.ndarray, tie: np.ndarray) -> RowPrior:
    """Every annotator around "answers `gain` (K, D) times the truth".

    `precision` (K, D, q), that of biases times `tie` (K,); biases are correlated over dimensions as their covariance
    `bias` (D, D) says.
    """
    (K, D), q = gain.shape, precision.shape[2]
    center = np.zeros((K, D, q))
    center[:, np.arange(D), np.arange(D)] = gain
    coupling = np.linalg.inv(bias)
    np.fill_diagonal(coupling, 0.0)
    own = precision[..., None] * np.eye(q)
    own[:, :, -1, -1] *= tie[:, None]
    return RowPrior(center, own, tie[:, None, None] * coupling)


def replaced(prior: RowPrior, at: np.ndarray, other: RowPrior) -> RowPrior:
    """The prior with that of the annotators `at` (K,) taken from another."""
    return RowPrior(*(np.where(at.reshape(-1, *[1] * (a.ndim - 1)), b, a) for a, b in zip(prior, other, strict=True)))


def log_precision(prior: RowPrior, free: np.ndarray, rated: np.ndarray) -> float:
    """1/2 log determinant of the prior's precision, summed over the annotators `rated` (K,)."""
    total = 0.0
    precision, coupling = prior.precision, prior.coupling[rated]
    tied = coupling.any(axis=(1, 2)) if free[:, -1].all() else np.zeros(len(coupling), dtype=bool)
    for d in range(len(free)):
        at = np.flatnonzero(free[d])
        if len(at):
            own = precision[:, d, at[:, None], at][rated]
            total += logdets(own[~tied]).sum()
            # Where biases are tied over dimensions, coefficients within a row are not: `common_prior`.
            within = np.arange(len(at) - 1)
            total += np.log(own[tied][:, within, within]).sum()
    if tied.any():
        D = len(free)
        between = coupling[tied] + precision[:, :, -1, -1][rated][tied][:, :, None] * np.eye(D)
        total += logdets(between).sum()
    return float(0.5 * total)


def row_moments(data: ItemData, stats: Stats) -> tuple[np.ndarray, np.ndarray]:
    """S and C of every annotator and dimension, over the profiles that answer it."""
    S = data.by_annotator(data.answered[:, :, None, None] * stats.Saa[:, None])
    return S, data.by_annotator(stats.Sya)


def separate_rows(S: np.ndarray, C: np.ndarray, free: np.ndarray, weight: np.ndarray, prior: RowPrior) -> Rows:
    """Rows one by one, for noise without correlations. `weight` (K, D) 1/variance.

    eq. G9 (ml), eq. B3 (bayes)
    """
    K, D, q = C.shape
    B, cov = prior.center.copy(), np.zeros((K, D, q, q))
    for d in range(D):
        at = np.flatnonzero(free[d])
        if not len(at):
            continue
        w = weight[:, d, None]
        A = w[:, :, None] * S[:, d][:, at[:, None], at] + prior.precision[:, d][:, at[:, None], at]
        rhs = w * (C[:, d, at] - np.einsum("kij,kj->ki", S[:, d][:, at], prior.center[:, d]))
        B[:, d, at] += solve_or_least_norm(A, rhs)
        if prior.precision.any():
            cov[:, d, at[:, None], at] = np.linalg.inv(A)
    return Rows(B, cov)


def coupled_rows(data: ItemData, stats: Stats, W: np.ndarray, free: np.ndarray, prior: RowPrior) -> Rows:
    """All rows of an annotator at once, for noise with correlations: W (U, D, D) ties the dimensions together.

    Under `bayes` the rows are independent in q; their means are then those of the coupled system, and each row's
    covariance is the inverse of its own block.                                              eq. G10, eq. B3
    """
    D, q = free.shape
    d_of, i_of = np.nonzero(free)
    B, cov = prior.center.copy(), np.zeros((data.K, D, q, q))
    if not len(d_of):
        return Rows(B, cov)
    A = data.by_annotator(W[:, d_of[:, None], d_of] * stats.Saa[:, i_of[:, None], i_of])
    A += (d_of[:, None] == d_of) * prior.precision[:, d_of[:, None], i_of[:, None], i_of]
    A += _between_biases(prior.coupling, d_of, i_of, q)
    center = prior.center[data.annotator]
    rhs = data.by_annotator((W @ (stats.Sya - center @ stats.Saa))[:, d_of, i_of])
    B[:, d_of, i_of] += solve_or_least_norm(A, rhs)
    if prior.precision.any():
        for d in range(D):
            at = np.flatnonzero(d_of == d)
            cols = i_of[at]
            cov[:, d, cols[:, None], cols] = np.linalg.inv(A[:, at[:, None], at])
    return Rows(B, cov)


def row_by_row(data: ItemData, stats: Stats, W: np.ndarray, B: np.ndarray, prior: RowPrior, free: np.ndarray) -> Rows:
    """One sweep over the rows from B (K, D, q), each given the means of the others: W (U, D, D) ties them together.

    A row costs the inverse of its own block, so that an annotator costs D^4 at most and, with gains alone, D. eq. B3
    """
    D, q = free.shape
    B, cov = B.copy(), np.zeros((data.K, D, q, q))
    left = stats.Sya - B[data.annotator] @ stats.Saa  # (U, D, q) what the rows leave open
    for d in range(D):
        at = np.flatnonzero(free[d])
        if not len(at):
            continue
        S = data.by_annotator(W[:, d, d, None, None] * stats.Saa[:, at[:, None], at])
        P = prior.precision[:, d][:, at[:, None], at]
        rhs = data.by_annotator(np.einsum("ue,uei->ui", W[:, d], left[:, :, at]))
        rhs += np.einsum("kij,kj->ki", S, B[:, d, at]) + np.einsum("kij,kj->ki", P, prior.center[:, d, at])
        if free[d, -1]:
            rhs[:, -1] -= np.einsum("ke,ke->k", prior.coupling[:, d], B[:, :, -1] - prior.center[:, :, -1])
        own, _ = inverse_and_logdet(S + P)
        before = B[:, d, at]
        B[:, d, at] = np.einsum("kij,kj->ki", own, rhs)
        cov[:, d, at[:, None], at] = own
        left[:, d] -= np.einsum("ui,uij->uj", (B[:, d, at] - before)[data.annotator], stats.Saa[:, at])
    return Rows(B, cov)


def _between_biases(coupling: np.ndarray, d_of: np.ndarray, i_of: np.ndarray, q: int) -> np.ndarray:
    """(K, n, n) precision between biases, at the places that they have among the free coefficients."""
    both = (i_of[:, None] == q - 1) & (i_of == q - 1)
    return np.asarray(both * coupling[:, d_of[:, None], d_of])


def solve_or_least_norm(A: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Solutions of A x = rhs, (K, n, n) and (K, n); of least norm where an annotator's A is singular."""
    try:
        x = np.linalg.solve(A, rhs[:, :, None])[:, :, 0]
        # A nearly singular system can be "solved" with an enormous answer; a residual that large gives it away.
        good = np.isfinite(x).all(axis=1)
        if good.all() and _residuals_small(A, x, rhs):
            return np.asarray(x)
    except np.linalg.LinAlgError:
        pass
    pinv = np.linalg.pinv(A, rcond=PSEUDO_INVERSE_RCOND, hermitian=True)
    return np.asarray((pinv @ rhs[:, :, None])[:, :, 0])


def _residuals_small(A: np.ndarray, x: np.ndarray, rhs: np.ndarray) -> bool:
    residual = np.abs((A @ x[:, :, None])[:, :, 0] - rhs).max(initial=0.0)
    return bool(residual <= 1e-6 * max(np.abs(rhs).max(initial=0.0), np.finfo(float).tiny))
