"""How well a draw of traces is fused: votes of models, and what the bands of the default hold.

A vote is the average of r over all frames and r inside recordings, averaged over dimensions and over two targets, the
plain mean of those who were left out and the mean of their z-scores, so that neither way of averaging is favoured;
or it is of the known signal. Bands are looked at in three ways:

    truth      share of the target inside the band of the fused truth; the error of a left-out mean is allowed for
    stretches  share of ratings inside what is predicted for stretches that were hidden from one annotator at a time
    strangers  share of ratings inside what is predicted for annotators nobody has met, whole traces
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import unisono as un
from benchmarks.study_cases import SAME_PLACE, SAME_SPREAD
from benchmarks.trace_draws import TraceDraw, left_out_ratings
from unisono.evaluate.held_out_ratings import score_hidden
from unisono.fusers import make_fuser
from unisono.fusers.fusion_results import INTERVAL, Fused
from unisono.fusers.held_out_stretches import FOLDS, stretch_folds
from unisono.fusers.joint_traces import WINDOW
from unisono.maths.items.item_estimates import half_widths
from unisono.maths.metrics import pearson
from unisono.maths.series.trace_priors import COMMON_UNIT
from unisono.tables.ratings import Ratings

Z = 1.6448536269514722  # of a 90 % band
UNITS = (0.0, 0.125, 0.25, 0.5, 1.0, 2.0)  # values of COMMON_UNIT to choose from


def votes(draw: TraceDraw, models: tuple[str, ...]) -> dict[str, float]:
    return {model: vote_of(draw, un.fuse(draw.fused, model=model).fused.mean) for model in models}


def vote_of(draw: TraceDraw, mean: np.ndarray) -> float:
    targets = [draw.reference] if draw.reference is not None else [known_mean(draw.others), _z_score_mean(draw.others)]
    return float(np.mean([vote(mean, target, draw.fused.length) for target in targets]))


def timed(ratings: Ratings, model: str) -> tuple[Fused, float]:
    """What a model makes of the traces, and its seconds of one processor."""
    began = time.process_time()
    return un.fuse(ratings, model=model).fused, time.process_time() - began


def figures(mean: np.ndarray, sd: np.ndarray, target: np.ndarray, noise: np.ndarray | float) -> dict[str, float]:
    """Error over the target's spread, and share inside the 90 % band. Each (n, D), noise: the target's variance."""
    known = ~np.isnan(target)
    away = np.where(known, mean - target, 0.0)
    error = np.sqrt((away**2).sum(axis=0) / known.sum(axis=0)) / np.nanstd(target, axis=0)
    return {"error": float(error.mean()), "cover": float((np.abs(away) < Z * np.sqrt(sd**2 + noise))[known].mean())}


def study_figures(draw: TraceDraw, models: list[str]) -> dict[str, dict[str, float]]:
    """Vote, error, cover and seconds of every model."""
    found = {}
    for model in models:
        fused, seconds = timed(draw.fused, model)
        measured = figures(fused.mean, fused.sd, *_target(draw, fused.mean))
        found[model] = {"r": vote_of(draw, fused.mean), **measured, "seconds": seconds}
    return found


def vote(mean: np.ndarray, target: np.ndarray, length: np.ndarray) -> float:
    """Average of r over all frames and of r inside recordings. mean, target: (sum T, D)."""
    ends = np.cumsum(length)[:-1]
    over, inside = [], []
    for d in range(mean.shape[1]):
        pairs = list(zip(np.split(mean[:, d], ends), np.split(target[:, d], ends), strict=True))
        over.append(_correlation(mean[:, d], target[:, d]))
        inside.append(known_mean(np.array([_correlation(x, y) for x, y in pairs])))
    return float((known_mean(np.array(over)) + known_mean(np.array(inside))) / 2)


def bands(draw: TraceDraw, seed: int) -> dict[str, Any]:
    """truth: of all UNITS, and `by_recording` at the one that is used; stretches; strangers."""
    usual, shown = un.fuse(draw.fused), un.fuse(draw.fused, shared=0.0)
    mean, least = usual.fused.mean, shown.fused.sd**2
    more = (usual.fused.sd**2 - least) / COMMON_UNIT  # what a unit whose variance is that between annotators' adds
    target, noise = _target(draw, mean)
    known = ~np.isnan(target)

    def inside(unit: float) -> np.ndarray:
        return np.abs(mean - target) < Z * np.sqrt(least + unit * more + noise)

    recording, used = np.repeat(np.arange(draw.fused.M), draw.fused.length), inside(COMMON_UNIT)
    return {
        "truth": [float(inside(unit)[known].mean()) for unit in UNITS],
        "by_recording": {
            name: float(used[recording == m][known[recording == m]].mean())
            for m, name in enumerate(draw.fused.items)
            if known[recording == m].any()
        },
        "stretches": stretches(draw.fused, seed),
        "strangers": strangers(left_out_ratings(draw), usual),
    }


def left_out_noise(others: np.ndarray, length: np.ndarray) -> np.ndarray:
    """(sum T, D) variance of the mean of those who were left out, as a sample of those who might have rated.

    Of one annotator around the others, pooled over the recording, over their number; where one annotator is left of a
    recording, pooled over all.
    """
    count = (~np.isnan(others)).sum(axis=0)
    around = (others - known_mean(others)) ** 2 * count / np.maximum(count - 1, 1)
    around = np.where(count > 1, around, np.nan)
    whole, out = known_mean(known_mean(around)), np.zeros(count.shape)
    ends = np.cumsum(length)
    for lo, hi in zip((ends - length).tolist(), ends.tolist(), strict=True):
        own = known_mean(known_mean(around[:, lo:hi]))
        out[lo:hi] = np.where(np.isnan(own), whole, own) / np.maximum(count[lo:hi], 1)
    return out


def known_mean(values: np.ndarray) -> np.ndarray:
    """Mean over the first axis of what is known, NaN where nothing is."""
    count = (~np.isnan(values)).sum(axis=0)
    return np.asarray(np.where(count > 0, np.nansum(values, axis=0) / np.maximum(count, 1), np.nan))


def _target(draw: TraceDraw, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the band should hold, and the variance of its own error, each (sum T, D)."""
    if draw.reference is None:
        return known_mean(draw.others), left_out_noise(draw.others, draw.fused.length)
    rated, known = draw.fused.value, draw.reference
    sd = np.nanstd(rated, axis=0)
    near = np.abs(np.nanmean(known, axis=0) - np.nanmean(rated, axis=0)) < SAME_PLACE * sd
    ratio = np.nanstd(known, axis=0) / sd
    same = near & (ratio > SAME_SPREAD[0]) & (ratio < SAME_SPREAD[1])
    # A reference in a unit of its own can be compared once it has mean and spread of the estimate.
    scaled = (known - np.nanmean(known, axis=0)) / np.nanstd(known, axis=0) * mean.std(axis=0) + mean.mean(axis=0)
    return np.where(same, known, scaled), np.zeros(known.shape)


def stretches(ratings: Ratings, seed: int) -> float:
    """Share of hidden stretches inside what is predicted for them."""
    hidden = stretch_folds(ratings, WINDOW, FOLDS, np.random.default_rng(seed)) == 0
    return float(score_hidden(make_fuser("auto", series=True), ratings, None, hidden).coverage)


def strangers(traces: Ratings, fusion: un.Fusion) -> float:
    """Share of whole traces, of people the fusion has not met, inside what is predicted for them."""
    foreseen = fusion.fuser.predict_ratings(traces)
    known = ~np.isnan(traces.value)
    reach = half_widths(INTERVAL, np.asarray(foreseen.freedom)) * np.sqrt(foreseen.variance)
    return float((np.abs(traces.value - foreseen.mean) < reach)[known].mean())


def _z_score_mean(others: np.ndarray) -> np.ndarray:
    sd = np.nanstd(others, axis=1, keepdims=True)
    centred = others - np.stack([known_mean(trace) for trace in others])[:, None]
    return known_mean(np.where(sd > 0, centred / np.where(sd > 0, sd, 1.0), np.nan))


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    known = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[known], y[known]
    return float(pearson(x, y)) if len(x) > 2 and np.ptp(x) > 0 and np.ptp(y) > 0 else np.nan
