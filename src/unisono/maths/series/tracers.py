"""Gain, noise, bias and sign of every annotator on one dimension, and what all of them say together.

    level_km - b_k = s_k g_k L_m + u_km,          u ~ N(0, eta s2_k),  L ~ N(0, AB),  b ~ N(0, tau2)
    course_km[t]   = s_k g_k x_m[t - lag] + e_km,  e ~ N(0, s2_k),      x ~ N(0, A)
    (log g_k, log s2_k) ~ N((0, mu), Sig);  s_k = -1 with probability REVERSED
A few have a unit, or an origin, of their own, which tells nothing of the others'.
The expected sign of an annotator lies between -1 and 1; what they follow beyond it counts as noise. Rows are estimated
in tracer_search.py and tracer_climb.py.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series import priors
from unisono.maths.series.frames import Hands, error_products
from unisono.maths.series.parts import Parts
from unisono.maths.series.row_evidence import RowPrior, Strata, row_prior
from unisono.maths.series.strata import Placed
from unisono.maths.series.two_scales import TwoScales

SPREAD_STEPS = 50  # of EM for the spread of biases at the start; the fit goes on from there
START = 0.5  # of the variance of a course is truth, the rest noise, before anything is known


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
    usual = np.log(1.0 - priors.OWN) - 0.5 * (np.log(tau2) + square / tau2)
    total = np.logaddexp(usual, np.log(priors.OWN / priors.OWN_ORIGIN_SD))
    return total, np.exp(usual - total)


def usual_spread() -> np.ndarray:
    """(2, 2) of log gain and log noise variance before the data speak."""
    between = priors.GAIN_NOISE * priors.GAIN_SD * priors.NOISE_SD
    return np.array([[priors.GAIN_SD**2, between], [between, priors.NOISE_SD**2]])


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
        related=np.ones(K),
        seen=np.ones(K),
        cov=np.zeros((K, 2, 2)),
        bias=bias,
        bias_variance=np.zeros(K),
        A=START,
        AB=START,
        eta=1.0,
        tau2=first_spread(bias[scales.present]),
        prior=row_prior(np.array([0.0, np.log(START)]), usual_spread()),
    )


def first_biases(scales: TwoScales, gain: np.ndarray) -> np.ndarray:
    """(K,) by least squares, level = bias + gain * level of the recording, in the unit of each: whatever the origin of
    their scales. Levels of recordings err as much as they vary; that alone tells both apart where they are few."""
    K, k, m = len(gain), scales.annotator_of, scales.recording_of
    level, n = scales.level / gain[k], np.bincount(m, minlength=scales.recordings) + 1.0
    given = np.zeros((K, scales.recordings))
    np.add.at(given, (k, m), 1.0)
    said = np.bincount(k, level, minlength=K) - given @ (np.bincount(m, level, minlength=scales.recordings) / n)
    system = np.diag(np.where(scales.present, given.sum(axis=1), 1.0)) - (given / n) @ given.T
    return np.asarray(gain * np.linalg.solve(system, said))


def first_spread(bias: np.ndarray) -> float:
    """The most probable scale of these biases, squared."""
    n0 = priors.PRIOR_BIASES
    tau2 = float((bias @ bias + n0 * priors.BIAS_VARIANCE) / (len(bias) + n0))
    for _ in range(SPREAD_STEPS):
        weight = weigh_biases(bias**2, tau2)[1]
        square = weight @ bias**2 + np.sum(1.0 - weight) * tau2
        tau2 = float((square + n0 * priors.BIAS_VARIANCE) / (len(bias) + n0))
    return tau2


def first_signs(scales: TwoScales, place: Placed) -> np.ndarray:
    """(K,) 1 or -1, by the first eigenvector of the correlations between courses; most annotators are right."""
    size = np.sqrt(np.diagonal(place.cross))
    size = np.where(size > 0, size, 1.0)
    loading = np.linalg.eigh(place.cross / size[:, None] / size)[1][:, -1]
    if loading[scales.moving].sum() < 0:
        loading = -loading
    return np.where(loading < -priors.TURNED / np.sqrt(len(size)), -1.0, 1.0)


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
