"""Gain, noise, bias and sign of every annotator on one dimension, by sweeps over the annotators.

    level_km - b_k = s_k g_k L_m + u_km,          u ~ N(0, eta s2_k),  L ~ N(0, AB),  b ~ N(0, tau2)
    course_km[t]   = s_k g_k x_m[t - lag] + e_km,  e ~ N(0, s2_k),      x ~ N(0, A)
    (log g_k, log s2_k) ~ N((0, mu), Sig);  s_k = -1 with probability REVERSED
One annotator at a time takes the most probable row given all others, the truth integrated out: every such update raises
the objective. In between, EM updates the population (A, AB, eta, tau2, mu, Sig). The expected sign of an annotator lies
between -1 and 1; what they follow beyond it counts as noise.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series import priors
from unisono.maths.series.row_evidence import RowPosterior, RowPrior, Strata, most_probable_row
from unisono.maths.series.two_scales import Placed, TwoScales

DECIDED = 20.0  # log odds of a sign from which the other one is not tried again
START = 0.5  # of the variance of a course is truth, the rest noise, before anything is known


class Tracers(NamedTuple):
    alpha: np.ndarray  # (K,) log gain
    beta: np.ndarray  # (K,) log noise variance of a frame
    sign: np.ndarray  # (K,) expected sign, from -1 to 1
    odds: np.ndarray  # (K,) log odds of not being reversed
    other: np.ndarray  # (K, 2) the most probable row of the less probable sign
    cov: np.ndarray  # (K, 2, 2) of (alpha, beta)
    bias: np.ndarray  # (K,)
    A: float  # variance of the truth inside recordings
    AB: float  # of its levels
    eta: float  # variance of a level's error over that of a frame
    tau2: float  # of biases
    prior: RowPrior

    @property
    def gain(self) -> np.ndarray:
        """(K,) expected signed gain."""
        return np.asarray(self.sign * np.exp(self.alpha))

    @property
    def noise(self) -> np.ndarray:
        """(K,) noise variance of a frame, what an uncertain sign adds included."""
        return np.asarray(np.exp(self.beta) + self._unsigned * self.A)

    @property
    def level_noise(self) -> np.ndarray:
        """(K,) of the level of a recording."""
        return np.asarray(self.eta * np.exp(self.beta) + self._unsigned * self.AB)

    @property
    def _unsigned(self) -> np.ndarray:
        return np.asarray((1.0 - self.sign**2) * np.exp(2.0 * self.alpha))


def usual_spread() -> np.ndarray:
    """(2, 2) of log gain and log noise variance before the data speak."""
    between = priors.GAIN_NOISE * priors.GAIN_SD * priors.NOISE_SD
    return np.array([[priors.GAIN_SD**2, between], [between, priors.NOISE_SD**2]])


def first_tracers(scales: TwoScales, place: Placed) -> Tracers:
    """Everybody average; reversed who loads clearly negatively on what most courses share."""
    K = len(scales.present)
    return Tracers(
        alpha=np.zeros(K),
        beta=np.full(K, np.log(START)),
        sign=first_signs(scales, place),
        odds=np.zeros(K),
        other=np.tile([-1.0, np.log(START)], (K, 1)),
        cov=np.zeros((K, 2, 2)),
        bias=np.zeros(K),
        A=START,
        AB=START,
        eta=1.0,
        tau2=priors.BIAS_VARIANCE,
        prior=RowPrior(np.array([0.0, np.log(START)]), usual_spread()),
    )


def first_signs(scales: TwoScales, place: Placed) -> np.ndarray:
    """(K,) 1 or -1, by the first eigenvector of the correlations between courses; most annotators are right."""
    K = len(scales.present)
    cross, length = np.zeros((K, K)), np.diff(scales.first)
    for m in range(len(length)):
        here = np.unique(scales.annotator_of[(scales.recording_of == m) & ~np.isnan(scales.level)])
        courses = np.zeros((len(here), int(length[m])))
        for i, k in enumerate(here.tolist()):
            inside = (place.frame[k] >= scales.first[m]) & (place.frame[k] < scales.first[m + 1])
            courses[i, place.frame[k][inside] - scales.first[m]] = scales.course[place.row[k][inside]]
        cross[np.ix_(here, here)] += courses @ courses.T
    size = np.sqrt(np.diagonal(cross))
    size = np.where(size > 0, size, 1.0)
    loading = np.linalg.eigh(cross / size[:, None] / size)[1][:, -1]
    if loading[scales.moving].sum() < 0:
        loading = -loading
    return np.where(loading < -priors.TURNED / np.sqrt(K), -1.0, 1.0)


def logarithms(now: Tracers) -> np.ndarray:
    """(n,) what has to stand still before the sweeps have settled."""
    return np.concatenate([now.alpha, now.beta, now.bias, np.log([now.A, now.AB, now.eta])])


class Sums:
    """What all annotators together say of every frame and of every level; one of them can be taken out."""

    def __init__(self, scales: TwoScales, place: Placed, now: Tracers) -> None:
        self.scales, self.place, self.now = scales, place, now
        self.rated = np.flatnonzero(~np.isnan(scales.level))
        self.Q, self.S = np.zeros(int(scales.first[-1])), np.zeros(int(scales.first[-1]))
        M = len(scales.first) - 1
        self.QL, self.SL = np.zeros(M), np.zeros(M)
        self.judgements = [self.rated[scales.annotator_of[self.rated] == k] for k in range(len(now.alpha))]
        for k in range(len(now.alpha)):
            self._add(k, 1.0)

    def _add(self, k: int, times: float) -> None:
        gain, noise, level_noise = self.now.gain[k], self.now.noise[k], self.now.level_noise[k]
        frame, js = self.place.frame[k], self.judgements[k]
        self.Q[frame] += times * gain**2 / noise
        self.S[frame] += times * gain / noise * self.scales.course[self.place.row[k]]
        m = self.scales.recording_of[js]
        self.QL[m] += times * gain**2 / level_noise
        self.SL[m] += times * gain / level_noise * (self.scales.level[js] - self.now.bias[k])

    def without(self, k: int, kappa: float) -> Strata:
        """The evidence on annotator k, whom `replace` must put back."""
        self._add(k, -1.0)
        frame, row, n = self.place.frame[k], self.place.row[k], self.place.strata
        V = 1.0 / (1.0 / self.now.A + np.maximum(self.Q[frame], 0.0))
        m, y, stratum = V * self.S[frame], self.scales.course[row], self.place.stratum[frame]
        count = np.bincount(stratum, minlength=n)
        held = np.flatnonzero(count)
        sums = [np.bincount(stratum, v, minlength=n)[held] for v in (y * y, m * y, m * m)]
        js = self.judgements[k]
        z, own = self.scales.level[js] - self.now.bias[k], self.scales.recording_of[js]
        VL = 1.0 / (1.0 / self.now.AB + np.maximum(self.QL[own], 0.0))
        mL, one = VL * self.SL[own], np.ones(len(js))
        return Strata(
            weight=np.concatenate([np.full(len(held), kappa), one]),
            frames=np.concatenate([count[held], one]),
            V=np.concatenate([np.bincount(stratum, V, minlength=n)[held] / count[held], VL]),
            noise=np.concatenate([np.ones(len(held)), self.now.eta * one]),
            yy=np.concatenate([sums[0], z * z]),
            my=np.concatenate([sums[1], mL * z]),
            mm=np.concatenate([sums[2], mL * mL]),
        )

    def replace(self, k: int, now: Tracers) -> None:
        """Annotator k back in, as they are now."""
        self.now = now
        self._add(k, 1.0)


def residual_courses(scales: TwoScales, place: Placed, now: Tracers) -> tuple[np.ndarray, ...]:
    """K times (R_k,): the course less what the truth fused from the others makes of it, at the rows of `place`."""
    out, sums = [], Sums(scales, place, now)
    for k, (row, frame) in enumerate(zip(place.row, place.frame, strict=True)):
        q, weight = now.gain[k] ** 2 / now.noise[k], now.gain[k] / now.noise[k]
        others = (sums.S[frame] - weight * scales.course[row]) / (1.0 / now.A + np.maximum(sums.Q[frame] - q, 0.0))
        out.append(scales.course[row] - now.gain[k] * others)
    return tuple(out)


def error_correlation(scales: TwoScales, place: Placed, now: Tracers, step: int) -> float:
    """Correlation of the errors of frames `step` apart, of all annotators together; 0 to 1."""
    cross = square = 0.0
    for left, row in zip(residual_courses(scales, place, now), place.row, strict=True):
        frame, judgement = scales.frame[row], scales.judgement[row]
        apart = (frame[step:] - frame[:-step] == step) & (judgement[step:] == judgement[:-step])
        cross += float(np.sum((left[step:] * left[:-step])[apart]))
        square += 0.5 * float(np.sum((left[step:] ** 2 + left[:-step] ** 2)[apart]))
    return float(np.clip(cross / square, 0.0, 1.0)) if square > 0 else 1.0


def sweep(scales: TwoScales, place: Placed, kappa: float, now: Tracers) -> tuple[Tracers, float]:
    """Every annotator once, then the population; and the objective of what it was given."""
    value = objective(scales, place, kappa, now)
    sums = Sums(scales, place, now)
    for k in np.flatnonzero(scales.moving).tolist():
        strata = sums.without(k, kappa)
        now = with_row(now, k, strata)
        sums.replace(k, now)
    now = capped(now, scales.moving)
    return population(scales, place, now), value


def with_row(now: Tracers, k: int, strata: Strata) -> Tracers:
    """The most probable row of annotator k, under the more probable sign."""  # eq. S38
    sign = 1.0 if now.sign[k] >= 0 else -1.0
    here = most_probable_row(strata, np.array([now.alpha[k], now.beta[k]]), sign, now.prior)
    if abs(now.odds[k]) > DECIDED:
        return _with(now, k, here, now.odds[k], now.sign[k], now.other[k])
    there = most_probable_row(strata, now.other[k], -sign, now.prior)
    up, down = (here, there) if sign > 0 else (there, here)
    odds = up.log_evidence - down.log_evidence + np.log(1.0 - priors.REVERSED) - np.log(priors.REVERSED)
    best, rest = (up, down) if odds >= 0 else (down, up)
    return _with(now, k, best, odds, float(np.tanh(0.5 * odds)), rest.at)


def _with(now: Tracers, k: int, row: RowPosterior, odds: float, sign: float, other: np.ndarray) -> Tracers:
    new = {name: getattr(now, name).copy() for name in ("alpha", "beta", "sign", "odds", "other", "cov")}
    new["alpha"][k], new["beta"][k] = row.at
    new["cov"][k], new["odds"][k], new["sign"][k], new["other"][k] = row.cov, odds, sign, other
    return now._replace(**new)


def capped(now: Tracers, moving: np.ndarray) -> Tracers:
    """Nobody counts for more than MOST_WEIGHT typical annotators."""
    if not moving.any():
        return now
    typical = float(np.median((now.beta - 2.0 * now.alpha)[moving]))
    least = 2.0 * now.alpha + typical - np.log(priors.MOST_WEIGHT)
    return now._replace(beta=np.where(moving, np.maximum(now.beta, least), now.beta))


def population(scales: TwoScales, place: Placed, now: Tracers) -> Tracers:
    """What the annotators and the truth have in common, by EM; mean log gain 0 is the unit of the truth."""  # eq. S39
    moving, present, sums = scales.moving, scales.present, Sums(scales, place, now)
    V = 1.0 / (1.0 / now.A + sums.Q)
    x, seen = V * sums.S, sums.Q > 0
    A = float(np.mean(x[seen] ** 2 + V[seen])) if seen.any() else now.A
    VL = 1.0 / (1.0 / now.AB + sums.QL)
    L, rated = VL * sums.SL, sums.QL > 0
    extra = priors.PRIOR_RECORDINGS
    AB = float((np.sum(L[rated] ** 2 + VL[rated]) + extra * priors.LEVEL_VARIANCE) / (rated.sum() + extra))
    shift = float(now.alpha[moving].mean()) if moving.any() else 0.0
    factor = np.exp(shift)
    alpha = np.where(moving, now.alpha - shift, 0.0)
    mu = float(now.beta[moving].mean()) if moving.any() else float(now.prior.mean[1])
    beta = np.where(moving, now.beta, mu)
    away = np.stack([alpha, beta - mu], axis=1)[moving]
    n0 = priors.PRIOR_ANNOTATORS
    cov = (away.T @ away + now.cov[moving].sum(axis=0) + n0 * usual_spread()) / (len(away) + n0)
    now = now._replace(
        alpha=alpha, beta=beta, A=A * factor**2, AB=AB * factor**2, prior=RowPrior(np.array([0.0, mu]), cov)
    )
    return _levels(scales, now, L * factor, VL * factor**2, present)


def _levels(scales: TwoScales, now: Tracers, L: np.ndarray, VL: np.ndarray, present: np.ndarray) -> Tracers:
    """Biases, their spread, and how much levels err."""
    js = np.flatnonzero(~np.isnan(scales.level))
    k, m, K = scales.annotator_of[js], scales.recording_of[js], len(present)
    s2, square = np.exp(now.beta), np.exp(2.0 * now.alpha)
    spread = now.eta * s2 + square * VL.mean()
    left = scales.level[js] - now.gain[k] * L[m]
    variance = 1.0 / (np.bincount(k, minlength=K) / spread + 1.0 / now.tau2)
    bias = np.bincount(k, left, minlength=K) / spread * variance
    n0 = priors.PRIOR_BIASES
    tau2 = (np.sum((bias**2 + variance)[present]) + n0 * priors.BIAS_VARIANCE) / (present.sum() + n0)
    error = ((left - bias[k]) ** 2 + square[k] * VL[m]) / s2[k]
    eta = (error.sum() + priors.PRIOR_LEVELS) / (len(js) + priors.PRIOR_LEVELS)
    eta = float(np.clip(eta, priors.LEAST_LEVEL_ERROR, priors.MOST_LEVEL_ERROR))
    return now._replace(bias=np.where(present, bias, 0.0), tau2=float(tau2), eta=eta)


def objective(scales: TwoScales, place: Placed, kappa: float, now: Tracers) -> float:
    """kappa log p(courses) + log p(levels) + log prior of rows and biases, up to a constant."""  # eq. S40
    sums = Sums(scales, place, now)
    total = 0.0
    for k in np.flatnonzero(scales.moving).tolist():
        y = scales.course[place.row[k]]
        total -= 0.5 * kappa * (len(y) * np.log(now.noise[k]) + y @ y / now.noise[k])
    who = scales.annotator_of[sums.rated]
    z = scales.level[sums.rated] - now.bias[who]
    total -= 0.5 * float(np.sum(np.log(now.level_noise[who]) + z * z / now.level_noise[who]))
    for Q, S, A, weight in ((sums.Q, sums.S, now.A, kappa), (sums.QL, sums.SL, now.AB, 1.0)):
        total -= 0.5 * weight * float(np.sum(np.log1p(A * Q) - S * S / (1.0 / A + Q)))
    away = (np.stack([now.alpha, now.beta], axis=1) - now.prior.mean)[scales.moving]
    total -= 0.5 * float(np.sum(away * np.linalg.solve(now.prior.cov, away.T).T))
    total -= 0.5 * len(away) * float(np.linalg.slogdet(now.prior.cov)[1])
    bias = now.bias[scales.present]
    return float(total - 0.5 * np.sum(bias**2 / now.tau2 + np.log(now.tau2)))
