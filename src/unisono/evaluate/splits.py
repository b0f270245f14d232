"""Random splits of ratings, annotators and items: every one is drawn here, from a seed, and from nothing else.

Three kinds: judgements hidden from items that stay (held-out ratings), annotators left out entirely, and items in
train, validation and test folds (the paper's protocol).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unisono.errors import DataError
from unisono.tables.coverage_and_outliers import coverage
from unisono.tables.ratings import Ratings

NEVER = -1  # the fold of a judgement that is never hidden


@dataclass(frozen=True)
class ItemFold:
    """The items of one round of cross-validation, by label; no item in two parts."""

    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]

    def __post_init__(self) -> None:
        for one, other in (("train", "validation"), ("train", "test"), ("validation", "test")):
            shared = set(getattr(self, one)) & set(getattr(self, other))
            if shared:
                raise ValueError(f"{len(shared)} items are both in the {one} and in the {other} part: a leak.")


def judgement_folds(ratings: Ratings, folds: int, rng: np.random.Generator) -> np.ndarray:
    """(J,) the fold in which each judgement is hidden, or NEVER.

    The judgements of one item after the other are dealt out to the folds in turn, so that folds are equal and an item
    with two judgements or more never loses them all.
    The only judgement of an item or an annotator is never hidden, nor the first of an annotator whom chance put into
    one fold altogether: whoever and whatever is scored has been seen at least once.
    """
    _require_folds(folds, 2)
    answered = coverage(ratings).spoke
    fold = np.full(ratings.J, NEVER)
    at = np.flatnonzero(answered)
    at = at[np.lexsort((rng.random(len(at)), rng.permutation(ratings.M)[ratings.item_of[at]]))]
    item = ratings.item_of[at]
    fold[at] = np.arange(len(at)) % folds
    fold[at[np.bincount(item, minlength=ratings.M)[item] == 1]] = NEVER
    _keep_every_annotator(fold, answered, ratings)
    if not (fold >= 0).any():
        raise DataError(
            f"{ratings.source}: no rating can be hidden, because every item or every annotator has a single one. "
            "Comparing models needs items with two ratings or more."
        )
    return fold


def annotator_folds(ratings: Ratings, groups: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Annotators (indices) left out together: at most `groups` groups of equal size, each person in one of them."""
    active = np.unique(ratings.annotator_of[coverage(ratings).spoke])
    if len(active) < 3:
        return []  # with one annotator left there is nothing to fuse
    return [np.sort(part) for part in np.array_split(rng.permutation(active), min(groups, len(active)))]


def item_folds(items: tuple[str, ...], folds: int, rng: np.random.Generator) -> list[ItemFold]:
    """Rounds in which every item is tested once; the fold after the tested one validates, the rest trains."""
    _require_folds(folds, 3)
    if len(items) < folds:
        raise DataError(f"{len(items)} items with a reference cannot make {folds} folds. Ask for fewer folds.")
    parts = np.array_split(rng.permutation(len(items)), folds)
    labels = [tuple(items[m] for m in np.sort(part)) for part in parts]
    rounds = []
    for c, test in enumerate(labels):
        v = (c + 1) % folds
        train = tuple(item for i, part in enumerate(labels) if i not in (c, v) for item in part)
        rounds.append(ItemFold(train, labels[v], test))
    return rounds


def _keep_every_annotator(fold: np.ndarray, answered: np.ndarray, ratings: Ratings) -> None:
    """Takes back, in place, one judgement of each annotator who would vanish with a fold."""
    at = np.flatnonzero(answered)
    who = ratings.annotator_of[at]
    low, high = np.full(ratings.K, np.iinfo(fold.dtype).max), np.full(ratings.K, NEVER)
    np.minimum.at(low, who, fold[at])
    np.maximum.at(high, who, fold[at])
    people, first = np.unique(who, return_index=True)
    fold[at[first[(low == high)[people]]]] = NEVER


def _require_folds(folds: int, least: int) -> None:
    if folds < least:
        raise DataError(f"{folds} folds are too few: this needs at least {least}.")
