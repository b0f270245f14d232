"""The fit of traces by EM under strong priors: one gain and one delay per annotator and dimension, a little leakage.

Where features are given, they are related to this fit; `Settings` and `DefaultFit` are those of the default
(`tracer_fit`) too. Ratings come standardised per dimension, delays
start from cross-correlations, phi is fixed by a memory in seconds. Noise is white for the estimate (innovation
variances favour traces that do not move), autocorrelated for the bands. Ratings show only relative delays: the absolute
one is a convention, returned with the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unisono.maths.em_loop import EmTrace, OnStep, relative_change, run_em
from unisono.maths.series.delay_search import independent_share, refine_lags, relative_lags
from unisono.maths.series.delays_and_memory import autocorrelation
from unisono.maths.series.error_bands import Spread, annotator_spread, band_covariance, noise_levels, residual_traces
from unisono.maths.series.left_out_traces import RatingErrors
from unisono.maths.series.trace_data import (
    Priors,
    SeriesData,
    SeriesParams,
    Structure,
    connected,
    identity_params,
    lag_kernel,
    recordings_of,
)
from unisono.maths.series.trace_em import make_step, rated
from unisono.maths.series.trace_estep import infer
from unisono.maths.series.trace_layout import Layout, make_layout
from unisono.maths.series.trace_truth import Levels

Watch = OnStep[SeriesParams]  # after every iteration of EM, with parameters of standardised ratings
OnDelay = Callable[[int, int], None]  # delays tried, delays to try

FIXED_MEMORY = 20.0  # choice: seconds, where none is given; the default on two scales estimates it
SHARED = 0.05  # choice: share of the rating error in common where none is given; the default on two scales: COMMON_UNIT


class Settings(NamedTuple):
    window: float = 3.0  # seconds that delays may span
    memory: float | None = None  # seconds that the truth remembers: see `autocorrelation`; None: FIXED_MEMORY
    lag: float | None = None  # mean delay of the annotators in seconds; None: by the rule of the earliest
    earliest: float = 0.2  # seconds: the rule lets the earliest annotator react this soon
    lag_unknown: float = 0.5  # seconds, sd of the common delay where it is a convention; widens the band on slopes
    lag_sd: float = 1.0  # seconds around the common delay, prior of each delay
    shared: float | None = None  # share of the rating error that all annotators have in common; None: SHARED, see there
    gain_sd: float = 0.1  # prior of each gain around 1
    crosstalk_sd: float = 0.05  # prior of the leakage between dimensions around 0; 0: none
    bias_sd: float = 0.5  # prior of each bias, in standard deviations of the ratings
    pool: float = 1000.0  # prior degrees of freedom of each noise variance, around the pooled one, in effective frames
    ridge: float = 1.0  # precision of the effects of standardised features, in units of sigma^-1; see features.py
    noise_floor: float = 1e-6  # least noise variance, in variances of the ratings
    correlation_seconds: float = 30.0  # seconds over which errors of the ratings may be correlated
    tol: float = 1e-5  # relative change of the objective; the truth then moves by thousandths of the ratings' sd
    max_iter: int = 100


class DefaultFit(NamedTuple):
    """In the units of the ratings it was given."""

    mean: np.ndarray  # (sum T, D) fused truth
    cov: np.ndarray  # (sum T, D, D) of its error, with the variances of the band
    params: SeriesParams
    lag: np.ndarray  # (K, D) delay in seconds under the convention; NaN without ratings
    mean_lag: float  # seconds, the convention: the annotators' mean delay
    convention: str  # "given" or "earliest"
    noise: np.ndarray  # (K, D) level variance of the noise; NaN without ratings
    correlation: np.ndarray  # (D, n) autocorrelation of the noise by frames
    extra: np.ndarray  # (D,) what autocorrelated errors add to the variance inside a recording
    spread: Spread  # what the annotators' average may be off by
    trace: EmTrace  # of both runs of EM, before and after the search for delays
    structure: Structure
    priors: Priors
    levels: Levels | None = None  # of recordings, where they err by themselves
    lag_range: np.ndarray | None = None  # (K, D, 2) ends of the 90 % intervals of the delays, in frames
    diagnosis: np.ndarray | None = None  # (K, D, 5) probabilities, see tracer_diagnosis.py; NaN without ratings
    rating_errors: RatingErrors | None = None  # what predicted ratings are off by

    @property
    def sd(self) -> np.ndarray:
        """(sum T, D) of the band."""
        return np.asarray(np.sqrt(np.diagonal(self.cov, axis1=1, axis2=2)))


def fit_default(
    data: SeriesData,
    rate: float,
    settings: Settings | None = None,
    *,
    watch: Watch | None = None,
    on_delay: OnDelay | None = None,
) -> DefaultFit:
    """Fuses series with one gain and one delay per annotator and dimension.

    data: standardised, ratings and features alike: pooled mean 0 and variance 1, which the priors are made for.
    rate: frames per second. `watch` sees every iteration of EM, `on_delay` the search for delays between its two runs.
    """
    problem = _set_up(data, rate, Settings() if settings is None else settings)
    params, trace = _estimate(problem, _start(problem), watch, on_delay)
    return _finished(problem, _placed(problem, params), trace)


class Problem(NamedTuple):
    """What is known before anything is estimated."""

    data: SeriesData
    rate: float
    settings: Settings
    structure: Structure
    lag: np.ndarray  # (K, D) delays in frames to start from
    priors: Priors
    layout: Layout


def _set_up(data: SeriesData, rate: float, s: Settings) -> Problem:
    structure = default_structure(rate, s)
    lag = starting_lags(data, structure.W, rate, s)
    priors = default_priors(structure, rate, effective_share(data), lag, s)
    return Problem(data, rate, s, structure, lag, priors, make_layout(data, structure))


def _estimate(
    problem: Problem, start: SeriesParams, watch: Watch | None, on_delay: OnDelay | None
) -> tuple[SeriesParams, EmTrace]:
    """EM, a search for the delays by the likelihood, and EM again."""
    s, layout, structure, priors = problem.settings, problem.layout, problem.structure, problem.priors
    step = make_step(layout, structure, priors, gauge=True)

    def climb(params: SeriesParams) -> tuple[SeriesParams, EmTrace]:
        until = relative_change(s.tol)
        return run_em(step, params, stop_when=until, max_iter=s.max_iter, on_step=watch, keep="next")

    params, before = climb(start)
    params, after = climb(refine_lags(layout, params, structure, priors, on_delay=on_delay))
    return params, EmTrace(np.concatenate([before.objective, after.objective]), after.stop)


def _placed(problem: Problem, params: SeriesParams) -> SeriesParams:
    """Delays at the convention, in every group of annotators that share recordings."""
    used, group = rated(problem.layout, problem.structure), connected(problem.data)
    for g in np.unique(group[used]):
        params, _ = to_convention(params, used & (group == g), problem.rate, problem.settings)
    return params


def default_structure(rate: float, s: Settings) -> Structure:
    """One gain and one delay per annotator and dimension."""
    return Structure(W=round(s.window * rate) + 1, transform="delay", crosstalk=s.crosstalk_sd > 0)


def effective_share(data: SeriesData) -> float:
    """kappa, effective over all frames: (1 - rho) / (1 + rho), rho lag-1 autocorrelation around the mean."""  # eq. S25
    cross = square = 0.0
    for trace in recordings_of(data):
        seen = ~np.isnan(trace)
        filled = np.where(seen, trace, 0.0)
        around = filled - filled.sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
        around = np.where(seen, around, 0.0)
        around -= around.sum(axis=1, keepdims=True) / np.maximum(seen.sum(axis=1, keepdims=True), 1)
        both = seen[:, 1:] & seen[:, :-1]
        cross += float(np.sum(around[:, 1:] * around[:, :-1] * both))
        square += float(np.sum(around[:, 1:] ** 2 * both))
    return independent_share(cross, square)


def starting_lags(data: SeriesData, W: int, rate: float, s: Settings) -> np.ndarray:
    """(K, D) delays in frames inside the window, the earliest annotator at the rule's delay."""
    max_lag = (W - 1) // 2
    if max_lag == 0:
        return np.zeros((data.K, data.D))
    relative = relative_lags(data, max_lag)
    inside = relative - relative.min(axis=0) + round(s.earliest * rate)
    return np.asarray(np.clip(inside, 0, W - 1), dtype=float)


def default_priors(structure: Structure, rate: float, kappa: float, lag: np.ndarray, s: Settings) -> Priors:
    """Gains near 1, biases near 0, delays near the common one, noise near the pool."""
    away = (np.arange(structure.W) - lag.mean()) / (s.lag_sd * rate)
    return Priors(
        gain_sd=s.gain_sd,
        crosstalk_sd=s.crosstalk_sd,
        bias_sd=s.bias_sd,
        log_lag=-0.5 * away**2,
        noise_nu=s.pool,
        theta_precision=s.ridge,
        kappa=kappa,
        noise_floor=s.noise_floor,
    )


def filter_lag(params: SeriesParams, used: np.ndarray) -> float:
    """Frames by which the average annotator's own-dimension filter lags, as the centre of its weights."""
    own = np.abs(np.diagonal(params.F[used], axis1=2, axis2=3)).sum(axis=(0, 2))  # (W,)
    return float(np.arange(len(own)) @ own / own.sum()) if own.sum() > 0 else 0.0


def to_convention(params: SeriesParams, used: np.ndarray, rate: float, s: Settings) -> tuple[SeriesParams, float]:
    """Moves the delays of a dimension together, to the nearest frame and as far as the window allows.

    The annotators' mean delay becomes the same in every dimension: the one given, or the least one that lets nobody
    react earlier than `earliest`. Returns it in seconds.
    """  # eq. S29
    lag, W = params.lag[used], params.F.shape[1]
    mean = s.earliest * rate + (lag.mean(axis=0) - lag.min(axis=0)).max() if s.lag is None else s.lag * rate
    step = np.clip(np.round(mean - lag.mean(axis=0)), -lag.min(axis=0), W - 1 - lag.max(axis=0))
    params = moved_lags(params, np.where(used[:, None], step, 0.0))
    return params, float(params.lag[used].mean() / rate)


def moved_lags(params: SeriesParams, step: np.ndarray | float) -> SeriesParams:
    """Every delay `step` frames later, inside the window. step: a number, or (K, D)."""
    W = params.F.shape[1]
    lag = np.clip(params.lag + step, 0, W - 1)
    F = np.empty_like(params.F)
    for k, d in np.ndindex(*lag.shape):
        F[k, :, d] = np.outer(lag_kernel(float(lag[k, d]), W), params.F[k, :, d].sum(axis=0))
    return params._replace(F=F, lag=lag)


def _start(problem: Problem) -> SeriesParams:
    phi = autocorrelation(problem.rate, problem.settings.memory or FIXED_MEMORY)
    start = identity_params(problem.data, problem.structure, noise=0.5, phi=phi, lag=problem.lag)
    return start._replace(sigma=0.5 * (1.0 - phi**2) * np.eye(problem.data.D))


def convention_spread(
    params: SeriesParams,
    gain: np.ndarray,
    noise: np.ndarray,
    mean: np.ndarray,
    rate: float,
    s: Settings,
    *,
    delay_known: bool,
) -> Spread:
    """What the annotators' average may be off by, with what ratings cannot show: their common delay and error.

    gain: (K, D) without any prior; noise: (K, D) levels; mean: (sum T, D) the fused truth.
    """
    spread = annotator_spread(params, gain, ~np.isnan(noise), mean)
    if not delay_known:
        spread = spread._replace(lag=spread.lag + (s.lag_unknown * rate) ** 2)
    shared = SHARED if s.shared is None else s.shared
    return spread._replace(bias=spread.bias + shared / (1.0 - shared) * np.nanmean(noise, axis=0))


def _finished(problem: Problem, params: SeriesParams, trace: EmTrace) -> DefaultFit:
    """The truth with its band, and what the delays mean."""
    data, rate, s, structure = problem.data, problem.rate, problem.settings, problem.structure
    truth = infer(problem.layout, data.X, params, structure)
    residual = residual_traces(data, params, truth.mean)
    noise, correlation, extra = _errors(problem, residual.value, params)
    given, used = s.lag is not None, rated(problem.layout, structure)
    spread = convention_spread(params, residual.gain, noise, truth.mean, rate, s, delay_known=given)
    return DefaultFit(
        mean=truth.mean,
        cov=band_covariance(truth, data, params, noise, extra, spread),
        params=params,
        lag=np.where(np.isnan(noise), np.nan, params.lag / rate),
        mean_lag=float(params.lag[used].mean()) / rate,
        convention="given" if given else "earliest",
        noise=noise,
        correlation=correlation,
        extra=extra,
        spread=spread,
        trace=trace,
        structure=structure,
        priors=problem.priors,
    )


def _errors(
    problem: Problem, residual: list[np.ndarray], params: SeriesParams
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Noise levels (K, D), their autocorrelation (D, n), and what it adds to the variance of the truth (D,)."""
    longest = int(problem.data.length.max()) // 3
    max_lag = max(min(int(problem.settings.correlation_seconds * problem.rate), longest), 1)
    noise, correlation, robust, nominal = noise_levels(residual, params, max_lag)
    return noise, correlation, np.maximum(robust - nominal, 0.0)
