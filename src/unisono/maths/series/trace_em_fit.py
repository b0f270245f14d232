"""What a fit of traces is asked and what it brings, and the convention of delays.

Ratings come standardised per dimension. They show only relative delays: the absolute one is a convention, returned with
the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unisono.maths.em_loop import EmTrace, OnStep
from unisono.maths.series import delay_search, error_bands, left_out_traces, trace_truth
from unisono.maths.series.trace_data import Priors, SeriesData, SeriesParams, Structure, lag_kernel, recordings_of

Watch = OnStep[SeriesParams]  # after every iteration of EM, with parameters of standardised ratings
OnDelay = Callable[[int, int], None]  # delays tried, delays to try


class Settings(NamedTuple):
    window: float = 3.0  # seconds that delays may span
    memory: float | None = None  # seconds that the truth remembers: see `autocorrelation`; None: estimated
    lag: float | None = None  # mean delay of the annotators in seconds; None: by the rule of the earliest
    earliest: float = 0.2  # seconds: the rule lets the earliest annotator react this soon
    shared: float | None = None  # share of the rating error that all annotators have in common; None: COMMON_UNIT
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
    extra: np.ndarray  # (D,) what autocorrelated errors add to the variance inside a recording
    spread: error_bands.Spread  # what the annotators' average may be off by
    trace: EmTrace
    structure: Structure
    priors: Priors
    levels: trace_truth.Levels | None = None  # of recordings, where they err by themselves
    lag_range: np.ndarray | None = None  # (K, D, 2) ends of the 90 % intervals of the delays, in frames
    doubt: np.ndarray | None = None  # (K, D, 4) variances of what is said of annotators, see FigureDoubt
    diagnosis: np.ndarray | None = None  # (K, D, 5) probabilities, see tracer_diagnosis.py; NaN without ratings
    rating_errors: left_out_traces.RatingErrors | None = None  # what predicted ratings are off by

    @property
    def sd(self) -> np.ndarray:
        """(sum T, D) of the band."""
        return np.asarray(np.sqrt(np.diagonal(self.cov, axis1=1, axis2=2)))


def default_structure(rate: float, s: Settings) -> Structure:
    """One gain and one delay per annotator and dimension."""
    return Structure(W=round(s.window * rate) + 1, transform="delay", level=False)


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
    return delay_search.independent_share(cross, square)


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
