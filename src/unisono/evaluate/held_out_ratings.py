"""Random splits, and how well a fuser predicts ratings it has not seen and annotators it has not met.

Splits are of three kinds: judgements hidden from items that stay (held-out ratings), annotators left out entirely, and
items in train, validation and test folds (the paper's protocol). All are drawn here, from a seed and from nothing else.
Held-out ratings: the fuser is fitted to the rest and predicts the hidden ones. Left-out annotators: the others are
fused, and the result is correlated with the answers of the left-out person. No reference is needed. All figures are in
standard deviations of each dimension's ratings, so that dimensions on different scales count alike.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unisono.errors import ConvergenceWarning, DataError, taken
from unisono.fusers import Fuser, fusion_results, standardisation
from unisono.fusers.held_out_stretches import without_rows
from unisono.maths.grouped_sums import grouped_correlation
from unisono.maths.items.item_estimates import HeldOut, held_out_scores
from unisono.tables import ItemTable, Ratings
from unisono.tables.coverage_and_outliers import coverage, frame_index, raters_per_frame

MOST_LATE = 5.0  # seconds by which a left-out trace may be behind the truth
LAGS = 26  # of them tried


class Effort(NamedTuple):
    """What a fit cost, and whether it ended by itself."""

    seconds: float
    iterations: int
    converged: bool


def timed_fit(fuser: Fuser, ratings: Ratings, features: ItemTable | None) -> Effort:
    """Fits in place. A fit that stops early is reported as such instead of warned about, once per fold."""
    start = time.perf_counter()
    with taken(ConvergenceWarning):
        fuser.fit(ratings, features)
    trace = fuser.trace_
    return Effort(time.perf_counter() - start, trace.iterations, trace.converged)


def score_hidden(fuser: Fuser, ratings: Ratings, features: ItemTable | None, hidden: np.ndarray) -> HeldOut:
    """Fits the fuser to what is not `hidden` and scores its predictions of what is.

    `hidden` (J,) are judgements of items, or (S,) rows of traces: stretches longer than filters reach.
    """
    series = ratings.is_series
    timed_fit(fuser, without_rows(ratings, hidden) if series else ratings.select_judgements(~hidden), features)
    answers = without_rows(ratings, ~hidden) if series else ratings.select_judgements(hidden)
    predicted = fuser.predict_ratings(answers)
    unit = standardisation.pooled_scaling(ratings.value)
    standardised = predicted._replace(
        mean=unit.standardise(predicted.mean), variance=predicted.variance / unit.scale**2
    )
    return held_out_scores(standardised, unit.standardise(answers.value), fusion_results.INTERVAL)


def left_out_agreement(fuser: Fuser, ratings: Ratings, features: ItemTable | None, people: np.ndarray) -> np.ndarray:
    """(len(people),) how each left-out annotator's answers correlate with the truth fused from all the others.

    Mean over dimensions; NaN for who rated fewer than three items that others rated too, or never varied. A trace
    counts at the delay at which it agrees best: where a model puts the truth in time is no merit.
    """
    out = np.isin(ratings.annotator_of, people)
    others = ratings.select_judgements(~out)
    timed_fit(fuser, others, features)
    truth = fuser.fuse().mean
    if ratings.is_series:
        by_lag = _delayed_agreement(truth, others, ratings.select_judgements(out))
        return np.asarray(np.fmax.reduce(by_lag, axis=0)[people])
    # An item without other raters has a truth by the model's prior alone: it says nothing about agreement.
    rated = np.bincount(others.item_of, minlength=ratings.M) > 0
    item, answers = ratings.item_of[out], ratings.value[out]
    unit = standardisation.pooled_scaling(ratings.value)
    expected = np.where(rated[item][:, None], unit.standardise(truth[item]), np.nan)
    found = grouped_correlation(unit.standardise(answers), expected, ratings.annotator_of[out], ratings.K)[people]
    return _mean_of_known(found)


def _delayed_agreement(truth: np.ndarray, others: Ratings, out: Ratings) -> np.ndarray:
    """(lags, K) correlation, mean over dimensions, of left-out traces with the truth so many frames earlier."""
    assert out.clock is not None
    unit = standardisation.pooled_scaling(out.value)
    known = np.where(raters_per_frame(others) > 0, unit.standardise(truth), np.nan)
    frame, who = frame_index(out), np.repeat(out.annotator_of, out.length[out.item_of])
    into = frame - (np.cumsum(out.length) - out.length)[np.repeat(out.item_of, out.length[out.item_of])]
    reach = round(MOST_LATE * out.clock.rate)
    found = []
    for lag in np.unique(np.linspace(0, reach, LAGS).round().astype(int)).tolist():
        # Frames before a recording's first have no truth.
        expected = np.where((into >= lag)[:, None], known[np.maximum(frame - lag, 0)], np.nan)
        found.append(_mean_of_known(grouped_correlation(unit.standardise(out.value), expected, who, out.K)))
    return np.stack(found)


def _mean_of_known(values: np.ndarray) -> np.ndarray:
    """(n,) means over columns of what is known, NaN if nothing is."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=1) / known.sum(axis=1))


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
