"""M-steps of the variances: noise covariances of annotators, with and without pooling, and the truth's own parameters.

    isotropic   N_k = tau_k^2 I                          diagonal   N_k = diag(n_k1 .. n_kD)
    scaled      N_k = r_k diag(s_1 .. s_D)               full       N_k any covariance
    shared      N_k = r_k R, R any covariance

Pooling shrinks an annotator's noise towards the pool by `nu` imaginary numbers whose squares have the pool's mean;
nu = 0 is maximum likelihood. A variance never falls below `floor` (per dimension): without it, an annotator who fits
perfectly has zero variance and an infinite likelihood. Because each conditional objective has one maximum, clipping at
the floor is the exact constrained maximum, and EM stays monotone. Of the truth: its mean, its predictor, and its
covariance given the features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items.item_data import ItemData, answer_patterns, fit_theta
from unisono.maths.items.item_estep import Stats
from unisono.maths.items.item_params import ItemParams, Structure, expected_spread, noise_precision
from unisono.maths.structure_words import Latent, Noise

NEWTON_STEPS = 12  # numerical: towards the most probable noise scale of an annotator


def residual_moments(data: ItemData, stats: Stats, B: np.ndarray, cov: np.ndarray | None) -> np.ndarray:
    """(U, D, D) sums of E[(y - B abar)(y - B abar)'] over the judgements of each profile, answered entries only.

    eq. G11
    """
    Bu = B[data.annotator]
    cross = Bu @ np.swapaxes(stats.Sya, 1, 2)
    R = data.Syy + stats.Dyy - cross - np.swapaxes(cross, 1, 2) + Bu @ stats.Saa @ np.swapaxes(Bu, 1, 2)
    if cov is not None:
        dims = np.arange(R.shape[1])
        R[:, dims, dims] += expected_spread(cov, stats.Saa, data.annotator)
    return np.asarray(R * (data.answered[:, :, None] & data.answered[:, None, :]))


def own_noise(data: ItemData, stats: Stats, params: ItemParams, numbers: float) -> np.ndarray:
    """(K, D) error variances by everybody's own residuals, drawn to those of the model by so many imaginary answers.

    The model has one pool of errors, drawn to moments of the ratings, for the sake of the truth; this is to describe
    annotators.                                                                                         eq. B23
    """
    R = residual_moments(data, stats, params.B, params.cov)
    squares = data.by_annotator(np.diagonal(R, axis1=1, axis2=2))
    return _shrunk(squares, data.answers(), numbers, np.diagonal(params.N, axis1=1, axis2=2)[: data.K])


def update_noise(
    noise: Noise,
    data: ItemData,
    R: np.ndarray,
    N: np.ndarray,
    *,
    floor: np.ndarray,
    nu: float = 0.0,
    pool: np.ndarray | None = None,
) -> np.ndarray:
    """(K, D, D) noise covariances that maximise the expected log density given residual moments R (U, D, D)."""
    if noise == "full":
        return _full(data, R, N, floor, nu, pool)
    squares = data.by_annotator(np.diagonal(R, axis1=1, axis2=2))
    answers = data.answers()
    if noise == "scaled":
        r, s = update_scaled(squares, answers, scale_factors(N)[1], floor, nu=0.0)
        variances = r[:, None] * s
    elif noise == "isotropic":
        variances = _isotropic(squares, answers, floor, nu, pool)
    else:
        variances = _diagonal(squares, answers, floor, nu, pool)
    return np.asarray(variances[:, :, None] * np.eye(squares.shape[1]))


def scale_factors(N: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """r (K,) and s (D,) of a scaled N_kd = r_k s_d, with s the values of an annotator whose r is 1."""
    variances = np.diagonal(N, axis1=1, axis2=2)
    logs = np.log(variances)
    # Averages over the table undo rounding; the split between r and s is carried by row 0 of the logs.
    log_r = logs.mean(axis=1) - logs.mean(axis=1)[0]
    return np.exp(log_r), np.exp((logs - log_r[:, None]).mean(axis=0))


def pooled_noise(N: np.ndarray) -> np.ndarray:
    """(D, D) the pool that annotators are shrunk to: the harmonic mean, which maximises the pooling prior."""
    return np.asarray(np.linalg.inv(np.linalg.inv(N).mean(axis=0)))


def log_pooling_prior(noise: Noise, N: np.ndarray, nu: float, pool: np.ndarray) -> float:
    """The penalty that `nu` imaginary numbers per annotator stand for, up to a constant; not for `scaled`."""
    if nu == 0:
        return 0.0
    D = pool.shape[0]
    if noise == "isotropic":
        ratio = np.trace(pool) / D / N[:, 0, 0]
        return float(-0.5 * nu * np.sum(ratio - np.log(ratio)))
    ratio = np.linalg.solve(N, np.broadcast_to(pool, N.shape))
    logdet = np.linalg.slogdet(pool)[1] - np.linalg.slogdet(N)[1]
    return float(-0.5 * nu * np.sum(np.trace(ratio, axis1=1, axis2=2) - logdet))


def _isotropic(
    squares: np.ndarray, answers: np.ndarray, floor: np.ndarray, nu: float, pool: np.ndarray | None
) -> np.ndarray:
    total, count = squares.sum(axis=1), answers.sum(axis=1)
    target = np.trace(pool) / len(pool) if pool is not None else total.sum() / count.sum()
    tau2 = np.maximum(_shrunk(total, count, nu, target), floor.mean())
    return np.tile(tau2[:, None], (1, squares.shape[1]))


def _diagonal(
    squares: np.ndarray, answers: np.ndarray, floor: np.ndarray, nu: float, pool: np.ndarray | None
) -> np.ndarray:
    seen = np.maximum(answers.sum(axis=0), 1)
    target = np.diagonal(pool) if pool is not None else squares.sum(axis=0) / seen
    return np.asarray(np.maximum(_shrunk(squares, answers, nu, target), floor))


def _shrunk(squares: np.ndarray, count: np.ndarray, nu: np.ndarray | float, target: np.ndarray | float) -> np.ndarray:
    """(nu target + squares) / (nu + count); the target where there is nothing to go by."""
    total = np.where(nu + count > 0, nu + count, 1.0)
    return np.asarray(np.where(nu + count > 0, (nu * target + squares) / total, target))


def distance_of_scales(r: np.ndarray, center: np.ndarray) -> np.ndarray:
    """(K,) what an imaginary number takes from the log prior of noise scales r, twice: 0 at their center."""
    ratio = center / r
    return np.asarray(ratio - np.log(ratio) - 1)


class GainPull(NamedTuple):
    """What gains say about an annotator's r, where the gain expected of class z goes with r^(e_z/2).

    Their log prior is the sum over classes of `product` r^(e/2) - 1/2 `square` r^e, up to a constant.
    """

    product: np.ndarray  # (K, Z) precision times the sum of c_z times gain, by the probability of the class
    square: np.ndarray  # (K, Z) precision times the sum of c_z^2, by the probability of the class
    exponent: np.ndarray  # (Z,) e_z


def noise_scales(
    squares: np.ndarray,
    numbers: np.ndarray,
    nu: np.ndarray | float,
    center: np.ndarray | float,
    least: float,
    before: np.ndarray,
    gains: GainPull | None,
) -> np.ndarray:
    """(K,) the most probable r of each annotator, by its residuals and by its gains.                       eq. B5

    `squares` of residuals in units of the pool, `nu` imaginary numbers around `center`, `before` the last r: where
    gains pull too, the maximum is searched from the one without them, and r stays what it was if that is better.
    """
    freedom, total = numbers + nu, squares + nu * center
    plain = np.maximum(np.where(freedom > 0, total / np.where(freedom > 0, freedom, 1.0), center), least)
    if gains is None:
        return np.asarray(plain)
    half = gains.exponent / 2  # (Z,)

    def objective(log_r: np.ndarray) -> np.ndarray:
        scale = np.exp(half * log_r[:, None])
        own = -0.5 * (freedom * log_r + total * np.exp(-log_r))
        return np.asarray(own + (gains.product * scale - 0.5 * gains.square * scale**2).sum(axis=1))

    log_r = np.log(plain)
    for _ in range(NEWTON_STEPS):
        scale = np.exp(half * log_r[:, None])
        slope = 0.5 * (total * np.exp(-log_r) - freedom)
        slope += (gains.product * scale - gains.square * scale**2) @ half
        # The part of the curvature that is negative for sure.
        curvature = 0.5 * total * np.exp(-log_r) + 2 * (gains.square * scale**2) @ half**2
        log_r = log_r + np.clip(slope / np.maximum(curvature, 1e-12), -1.0, 1.0)
    log_r = np.maximum(log_r, np.log(least))
    return np.where(objective(log_r) >= objective(np.log(before)), np.exp(log_r), before)


def update_scaled(
    squares: np.ndarray,
    answers: np.ndarray,
    s: np.ndarray,
    floor: np.ndarray,
    nu: np.ndarray | float,
    before: np.ndarray | None = None,
    gains: GainPull | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """r (K,) given s (D,), then s given r; each the maximum while the other is held.                    eq. G16"""
    before = np.ones(len(squares)) if before is None else before
    own = (squares / s).sum(axis=1)
    r = noise_scales(own, answers.sum(axis=1), nu, 1.0, float((floor / s).max()), before, gains)
    rated = answers.sum(axis=0) > 0
    per_answer = (squares / r[:, None]).sum(axis=0) / np.maximum(answers.sum(axis=0), 1)
    return r, np.maximum(np.where(rated, per_answer, s), floor / r.min())


def update_shared(
    data: ItemData,
    R: np.ndarray,
    pool: np.ndarray,
    floor: np.ndarray,
    nu: np.ndarray | float,
    center: np.ndarray | float,
    before: np.ndarray,
    gains: GainPull | None,
    target: np.ndarray,
    judgements: float,
) -> tuple[np.ndarray, np.ndarray]:
    """r (K,) given the pool, then the pool (D, D) given r; each the maximum while the other is held.    eq. B13

    R (U, D, D) residual moments. The pool is drawn to `target` by so many imaginary `judgements`.
    """
    W, _ = noise_precision(np.broadcast_to(pool, (data.K, *pool.shape)), data.annotator, data.answered)
    squares = data.by_annotator(np.einsum("uij,uij->u", W, R)[:, None])[:, 0]
    # The least r with which no error variance, in any direction, is below the floor.
    root = np.sqrt(np.maximum(floor, np.finfo(float).tiny))
    least = 1 / float(np.linalg.eigvalsh(pool / root[:, None] / root)[0])
    r = noise_scales(squares, data.answers().sum(axis=1), nu, center, least, before, gains)
    completed = data.by_annotator(_completed_residuals(data, R, scaled_noise(r, pool)))
    total = (completed / r[:, None, None]).sum(axis=0) + judgements * target
    return r, floor_eigenvalues(total / (data.judgements.sum() + judgements), floor / r.min())


def scaled_noise(r: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """(K, D, D) covariances r_k times the pool."""
    return np.asarray(r[:, None, None] * pool)


def _full(
    data: ItemData, R: np.ndarray, N: np.ndarray, floor: np.ndarray, nu: float, pool: np.ndarray | None
) -> np.ndarray:
    """Residuals of unanswered dimensions are completed by their conditional moments given the old N (one EM step
    inside the M-step), then averaged and floored."""
    completed = data.by_annotator(_completed_residuals(data, R, N))
    count = data.by_annotator(data.judgements)
    target = pool if pool is not None else completed.sum(axis=0) / max(count.sum(), 1.0)
    shrunk = _shrunk(completed, count[:, None, None], nu, target)
    return floor_eigenvalues(shrunk, floor)


def _completed_residuals(data: ItemData, R: np.ndarray, N: np.ndarray) -> np.ndarray:
    """(U, D, D) sums of residual outer products with the unanswered entries filled in by expectation.    eq. G12"""
    completed = R.copy()
    D = R.shape[1]
    for seen, at in answer_patterns(data.answered):
        if len(seen) == D:
            continue
        unseen = np.setdiff1d(np.arange(D), seen)
        Nk = N[data.annotator[at]]
        A = np.zeros((len(at), D, len(seen)))
        A[:, seen, np.arange(len(seen))] = 1.0
        left = np.linalg.solve(Nk[:, seen[:, None], seen], Nk[:, seen[:, None], unseen])
        A[:, unseen] = np.swapaxes(left, 1, 2)
        conditional = Nk[:, unseen[:, None], unseen] - Nk[:, unseen[:, None], seen] @ left
        filled = A @ R[at][:, seen[:, None], seen] @ np.swapaxes(A, 1, 2)
        filled[:, unseen[:, None], unseen] += data.judgements[at, None, None] * conditional
        completed[at] = filled
    return completed


def floor_eigenvalues(S: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """Covariances (..., D, D) with S >= diag(floor) in the matrix sense, closest in likelihood to the given ones."""
    root = np.sqrt(np.maximum(floor, np.finfo(float).tiny))
    scaled = S / root[:, None] / root
    values, vectors = np.linalg.eigh((scaled + np.swapaxes(scaled, -1, -2)) / 2)
    clipped = (vectors * np.maximum(values, 1.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return np.asarray(clipped * root[:, None] * root)


def fit_predictor(
    data: ItemData, stats: Stats, structure: Structure, ridge: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """theta (R, D) and mu (D,); with an intercept the scores are centred, so mu is the mean truth."""
    theta = fit_theta(data.scores, stats.Sza, ridge)
    mean = stats.items[-1, :-1] / max(data.M, 1)
    return theta, mean if structure.intercept else np.zeros(data.D)


def latent_moments(data: ItemData, stats: Stats, theta: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """(D, D) sum over items of E[(a - m0)(a - m0)'], m0 = mu + theta'z.                               eq. G14"""
    second, first = stats.items[:-1, :-1], stats.items[:-1, -1]
    total_z = data.M * data.scores.mean()
    m0_first = data.M * mu + total_z @ theta
    cross = np.outer(first, mu) + stats.Sza.T @ theta
    shift = np.outer(mu, m0_first) + np.outer(total_z @ theta, mu) + theta.T @ (data.scores.l[:, None] * theta)
    moment = second - cross - cross.T + shift
    return np.asarray((moment + moment.T) / 2)


def truth_covariance(data: ItemData, params: ItemParams) -> np.ndarray:
    """(D, D) of the truth over items, what features explain included."""
    explained = params.theta.T @ (data.scores.l[:, None] * params.theta) / max(data.M, 1)
    return np.asarray(params.Sigma + explained)


def shape_latent(latent: Latent, spread: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """(D, D) the covariance of the given form that is most likely for the average outer product `spread`."""
    D = len(spread)
    if latent == "full":
        return floor_eigenvalues(spread, floor)
    if latent == "diagonal":
        return np.diag(np.maximum(np.diagonal(spread), floor))
    return max(float(np.trace(spread)) / D, float(floor.mean())) * np.eye(D)
