"""Studies of a folder as cases: ratings to fuse, a target for their items, and how noisy that target is.

A study is a folder with ratings.csv and, where experts have said what is true, reference.csv. Without a reference,
annotators are split: some are fused, the plain mean of the rest is the target. The noise of that target is known: the
variance of ratings within items over the number of ratings that went into it.
"""

from __future__ import annotations

import sys
import zlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.accuracy_sets import item_means, thin
from unisono.errors import DataError
from unisono.maths.grouped_sums import segment_sum
from unisono.tables.item_table import ItemTable
from unisono.tables.ratings import Ratings
from unisono.tables.reading.ratings_reader import read_item_table, read_ratings

MOST_ITEMS = 400  # of a study with more, so many are drawn
FEW_ANNOTATORS = 4  # up to which one annotator at a time is left out, instead of half of them
THINNED = 3  # ratings per item of the thinned view
SAME_PLACE, SAME_SPREAD = 1.5, (0.3, 3.0)  # in sd of ratings, and as a ratio: when a reference is on their scale


class StudyCase(NamedTuple):
    """One draw of one study."""

    study: str
    per_item: int  # 0: all ratings
    seed: int


class Target(NamedTuple):
    """What an estimate is held against."""

    value: np.ndarray  # (M, D) NaN where there is none
    noise: np.ndarray  # (M, D) variance of its error; 0 for a reference
    comparable: bool  # whether it is on the scale of the ratings


def study_names(folder: Path) -> list[str]:
    """The studies of a folder, in order."""
    return sorted(path.parent.name for path in folder.glob("*/ratings.csv"))


def study_cases(folder: Path, seeds: int, only: set[str] | None = None) -> list[StudyCase]:
    """All draws: every study with all its ratings and, where it has more, with three per item."""
    found = []
    for name in study_names(folder):
        if only and name not in only:
            continue
        try:
            ratings, reference = load_study(folder, name)
        except DataError as problem:
            print(f"skipped: {problem}", file=sys.stderr)
            continue
        split = reference is None and ratings.K > FEW_ANNOTATORS
        share = 0.5 if split else 1 - 1 / ratings.K if reference is None else 1.0
        found += [StudyCase(name, 0, seed) for seed in range(1 if reference is not None else seeds)]
        if np.median(np.bincount(ratings.item_of)) * share > THINNED:
            found += [StudyCase(name, THINNED, seed) for seed in range(seeds)]
    return found


@cache
def load_study(folder: Path, name: str) -> tuple[Ratings, ItemTable | None]:
    """Ratings and reference of a study, with the dimensions that both have."""
    ratings = read_ratings(folder / name / "ratings.csv")
    path = folder / name / "reference.csv"
    if not path.exists():
        return ratings, None
    reference = read_item_table(path)
    shared = [d for d in ratings.dimensions if d in reference.columns]
    return ratings, reference.select_columns(shared) if shared else None


def draw_case(folder: Path, case: StudyCase) -> tuple[Ratings, Target]:
    """The ratings to fuse and their target, the same for every model."""
    ratings, reference = load_study(folder, case.study)
    rng = np.random.default_rng(zlib.crc32("/".join(map(str, case)).encode()))
    if reference is not None:
        known = np.flatnonzero(np.isin(ratings.items, reference.items))
        ratings = ratings.select_items(known)
    if ratings.M > MOST_ITEMS:
        ratings = ratings.select_items(np.sort(rng.choice(ratings.M, MOST_ITEMS, replace=False)))
    if reference is not None:
        fused = thin(ratings, case.per_item, rng)
        return fused, _reference_target(fused, reference)
    if ratings.K <= FEW_ANNOTATORS:
        out = np.array([case.seed % ratings.K])
    else:
        out = rng.permutation(ratings.K)[: ratings.K // 2]
    left = np.isin(ratings.annotator_of, out)
    fused = thin(ratings.select_judgements(~left), case.per_item, rng)
    return _with_target(fused, ratings.select_judgements(left), within_items(ratings))


def within_items(ratings: Ratings) -> np.ndarray:
    """(D,) variance of ratings within items, by degrees of freedom."""
    seen = ~np.isnan(ratings.value)
    away = np.where(seen, ratings.value - item_means(ratings)[ratings.item_of], 0.0)
    count = segment_sum(seen.astype(float), ratings.item_of, ratings.M)
    return np.asarray((away**2).sum(axis=0) / np.maximum(np.maximum(count - 1, 0).sum(axis=0), 1))


def _with_target(fused: Ratings, others: Ratings, within: np.ndarray) -> tuple[Ratings, Target]:
    """The items that both have, with the mean of the others as target."""
    count = segment_sum((~np.isnan(others.value)).astype(float), others.item_of, others.M)
    rated = np.intersect1d(np.unique(fused.item_of), np.unique(others.item_of))
    with np.errstate(divide="ignore"):
        noise = np.where(count > 0, within / np.maximum(count, 1), np.nan)
    return fused.select_items(rated), Target(item_means(others)[rated], noise[rated], comparable=True)


def _reference_target(fused: Ratings, reference: ItemTable) -> Target:
    known = reference.select_items(fused.items)
    value = np.full((fused.M, fused.D), np.nan)
    at = [fused.dimensions.index(name) for name in known.columns]
    value[:, at] = known.value
    means, sd = item_means(fused), np.nanstd(fused.value, axis=0)
    away = np.abs(np.nanmean(value[:, at], axis=0) - np.nanmean(fused.value[:, at], axis=0)) / sd[at]
    spread = np.nanstd(value[:, at], axis=0) / np.nanstd(means[:, at], axis=0)
    low, high = SAME_SPREAD
    same = bool((away < SAME_PLACE).all() and ((spread > low) & (spread < high)).all())
    return Target(value, np.where(np.isnan(value), np.nan, 0.0), same)
