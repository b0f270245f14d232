"""Series with features: what the features say about the truth, and the common delay that they alone can show.

Ratings with autocorrelated errors are weak evidence about slow movements of the truth, and white noise would give them
too much weight against the features. So the noise is AR(1) here, at the level and with the autocorrelation of what the
default leaves (innovation variances would favour traces that do not move), and only the truth's own parameters are
estimated. A feature that drives the truth's change is accumulated first (`accumulate`); as a level it would mislead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unisono.maths.em_loop import OnStep, never, run_em
from unisono.maths.series.delays_and_memory import autocorrelation
from unisono.maths.series.error_bands import band_covariance, noise_levels, residual_traces
from unisono.maths.series.trace_data import Priors, SeriesData, SeriesParams, Structure, connected
from unisono.maths.series.trace_em import make_step
from unisono.maths.series.trace_em_fit import DefaultFit, OnDelay, Settings, moved_lags
from unisono.maths.series.trace_estep import infer
from unisono.maths.series.trace_layout import Layout, make_layout
from unisono.maths.series.trace_parts import HeldParts, Parts
from unisono.maths.series.trace_priors import COMMON_DELAY_SD
from unisono.maths.series.trace_truth import part_errors
from unisono.maths.series.tracer_fit import fit_two_scales

RHO_MAX = 0.995  # numerical: of neighbouring frames
CORRELATION_SECONDS = 30.0  # convention: seconds over which errors of the ratings may be correlated


class FeatureSettings(NamedTuple):
    memory: float = 5.0  # seconds: how long the truth stays away from what the features say
    ridge: float = 1.0  # precision of the effects of standardised features, in units of sigma^-1
    steps: int = 10  # EM steps for the truth's own parameters, at every delay tried
    stride: float = 0.2  # seconds between the delays tried
    gain: float = 10.0  # log-likelihood by which the best delay must beat the ends of the profile
    groups: int = 6  # groups of annotators with a delay of their own, at most; more are moved together


class FeatureFit(NamedTuple):
    """Delays are tried for each group of annotators that shares recordings, since only features relate the groups."""

    fit: DefaultFit
    shift: tuple[np.ndarray, ...]  # (n,) common delays tried, in seconds beyond those of the default fit
    profile: tuple[np.ndarray, ...]  # (n,) log-likelihood at each
    identified: bool  # every profile has an interior maximum that is high enough; else the convention stands


def accumulate(X: np.ndarray, length: np.ndarray, keep: float = 1.0) -> np.ndarray:
    """(sum T, P) out[t] = keep out[t-1] + X[t] in every recording: features that drive the truth's increments."""
    out, first = X.astype(float), 0
    for T in length.tolist():
        for t in range(first + 1, first + T):
            out[t] += keep * out[t - 1]
        first += T
    return out


def fit_with_features(
    data: SeriesData,
    rate: float,
    settings: Settings | None = None,
    features: FeatureSettings | None = None,
    *,
    parts: Parts | None = None,
    watch: OnStep[Any] | None = None,
    on_delay: OnDelay | None = None,
) -> FeatureFit:
    """Fuses series whose truth follows features. data: standardised; data.X: (sum T, P), P > 0.

    parts: the same data without features, where somebody else does the work on frames of the default.
    """  # eq. S30
    s = Settings() if settings is None else settings
    fs = FeatureSettings() if features is None else features
    alone = data._replace(X=data.X[:, :0])
    parts = HeldParts(alone) if parts is None else parts
    plain = fit_two_scales(alone, rate, s, parts=parts, watch=watch, on_delay=on_delay)
    assert plain.levels is not None
    errors = np.concatenate(parts.map(part_errors, plain.params, plain.structure, plain.levels))
    # Levels of recordings stay as unknown as they are without features.
    plain = plain._replace(spread=plain.spread._replace(bias=plain.spread.bias + errors[:, 1].mean(axis=0)))
    structure, start = _autocorrelated(data, plain, rate, fs)
    layout = make_layout(data, structure)
    group = connected(data)
    if len(np.unique(group)) > fs.groups:
        group = np.zeros_like(group)
    moved, params = np.zeros((data.K, 1)), start
    shift, profile, identified = [], [], True
    for g in np.unique(group):
        own = (group == g)[:, None]
        shifts = _shifts(start.lag[own & ~np.isnan(plain.noise)], structure.W, rate, s, fs)
        tried = [_climb(layout, moved_lags(start, moved + own * step), structure, fs, watch) for step in shifts]
        values = np.array([value for _, value in tried])
        best = int(np.argmax(values))
        shown = 0 < best < len(shifts) - 1 and values[best] - max(values[0], values[-1]) > fs.gain
        chosen = best if shown else int(np.flatnonzero(shifts == 0)[0])
        moved, params = moved + own * shifts[chosen], tried[chosen][0]
        identified &= bool(shown)
        shift.append(shifts / rate)
        profile.append(values)
    fit = _finish(data, layout, params, structure, plain, rate, moved, s.lag is None and identified)
    return FeatureFit(fit, tuple(shift), tuple(profile), identified)


def _autocorrelated(
    data: SeriesData, plain: DefaultFit, rate: float, fs: FeatureSettings
) -> tuple[Structure, SeriesParams]:
    """AR(1) noise at the level and autocorrelation of what the default leaves, annotators held."""
    params = plain.params
    residual = residual_traces(data, params, plain.mean)
    longest = max(min(int(CORRELATION_SECONDS * rate), int(data.length.max()) // 3), 1)
    noise, correlation, _, _ = noise_levels(residual, params, longest)
    rho = np.clip(correlation[:, 1], 0.0, RHO_MAX)
    level = np.where(np.isnan(noise), 1.0, noise)
    phi = autocorrelation(rate, fs.memory)
    structure = plain.structure._replace(autocorrelated=True, level=True, fixed=tuple(range(data.K)))
    return structure, params._replace(
        rho=np.tile(rho, (data.K, 1)),
        N=np.eye(data.D) * (level * (1.0 - rho**2))[:, None, :],
        theta=np.zeros((data.P, data.D)),
        sigma=params.sigma * (1.0 - phi**2) / (1.0 - params.phi**2),
        phi=phi,
    )


def _shifts(lag: np.ndarray, W: int, rate: float, s: Settings, fs: FeatureSettings) -> np.ndarray:
    """(n,) whole frames that the window allows, 0 among them; 0 alone where the delay is given. lag: (n,)."""
    if s.lag is not None or not lag.size:
        return np.zeros(1)
    stride = max(round(fs.stride * rate), 1)
    down, up = int(lag.min()) // stride, int(W - 1 - lag.max()) // stride
    return np.arange(-down, up + 1) * float(stride)


def _climb(
    layout: Layout, params: SeriesParams, structure: Structure, fs: FeatureSettings, watch: OnStep[Any] | None
) -> tuple[SeriesParams, float]:
    """The parameters after `steps` steps of EM, and log p(y) + log prior there."""
    step = make_step(layout, structure, Priors(theta_precision=fs.ridge))
    found, trace = run_em(step, params, stop_when=never, max_iter=fs.steps, on_step=watch)
    return found, float(trace.objective[-1])


def _finish(
    data: SeriesData,
    layout: Layout,
    params: SeriesParams,
    structure: Structure,
    plain: DefaultFit,
    rate: float,
    moved: np.ndarray,
    identified: bool,
) -> DefaultFit:
    """The truth with its band; a delay that the features show is no longer uncertain as a convention is."""
    truth, spread, noise = infer(layout, data.X, params, structure), plain.spread, plain.noise
    if identified:
        spread = spread._replace(lag=np.maximum(spread.lag - (COMMON_DELAY_SD * rate) ** 2, 0.0))
    none = np.zeros(data.D)  # the AR(1) noise of the model holds what autocorrelated errors add
    return plain._replace(
        spread=spread,
        mean=truth.mean,
        cov=band_covariance(truth, data, params, noise, none, spread),
        params=params,
        lag=np.where(np.isnan(noise), np.nan, params.lag / rate),
        mean_lag=float(params.lag[~np.isnan(noise)].mean() / rate),
        convention="features" if identified else plain.convention,
        structure=structure,
        levels=None,
        lag_range=None if plain.lag_range is None else plain.lag_range + moved[:, :, None],
        rating_errors=None,
    )
