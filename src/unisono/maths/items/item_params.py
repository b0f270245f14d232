"""Parameters of the item model: structure words, what a rating tells of the truth, draws, changes of coordinates.

    truth    a_m = mu + theta' z_m + e,   e ~ N(0, Sigma)                    eq. G1
    rating   y_n = F_k a_m + b_k + eta,   eta ~ N(0, N_k)                    eq. G2

Rows of an annotator are kept together as B_k = [F_k, b_k], and abar = [a; 1], so that F_k a + b_k = B_k abar (q = D+1).
Which of them are free is said by a few words, checked once:

    transform   identity | gain (diagonal F_k) | full
    bias        whether annotators have an offset b_k
    noise       isotropic | diagonal | full | scaled (r_k s_d) | shared (r_k R, R a full covariance; `bayes` only)
    latent      isotropic | diagonal | full covariance of the truth given its features
    intercept   whether the truth has a mean mu of its own

Coordinates (the gauge): if a' = A a + c, then F' = F A^-1, b' = b - F A^-1 c, Sigma' = A Sigma A', mu' = A mu + c
predict the same ratings. Recentring picks the A and c under which the average annotator answers the truth itself, so
that a dimension means what the typical annotator answers on it. What A may be depends on the structure: a diagonal
Sigma allows a scale per dimension, an isotropic one a rotation and one scale, and without full F_k dimensions cannot
mix.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from unisono.maths.items.item_data import ItemData, Scores, answer_patterns
from unisono.maths.linalg.small_spd import inverse_and_logdet
from unisono.maths.structure_words import ITEM_WORDS, Latent, Noise, Transform, require_word


class Structure(NamedTuple):
    """The words. The defaults are those of the Bayesian joint model."""

    transform: Transform = "full"
    bias: bool = True
    noise: Noise = "shared"
    latent: Latent = "full"
    intercept: bool = True

    def validate(self) -> Structure:
        """Self, or a ValueError that lists the words there are."""
        for name in ("transform", "noise", "latent"):
            require_word(name, getattr(self, name), ITEM_WORDS[name])
        return self

    @property
    def couples_dimensions(self) -> bool:
        """Whether the errors of one judgement may be correlated, so that the rows of an annotator go together."""
        return self.noise in ("full", "shared")


def free_coefficients(structure: Structure, D: int) -> np.ndarray:
    """(D, D+1) true where [F_k, b_k] is estimated; elsewhere it stays [I, 0]."""
    free = np.zeros((D, D + 1), dtype=bool)
    if structure.transform == "gain":
        free[:, :D] = np.eye(D, dtype=bool)
    elif structure.transform == "full":
        free[:, :D] = True
    free[:, D] = structure.bias
    return free


def identity_rows(D: int) -> np.ndarray:
    """(D, D+1) the rows [I, 0] of an annotator who answers the truth itself."""
    return np.hstack([np.eye(D), np.zeros((D, 1))])


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
    tails: np.ndarray | None = None  # (3,) as `Weights` has them; None: errors are normal

    @property
    def spread_by_tails(self) -> float:
        """Variance of errors over their squared scale, of judgements and items of which nothing is known."""
        return 1.0 if self.tails is None else float(np.prod(1 / (1 - 2 / self.tails[:2])))

    @property
    def F(self) -> np.ndarray:
        """(K, D, D) annotator matrices."""
        return self.B[:, :, :-1]

    @property
    def b(self) -> np.ndarray:
        """(K, D) annotator offsets."""
        return self.B[:, :, -1]

    def mean_truth(self, scores: Scores) -> np.ndarray:
        """(D,) expected of the average item."""
        return np.asarray(self.mu + scores.mean() @ self.theta)

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


def sample_truths(params: ItemParams, scores: Scores, rng: np.random.Generator) -> np.ndarray:
    """(M, D) truths."""
    root = np.linalg.cholesky(params.Sigma)
    return np.asarray(params.prior_mean(scores) + rng.standard_normal((scores.M, len(root))) @ root.T)


def sample_ratings(
    params: ItemParams,
    truth: np.ndarray,
    item_of: np.ndarray,
    annotator_of: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """(J, D) ratings of these items by these annotators; under `bayes` with a drawn B_k for each annotator."""
    B = params.B if params.cov is None else params.B + _row_noise(params.cov, rng)
    roots = np.linalg.cholesky(params.N)
    abar = np.hstack([truth, np.ones((len(truth), 1))])[item_of]
    noise = rng.standard_normal((len(item_of), truth.shape[1]))
    if params.tails is not None:
        nu, kappa = np.minimum(params.tails[:2], ALMOST_NORMAL)
        precision = rng.chisquare(nu, len(item_of)) / nu * (rng.chisquare(kappa, len(truth)) / kappa)[item_of]
        noise /= np.sqrt(precision)[:, None]
    return np.asarray(
        np.einsum("ndi,ni->nd", B[annotator_of], abar) + np.einsum("ndi,ni->nd", roots[annotator_of], noise)
    )


def _row_noise(cov: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(K, D, q) deviations with these covariances, which are zero where a coefficient is fixed."""
    values, vectors = np.linalg.eigh(cov)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    return np.asarray(np.einsum("kdij,kdj->kdi", roots, rng.standard_normal(cov.shape[:3])))


ALMOST_NORMAL = 1e9  # numerical: degrees of freedom that stand for infinitely many when errors are drawn
ILL_CONDITIONED = 1e3  # numerical: average annotator matrices with a larger condition number are no coordinates


def change_of_truth(params: ItemParams, A: np.ndarray, c: np.ndarray) -> ItemParams:
    """The same model with a' = A a + c as its truth.                                                  eq. G13"""
    D = len(c)
    back = np.linalg.inv(A)
    T = np.eye(D + 1)
    T[:D, :D], T[:D, D] = back, -back @ c
    turn = _shifted if np.count_nonzero(A - np.diag(np.diagonal(A))) == 0 else np.matmul
    return params._replace(
        B=turn(params.B, T),
        theta=params.theta @ A.T,
        mu=A @ params.mu + c,
        Sigma=A @ params.Sigma @ A.T,
        cov=None if params.cov is None else np.swapaxes(turn(np.swapaxes(turn(params.cov, T), -1, -2), T), -1, -2),
    )


def _shifted(rows: np.ndarray, T: np.ndarray) -> np.ndarray:
    """rows @ T where T mixes no dimensions, so that a row costs D and not D^2."""
    found = rows * np.diagonal(T)
    found[..., -1] += rows[..., :-1] @ T[:-1, -1]
    return np.asarray(found)


def recentre(params: ItemParams, structure: Structure, weight: np.ndarray) -> ItemParams:
    """Coordinates in which the weighted average annotator is the identity, as far as the structure lets it."""
    mean = weighted_rows(params, weight)
    A = allowed(structure, mean[:, :-1])
    if A is None:
        return params
    # An offset can move into the truth only where the truth has a mean of its own to take it up.
    c = mean[:, -1] if structure.bias and structure.intercept else np.zeros(len(A))
    return change_of_truth(params, A, c)


def weighted_rows(params: ItemParams, weight: np.ndarray) -> np.ndarray:
    """(D, q) [F, b] of the average annotator, by these weights (K,)."""
    share = weight / max(weight.sum(), np.finfo(float).tiny)
    return np.asarray(np.einsum("k,kdi->di", share, params.B))


def allowed(structure: Structure, Fbar: np.ndarray) -> np.ndarray | None:
    """The part of the average F_k that may become the new coordinates, None if it cannot serve."""
    D = len(Fbar)
    if structure.transform == "identity":
        return np.eye(D)
    mixes = structure.transform == "full"
    if structure.latent == "isotropic":
        rotation = linalg.polar(Fbar)[0] if mixes else np.eye(D)
        A = np.trace(rotation.T @ Fbar) / D * rotation
    else:
        A = Fbar if mixes and structure.latent == "full" else np.diag(np.diagonal(Fbar))
    usable = np.isfinite(A).all() and np.linalg.cond(A) < ILL_CONDITIONED and (np.trace(A) > 0)
    return A if usable else None


def uncorrelate(params: ItemParams) -> ItemParams:
    """Coordinates in which the truths of different dimensions are uncorrelated given the features: the paper's A3.

    From coordinates where the average annotator is the identity, a' = s Sigma^-1/2 a with the symmetric root. The
    average F_k is then Sigma^1/2 / s, symmetric and positive definite: the rotation that polar decomposition finds,
    with signs and labels already those of the rated dimensions. s makes its diagonal average to one.     eq. G18
    """
    values, vectors = np.linalg.eigh(params.Sigma)
    root = (vectors * np.sqrt(values)) @ vectors.T
    A = np.trace(root) / len(root) * np.linalg.inv(root)
    # The center of the truth stays where it is, so that offsets do not change their meaning.
    return change_of_truth(params, A, params.mu - A @ params.mu)
