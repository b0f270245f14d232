"""Gain, noise, bias and sign of every annotator on one dimension of traces: the evidence on one, and what all say.

    level_km - b_k = s_k g_k L_m + u_km,          u ~ N(0, eta s2_k),  L ~ N(0, AB),  b ~ N(0, tau2)
    course_km[t]   = s_k g_k x_m[t - lag] + e_km,  e ~ N(0, s2_k),      x ~ N(0, A)
    (log g_k, log s2_k) ~ N((0, mu), Sig);  s_k = -1 with probability REVERSED

A few have a unit, or an origin, of their own. The expected sign of an annotator lies between -1 and 1; what they follow
beyond it counts as noise. Where the others leave the truth at mean m and
variance V, a frame is normal with mean g m and variance v = g^2 V + f s2, f = 1 for courses and eta for levels. Frames
with equal V add up in strata; with g = sign exp(alpha), s2 = exp(beta), and the truth integrated out:
    J = sum_strata w / 2 [n log v + (yy - 2 g my + g^2 mm) / v] - log p(alpha, beta)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series import trace_priors
from unisono.maths.series.trace_frames import Hands, Placed, error_products
from unisono.maths.series.trace_parts import Parts, TwoScales

STEPS = 50  # numerical: of Newton's method, at most; it takes three to six
LONGEST_STEP = 1.0  # numerical: in log units
SETTLED = 1e-7  # numerical: a step shorter than this, in log units, is none
LEAST_STEP = 1e-6  # numerical: share of a Newton step below which nothing falls any more
ROUNDING = 1e-13  # numerical: share of J that sums may be off by; without it chance may refuse the last step
LEAST_CURVATURE = 1e-6  # numerical: of J
UNIT = np.array([1.0, 2.0])  # what a unit adds to log gain and log noise variance
NOTHING = np.zeros((2, 2))
TINY = 1e-300  # numerical: of nobody's ratings


class Strata(NamedTuple):
    """Sums over frames whose truth the others know equally well; levels of recordings are strata of one."""

    weight: np.ndarray  # (n,) evidence in one frame
    frames: np.ndarray  # (n,) how many
    V: np.ndarray  # (n,) variance of the truth given the others
    noise: np.ndarray  # (n,) f, noise variance over that of a frame of the course
    yy: np.ndarray  # (n,) sums of products of ratings y and means m of the truth
    my: np.ndarray
    mm: np.ndarray


class RowPrior(NamedTuple):
    """Of (log gain, log noise variance), over the annotators of a study: normal; of a few, who have a unit of their
    own, normal but for the unit, which gain and noise share and of which nothing is known."""

    mean: np.ndarray  # (2,)
    cov: np.ndarray  # (2, 2)
    precision: np.ndarray  # (2, 2, 2) of both kinds
    log: np.ndarray  # (2,) log density at the mean, over that of a normal distribution with this covariance

    def weigh(self, square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(...,) log density over that of the usual kind at its mean, and (..., 2) probabilities of both kinds.

        square: (..., 2, 2) of what rows are away from the mean, with what is unknown of them.
        """
        log = self.log - 0.5 * np.sum(self.precision * square[..., None, :, :], axis=(-1, -2))
        total = np.logaddexp(log[..., 0], log[..., 1])
        return total, np.exp(log - total[..., None])


def row_prior(mean: np.ndarray, cov: np.ndarray) -> RowPrior:
    """From mean (2,) and covariance (2, 2) of those who have no unit of their own."""
    usual = np.linalg.inv(cov)
    unit = usual @ UNIT
    own = usual - np.outer(unit, unit) / (UNIT @ unit)
    wide = np.sqrt(UNIT @ unit) * trace_priors.OWN_UNIT_SD
    return RowPrior(mean, cov, np.stack([usual, own]), np.log([1.0 - trace_priors.OWN, trace_priors.OWN / wide]))


class RowPosterior(NamedTuple):
    at: np.ndarray  # (2,) most probable log gain and log noise variance
    cov: np.ndarray  # (2, 2) Laplace's
    log_evidence: float  # log p(ratings | the others, sign), by Laplace; the same constant for both signs


def row_cost(strata: Strata, at: np.ndarray, sign: float, prior: RowPrior, unknown: np.ndarray = NOTHING) -> float:
    """J up to a constant. unknown: (2, 2) covariance of the row, where that is held."""  # eq. S37
    g, s2 = sign * np.exp(at[0]), np.exp(at[1])
    v = g * g * strata.V + strata.noise * s2
    S = strata.yy - 2.0 * g * strata.my + g * g * strata.mm
    data = np.sum(strata.weight * (strata.frames * np.log(v) + S / v))
    d = at - prior.mean
    return float(0.5 * data - prior.weigh(np.outer(d, d) + unknown)[0])


def row_slopes(
    strata: Strata, at: np.ndarray, sign: float, prior: RowPrior, unknown: np.ndarray = NOTHING
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient (2,) and Hessian (2, 2) of J."""
    weight, n, V, f, yy, my, mm = strata
    g, s2 = sign * np.exp(at[0]), np.exp(at[1])
    va, vb = 2.0 * g * g * V, f * s2  # dv/d alpha, dv/d beta
    v = 0.5 * va + vb
    S = yy - 2.0 * g * my + g * g * mm
    Sa, Saa = -2.0 * g * my + 2.0 * g * g * mm, -2.0 * g * my + 4.0 * g * g * mm
    r, c = n / v - S / v**2, -n / v**2 + 2.0 * S / v**3
    alpha, beta = np.sum(weight * (r * va + Sa / v)), np.sum(weight * r * vb)
    aa = np.sum(weight * (2.0 * r * va + c * va * va + Saa / v - 2.0 * Sa * va / v**2))
    ab = np.sum(weight * (c * va * vb - Sa * vb / v**2))
    bb = np.sum(weight * (r * vb + c * vb * vb))
    d, precision = at - prior.mean, prior.precision
    kind, pull = prior.weigh(np.outer(d, d) + unknown)[1], precision @ d
    curve = np.einsum("s,sde->de", kind, precision) - kind.prod() * np.outer(pull[0] - pull[1], pull[0] - pull[1])
    return 0.5 * np.array([alpha, beta]) + kind @ pull, 0.5 * np.array([[aa, ab], [ab, bb]]) + curve


def most_probable_row(
    strata: Strata,
    start: np.ndarray,
    sign: float,
    prior: RowPrior,
    least: float = -np.inf,
    unknown: np.ndarray = NOTHING,
) -> RowPosterior:
    """The least J, but for rounding nowhere above that at the start.

    least: of log noise less twice the log gain. unknown: (2, 2) covariance of the row, where that is held.
    """
    found = _newton(strata, np.array(start, dtype=float), sign, prior, np.eye(2), unknown)
    if found[1] - 2.0 * found[0] < least:
        along = _newton(strata, np.array([start[0], 2.0 * start[0] + least]), sign, prior, UNIT[:, None], unknown)
        fair = start[1] - 2.0 * start[0] >= least
        worse = row_cost(strata, along, sign, prior, unknown) > row_cost(strata, start, sign, prior, unknown)
        found = np.array(start, dtype=float) if fair and worse else along
    _, hessian = row_slopes(strata, found, sign, prior, unknown)
    value, vector = np.linalg.eigh(hessian)
    value = np.maximum(value, LEAST_CURVATURE)
    cost = row_cost(strata, found, sign, prior, unknown)
    size = np.log(value).sum() + np.linalg.slogdet(prior.cov)[1]
    return RowPosterior(found, (vector / value) @ vector.T, -cost - 0.5 * float(size))


def _newton(
    strata: Strata, at: np.ndarray, sign: float, prior: RowPrior, basis: np.ndarray, unknown: np.ndarray
) -> np.ndarray:
    """Newton's method in the span of `basis` (2, n), steps turned downhill and halved until they fall."""
    cost = row_cost(strata, at, sign, prior, unknown)
    for _ in range(STEPS):
        gradient, hessian = row_slopes(strata, at, sign, prior, unknown)
        gradient, hessian = basis.T @ gradient, basis.T @ hessian @ basis
        value, vector = np.linalg.eigh(hessian)
        step = -(vector / np.maximum(np.abs(value), LEAST_CURVATURE)) @ (vector.T @ gradient)
        step *= min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), SETTLED))
        share = 1.0
        while share > LEAST_STEP:
            there = row_cost(strata, at + share * basis @ step, sign, prior, unknown)
            if there <= cost + 1e-4 * share * float(gradient @ step) + ROUNDING * abs(cost):
                break
            share *= 0.5
        else:
            break
        at, cost = at + share * basis @ step, there
        if np.abs(share * step).max() < SETTLED:
            break
    return at


def noise_evidence(strata: Strata, prior: RowPrior, A: float) -> float:
    """log p of the ratings of who follows nothing, by Laplace; the same constant as of rows.

    A: variance of what others follow. Noise varies like everybody's variance, but for a few with a unit of their own.
    """
    spread, own = float(prior.cov[1, 1]), (2.0 * trace_priors.OWN_UNIT_SD) ** 2
    mean = float(np.log(A + np.exp(prior.mean[1])))
    usual = _noise_laplace(strata, mean, 1.0 / spread) - 0.5 * np.log(spread) + np.log(1.0 - trace_priors.OWN)
    return float(np.logaddexp(usual, _noise_laplace(strata, mean, 0.0) - 0.5 * np.log(own) + np.log(trace_priors.OWN)))


def _noise_laplace(strata: Strata, mean: float, precision: float) -> float:
    """Laplace's integral over a log noise variance with a normal prior, without the constant of the prior."""
    n = float(np.sum(strata.weight * strata.frames))
    square = float(np.sum(strata.weight * strata.yy / strata.noise))
    constant = float(np.sum(strata.weight * strata.frames * np.log(strata.noise)))
    beta = float(np.log(max(square, TINY) / max(n, TINY))) if precision == 0.0 else mean
    for _ in range(STEPS):  # the function is convex
        left = square * np.exp(-beta)
        step = (0.5 * (n - left) + (beta - mean) * precision) / (0.5 * left + precision)
        beta -= float(np.clip(step, -LONGEST_STEP, LONGEST_STEP))
        if abs(step) < SETTLED:
            break
    left = square * np.exp(-beta)
    cost = 0.5 * (constant + n * beta + left) + 0.5 * (beta - mean) ** 2 * precision
    return float(-cost - 0.5 * np.log(0.5 * left + precision))


SPREAD_STEPS = 50  # numerical: of EM for the spread of biases at the start; the fit goes on from there
START = 0.5  # numerical: of the variance of a course is truth, the rest noise, before anything is known


class Tracers(NamedTuple):
    alpha: np.ndarray  # (K,) log gain
    beta: np.ndarray  # (K,) log noise variance of a frame
    sign: np.ndarray  # (K,) expected sign of who follows anything, from -1 to 1
    odds: np.ndarray  # (K,) log odds of not being reversed
    other: np.ndarray  # (K, 3) the most probable row, and bias, of the less probable sign
    related: np.ndarray  # (K,) probability of following anything
    seen: np.ndarray  # (K,) the same, at the last look
    cov: np.ndarray  # (K, 2, 2) of (alpha, beta)
    bias: np.ndarray  # (K,)
    bias_variance: np.ndarray  # (K,) of what is known of it
    A: float  # variance of the truth inside recordings
    AB: float  # of its levels
    eta: float  # variance of a level's error over that of a frame
    tau2: float  # scale of biases, squared
    prior: RowPrior

    @property
    def gain(self) -> np.ndarray:
        """(K,) expected signed gain."""
        return np.asarray(self.follows * np.exp(self.alpha))

    @property
    def follows(self) -> np.ndarray:
        """(K,) expected sign, 0 for who follows nothing."""
        return np.asarray(self.related * self.sign)

    @property
    def noise(self) -> np.ndarray:
        """(K,) noise variance of a frame, what an uncertain sign adds included."""
        return np.asarray(np.exp(self.beta) + self.unsigned * self.A)

    @property
    def level_noise(self) -> np.ndarray:
        """(K,) of the level of a recording."""
        return np.asarray(self.eta * np.exp(self.beta) + self.unsigned * self.AB)

    @property
    def away(self) -> np.ndarray:
        """(K, 2) of rows from what is expected of them."""
        return np.asarray(np.stack([self.alpha, self.beta], axis=1) - self.prior.mean)

    @property
    def square(self) -> np.ndarray:
        """(K, 2, 2) of that, with what is unknown of rows."""
        return np.asarray(self.away[:, :, None] * self.away[:, None] + self.cov)

    @property
    def bias_weight(self) -> np.ndarray:
        """(K,) probability of an origin like the others': of one's own, nothing is known."""
        return np.asarray(weigh_biases(self.bias**2 + self.bias_variance, self.tau2)[1])

    @property
    def unsigned(self) -> np.ndarray:
        """(K,) variance of the signed gain: what is followed beyond the expected."""
        return np.asarray((self.related - self.follows**2) * np.exp(2.0 * self.alpha))


def weigh_biases(square: np.ndarray, tau2: float) -> tuple[np.ndarray, np.ndarray]:
    """Log density, up to a constant, and probability of an origin like the others'; normal, but for a few with an
    origin of their own, of which nothing is known. square: of biases, with what is unknown of them."""
    usual = np.log(1.0 - trace_priors.OWN) - 0.5 * (np.log(tau2) + square / tau2)
    total = np.logaddexp(usual, np.log(trace_priors.OWN / trace_priors.OWN_ORIGIN_SD))
    return total, np.exp(usual - total)


def usual_spread() -> np.ndarray:
    """(2, 2) of log gain and log noise variance before the data speak."""
    between = trace_priors.GAIN_NOISE * trace_priors.GAIN_SD * trace_priors.NOISE_SD
    return np.array([[trace_priors.GAIN_SD**2, between], [between, trace_priors.NOISE_SD**2]])


def first_tracers(scales: TwoScales, place: Placed) -> Tracers:
    """Everybody half truth and half noise, in the unit and from the origin of their own; reversed who loads clearly
    negatively on what most courses share."""
    K, moves = len(scales.present), scales.moving & (place.given > 0)
    square = np.diagonal(place.cross) / np.maximum(place.given, 1.0)
    alpha = np.where(moves, 0.5 * np.log(np.where(moves & (square > 0), square, 1.0)), 0.0)
    sign = first_signs(scales, place)
    bias = first_biases(scales, sign * np.exp(alpha))
    beta = np.log(START) + 2.0 * alpha
    return Tracers(
        alpha=alpha,
        beta=beta,
        sign=sign,
        odds=np.zeros(K),
        other=np.stack([alpha - 1.0, beta, bias], axis=1),
        related=np.where(scales.constant, 0.0, 1.0),
        seen=np.where(scales.constant, 0.0, 1.0),
        cov=np.zeros((K, 2, 2)),
        bias=bias,
        bias_variance=np.zeros(K),
        A=START,
        AB=START,
        eta=1.0,
        tau2=first_spread(bias[scales.levelled]),
        prior=row_prior(np.array([0.0, np.log(START)]), usual_spread()),
    )


def first_biases(scales: TwoScales, gain: np.ndarray) -> np.ndarray:
    """(K,) by least squares, level = bias + gain * level of the recording, in the unit of each: whatever the origin of
    their scales. Levels of recordings err as much as they vary; that alone tells both apart where they are few. Of
    levels that never change nothing is told."""
    K, told = len(gain), ~scales.constant[scales.annotator_of]
    k, m = scales.annotator_of[told], scales.recording_of[told]
    level, n = scales.level[told] / gain[k], np.bincount(m, minlength=scales.recordings) + 1.0
    given = np.zeros((K, scales.recordings))
    np.add.at(given, (k, m), 1.0)
    said = np.bincount(k, level, minlength=K) - given @ (np.bincount(m, level, minlength=scales.recordings) / n)
    system = np.diag(np.where(scales.levelled, given.sum(axis=1), 1.0)) - (given / n) @ given.T
    bias = gain * np.linalg.solve(system, said)
    bias[scales.annotator_of[~told]] = scales.level[~told]
    return np.asarray(bias)


def first_spread(bias: np.ndarray) -> float:
    """The most probable scale of these biases, squared."""
    n0 = trace_priors.PRIOR_BIASES
    tau2 = float((bias @ bias + n0 * trace_priors.BIAS_VARIANCE) / (len(bias) + n0))
    for _ in range(SPREAD_STEPS):
        weight = weigh_biases(bias**2, tau2)[1]
        square = weight @ bias**2 + np.sum(1.0 - weight) * tau2
        tau2 = float((square + n0 * trace_priors.BIAS_VARIANCE) / (len(bias) + n0))
    return tau2


def first_signs(scales: TwoScales, place: Placed) -> np.ndarray:
    """(K,) 1 or -1, by the first eigenvector of the correlations between courses; most annotators are right."""
    size = np.sqrt(np.diagonal(place.cross))
    size = np.where(size > 0, size, 1.0)
    loading = np.linalg.eigh(place.cross / size[:, None] / size)[1][:, -1]
    if loading[scales.moving].sum() < 0:
        loading = -loading
    return np.where(loading < -trace_priors.TURNED / np.sqrt(len(size)), -1.0, 1.0)


def logarithms(now: Tracers) -> np.ndarray:
    """(n,) what has to stand still before the sweeps have settled."""
    return np.concatenate([now.alpha, now.beta, now.bias, np.log([now.A, now.AB, now.eta])])


class Sums:
    """What all annotators together say of every condensed frame and of every level; one of them can be taken out."""

    def __init__(self, scales: TwoScales, place: Placed, now: Tracers) -> None:
        self.scales, self.place, self.now = scales, place, now
        self.Q, self.S = np.zeros(len(place.stratum)), np.zeros(len(place.stratum))
        self.QL, self.SL = np.zeros(scales.recordings), np.zeros(scales.recordings)
        K, order = len(now.alpha), np.argsort(scales.annotator_of, kind="stable")
        self.judgements = np.split(order, np.cumsum(np.bincount(scales.annotator_of, minlength=K))[:-1])
        for k in range(K):
            self._add(k, 1.0)

    def _add(self, k: int, times: float) -> None:
        gain, noise, level_noise = self.now.gain[k], self.now.noise[k], self.now.level_noise[k]
        row, js = self.place.row[k], self.judgements[k]
        self.Q[row] += times * gain**2 / noise
        self.S[row] += times * gain / noise * self.place.course[k]
        m = self.scales.recording_of[js]
        self.QL[m] += times * gain**2 / level_noise
        self.SL[m] += times * gain / level_noise * (self.scales.level[js] - self.now.bias[k])

    @property
    def precision(self) -> np.ndarray:
        """(n,) Q of each stratum."""
        return np.asarray(self.Q[self.place.first])

    def without(self, k: int, kappa: float, *, hesitant: bool = False) -> Strata:
        """The evidence on annotator k, whom `replace` must put back.

        hesitant: no more is known than an expected sign; the truth is as uncertain as that makes it.
        """
        self._add(k, -1.0)
        doubt = float(self.now.related[k] / self.now.follows[k] ** 2 - 1.0) if hesitant else 0.0
        row, y, n = self.place.row[k], self.place.course[k], len(self.place.frames)
        V = 1.0 / (1.0 / self.now.A + np.maximum(self.Q[row], 0.0))
        m, stratum = V * self.S[row], self.place.stratum[row]
        held = np.unique(stratum)
        sums = [np.bincount(stratum, v, minlength=n)[held] for v in (y * y, m * y, m * m)]
        own = 1.0 / (1.0 / self.now.A + np.maximum(self.precision[held], 0.0))
        z, mL, VL = self.levels(k)
        z, one = z - self.now.bias[k], np.ones(len(z))
        return Strata(
            weight=np.concatenate([np.full(len(held), kappa), one]),
            frames=np.concatenate([self.place.frames[held], one]),
            V=np.concatenate([own + doubt * self.now.A, VL + doubt * self.now.AB]),
            noise=np.concatenate([np.ones(len(held)), self.now.eta * one]),
            yy=np.concatenate([sums[0], z * z]),
            my=np.concatenate([sums[1], mL * z]),
            mm=np.concatenate([sums[2], mL * mL]),
        )

    def at_bias(self, strata: Strata, k: int, bias: float) -> Strata:
        """The same evidence as if annotator k, who is out of the sums, had this bias."""
        z, mean, _ = self.levels(k)
        z, courses = z - bias, len(strata.yy) - len(z)
        yy, my = np.append(strata.yy[:courses], z * z), np.append(strata.my[:courses], mean * z)
        return strata._replace(yy=yy, my=my)

    def levels(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(n,) levels that annotator k gave, and means and variances of the truth's as they are in the sums."""
        js = self.judgements[k]
        own = self.scales.recording_of[js]
        VL = 1.0 / (1.0 / self.now.AB + np.maximum(self.QL[own], 0.0))
        return self.scales.level[js], VL * self.SL[own], VL

    def replace(self, k: int, now: Tracers) -> None:
        """Annotator k back in, as they are now."""
        self.now = now
        self._add(k, 1.0)


def hands_of(scales: TwoScales, now: Tracers, lag: np.ndarray) -> Hands:
    """What frames need to know of these annotators."""
    return Hands(scales.unit, scales.flat, lag, now.gain, now.noise, now.A)


def error_correlations(parts: Parts, hands: tuple[Hands, ...], steps: tuple[int, ...]) -> np.ndarray:
    """(D,) correlation of the errors of frames `steps` apart, of all annotators together; 0 to 1."""
    cross, square = np.sum(parts.map(error_products, hands, steps), axis=0).T
    return np.where(square > 0, np.clip(cross / np.where(square > 0, square, 1.0), 0.0, 1.0), 1.0)
