"""From known annotators to the parameters of the truth: correlations, memory, what the average may be off by.

What outlasts the smoother is told from errors over half the frames that it averages. The average annotator defines
scale, level and delay of the truth. What that average may be off by has two parts. One is seen: annotators are a sample
of those who might have rated, and they differ. The other is not: what all annotators do alike looks like truth. Its
size is an assumption, in trace_priors.py, which known signals alone can test: where annotators use units that differ
much, the unit they have in common is as little to be relied on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from unisono.maths.series import trace_priors
from unisono.maths.series.delay_search import MAX_CORRELATION
from unisono.maths.series.delays_and_memory import DelayPosterior, autocorrelation, truth_memory
from unisono.maths.series.error_bands import Spread
from unisono.maths.series.trace_data import SeriesData, SeriesParams, Structure, lag_kernel
from unisono.maths.series.trace_em_fit import Settings
from unisono.maths.series.trace_frames import Hands, JointFrames, Placed, joint_frames
from unisono.maths.series.trace_parts import Parts, TwoScales
from unisono.maths.series.trace_truth import Levels
from unisono.maths.series.trace_weights import trace_freedom
from unisono.maths.series.tracer_rows import Sums, Tracers, error_correlations, hands_of

CORRELATION_ROUNDS = 20  # numerical: of EM for the correlation of true dimensions
IMAGINARY_FRAMES = 4.0  # choice: independent frames by which dimensions are uncorrelated


class Dimension(NamedTuple):
    """What was found on one dimension."""

    scales: TwoScales
    place: Placed
    tracers: Tracers
    kappa: float
    lag: np.ndarray  # (K,) delays in frames at which the courses are placed


class Asked(NamedTuple):
    """What is to be fused, and how."""

    parts: Parts
    data: SeriesData
    rate: float
    settings: Settings
    structure: Structure
    group: np.ndarray  # (K,) who shares recordings, directly or not


class Known(NamedTuple):
    """What was found out about the annotators."""

    dimensions: tuple[Dimension, ...]
    delays: DelayPosterior
    leak: np.ndarray  # (K, D, D) leakage between dimensions in their units, 0 for the own


def all_hands(found: tuple[Dimension, ...]) -> tuple[Hands, ...]:
    """What frames need to know of the annotators of every dimension."""
    return tuple(hands_of(f.scales, f.tracers, f.lag) for f in found)


def truth_params(asked: Asked, known: Known) -> tuple[SeriesParams, Levels]:
    parts, found, group = asked.parts, known.dimensions, asked.group
    K, D, W = asked.data.K, asked.data.D, asked.structure.W
    phi = _autocorrelation(parts, asked.rate, asked.settings, found)
    lag = np.zeros((K, D))
    for g in np.unique(group):
        own = group == g
        relative = known.delays.mean[own]
        lag[own] = relative - relative.min()
    unit = np.array([f.scales.unit for f in found])
    centre = np.array([f.scales.centre for f in found])
    gain = np.stack([f.tracers.gain for f in found], axis=1)
    noise = np.stack([f.tracers.noise for f in found], axis=1) * unit**2
    level_noise = np.stack([f.tracers.level_noise for f in found], axis=1) * unit**2
    bias = np.stack([f.tracers.bias for f in found], axis=1) * unit
    doubt = np.stack([f.tracers.bias_variance for f in found], axis=1) * unit**2
    flat = np.stack([f.scales.flat for f in found], axis=1)
    moves = np.where(flat, 0.0, gain)  # who does not move says nothing of the course
    F, leak = np.zeros((K, W, D, D)), known.leak * unit[:, None] / unit
    for k, d in np.ndindex(K, D):
        F[k, :, d] = np.outer(lag_kernel(float(lag[k, d]), W), leak[k, d] + moves[k, d] * np.eye(D)[d])
    sd = np.sqrt([f.tracers.A for f in found]) * unit
    frames = [one for part in parts.map(joint_frames, all_hands(found)) for one in part] if D > 1 else []
    A = truth_correlation(found, frames) * sd[:, None] * sd
    params = SeriesParams(
        F=F,
        b=centre + bias - F.sum(axis=1) @ centre,
        N=noise[:, :, None] * np.eye(D),
        rho=np.zeros((K, D)),
        lag=lag,
        mu=centre,
        theta=np.zeros((0, D)),
        sigma=(1.0 - phi**2) * A,
        phi=phi,
    )
    prior = np.diag([f.tracers.AB for f in found]) * unit**2
    lasting = lasting_errors(parts, found, phi)
    kappa = np.array([f.kappa for f in found])
    beside = np.ones(D), kappa, trace_freedom(parts, params, kappa)
    return params, Levels(gain, leak, level_noise, centre + bias, doubt, prior, lasting, *beside)


def _autocorrelation(parts: Parts, rate: float, s: Settings, found: tuple[Dimension, ...]) -> float:
    """Of neighbouring frames of the truth: given, or by its memory."""
    memory = truth_memory(parts, all_hands(found), counted_frames(parts, found), rate) if s.memory is None else s.memory
    return autocorrelation(rate, memory)


def counted_frames(parts: Parts, found: tuple[Dimension, ...]) -> np.ndarray:
    """(D,) what a frame counts for: as much of it as errors are new in every frame, and kappa at least."""
    rho = np.minimum(error_correlations(parts, all_hands(found), (1,) * len(found)), MAX_CORRELATION)
    return np.asarray(np.maximum([f.kappa for f in found], (1.0 - rho) / (1.0 + rho)))


def truth_correlation(found: tuple[Dimension, ...], frames: list[JointFrames]) -> np.ndarray:
    """(D, D) correlation of the true courses, by EM over frames alone; few of them draw it to none."""  # eq. S44
    D = len(found)
    if D == 1:
        return np.eye(1)
    A, n = np.array([f.tracers.A for f in found]), np.array([one.frames for one in frames])
    Q = np.array([one.Q * A for one in frames])[:, :, None] * np.eye(D)  # of a truth with variance 1
    SS = np.array([one.SS * np.sqrt(A) * np.sqrt(A)[:, None] for one in frames])
    independent, R = float(np.mean([f.kappa for f in found])) * n.sum(), np.eye(D)
    for _ in range(CORRELATION_ROUNDS):
        V = np.linalg.inv(np.linalg.inv(R) + Q)
        second = np.sum(V @ SS @ V + n[:, None, None] * V, axis=0) / n.sum()
        moment = (independent * second + IMAGINARY_FRAMES * np.eye(D)) / (independent + IMAGINARY_FRAMES)
        sd = np.sqrt(np.diagonal(moment))
        R = moment / sd[:, None] / sd
    return np.asarray(R)


def lasting_errors(parts: Parts, found: tuple[Dimension, ...], phi: float) -> np.ndarray:
    """(D,) share of the errors that outlasts the smoother: their correlation over half the frames it averages."""
    steps = tuple(_half_averaged(f, phi) for f in found)
    rho = error_correlations(parts, all_hands(found), tuple(max(step, 1) for step in steps))
    return np.where(np.array(steps) > 0, rho, 1.0)


def _half_averaged(f: Dimension, phi: float) -> int:
    """Half the frames that the smoother averages; 0 where nobody says anything."""
    Q, A = Sums(f.scales, f.place, f.tracers).precision, f.tracers.A
    if not (Q > 0).any():
        return 0
    q, sigma = weighted_median(Q[Q > 0], f.place.frames[Q > 0]), A * (1.0 - phi**2)
    variance = sigma / np.sqrt((1.0 + phi**2 + sigma * q) ** 2 - 4.0 * phi**2)  # of a long chain under white noise
    return max(int(np.ceil(0.5 / (variance * q))), 1)


def weighted_median(values: np.ndarray, count: np.ndarray) -> float:
    """The median of values that are there so many times."""
    order = np.argsort(values)
    values, until = values[order], np.cumsum(count[order])
    middle = [(until[-1] - 1) // 2, until[-1] // 2]
    return float(np.mean(values[np.searchsorted(until, middle, side="right")]))


TINY = 1e-300  # numerical: of a truth that never moves
HALF = 0.5  # convention: degrees of freedom of levels, where there is one recording
NORMAL = 1.4826  # numerical: standard deviations in the median distance from the median


def annotator_sample(found: tuple[Dimension, ...], delays: DelayPosterior) -> Spread:
    """Variances of the means of gains, biases and delays, from how these annotators differ (Student's t)."""  # eq. S50
    gain, bias = np.zeros(len(found)), np.zeros(len(found))
    lag = float(delays.variance.mean() / len(delays.variance))
    for d, (scales, now) in enumerate((f.scales, f.tracers) for f in found):
        gain[d] = _student(int(scales.moving.sum())) * unit_variance(scales, now) / max(int(scales.moving.sum()), 1)
        own, usual = now.bias[scales.levelled], now.bias_weight[scales.levelled]
        # What is unknown of each bias is in the levels of recordings; the prior of biases is too narrow for a mean. Of
        # an origin of one's own no more is known than how far the others' are from each other.
        square = float(usual @ own**2 + np.sum(1.0 - usual) * now.tau2) / (len(own) - 1) if len(own) > 1 else now.tau2
        bias[d] = _student(len(own)) * square / max(len(own), 1) * scales.unit**2
    return Spread(gain, bias, np.full(len(found), lag))


class FigureDoubt(NamedTuple):
    """Variances of what is said of annotators, (K, D) each; the first three are those of logarithms."""

    gain: np.ndarray  # of the gain, with what is unknown of the unit of all
    noise: np.ndarray  # of the noise's standard deviation
    odds: np.ndarray  # of the odds of reliability, gain^2 variance of the truth over that of the noise
    bias: np.ndarray  # with what is unknown of the level of all


def figure_doubt(found: tuple[Dimension, ...], sample: Spread, frames: int) -> FigureDoubt:
    """From what is known of rows. Few frames tell the truth's variance, few levels that of their errors."""
    own = np.stack([f.tracers.cov for f in found], axis=1)
    alpha, both, beta = own[..., 0, 0], own[..., 0, 1], own[..., 1, 1]
    inside, levels = np.array([[f.tracers.A, f.tracers.AB] for f in found]).T
    free = np.array([max(f.scales.recordings - 1, HALF) for f in found])
    squares = inside**2 / np.maximum([f.kappa * frames for f in found], 1.0) + levels**2 / free
    truth = 2.0 * squares / np.maximum(inside + levels, TINY) ** 2
    course, level = (np.stack([getattr(f.tracers, name) for f in found], axis=1) for name in ("noise", "level_noise"))
    told = [max((f.scales.moving.sum() - 1) * (f.scales.recordings - 1), HALF) for f in found]
    noise = beta + (level / np.maximum(course + level, TINY)) ** 2 * 2.0 / np.array(told)
    bias = np.stack([f.tracers.bias_variance * f.scales.unit**2 for f in found], axis=1)
    odds = 4.0 * (alpha - both) + noise + truth
    return FigureDoubt(alpha + sample.gain, noise / 4.0, odds, bias + sample.bias)  # eq. S70


def with_common_error(sample: Spread, found: tuple[Dimension, ...], rate: float, s: Settings) -> Spread:
    """Adds what all annotators may do alike: the unit they use, and the delay, unless it is known."""  # eq. S51
    lag = sample.lag if s.lag is not None else sample.lag + (trace_priors.COMMON_DELAY_SD * rate) ** 2
    if s.shared is None:
        between = np.array([unit_variance(f.scales, f.tracers) for f in found])
        return sample._replace(gain=sample.gain + trace_priors.COMMON_UNIT * between, lag=lag)
    return sample._replace(bias=sample.bias + shared_error(found, s.shared), lag=lag)


def unit_variance(scales: TwoScales, now: Tracers) -> float:
    """Of log gains, as these annotators show it, without what was expected of them; or as far apart as most are, if
    many have units of their own."""
    n, n0 = max(int(scales.moving.sum()), 1), trace_priors.PRIOR_ANNOTATORS
    shown = ((n + n0) * float(now.prior.cov[0, 0]) - n0 * trace_priors.GAIN_SD**2) / n
    away = now.alpha[scales.moving] - np.median(now.alpha[scales.moving]) if scales.moving.any() else np.zeros(1)
    return max(shown, float(NORMAL * np.median(np.abs(away))) ** 2)


def shared_error(found: tuple[Dimension, ...], share: float) -> np.ndarray:
    """(D,) variance of an error that all annotators make, as a share of the median annotator's."""
    noise = [(f.tracers.noise + f.tracers.level_noise)[f.scales.moving] * f.scales.unit**2 for f in found]
    return share / (1.0 - share) * np.array([float(np.median(own)) if own.size else 0.0 for own in noise])


def _student(n: int) -> float:
    """The spread of few annotators is itself uncertain: the square of Student's 95 % quantile over the normal's."""
    return float(stdtrit(n - 1.0, 0.95) / ndtri(0.95)) ** 2 if n > 1 else 1.0
