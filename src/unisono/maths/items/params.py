"""Parameters of the item model, and what each profile of ratings tells about the truth under them.

    truth    a_m = mu + theta' z_m + e,   e ~ N(0, Sigma)                    eq. G1
    rating   y_n = F_k a_m + b_k + eta,   eta ~ N(0, N_k)                    eq. G2

Rows of an annotator are kept together as B_k = [F_k, b_k], and abar = [a; 1], so that F_k a + b_k = B_k abar (q = D+1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from unisono.maths.items.data import ItemData, answer_patterns
from unisono.maths.items.predictor import Scores
from unisono.maths.linalg.small_spd import inverse_and_logdet

LOG_2PI = float(np.log(2 * np.pi))
MANY_DIMENSIONS = 16  # numerical: from here on covariances of rows are not copied for every profile, and BLAS wins


class ItemParams(NamedTuple):
    """One point in parameter space; under `bayes` B is a posterior mean and `cov` the covariance of its rows."""

    B: np.ndarray  # (K, D, q) annotator rows [F_k, b_k]
    N: np.ndarray  # (K, D, D) annotator noise covariances
    theta: np.ndarray  # (R, D) predictor on feature scores
    mu: np.ndarray  # (D,) mean of the truth
    Sigma: np.ndarray  # (D, D) covariance of the truth given its features
    cov: np.ndarray | None = None  # (K, D, q, q) posterior covariances of the rows of B; None under `ml`

    @property
    def F(self) -> np.ndarray:
        """(K, D, D) annotator matrices."""
        return self.B[:, :, :-1]

    @property
    def b(self) -> np.ndarray:
        """(K, D) annotator offsets."""
        return self.B[:, :, -1]

    def prior_mean(self, scores: Scores) -> np.ndarray:
        """(M, D) the truth as features alone predict it."""
        return np.asarray(self.mu + scores.Z @ self.theta)


def row_spread(cov: np.ndarray, annotator: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """(D, j) variances abar' Cov_kd abar of answers to truths (D, j), from not knowing the rows of B exactly."""
    found = np.empty((cov.shape[1], len(annotator)))
    for d in range(len(found)):
        own = np.ascontiguousarray(cov[:, d].transpose(1, 2, 0))
        some = np.asarray(own.any(axis=2))  # most are zero where gains alone are free
        found[d] = own[-1, -1][annotator]
        for i in np.flatnonzero(some[:-1].any(axis=1)):
            term = 2 * own[i, -1][annotator] + own[i, i][annotator] * truth[i]
            for j in np.flatnonzero(some[i, :i]):
                term += 2 * own[i, j][annotator] * truth[j]
            found[d] += truth[i] * term
    return found


def weighted_covariances(weight: np.ndarray, cov: np.ndarray, annotator: np.ndarray) -> np.ndarray:
    """(U, q, q) sums over d of weight (U, D) times Cov_kd, with k the annotator (U,) of a profile."""
    if len(cov[0]) < MANY_DIMENSIONS:
        return np.asarray(np.einsum("ud,udij->uij", weight, cov[annotator]))
    found = np.empty((len(annotator), *cov.shape[2:]))
    for k, own in _by_annotator(annotator):
        found[own] = np.tensordot(weight[own], cov[k], 1)
    return found


def expected_spread(cov: np.ndarray, Saa: np.ndarray, annotator: np.ndarray) -> np.ndarray:
    """(U, D) sums of abar' Cov_kd abar over judgements, from those of abar abar' (U, q, q)."""
    if len(cov[0]) < MANY_DIMENSIONS:
        return np.asarray(np.einsum("udij,uij->ud", cov[annotator], Saa))
    found = np.empty((len(annotator), cov.shape[1]))
    for k, own in _by_annotator(annotator):
        found[own] = np.tensordot(Saa[own], cov[k], ((1, 2), (1, 2)))
    return found


def _by_annotator(annotator: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Annotators of profiles (U,) one by one, with their profiles."""
    order = np.argsort(annotator, kind="stable")
    for own in np.split(order, np.flatnonzero(np.diff(annotator[order])) + 1):
        yield int(annotator[own[0]]), own


class Information(NamedTuple):
    """Per profile: the quadratic form in a that one judgement adds, -1/2 a'Q a + a'(G y - g) + constants."""

    W: np.ndarray  # (U, D, D) noise precision of the answered dimensions, 0 elsewhere
    G: np.ndarray  # (U, D, D) F'W
    Q: np.ndarray  # (U, D, D) E[F'W F]
    g: np.ndarray  # (U, D) E[F'W b]
    Wb: np.ndarray  # (U, D) W E[b]
    bb: np.ndarray  # (U,) E[b'W b]
    logdet: np.ndarray  # (U,) log determinant of the noise covariance plus its share of log 2 pi


def information(data: ItemData, params: ItemParams) -> Information:
    """What a judgement of each profile says about the truth.                                          eq. G3"""
    W, logdet = noise_precision(params.N, data.annotator, data.answered)
    F = params.F[data.annotator]
    b = params.b[data.annotator]
    G = np.swapaxes(F, 1, 2) @ W
    Q = G @ F
    Wb = np.einsum("uij,uj->ui", W, b)
    g = np.einsum("uij,ui->uj", F, Wb)
    bb = np.einsum("ui,ui->u", b, Wb)
    if params.cov is not None:
        # Rows are independent under q, so their covariances enter with the diagonal of W.
        C = weighted_covariances(np.einsum("udd->ud", W), params.cov, data.annotator)
        Q, g, bb = Q + C[:, :-1, :-1], g + C[:, :-1, -1], bb + C[:, -1, -1]
    return Information(W, G, Q, g, Wb, bb, logdet + LOG_2PI * data.answered.sum(axis=1))


def noise_precision(N: np.ndarray, annotator: np.ndarray, answered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Precisions (U, D, D) of the answered dimensions, zero elsewhere, and log determinants (U,) of their noise."""
    U, D = answered.shape
    W = np.zeros((U, D, D))
    logdet = np.zeros(U)
    for dims, members in answer_patterns(answered):
        if not len(dims):
            continue
        block = N[annotator[members][:, None, None], dims[:, None], dims]
        W[members[:, None, None], dims[:, None], dims], logdet[members] = inverse_and_logdet(block)
    return W, logdet
