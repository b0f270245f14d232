"""A fitted model of traces: enough to fuse, predict and draw for any recordings by the same annotators.

All in standardised units, annotators by number. `fused_truth` widens the posterior to a band that holds when errors
last for seconds; see docs/maths-series.md. An estimation brings models of some of the dimensions, the truth, and how
EM went. Where gold is too little for filters, the default is put on its scale and level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.fusers.item_estimation import sum_of_traces
from unisono.maths import em_loop, gold_slope
from unisono.maths.series.error_bands import KnownFrames, Spread, band_covariance, no_spread, trace_correlations
from unisono.maths.series.left_out_traces import RatingErrors
from unisono.maths.series.trace_data import Priors, SeriesData, SeriesParams, Structure, lag_kernel
from unisono.maths.series.trace_em import rescale, shift, unweighted
from unisono.maths.series.trace_em_fit import DefaultFit
from unisono.maths.series.trace_estep import draw_truth, infer, posterior_mean
from unisono.maths.series.trace_frames import independent_stretch
from unisono.maths.series.trace_gold import FRAMES_PER_TAP, GoldSettings, calibration, constant_dimensions, most_taps
from unisono.maths.series.trace_layout import make_layout
from unisono.maths.series.trace_parts import Parts
from unisono.maths.series.trace_priors import WIDENING_SD
from unisono.maths.series.trace_truth import (
    Levels,
    Stretches,
    draw_two_scales,
    part_errors,
    rescaled_levels,
    stretches_of,
    two_scale_mean,
    two_scale_truth,
)
from unisono.maths.series.tracer_diagnosis import turned_diagnosis

STRETCH = 10.0  # convention: seconds of a recording that advice speaks of at a time


class SeriesModel(NamedTuple):
    """Parameters, and what widens the band."""

    params: SeriesParams
    structure: Structure
    noise: np.ndarray  # (K, D) level variance of the noise; NaN for who gave no ratings
    extra: np.ndarray  # (D,) variance that autocorrelated errors add inside a recording
    spread: Spread  # of the annotators' average, which defines the truth's scale, zero and delay
    mean_lag: float  # seconds, the annotators' mean delay
    convention: str  # why it is that: earliest, given, features, gold, none
    priors: Priors | None = None  # of the delays, for their intervals; not saved
    weighted: bool = True  # False: the paper's E-step, which forgets the variances
    levels: Levels | None = None  # of recordings, where they err by themselves
    lag_range: np.ndarray | None = None  # (K, D, 2) ends of the intervals of the delays, in frames; not saved
    doubt: np.ndarray | None = None  # (K, D, 4) variances of what is said of annotators, see FigureDoubt; not saved
    diagnosis: np.ndarray | None = None  # (K, D, 5) probabilities of what is unusual about annotators; not saved
    rating_errors: RatingErrors | None = None  # what predicted ratings are off by; None: as the model says


def model_of(fit: DefaultFit) -> SeriesModel:
    """What a finished default fit knows."""
    words = fit.mean_lag, fit.convention, fit.priors
    model = SeriesModel(fit.params, fit.structure, fit.noise, fit.extra, fit.spread, *words)
    return model._replace(
        levels=fit.levels,
        lag_range=fit.lag_range,
        doubt=fit.doubt,
        diagnosis=fit.diagnosis,
        rating_errors=fit.rating_errors,
    )


def plain_model(params: SeriesParams, structure: Structure) -> SeriesModel:
    """Parameters alone, as the published model has them: the band is the nominal posterior variance."""
    noise, D = np.diagonal(params.N, axis1=1, axis2=2), len(params.mu)
    return SeriesModel(params, structure, noise, np.zeros(D), no_spread(D), 0.0, "none", None, weighted=False)


def fused_truth(model: SeriesModel, data: SeriesData) -> tuple[np.ndarray, np.ndarray]:
    """Means (sum T, D) and covariances (sum T, D, D) of the truth at every frame."""
    if model.levels is not None:
        both = two_scale_truth(data, model.params, model.structure, model.levels, model.spread)
        return both.mean, both.cov
    found = infer(make_layout(data, model.structure), data.X, model.params, model.structure)
    mean = found.mean if model.weighted else fused_mean(model, data)
    return mean, band_covariance(found, data, model.params, model.noise, model.extra, model.spread, mean=mean)


def fused_mean(model: SeriesModel, data: SeriesData) -> np.ndarray:
    """(sum T, D) the means alone."""
    if model.levels is not None:
        return two_scale_mean(data, model.params, model.structure, model.levels)
    params = model.params if model.weighted else unweighted(model.params)
    return posterior_mean(make_layout(data, model.structure), data.X, params, model.structure)


def predicted_truth(model: SeriesModel, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same for frames that nobody rated, from their features alone."""
    mean = model.params.mu + X @ model.params.theta
    return mean, np.tile(model.params.sigma / (1.0 - model.params.phi**2), (len(mean), 1, 1))


def log_density(model: SeriesModel, data: SeriesData) -> float:
    """log p(y); where levels err by themselves, of levels and courses, every trace as usual of its annotator."""
    if model.levels is not None:
        levels = model.levels._replace(kappa=np.zeros(data.D))
        return two_scale_truth(data, model.params, model.structure, levels, model.spread).loglik
    return infer(make_layout(data, model.structure), data.X, model.params, model.structure).loglik


def drawn_truth(model: SeriesModel, data: SeriesData, draws: int, rng: np.random.Generator) -> np.ndarray:
    """(draws, sum T, D) paths of the truth from the model's posterior; NaN in recordings nobody rated."""
    if model.levels is not None:
        return draw_two_scales(data, model.params, model.structure, model.levels, draws, rng)
    return draw_truth(make_layout(data, model.structure), model.params, model.structure, draws, rng)


CORRELATIONS = 1000  # numerical: draws
MOST_FRAMES = 1000  # numerical: of more, so many evenly spread ones are looked at


def correlations_with_truth(model: SeriesModel, parts: Parts, mean: np.ndarray, length: np.ndarray) -> np.ndarray:
    """(B, D) draws of the squared correlation of the fused traces with the truth; mean (sum T, D): these."""
    assert model.levels is not None
    assert model.priors is not None
    words = model.params, model.structure, model.levels
    course, level = np.moveaxis(np.concatenate(parts.map(part_errors, *words)), 1, 0)
    recording = np.repeat(np.arange(len(length)), length)
    frame = np.arange(len(recording)) - (np.cumsum(length) - length)[recording]
    stretch = recording * int(length.max()) + frame // independent_stretch(model.priors.kappa)
    at = np.unique(np.linspace(0, len(recording) - 1, min(len(recording), MOST_FRAMES)).astype(np.int64))
    found = []
    for d in range(mean.shape[1]):
        annotators = int((~np.isnan(model.noise[:, d])).sum())
        known = KnownFrames(mean[at, d], course[at, d], level[at, d], stretch[at], recording[at])
        doubt = WIDENING_SD, float(np.sqrt(2.0 / max(annotators - 1, 1)))
        found.append(trace_correlations(known, doubt, CORRELATIONS, np.random.default_rng([0, d])))
    return np.stack(found, axis=1)


def with_newcomers(model: SeriesModel, count: int) -> SeriesModel:
    """One more annotator for each of `count` people not met before: they see what the average annotator sees.

    They may be off by as much as those who were met differ from each other.
    """
    if not count:
        return model
    p, used = model.params, ~np.isnan(model.noise).all(axis=1)
    F = p.F[used].mean(axis=0)
    lag = np.round(p.lag[used].mean(axis=0))
    if model.structure.transform == "delay":
        F = np.stack([np.outer(lag_kernel(lag[d], len(F)), F[:, d].sum(axis=0)) for d in range(len(lag))], axis=1)
    average = {"F": F, "b": p.b[used].mean(axis=0), "N": p.N[used].mean(axis=0), "rho": p.rho[used].mean(axis=0)}
    rows = {name: np.tile(value, (count, *(1,) * value.ndim)) for name, value in (average | {"lag": lag}).items()}
    grown: dict[str, Any] = {name: np.concatenate([getattr(p, name), extra]) for name, extra in rows.items()}
    levels, noise = _levels_of(model, lambda v: np.concatenate([v, _average(v[used], count)])), pooled_noise(model)
    if levels is not None and model.levels is not None:
        own = model.levels
        bias = _spread_of_one(own.bias[used]) + own.bias_variance[used].mean(axis=0)
        levels.bias_variance[len(own.bias) :] = bias
        moves = np.diagonal(own.prior) + np.diagonal(p.sigma) / (1.0 - p.phi**2)
        noise = noise + _spread_of_one(own.gain[used]) * moves
    noise = np.concatenate([model.noise, np.tile(noise, (count, 1))])
    return model._replace(params=p._replace(**grown), noise=noise, levels=levels)


def _average(rows: np.ndarray, count: int) -> np.ndarray:
    """(count, ...) the average of the rows, again and again."""
    return np.tile(rows.mean(axis=0), (count, *(1,) * (rows.ndim - 1)))


def _spread_of_one(rows: np.ndarray) -> np.ndarray:
    """(D,) squared distance to expect between the mean of n rows and one more of their kind."""
    n = len(rows)
    return np.asarray(rows.var(axis=0, ddof=1) * (1.0 + 1.0 / n) if n > 1 else np.zeros(rows.shape[1]))


def _levels_of(model: SeriesModel, change: Callable[[np.ndarray], np.ndarray]) -> Levels | None:
    """The model's levels with the rows of annotators changed."""
    if model.levels is None:
        return None
    rows = {name: change(getattr(model.levels, name)) for name in ("gain", "leak", "noise", "bias", "bias_variance")}
    return model.levels._replace(**rows)


def with_inactive(model: SeriesModel, active: np.ndarray, *, average: bool = True) -> SeriesModel:
    """Adds rows for annotators without ratings. active: (K,) bool, annotators with ratings.

    They are taken for average annotators, or, where there is no average, for annotators who see nothing of the truth.
    """
    if len(model.params.F) == len(active):
        return model
    everybody = with_newcomers(model, int((~active).sum()))
    order = np.argsort(np.argsort(~active, kind="stable"), kind="stable")  # active annotators come first there
    rows: dict[str, Any] = {name: getattr(everybody.params, name)[order] for name in ("F", "b", "N", "rho", "lag")}
    if not average:
        rows["F"][~active] = 0.0
    noise = np.where(active[:, None], everybody.noise[order], np.nan)

    def unknown(known: np.ndarray | None) -> np.ndarray | None:
        if known is None:
            return None
        return np.asarray(np.concatenate([known, np.full((int((~active).sum()), *known.shape[1:]), np.nan)])[order])

    return model._replace(
        params=model.params._replace(**rows),
        noise=noise,
        levels=_levels_of(everybody, lambda v: v[order]),
        lag_range=unknown(model.lag_range),
        doubt=unknown(model.doubt),
        diagnosis=unknown(model.diagnosis),
    )


def pooled_noise(model: SeriesModel) -> np.ndarray:
    """(D,) mean noise variance of the annotators who rated; 1 where nobody did."""
    known = ~np.isnan(model.noise)
    total, count = np.where(known, model.noise, 0.0).sum(axis=0), known.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), 1.0)


def kept_model(model: SeriesModel) -> SeriesModel:
    """What a saved fit keeps of it."""
    return model._replace(priors=None, lag_range=None, doubt=None, diagnosis=None)


def known_stretches(model: SeriesModel, data: SeriesData, rate: float) -> Stretches | None:
    """Of the fitted recordings, for advice on what to rate next; nothing without levels."""
    if model.levels is None:
        return None
    return stretches_of(data, model.params, model.levels, max(round(STRETCH * rate), 1))


class DimensionModel(NamedTuple):
    """A model of some of the dimensions."""

    dims: tuple[int, ...]
    model: SeriesModel


class Estimated(NamedTuple):
    """What an estimation brings: models, how it went, and the truth of the fitted frames."""

    parts: tuple[DimensionModel, ...]
    trace: em_loop.EmTrace
    truth: tuple[np.ndarray, np.ndarray] | None = None  # (sum T, D), (sum T, D, D); None: computed when it is needed
    gold: bool = False  # whether known frames went into that truth
    slopes: tuple[gold_slope.Slope, ...] = ()  # of gold on the truth fused without it, by dimension


def finished(fit: DefaultFit) -> Estimated:
    """A fit of the default as it is."""
    return Estimated((whole(model_of(fit)),), fit.trace, (fit.mean, fit.cov))


def whole(model: SeriesModel) -> DimensionModel:
    """A model of all dimensions together."""
    return DimensionModel(tuple(range(len(model.params.mu))), model)


def combined(found: list[Estimated]) -> Estimated:
    """Estimates of one dimension each as one estimate; dimensions are independent."""
    parts = tuple(DimensionModel((d,), one.parts[0].model) for d, one in enumerate(found))
    truths = [one.truth for one in found if one.truth is not None]
    truth = None
    if truths:
        mean = np.concatenate([own for own, _ in truths], axis=1)
        cov = np.zeros((len(mean), len(found), len(found)))
        for d, (_, own) in enumerate(truths):
            cov[:, d, d] = own[:, 0, 0]
        truth = (mean, cov)
    slopes = tuple(slope for one in found for slope in one.slopes)
    gold = any(one.gold for one in found)
    return Estimated(parts, sum_of_traces([one.trace for one in found]), truth, gold=gold, slopes=slopes)


GOLD_VARIANCE = GoldSettings().gold_variance  # of the gold's own error, in variances of the gold


def calibrated(fit: DefaultFit, gold: np.ndarray) -> Estimated:
    """The default's truth on the scale of the gold, where free filters are no better than one gain and delay."""
    factor, offset = calibration(fit.mean, gold, fit.mean)
    params = shift(rescale(fit.params, np.diag(factor)), offset)
    model = model_of(fit)
    levels = None if fit.levels is None else rescaled_levels(fit.levels, factor)
    unusual = None if fit.diagnosis is None else turned_diagnosis(fit.diagnosis, factor < 0)
    model = model._replace(
        params=params,
        levels=levels,
        diagnosis=unusual,
        extra=fit.extra * factor**2,
        spread=fit.spread._replace(bias=fit.spread.bias * factor**2),
    )
    known = ~np.isnan(gold)
    mean = np.where(known, gold, fit.mean * factor + offset)
    variance = np.where(known, GOLD_VARIANCE * np.nanvar(gold, axis=0), (fit.sd * factor) ** 2)
    cov = np.eye(gold.shape[1]) * np.maximum(variance, np.finfo(float).tiny)[:, :, None]
    return Estimated((whole(model),), fit.trace, (mean, cov), gold=True)


def require_movement(dimensions: Sequence[str], gold: np.ndarray) -> None:
    """A DataError where known frames (sum T, D) of a dimension are all equal, and filters were asked for."""
    if flat := constant_dimensions(gold):
        raise DataError(
            f"The known frames of {dimensions[flat[0]]} are all equal, and no filter is learned from a constant. Leave "
            "the window out: the gold then sets the level alone."
        )


def require_enough(gold: np.ndarray, W: int, window: float, rate: float) -> None:
    """A DataError where known frames (sum T, D) cannot tell filters of W frames, which take `window` seconds."""
    most, D = most_taps(gold), gold.shape[1]
    if most < W:
        raise DataError(
            f"A window of {window:g} s makes filters of {W} frames: {W * D + 1} unknowns for every annotator and "
            f"dimension, of which the known frames can tell {most * D}. Know {FRAMES_PER_TAP * D * W} frames of every "
            f"dimension, give a window of at most {max(most - 1, 0) / rate:g} s, or leave it out: the gold then "
            "calibrates the default."
        )
