"""Agreement on one dimension: ICCs, alphas, AC2 and standard errors of measurement with bootstrap intervals.

Says also what the bootstrap resamples: items, recordings, or stretches of recordings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.agreement.agreement_bootstrap import Blocks, Coded, Draws, Interval, bootstrap, coded, make_blocks
from unisono.maths.agreement.chance_corrected import gwet_ac2, interval_alpha, ordinal_alpha
from unisono.maths.agreement.intraclass_reliability import (
    NAMES,
    Design,
    IccDraws,
    chance_of_raters,
    design_of,
    icc_draws,
    other_raters,
)
from unisono.tables.coverage_and_outliers import frame_index
from unisono.tables.item_table import Clock
from unisono.tables.ratings import Ratings

LEAST_LEFT = 1e-3  # numerical: share of all variance that is left however little annotators differ
LEAST_RECORDINGS = 20  # below, stretches of recordings are drawn instead
STRETCH = 10.0  # seconds, longer than traces remember
ALPHA, ORDINAL, AC2 = "alpha (interval)", "alpha (ordinal)", "AC2"
SEM, SEM_MEAN = "SEM", "SEM of the mean"
SHARES = ("share of items", "share of annotators", "share of the rest")
FIGURES = (*NAMES, ALPHA, ORDINAL, AC2, SEM, SEM_MEAN, *SHARES)


class Drawing(NamedTuple):
    """How intervals are made."""

    draws: int = 1000
    level: float = 0.95
    seed: int = 0
    these_annotators: bool = False  # as if nobody else could have rated; otherwise they are a sample, as items are

    def chance(self, data: Coded, rows: int, rng: np.random.Generator) -> np.ndarray | None:
        """(rows,) of drawing other annotators in every draw of `bootstrap_weights`; None for the same ones."""
        if self.these_annotators or rows == 1:
            return None
        return chance_of_raters(data, rows, slice(1, 1 + self.draws), rng)


class Measured(NamedTuple):
    """One dimension: its ratings as codes, its design, its figures."""

    data: Coded
    design: Design
    figures: dict[str, Interval]
    icc: IccDraws  # first of the ratings as they are, then of the draws


def measured(ratings: Ratings, d: int, drawing: Drawing) -> Measured:
    """All figures of dimension d that have intervals."""
    data = coded(ratings.value[:, d], unit_codes(ratings), annotator_codes(ratings))
    design = design_of(data)
    rng = np.random.default_rng([drawing.seed, d])
    blocks = make_blocks(clusters(ratings.length, ratings.clock)[data.units], rng)
    icc: list[IccDraws] = []

    def figures(W: np.ndarray) -> np.ndarray | Draws:
        icc.append(icc_draws(data, design, blocks, W))
        same = _figures(data, icc[0], blocks, W)
        chance = drawing.chance(data, len(W), rng)
        return same if chance is None else Draws(same, _of_others(data, design, icc[0], same, chance))

    found = bootstrap(figures, blocks.G, drawing.draws, drawing.level, rng)
    return Measured(data, design, dict(zip(FIGURES, found, strict=True)), icc[0])


def _figures(data: Coded, icc: IccDraws, blocks: Blocks, W: np.ndarray) -> np.ndarray:
    """(B, P) in the order of `FIGURES`."""
    alphas = (interval_alpha(data, blocks, W), ordinal_alpha(data, blocks, W), gwet_ac2(data, blocks, W))
    return _in_order(icc, *alphas)


def _in_order(icc: IccDraws, *alphas: np.ndarray) -> np.ndarray:
    variances = np.maximum(np.stack(icc.components, axis=1), 0.0)
    total = variances.sum(axis=1, keepdims=True)
    shares = np.where(total > 0, variances / np.where(total > 0, total, 1.0), np.nan)
    return np.column_stack([*icc.icc.values(), *alphas, icc.sem, icc.sem_mean, shares])


def _of_others(data: Coded, design: Design, icc: IccDraws, same: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """(B, P) the figures `same` of these annotators as other annotators may show them.

    Alphas are one less the share of disagreement in all variance; both gain what annotators differ more. AC2 stays: it
    has no variance of annotators.
    """
    found = icc.with_raters(other_raters(data, icc.components.rater, icc.components.residual, chance), design)
    total = np.maximum(np.stack(icc.components, axis=1), 0.0).sum(axis=1)
    more = (found.components.rater - icc.components.rater) / np.where(total > 0, total, 1.0)
    more = np.maximum(more, LEAST_LEFT - 1)

    def moved(alpha: np.ndarray) -> np.ndarray:
        return np.asarray(1 - np.maximum(1 - alpha + more, 0.0) / (1 + more))

    interval, ordinal, ac2 = (same[:, FIGURES.index(name)] for name in (ALPHA, ORDINAL, AC2))
    return _in_order(found, moved(interval), moved(ordinal), ac2)


def unit_codes(ratings: Ratings) -> np.ndarray:
    """(S,) what each number is about: an item, or a frame of a recording."""
    return frame_index(ratings) if ratings.is_series else ratings.item_of


def annotator_codes(ratings: Ratings) -> np.ndarray:
    """(S,) who gave each number."""
    if not ratings.is_series:
        return ratings.annotator_of
    return np.asarray(np.repeat(ratings.annotator_of, ratings.length[ratings.item_of]))


def clusters(length: np.ndarray, clock: Clock | None) -> np.ndarray:
    """(sum T,) what is drawn together with each item or frame: itself, its recording, or its stretch of one."""
    item = np.repeat(np.arange(len(length)), length)
    if clock is None or len(length) >= LEAST_RECORDINGS:
        return item
    within = np.arange(len(item)) - np.repeat(np.cumsum(length) - length, length)
    stretch = (within / max(round(STRETCH * clock.rate), 1)).astype(np.int64)
    return np.asarray(item * (int(stretch.max(initial=0)) + 1) + stretch)


def what_is_drawn(ratings: Ratings) -> str:
    """In words."""
    if not ratings.is_series:
        return "items"
    return "recordings" if ratings.M >= LEAST_RECORDINGS else f"stretches of {STRETCH:g} s"
