"""How far off courses are by the word of annotators who were left out: a factor on their variance in the band.

The variance that the model gives a course knows of errors that last, of unequal noise and of unequal gains, but not of
delays that vary, scales that bend, or a truth that moves faster than the smoother allows. Two annotators who are left
out see all of it: where their errors are independent, the product of what they differ by from a course fused without
them is the square of the error of that course,
    E r_j r_k = g_j g_k E (x - x_-f)^2,   r_k = w_k - g_k x_-f,   j and k in fold f.
Halves of the annotators that are compared with each other would not show it: both smooth in one way.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import numpy as np

from unisono.maths.series.bands import no_spread
from unisono.maths.series.left_out_ratings import Deviates, Stranger, deviates, no_deviates, stranger_to_each
from unisono.maths.series.params import SeriesData, SeriesParams, Structure
from unisono.maths.series.parts import Part, Parts
from unisono.maths.series.priors import EVIDENCE, INDEPENDENT, USUAL_WIDENING, WIDENING_SD
from unisono.maths.series.tracer_truth import Levels, TwoScaleTruth, truth_frames, two_scale_truth

Sums = TypeVar("Sums")

FOLDS = 3  # at most: six annotators are left out in pairs
FEWEST = 3  # annotators of a recording: two who are left out, and one who is not


class Products(NamedTuple):
    """Of residuals of left-out annotators, two at a time, summed over frames and pairs."""

    found: np.ndarray  # (D,)
    expected: np.ndarray  # (D,) if the model's variance of the course is right
    variance: np.ndarray  # (D,) of what is found, if every frame were new


class LeftOut(NamedTuple):
    """What annotators who were left out show."""

    products: Products
    deviates: Deviates


def left_out(
    parts: Parts,
    params: SeriesParams,
    structure: Structure,
    levels: Levels,
    present: np.ndarray,
    order: np.ndarray | None = None,
) -> LeftOut:
    """Of all traces. present: (K, D) bool, who rated what. order: (K,) in which annotators take turns."""
    order = np.arange(len(present)) if order is None else order
    stranger = stranger_to_each(params, levels, present)
    found = parts.map(left_out_part, params, structure, levels, stranger, np.argsort(order))
    return LeftOut(_total(Products, [one.products for one in found]), _total(Deviates, [one.deviates for one in found]))


def course_widening(found: Products, kappa: np.ndarray) -> np.ndarray:
    """(D,) error variance of courses over that of the model, drawn to the usual one.

    kappa: (D,) what a frame counts for.
    """  # eq. S47
    seen = found.variance > 0
    products, expected, variance = (np.where(seen, v, 1.0) for v in found)
    told = np.where(seen, INDEPENDENT / EVIDENCE * kappa * expected**2 / variance, 0.0)
    before = 1.0 / WIDENING_SD**2
    return np.asarray(np.maximum((told * products / expected + before * USUAL_WIDENING) / (told + before), 1.0))


def left_out_part(
    part: Part,
    params: SeriesParams,
    structure: Structure,
    levels: Levels,
    stranger: Stranger,
    place: np.ndarray,
) -> LeftOut:
    """Every annotator of a recording is left out once, together with others."""
    data = part.data
    none, plain = no_spread(data.D), levels._replace(widening=np.ones(data.D))
    judgement = np.repeat(np.arange(len(data.item_of)), data.length[data.item_of])
    level = two_scale_truth(data, params, structure, plain, none).level
    fold = folds(data, ~np.isnan(level).all(axis=1), place)
    products, apart = [no_products(data.D)], [no_deviates(data.K, data.D)]
    for f in range(int(fold.max(initial=-1)) + 1):
        out = fold == f
        others = data._replace(y=np.where(out[judgement][:, None], np.nan, data.y))
        fused = two_scale_truth(others, params, structure, plain, none)
        products.append(left_out_products(data, params, out[judgement], level[judgement], fused))
        apart.append(deviates(data, params, stranger, out, level, fused))
    return LeftOut(_total(Products, products), _total(Deviates, apart))


def no_products(D: int) -> Products:
    """Of nobody."""
    return Products(*np.zeros((3, D)))


def left_out_products(
    data: SeriesData, params: SeriesParams, out: np.ndarray, level: np.ndarray, fused: TwoScaleTruth
) -> Products:
    """Of ratings that were left `out` (S,) of what was fused. level: (S, D) of their traces."""
    at, follows = truth_frames(data, params.lag), params.F.sum(axis=1)
    gain, noise = np.diagonal(follows, axis1=1, axis2=2), np.diagonal(params.N, axis1=1, axis2=2)
    annotator = np.repeat(data.annotator_of, data.length[data.item_of])
    total = no_products(data.D)
    for d in range(data.D):
        V = fused.inside[:, d]
        row = np.flatnonzero(out & (at[:, d] >= 0) & ~np.isnan(data.y[:, d]))
        frame, k = at[row, d], annotator[row]
        g, s2 = gain[k, d], noise[k, d]
        left = data.y[row, d] - level[row, d] - np.sum(follows[k, d] * fused.course[frame], axis=1)
        total.found[d] = _pairs(frame, g / s2 * left, len(V)).sum()
        total.expected[d] = _pairs(frame, g**2 / s2, len(V)) @ V
        total.variance[d] = 2.0 * _pairs(frame, (g / s2) ** 2 * (g**2 * V[frame] + s2), len(V)).sum()
    return total


def folds(data: SeriesData, rated: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(J,) with whom a trace is left out, in turn; -1 where too few rated the recording.

    rated: (J,) bool. place: (K,) of annotators in the order in which they take turns.

    Nothing of what was estimated may decide it: annotators with great weights have errors that are alike by chance, and
    keeping them apart makes courses look better than they are.
    """
    fold = np.full(len(data.item_of), -1)
    for m in range(len(data.length)):
        here = np.flatnonzero((data.item_of == m) & rated)
        if len(here) >= FEWEST:
            here = here[np.argsort(place[data.annotator_of[here]], kind="stable")]
            fold[here] = np.arange(len(here)) % max(min(FOLDS, len(here) // 2), 2)
    return fold


def _pairs(frame: np.ndarray, value: np.ndarray, frames: int) -> np.ndarray:
    """(frames,) sum of v_j v_k over pairs of different annotators who speak of a frame."""
    one = np.bincount(frame, value, minlength=frames)
    return np.asarray(one**2 - np.bincount(frame, value**2, minlength=frames))


def _total(kind: Callable[..., Sums], found: Iterable[Iterable[np.ndarray]]) -> Sums:
    """Sums, field by field."""
    return kind(*(np.sum(field, axis=0) for field in zip(*found, strict=True)))
