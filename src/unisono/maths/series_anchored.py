"""Series with gold: where frames of the truth are known, free filters are safe, and scale, sign and delay are known.

First the recordings that hold gold are fitted alone, so that the filters start from what the gold says; then all of
them. The truth's memory is that of the gold.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series_band import noise_levels, residual_traces, thinness
from unisono.maths.series_default import Scale, effective_share, standardise
from unisono.maths.series_em import make_step
from unisono.maths.series_estep import infer
from unisono.maths.series_gold import gold_params, gold_structure, with_gold, without_gold
from unisono.maths.series_layout import Layout, make_layout
from unisono.maths.series_params import Priors, SeriesData, SeriesParams, Structure, identity_params


class AnchoredSettings(NamedTuple):
    W: int = 10  # taps
    tap_sd: float = 1.0  # prior of the total gain of each dimension on each, spread over the taps, around 0
    bias_sd: float = 1.0
    pool: float = 50.0  # frames' worth by which noise is drawn to the pool
    gold_variance: float = 1e-4  # of the gold's own error, in variances of the gold
    phi: float | None = None  # None: the lag-1 autocorrelation of the gold
    phi_max: float = 0.9995
    ridge: float = 1.0  # precision of the effects of standardised features
    noise_floor: float = 1e-6
    correlation_reach: int = 100  # frames over which errors may be correlated
    gold_iter: int = 20  # steps on the recordings with gold alone
    max_iter: int = 30


class AnchoredFit(NamedTuple):
    mean: np.ndarray  # (sum T, D) fused truth, in the units of the gold
    sd: np.ndarray  # (sum T, D) of the band
    params: SeriesParams  # of standardised ratings and standardised gold, without the gold's channel
    objective: np.ndarray  # (I,) of the steps on all recordings
    rating_scale: Scale
    gold_scale: Scale


def fit_with_gold(data: SeriesData, gold: np.ndarray, settings: AnchoredSettings | None = None) -> AnchoredFit:
    """Fuses series of which some frames are known. gold: (sum T, D), NaN where the truth is not known."""
    s = AnchoredSettings() if settings is None else settings
    scaled, rating_scale = standardise(data)
    gold_scale = Scale(np.nanmean(gold, axis=0), np.nanstd(gold, axis=0))
    known = (gold - gold_scale.level) / gold_scale.size
    structure = gold_structure(Structure(W=s.W, transform="taps"), data.K)
    priors = _priors(s, effective_share(scaled))
    params = _start(scaled, structure, known, s)
    for part, steps in ((with_known(scaled, known), s.gold_iter), ((scaled, known), s.max_iter)):
        both = with_gold(*part)
        layout = make_layout(both, structure)
        params, objective = _climb(layout, params, structure, priors, steps)
    truth = infer(layout, both.X, params, structure)
    proper = without_gold(params)
    noise, _, actual, believed = noise_levels(
        residual_traces(scaled, proper, truth.mean).value, proper, min(s.correlation_reach, int(data.length.max()) // 3)
    )
    variance = np.diagonal(truth.cov, axis1=1, axis2=2)
    extra = np.maximum(actual - believed, 0.0) * thinness(scaled, noise)
    sd = np.sqrt(variance + np.where(np.isnan(known), extra, 0.0))
    mean = truth.mean * gold_scale.size + gold_scale.level
    return AnchoredFit(mean, sd * gold_scale.size, proper, np.array(objective), rating_scale, gold_scale)


def with_known(data: SeriesData, gold: np.ndarray) -> tuple[SeriesData, np.ndarray]:
    """The recordings that hold gold, and their gold."""
    first = np.concatenate([[0], np.cumsum(data.length)])
    held = np.array([not np.isnan(gold[first[m] : first[m + 1]]).all() for m in range(len(data.length))])
    place = np.cumsum(held) - 1
    keep = held[data.item_of]
    rows = np.repeat(held, data.length)
    part = data._replace(
        y=data.y[np.repeat(keep, data.length[data.item_of])],
        item_of=place[data.item_of[keep]],
        annotator_of=data.annotator_of[keep],
        length=data.length[held],
        X=data.X[rows],
    )
    return part, gold[rows]


def _priors(s: AnchoredSettings, kappa: float) -> Priors:
    return Priors(
        tap_sd=s.tap_sd / np.sqrt(s.W),
        crosstalk_sd=s.tap_sd / np.sqrt(s.W),
        kernel=np.zeros(s.W),
        bias_sd=s.bias_sd,
        noise_nu=s.pool,
        theta_precision=s.ridge,
        kappa=kappa,
        noise_floor=s.noise_floor,
    )


def _start(data: SeriesData, structure: Structure, known: np.ndarray, s: AnchoredSettings) -> SeriesParams:
    """Nobody sees anything yet: the gold alone speaks in the first E-step."""
    phi = min(gold_memory(data, known), s.phi_max) if s.phi is None else s.phi
    start = identity_params(data, structure, noise=1.0, phi=phi)
    sigma = (1.0 - phi**2) * np.eye(data.D)
    return gold_params(start._replace(F=np.zeros_like(start.F), sigma=sigma), s.gold_variance)


def gold_memory(data: SeriesData, known: np.ndarray) -> float:
    """Lag-1 autocorrelation of the standardised gold over frames known together; 0 where no two are."""
    same = np.diff(np.repeat(np.arange(len(data.length)), data.length)) == 0
    both = same[:, None] & ~np.isnan(known[1:]) & ~np.isnan(known[:-1])
    now, before = np.where(both, known[1:], 0.0), np.where(both, known[:-1], 0.0)
    square = 0.5 * float(np.sum(now**2 + before**2))
    return float(np.sum(now * before)) / square if square > 0 else 0.0


def _climb(
    layout: Layout, params: SeriesParams, structure: Structure, priors: Priors, steps: int
) -> tuple[SeriesParams, list[float]]:
    step = make_step(layout, structure, priors)
    objective = []
    for _ in range(steps):
        params, value = step(params)
        objective.append(value)
    return params, objective
