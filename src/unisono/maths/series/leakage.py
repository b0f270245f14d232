"""Leakage: what an annotator puts into one dimension of what is true on another, once gains and noise are known.

    w_kd = g_kd x_d + sum_e c_kde x_e + noise,   c_kde ~ N(0, omega2 A_d / A_e),   sum_k c_kde = 0,
levels of recordings likewise. Leakage that all annotators have in common looks like truth and is not looked for. EM
over all dimensions together, the truth integrated out; the constraint is linear, so that no step of it falls. If nobody
leaks, omega2 says so and draws everybody to 0.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series.frames import Hands, aligned
from unisono.maths.series.parts import Courses, Part, Parts
from unisono.maths.series.priors import LEAKAGE_SD, PRIOR_LEAKAGES
from unisono.maths.series.strata import Stratum, merged, strata_of
from unisono.maths.series.tracers import Tracers
from unisono.maths.series.two_scales import TwoScales

STEPS = 50  # of EM at most
SETTLED = 1e-3  # change of a leakage, in standard deviations, that is none


class Row(NamedTuple):
    """One annotator on one dimension; everything there is of courses and levels has a row of its own."""

    gain: np.ndarray  # (K D,) dimension after dimension
    noise: np.ndarray  # (K D,)
    level_noise: np.ndarray  # (K D,)
    moving: np.ndarray  # (K D,) bool


class Said(NamedTuple):
    """What rows say, all dimensions together."""

    row: Row
    strata: tuple[Stratum, ...]  # of frames, `who` are rows
    level: np.ndarray  # (J,) less the bias
    recording: np.ndarray  # (J,)
    of: np.ndarray  # (J,) row
    recordings: int
    A: np.ndarray  # (D,) variance of the truth inside recordings
    AB: np.ndarray  # (D,) of levels
    kappa: float


class Leakage(NamedTuple):
    share: np.ndarray  # (K D, D) c, 0 for the own dimension
    known: np.ndarray  # (K D, D) variance of what is known of it, held
    variance: float  # omega2


def joint_strata(part: Part, hands: tuple[Hands, ...]) -> tuple[Stratum, ...]:
    """Frames of some recordings with what is said of them on all dimensions, condensed."""
    found, K = [], len(hands[0].lag)
    for dims in part.courses:
        own = [aligned(one, hand) for one, hand in zip(dims, hands, strict=True)]
        who = np.concatenate([one.who + d * K for d, one in enumerate(own)])
        mean, value, seen = (np.concatenate([one[i] for one in own]) for i in (1, 2, 3))
        found += strata_of(Courses(who, mean, value, seen))
    return merged(found)


def said(parts: Parts, scales: list[TwoScales], tracers: list[Tracers], hands: tuple[Hands, ...], kappa: float) -> Said:
    """hands: the same annotators, as frames need them."""
    K = len(hands[0].lag)
    row = Row(
        gain=np.concatenate([now.gain for now in tracers]),
        noise=np.concatenate([now.noise for now in tracers]),
        level_noise=np.concatenate([now.level_noise for now in tracers]),
        moving=np.concatenate([one.moving for one in scales]),
    )
    found = parts.map(joint_strata, hands)
    return Said(
        row=row,
        strata=merged([one for part in found for one in part]),
        level=np.concatenate([s.level - now.bias[s.annotator_of] for s, now in zip(scales, tracers, strict=True)]),
        recording=np.concatenate([s.recording_of for s in scales]),
        of=np.concatenate([s.annotator_of + d * K for d, s in enumerate(scales)]),
        recordings=scales[0].recordings,
        A=np.array([now.A for now in tracers]),
        AB=np.array([now.AB for now in tracers]),
        kappa=kappa,
    )


def leakages(data: Said) -> tuple[Leakage, list[float]]:
    """The most probable leakage, and the objective on the way."""  # eq. S53
    n, D = len(data.row.gain), len(data.A)
    now = Leakage(np.zeros((n, D)), np.zeros((n, D)), LEAKAGE_SD**2)
    now = now._replace(known=_step(data, now)[1])
    values = [objective(data, now)]
    for _ in range(STEPS):
        share, _ = _step(data, now)
        before, now = now, now._replace(share=share)
        now = now._replace(variance=_variance(data, now))
        values.append(objective(data, now))
        if np.abs((now.share - before.share) / _unit(data)).max() < SETTLED:
            break
    return now, values


def design(data: Said, now: Leakage) -> np.ndarray:
    """(K D, D) what every row follows."""
    n, D = now.share.shape
    own = np.zeros((n, D))
    own[np.arange(n), np.repeat(np.arange(D), n // D)] = data.row.gain
    return np.asarray(own + now.share)


def objective(data: Said, now: Leakage) -> float:
    """kappa log p(courses) + log p(levels) + log priors of leakage, up to a constant."""
    G, total = design(data, now), 0.0
    for one in data.strata:
        h = one.rows @ (G[one.who] / data.row.noise[one.who, None])
        P = np.diag(1.0 / data.A) + G[one.who].T @ (G[one.who] / data.row.noise[one.who, None])
        total += data.kappa * (float(np.sum(h * np.linalg.solve(P, h.T).T)) - one.frames * np.linalg.slogdet(P)[1])
    P, h = _levels(data, G)
    total += float(np.sum(h * np.linalg.solve(P, h[:, :, None])[:, :, 0]) - np.sum(np.linalg.slogdet(P)[1]))
    square, count = _squares(data, now)
    total -= (square + PRIOR_LEAKAGES * LEAKAGE_SD**2) / now.variance + (count + PRIOR_LEAKAGES) * np.log(now.variance)
    return 0.5 * float(total)


def _levels(data: Said, G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M, D, D), (M, D) precision of the levels of recordings, and what is said of them."""
    D, g = len(data.A), G[data.of] / data.row.level_noise[data.of, None]
    P = np.tile(np.diag(1.0 / data.AB), (data.recordings, 1, 1))
    h = np.zeros((data.recordings, D))
    np.add.at(P, data.recording, g[:, :, None] * G[data.of][:, None])
    np.add.at(h, data.recording, g * data.level[:, None])
    return P, h


def _unit(data: Said) -> np.ndarray:
    """(K D, D) the leakage that moves a row by a standard deviation of its dimension for one of the other."""
    D = len(data.A)
    return np.asarray(np.sqrt(np.repeat(data.A, len(data.row.gain) // D)[:, None] / data.A))


def _squares(data: Said, now: Leakage) -> tuple[float, int]:
    """Squares of all leakages in their unit, with what is unknown of them; and how many there are."""
    D = len(data.A)
    square = (now.share**2 + now.known) / _unit(data) ** 2
    return float(np.sum(square[data.row.moving])), int(data.row.moving.sum()) * (D - 1)


def _variance(data: Said, now: Leakage) -> float:
    square, count = _squares(data, now)
    return (square + PRIOR_LEAKAGES * LEAKAGE_SD**2) / (count + PRIOR_LEAKAGES)


def _step(data: Said, now: Leakage) -> tuple[np.ndarray, np.ndarray]:
    """(K D, D) twice: leakage after a step of EM, and the variance of what is known of it."""
    n, D = now.share.shape
    K, G = n // D, design(data, now)
    H, b = np.zeros((n, D, D)), np.zeros((n, D))
    for one in data.strata:
        g = G[one.who] / data.row.noise[one.who, None]
        V = np.linalg.inv(np.diag(1.0 / data.A) + G[one.who].T @ g)
        m = one.rows @ g @ V
        weight = data.kappa / data.row.noise[one.who]
        H[one.who] += weight[:, None, None] * (m.T @ m + one.frames * V)
        b[one.who] += weight[:, None] * (one.rows.T @ m)
    P, h = _levels(data, G)
    V = np.linalg.inv(P)
    L = np.einsum("mde,me->md", V, h)
    second = (L[:, :, None] * L[:, None] + V)[data.recording] / data.row.level_noise[data.of, None, None]
    np.add.at(H, data.of, second)
    np.add.at(b, data.of, L[data.recording] * (data.level / data.row.level_noise[data.of])[:, None])
    share, known, unit = np.zeros((n, D)), np.zeros((n, D)), _unit(data)
    for d in range(D):
        rows, others = d * K + np.flatnonzero(data.row.moving[d * K : (d + 1) * K]), np.delete(np.arange(D), d)
        if not len(rows):
            continue
        left = b[np.ix_(rows, others)] - data.row.gain[rows, None] * H[rows][:, others, d]
        C = np.linalg.inv(H[np.ix_(rows, others, others)] + np.eye(D - 1) / (now.variance * unit[rows[0], others] ** 2))
        free = np.einsum("kde,ke->kd", C, left)
        share[np.ix_(rows, others)] = free - C @ np.linalg.solve(C.sum(axis=0), free.sum(axis=0))
        known[np.ix_(rows, others)] = np.diagonal(C, axis1=1, axis2=2)
    return share, known
