"""Means of systems from scores with crossed random effects, by restricted maximum likelihood (REML).

    y = mu_s + q_p + h_ps + i + b_k + f_ks + e                                                            eq. L1

for system s on prompt p by annotator k: prompts, systems by prompts and outputs are nested in each other; annotators
(leniency) and annotators by systems (favourites) cross them. mu, and the coefficients of covariates, are fixed; all
else is random, with variances theta. Nested effects and noise have the covariance R^-1, where for levels l from fine to
coarse with indicators Z_l, weights w_0 = 1/theta_e and a_l = Z_l' w_(l-1)

    R = 1/theta_e - sum_l w_(l-1) Z_l diag(delta_l) Z_l' w_(l-1),  delta_l = theta_l / (1 + theta_l a_l),
    w_l = w_(l-1) / (1 + theta_l a_l)                                                                     eq. L2

so that one solve of C = W'RW + blockdiag(0, I), W = [X, Z_c sqrt(theta_c)], gives fixed and crossed effects, and

    -2 ll = log|R^-1| + log|C| + y'Py,   P y = R (y - W C^-1 W'R y)                                       eq. L3
    score_j = -(tr P V_j - |Z_j'Py|^2) / 2,   AI_jk = (V_j Py)' P (V_k Py) / 2,   V_j = Z_j Z_j'          eq. L4

Steps with the average information AI climb until the likelihood no longer rises. They start from the quadratic forms
r'V_j r of the residuals of least squares, equal to their expectations (MIVQUE with equal weights), which are all there
is for large tables:

    sum_k theta_k |Z_j' P_0 Z_k|^2 = |Z_j' r|^2,   r = P_0 y,   P_0 = I - X (X'X)^-1 X'                    eq. L5

With G = (X'V^-1X)^-1 X'V^-1, the estimate G y has the covariance sum_j theta_j U_j, U_j = (G Z_j)(G Z_j)': what every
source of variance contributes. What else the variances may be follows from the likelihood of theta_j, the others as
they are, which is that of a mean square s with m degrees of freedom around tau = theta_j + c. Its slope and average
information at the estimate, and m counted from the design, say what s and c are:

    theta_j = max(m s / chi2_m - c, 0),  tau = (b + sqrt(b^2 + 4a)) / 2a,  s = a tau^3,  c = tau - theta_j,
    a = 2 AI_jj / m,  b = 2 score_j / m, 0 inside                                                         eq. L8

an estimate of zero is so no certainty: three people with favourites may seem to have none. What prompts and noise sum
up to is known better than its parts, whose estimates err against each other: AI^-1 is the covariance of their errors.

    N scores, S systems, F fixed effects (systems first), nu crossed effects, c components
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy
from scipy import linalg, sparse

from unisono.maths.linalg.conjugate_gradients import conjugate_gradients
from unisono.maths.systems import score_design
from unisono.maths.systems import system_priors as priors


class Chance(NamedTuple):
    """What else variances (c,) may be.                                                                   eq. L8"""

    theta: np.ndarray
    freedom: np.ndarray  # m; 0: the variance is assumed
    square: np.ndarray  # s
    floor: np.ndarray  # c
    cov: np.ndarray | None = None  # (c, c) of the estimates' errors; None: they err apart, as m says

    def of(self, some: np.ndarray) -> Chance:
        """Of `some` components (c,) bool."""
        cov = None if self.cov is None else self.cov[np.ix_(some, some)]
        return Chance(self.theta[some], self.freedom[some], self.square[some], self.floor[some], cov)

    def error(self, weight: np.ndarray) -> float:
        """Variance of the error of the weighted sum of the estimates."""
        if self.cov is not None:
            return float(weight @ self.cov @ weight)
        shown = self.freedom > 0
        tau = np.where(shown, weight * (self.theta + self.floor), 0.0)
        return float((2 * tau**2 / np.where(shown, self.freedom, 1.0)).sum())

    def draws(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """(n, c)."""
        shown = self.freedom > 0
        m = np.where(shown, self.freedom, 1.0)
        drawn = np.maximum(m * self.square / rng.chisquare(m, (n, len(m))) - self.floor, 0.0)
        return np.where(shown, drawn, self.theta)


def _chance(theta: np.ndarray, score: np.ndarray, information: np.ndarray, freedom: np.ndarray) -> Chance:
    m = np.where((freedom > 0) & (np.diagonal(information) > 0), freedom, 0.0)
    unit = np.where(m > 0, m, 1.0)
    a = np.where(m > 0, 2 * np.diagonal(information) / unit, 1.0)
    b = np.where(theta > 0, 0.0, 2 * score / unit)
    tau = np.maximum((b + np.sqrt(b**2 + 4 * a)) / (2 * a), theta)
    free = np.ix_(*[(m > 0) & (theta > 0)] * 2)
    cov = np.zeros_like(information)
    cov[free] = np.linalg.pinv(information[free], hermitian=True)
    return Chance(theta, m, np.where(theta > 0, tau, a * tau**3), tau - theta, cov)


class MixedFit(NamedTuple):
    """Means of systems, with the covariance of their errors by source."""

    mean: np.ndarray  # (F,) systems, then covariates
    names: tuple[str, ...]  # c components
    part: np.ndarray  # (c, F, F) U_j
    chance: Chance
    influence: np.ndarray  # (prompts, F) what every prompt contributes to the error of the means

    @property
    def theta(self) -> np.ndarray:
        """(c,) variances of the components."""
        return self.chance.theta

    @property
    def cov(self) -> np.ndarray:
        """(F, F) of all sources."""
        return np.asarray(np.einsum("c,cst->st", self.theta, self.part))


class _Nested(NamedTuple):
    """R of eq. L2."""

    noise: float
    weight: tuple[np.ndarray, ...]  # w_(l-1), (N,) each
    delta: tuple[np.ndarray, ...]
    Z: tuple[sparse.csr_array, ...]
    up: tuple[sparse.csr_array, ...]  # from every level to the next, coarser one
    shrink: tuple[np.ndarray, ...]  # w_l / w_(l-1), likewise
    logdet: float  # of R^-1

    def times(self, v: np.ndarray) -> np.ndarray:
        """R v for (N,) or (N, n)."""
        return np.asarray((v - (self.Z[0] @ self._taken(self.Z[0].T @ v) if self.Z else 0.0)) / self.noise)

    def _taken(self, total: np.ndarray) -> np.ndarray:
        """What is taken away at the finest level: sums there, (levels,) or (levels, n), go up the levels and back."""
        column = (slice(None), None) if total.ndim == 2 else slice(None)
        sums = [total / self.noise]
        for up, shrink in zip(self.up, self.shrink, strict=True):
            sums.append(up.T @ (shrink[column] * sums[-1]))
        taken = self.delta[-1][column] * sums.pop()
        for up, shrink, delta in zip(self.up[::-1], self.shrink[::-1], self.delta[-2::-1], strict=True):
            taken = delta[column] * sums.pop() + shrink[column] * (up @ taken)
        return np.asarray(taken)

    def between(self, W: sparse.csr_array) -> Callable[[np.ndarray], np.ndarray]:
        """v to W'RW v, without anything as long as the scores."""
        WW, T = W.T @ W, (self.Z[0].T @ W).tocsr() if self.Z else None
        return lambda v: (WW @ v - (0.0 if T is None else T.T @ self._taken(T @ v))) / self.noise

    def square(self, W: sparse.csr_array) -> np.ndarray:
        """W'RW, dense."""
        A: np.ndarray = (W.T @ W / self.noise).toarray()
        for w, delta, Z in zip(self.weight, self.delta, self.Z, strict=True):
            T = Z.T @ W.multiply(w[:, None]).tocsr()
            A -= (T.T @ T.multiply(delta[:, None]).tocsr()).toarray()
        return A

    def through(self, l: int, W: sparse.csr_array) -> np.ndarray:
        """Z_l'RW, dense."""
        B: np.ndarray = (self.Z[l].T @ W / self.noise).toarray()
        for w, delta, Z in zip(self.weight, self.delta, self.Z, strict=True):
            T = (Z.T @ W.multiply(w[:, None]).tocsr()).multiply(delta[:, None]).tocsr()
            B -= ((self.Z[l].T @ Z.multiply(w[:, None]).tocsr()) @ T).toarray()
        return B

    def diagonal(self, l: int) -> np.ndarray:
        """Diagonal of Z_l'RZ_l."""
        total = self.Z[l].T @ np.full(self.Z[l].shape[0], 1 / self.noise)
        for w, delta, Z in zip(self.weight, self.delta, self.Z, strict=True):
            inner = self.Z[l].T @ Z.multiply(w[:, None]).tocsr()
            total -= inner.power(2) @ delta
        return np.asarray(total)


def _square(R: _Nested, W: sparse.csr_array, who: sparse.csr_array | None) -> np.ndarray:
    """W'RW, dense; rows of W that are alike, by who scored what, are added up first."""
    if who is None:
        return R.square(W)
    rows = W[np.unique(who.indices, return_index=True)[1]]
    return np.asarray(rows.T @ (rows.T @ R.square(who)).T)


def _nested(theta: np.ndarray, layout: score_design.Layout) -> _Nested:
    noise, N = float(theta[-1]), layout.X.shape[0]
    w, logdet = np.full(N, 1 / noise), N * np.log(noise)
    weight, delta, shrink = [], [], []
    for variance, Z in zip(theta[: layout.levels], layout.Z[: layout.levels], strict=True):
        grown = 1 + variance * (Z.T @ w)
        weight.append(w)
        delta.append(variance / grown)
        shrink.append(1 / grown)
        logdet += float(np.log(grown).sum())
        w = w / (Z @ grown)
    nested = layout.Z[: layout.levels]
    return _Nested(noise, tuple(weight), tuple(delta), nested, layout.up, tuple(shrink[:-1]), float(logdet))


class _Solved(NamedTuple):
    """The mixed-model equations at given variances."""

    R: _Nested
    W: sparse.csr_array  # (N, F + nu), crossed effects in units of their standard deviations
    square: np.ndarray  # W'RW
    inverse: np.ndarray  # C^-1
    effect: np.ndarray  # (F + nu,) C^-1 W'Ry
    Py: np.ndarray  # (N,)
    objective: float  # -2 ll

    def project(self, v: np.ndarray) -> np.ndarray:
        """P v."""
        Rv = self.R.times(v)
        return np.asarray(Rv - self.R.times(self.W @ (self.inverse @ (self.W.T @ Rv))))


def _solve(y: np.ndarray, theta: np.ndarray, layout: score_design.Layout) -> _Solved:
    R = _nested(theta, layout)
    spread = np.sqrt(theta[layout.levels : -1])
    parts = [Z * s for Z, s in zip(layout.Z[layout.levels :], spread, strict=True)]
    W = sparse.hstack([layout.X, *parts], format="csr") if parts else layout.X
    F = layout.X.shape[1]
    square = _square(R, W, layout.who)
    C = square + np.diag(np.r_[np.zeros(F), np.ones(W.shape[1] - F)])
    factor = linalg.cho_factor(C, lower=True)
    inverse = linalg.cho_solve(factor, np.eye(len(C)))
    Ry = R.times(y)
    effect = inverse @ (W.T @ Ry)
    Py = Ry - R.times(W @ effect)
    logdet = 2 * float(np.log(np.diagonal(factor[0])).sum())
    return _Solved(R, W, square, inverse, effect, Py, R.logdet + logdet + float(y @ Py))


def _slopes(theta: np.ndarray, layout: score_design.Layout, at: _Solved) -> tuple[np.ndarray, np.ndarray]:
    """Score (c,) and average information (c, c).                                                       eq. L4"""
    F, N = layout.X.shape[1], layout.X.shape[0]
    traces = np.zeros(len(theta))
    for l in range(layout.levels):
        B = at.R.through(l, at.W)
        traces[l] = at.R.diagonal(l).sum() - float(np.sum((B @ at.inverse) * B))
    start = F
    for j, Z in enumerate(layout.Z[layout.levels :], start=layout.levels):
        own = slice(start, start + Z.shape[1])
        start += Z.shape[1]
        if theta[j] > 0:
            rows = at.square[own]
            left = float(np.trace(rows[:, own])) - float(np.sum((rows @ at.inverse) * rows))
            traces[j] = left / theta[j]
        else:  # at the edge the effect has no column of its own
            RZ = at.R.times(Z.toarray())
            B = at.W.T @ RZ
            traces[j] = float(np.sum(Z.multiply(RZ))) - float(np.sum(B * (at.inverse @ B)))
    traces[-1] = (N - F - float(traces[:-1] @ theta[:-1])) / theta[-1]
    sums = [Z.T @ at.Py for Z in layout.Z]
    squares = np.array([*(float(u @ u) for u in sums), float(at.Py @ at.Py)])
    working = np.stack([*(Z @ u for Z, u in zip(layout.Z, sums, strict=True)), at.Py], axis=1)
    return -(traces - squares) / 2, working.T @ at.project(working) / 2


def moments(y: np.ndarray, X: sparse.csr_array, Z: Sequence[sparse.csr_array]) -> np.ndarray:
    """(c,) variances of the effects and, last, of the noise, none of them negative.                    eq. L5

    An effect that the design does not show beside the means of systems gets what is assumed of it.
    """
    Q = np.linalg.pinv((X.T @ X).toarray())
    r = y - X @ (Q @ (X.T @ y))
    A = [(X.T @ one).tocsr() for one in Z]
    AA = [Q @ (one @ one.T).toarray() for one in A]
    c, N = len(Z), len(y)
    F = np.empty((c + 1, c + 1))
    for i, one in enumerate(Z):
        for j in range(i, c):
            together = (one.T @ Z[j]).tocsr()
            crossing = (A[i] @ together @ A[j].T).toarray()
            F[i, j] = F[j, i] = together.power(2).sum() - 2 * np.trace(Q @ crossing) + np.trace(AA[i] @ AA[j])
        F[i, c] = F[c, i] = N - np.trace(AA[i])
    F[c, c] = N - np.linalg.matrix_rank(Q)
    q = np.array([*(float(np.sum((one.T @ r) ** 2)) for one in Z), float(r @ r)])
    unit = np.sqrt(np.maximum(np.diagonal(F), np.finfo(float).tiny))
    theta = scipy.optimize.nnls(F / unit / unit[:, None], q / unit)[0] / unit
    whole = np.array([*(float(((one.T @ np.ones(N)) ** 2).sum()) for one in Z), N])
    unseen = np.diagonal(F) < priors.UNSEEN_SHARE * whole
    theta[unseen] = priors.UNSEEN_LENIENCY * (theta[~unseen].sum() + np.var(y - r))
    return np.asarray(theta)


def variances(scores: score_design.Scores, found: score_design.Effects, covariates: np.ndarray) -> Chance:
    """Variances of the components, and what else they may be."""
    unit = float(np.std(scores.y)) or 1.0
    slopes = _standard_variances(scores.y / unit, score_design.layout_of(scores, found, covariates))
    of = score_design.freedoms(scores, found)
    if slopes[0][-1] <= priors.REML_TOLERANCE:
        of[-1] = 0  # scores without noise: nothing is left to doubt
    theta, freedom, square, floor, cov = _chance(*slopes, of)
    assert cov is not None
    return Chance(theta * unit**2, freedom, square * unit**2, floor * unit**2, cov * unit**4)


def _standard_variances(y: np.ndarray, layout: score_design.Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Variances (c,) of scores in units of their own, with the slope (c,) and the information (c, c) there."""
    least = priors.REML_TOLERANCE
    theta = moments(y, layout.X, layout.Z)
    theta[-1] = max(theta[-1], least)
    unknowns = layout.X.shape[1] + sum(Z.shape[1] for Z in layout.Z[layout.levels :])
    if len(y) * unknowns > priors.MOST_REML_CELLS:
        return theta, np.zeros_like(theta), _rough_information(theta, layout)
    at = _solve(y, theta, layout)
    score, information = _slopes(theta, layout, at)
    for _ in range(priors.REML_STEPS):
        better = _climb(y, theta, score, information, layout, at, least)
        if better is None:
            break
        gained, (theta, at) = at.objective - better[1].objective, better
        if gained < priors.REML_GAIN:
            break
        score, information = _slopes(theta, layout, at)
    return theta, score, information


def _climb(
    y: np.ndarray,
    theta: np.ndarray,
    score: np.ndarray,
    information: np.ndarray,
    layout: score_design.Layout,
    at: _Solved,
    least: float,
) -> tuple[np.ndarray, _Solved] | None:
    """Better variances, none negative; None where no step raises the likelihood."""
    step = _step(theta, score, information, least)
    for _ in range(12):
        there = np.maximum(theta + step, 0.0)
        there[-1] = max(there[-1], least)
        found = _solve(y, there, layout)
        if found.objective < at.objective:
            return there, found
        step = step / 2
    return None


def _step(theta: np.ndarray, score: np.ndarray, information: np.ndarray, least: float) -> np.ndarray:
    """Newton's step with the average information.

    Variances that would fall below their floor (0, of noise `least`), or that nothing shows, stay.
    """
    floor, known = np.append(np.zeros(len(theta) - 1), least), np.diagonal(information)
    free = (theta > floor) | (score > 0)
    free &= known > priors.UNSEEN_SHARE * np.max(known[free], initial=0.0)
    step = np.zeros_like(theta)
    while free.any():
        inner = information[np.ix_(free, free)]
        ridge = np.diag(np.maximum(np.diagonal(inner), np.finfo(float).tiny)) * 1e-8
        step[:] = 0.0
        step[free] = np.linalg.solve(inner + ridge, score[free])
        stuck = free & (theta <= floor) & (step < 0)
        if not stuck.any():
            break
        free &= ~stuck
    return step


def _rough_information(theta: np.ndarray, layout: score_design.Layout) -> np.ndarray:
    """As if the levels of every effect were seen by themselves: half their number over the squared variance."""
    levels = np.array([*(Z.shape[1] for Z in layout.Z), layout.X.shape[0]], dtype=float)
    total = theta.sum()
    return np.diag(levels / 2 / np.maximum(theta, total / levels) ** 2)


def mixed_means(scores: score_design.Scores, covariates: np.ndarray | None = None) -> MixedFit:
    """Means of systems by generalised least squares at the variances that REML finds.                  eq. L1"""
    extra = np.zeros((len(scores.y), 0)) if covariates is None else covariates
    found = score_design.effects(scores)
    return estimate(scores, found, extra, variances(scores, found, extra))


def estimate(
    scores: score_design.Scores, found: score_design.Effects, covariates: np.ndarray, chance: Chance
) -> MixedFit:
    """Means, and what every component contributes to their covariance, at given variances."""
    layout, theta = score_design.layout_of(scores, found, covariates), chance.theta
    R, X, F = _nested(theta, layout), layout.X, layout.X.shape[1]
    spread = np.sqrt(theta[layout.levels : -1])
    parts = [Z * s for Z, s in zip(layout.Z[layout.levels :], spread, strict=True)]
    W = sparse.hstack([X, *parts], format="csr")
    Zc = W[:, F:]
    if Zc.shape[1] <= priors.MOST_SOLVED:
        square = _square(R, W, layout.who)
        effect_of, own, across = _by_cholesky(square[F:, F:]), square[:F, :F], square[F:, :F]
    else:
        RX, effect_of = R.times(X.toarray()), _by_conjugate_gradients(R, Zc)
        own, across = X.T @ RX, Zc.T @ RX
    effect = effect_of(across)
    cov = np.linalg.inv(own - across.T @ effect)
    G = R.times(W @ np.vstack([cov, -effect @ cov]))  # (N, F), transposed
    mean = G.T @ scores.y
    part = [(lambda t: t.T @ t)(Z.T @ G) for Z in layout.Z]
    away = scores.y - X @ mean
    away -= Zc @ effect_of(Zc.T @ R.times(away))
    influence = score_design.indicator(scores.prompt, int(scores.prompt.max()) + 1).T @ (G * away[:, None])
    return MixedFit(mean, found.names, np.stack([*part, G.T @ G]), chance, influence)


def _by_cholesky(ZRZ: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return partial(linalg.cho_solve, linalg.cho_factor(ZRZ + np.eye(len(ZRZ)), lower=True))


def _by_conjugate_gradients(R: _Nested, Zc: sparse.csr_array) -> Callable[[np.ndarray], np.ndarray]:
    """(I + Zc'RZc)^-1 times a matrix or vector."""
    scale, inner = 1 + Zc.power(2).T @ np.full(Zc.shape[0], 1 / R.noise), R.between(Zc)
    return lambda rhs: conjugate_gradients(lambda v: v + inner(v), rhs, scale, priors.SOLVE_TOLERANCE)
