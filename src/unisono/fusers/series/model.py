"""A fitted model of traces: enough to fuse, predict and draw for any recordings by the same annotators.

All in standardised units, annotators by number. `fused_truth` widens the posterior to a band that holds when errors
last for seconds; see docs/maths-series.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unisono.maths.series.bands import Spread, band_covariance, no_spread
from unisono.maths.series.default import DefaultFit
from unisono.maths.series.design import stretches_of
from unisono.maths.series.em import unweighted
from unisono.maths.series.estep import draw_truth, infer, posterior_mean
from unisono.maths.series.layout import make_layout
from unisono.maths.series.params import Priors, SeriesData, SeriesParams, Structure, lag_kernel
from unisono.maths.series.tracer_truth import (
    Levels,
    draw_two_scales,
    two_scale_mean,
    two_scale_truth,
)

STRETCH = 10.0  # seconds of a recording that advice speaks of at a time
EPS = float(np.finfo(float).tiny)


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
    diagnosis: np.ndarray | None = None  # (K, D, 5) probabilities of what is unusual about annotators; not saved


def model_of(fit: DefaultFit) -> SeriesModel:
    """What a finished default fit knows."""
    words = fit.mean_lag, fit.convention, fit.priors
    model = SeriesModel(fit.params, fit.structure, fit.noise, fit.extra, fit.spread, *words)
    return model._replace(levels=fit.levels, lag_range=fit.lag_range, diagnosis=fit.diagnosis)


def plain_model(params: SeriesParams, structure: Structure, *, weighted: bool = True) -> SeriesModel:
    """Parameters alone, as on the way of an EM: the band is the nominal posterior variance."""
    D = len(params.mu)
    noise = np.diagonal(params.N, axis1=1, axis2=2) / (1.0 - params.rho**2)
    return SeriesModel(params, structure, noise, np.zeros(D), no_spread(D), 0.0, "none", None, weighted)


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
    """log p(y); where levels err by themselves, of levels and courses."""
    if model.levels is not None:
        return two_scale_truth(data, model.params, model.structure, model.levels, model.spread).loglik
    return infer(make_layout(data, model.structure), data.X, model.params, model.structure).loglik


def drawn_truth(model: SeriesModel, data: SeriesData, draws: int, rng: np.random.Generator) -> np.ndarray:
    """(draws, sum T, D) paths of the truth from the model's posterior; NaN in recordings nobody rated."""
    if model.levels is not None:
        return draw_two_scales(data, model.params, model.structure, model.levels, draws, rng)
    return draw_truth(make_layout(data, model.structure), model.params, model.structure, draws, rng)


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
        return np.concatenate([known, np.full((int((~active).sum()), *known.shape[1:]), np.nan)])[order]

    return model._replace(
        params=model.params._replace(**rows),
        noise=noise,
        levels=_levels_of(everybody, lambda v: v[order]),
        lag_range=unknown(model.lag_range),
        diagnosis=unknown(model.diagnosis),
    )


def pooled_noise(model: SeriesModel) -> np.ndarray:
    """(D,) mean noise variance of the annotators who rated; 1 where nobody did."""
    known = ~np.isnan(model.noise)
    total, count = np.where(known, model.noise, 0.0).sum(axis=0), known.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), 1.0)


def expected_ratings(
    model: SeriesModel, data: SeriesData, mean: np.ndarray, variance: np.ndarray, fitted: SeriesData | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """What the annotators of the traces are expected to answer at every frame, and its variance, each (S, D).

    mean, variance: (sum T, D) of the truth; before the first frame it is held. The frames in a filter's window are
    taken to err alike, which is close for a slow truth and exact for delays. fitted: traces of the same recordings,
    which show how far off the level of each annotator is in each of them.
    """
    if fitted is not None and model.levels is not None:
        return _around_levels(model, data, mean, variance, fitted)
    first = np.concatenate([[0], np.cumsum(data.length)])
    held = 1.0 if model.structure.start == "preroll" else 0.0
    p, W = model.params, model.params.F.shape[1]
    noise = np.where(np.isnan(model.noise), pooled_noise(model), model.noise)
    expected, uncertain = [], []
    for m, k in zip(data.item_of.tolist(), data.annotator_of.tolist(), strict=True):
        a, sd = mean[first[m] : first[m + 1]], np.sqrt(variance[first[m] : first[m + 1]])
        expected.append(p.b[k] + _filtered(p.F[k], a, W, held))
        uncertain.append(_filtered(np.abs(p.F[k]), sd, W, held) ** 2 + noise[k])
    return np.concatenate(expected), np.concatenate(uncertain)


def _around_levels(
    model: SeriesModel, data: SeriesData, mean: np.ndarray, variance: np.ndarray, fitted: SeriesData
) -> tuple[np.ndarray, np.ndarray]:
    """The same where annotators' levels err by themselves.

    The level of a trace is known from what the annotator rated of the recording, or from what is known of their bias.
    What all annotators do alike is no error of what one of them will say, so that it is not in the variance.
    """
    assert model.levels is not None
    truth = two_scale_truth(fitted, model.params, model.structure, model.levels, no_spread(data.D))
    expected, uncertain = expected_ratings(model, data, mean, np.diagonal(truth.cov, axis1=1, axis2=2))
    uncertain += np.repeat(model.levels.bias_variance[data.annotator_of], data.length[data.item_of], axis=0)
    _, around = expected_ratings(model, data, mean, truth.inside)
    own, _ = expected_ratings(model, fitted, mean, variance)
    kappa = 1.0 if model.priors is None else model.priors.kappa
    known: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
    row = 0
    for m, k in zip(fitted.item_of.tolist(), fitted.annotator_of.tolist(), strict=True):
        T = int(fitted.length[m])
        left = fitted.y[row : row + T] - own[row : row + T]
        count = (~np.isnan(left)).sum(axis=0)
        level, noise = model.levels.noise[k], np.diagonal(model.params.N[k])
        # One level's error against what the mean of so many frames, few of them independent, may be off by.
        shown = level / (level + noise / np.maximum(kappa * count, EPS)) * (count > 0)
        known[m, k] = shown * np.nansum(left, axis=0) / np.maximum(count, 1), shown * level
        row += T
    row = 0
    for m, k in zip(data.item_of.tolist(), data.annotator_of.tolist(), strict=True):
        T = int(data.length[m])
        if (m, k) in known:
            offset, less = known[m, k]
            expected[row : row + T] += offset
            uncertain[row : row + T] = around[row : row + T] - less
        row += T
    return expected, uncertain


def _filtered(F: np.ndarray, a: np.ndarray, W: int, held: float) -> np.ndarray:
    """(T, D) sum over w of F[w] a[t-w]. F: (W, D, D), a: (T, D)."""
    padded = np.concatenate([np.repeat(held * a[:1], W - 1, axis=0), a])
    out = np.zeros_like(a)
    for w in np.flatnonzero(np.any(F != 0, axis=(1, 2))).tolist():
        out += padded[W - 1 - w : len(padded) - w] @ F[w].T
    return out


# ---- saving


def model_arrays(model: SeriesModel) -> dict[str, np.ndarray]:
    """Everything but the priors, as arrays."""
    words = {"structure": model.structure._asdict(), "convention": model.convention, "weighted": model.weighted}
    return {
        **{name: np.asarray(value) for name, value in model.params._asdict().items()},
        **{f"spread_{name}": value for name, value in model.spread._asdict().items()},
        "noise": model.noise,
        "extra": model.extra,
        "mean_lag": np.array(model.mean_lag),
        **({} if model.levels is None else {f"level_{name}": v for name, v in model.levels._asdict().items()}),
        "words": np.array(json.dumps(words)),
    }


def stretch_arrays(model: SeriesModel, data: SeriesData, rate: float) -> dict[str, np.ndarray]:
    """What is known of stretches of the fitted recordings, for advice on what to rate next; nothing without levels."""
    if model.levels is None:
        return {}
    known = stretches_of(data, model.params, model.levels, max(round(STRETCH * rate), 1))
    return {f"stretch_{name}": value for name, value in known._asdict().items()}


def restore_model(arrays: dict[str, np.ndarray]) -> SeriesModel:
    """The model that `model_arrays` wrote down."""
    words = json.loads(str(arrays["words"]))
    structure = Structure(**words["structure"])
    params = {name: arrays[name] for name in SeriesParams._fields if name != "phi"}
    return SeriesModel(
        params=SeriesParams(**params, phi=float(arrays["phi"])),
        structure=structure._replace(fixed=tuple(structure.fixed)),
        noise=arrays["noise"],
        extra=arrays["extra"],
        spread=Spread(*(arrays[f"spread_{name}"] for name in Spread._fields)),
        mean_lag=float(arrays["mean_lag"]),
        convention=words["convention"],
        weighted=words["weighted"],
        levels=_restored_levels(arrays) if "level_gain" in arrays else None,
    )


def _restored_levels(arrays: dict[str, np.ndarray]) -> Levels:
    found = {name: arrays[f"level_{name}"] for name in Levels._fields if f"level_{name}" in arrays}
    K, D = found["gain"].shape
    return Levels(**{"leak": np.zeros((K, D, D))} | found)  # fits of before leakage was estimated have none
