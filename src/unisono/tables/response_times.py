"""How long answers took, from a table of trials: who answers faster than anybody judges, and who tires.

A table of trials has a row per answer: item, annotator, position (on the annotator's way) and response_seconds; where
a server could confirm no more than confirmed_seconds, those count.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import erfc
from typing import NamedTuple

import numpy as np

from unisono.tables.labels import counted
from unisono.tables.rating_checks import MOST_NAMED, Alert, hasty_alert
from unisono.tables.ratings import Ratings

FASTEST = 0.3  # seconds: nobody looks, judges and answers faster than they react
HASTY_SHARE, HASTY_ANSWERS = 0.2, 3  # of an annotator's answers, before anybody is named
HURRIED = 1 / 3  # of the time that is usual among annotators
LEAST_ANNOTATORS = 4  # for saying what is usual
LEAST_ANSWERS = 20  # for comparing halves of somebody's way
TIRED = 0.01  # probability of a difference between halves by chance, shared among annotators


class Trials(NamedTuple):
    """Answers that are ratings, row by row."""

    item: tuple[str, ...]
    annotator: tuple[str, ...]
    position: np.ndarray  # (N,) place on the annotator's way
    seconds: np.ndarray  # (N,) NaN where nobody knows


class Half(NamedTuple):
    """The first or the last half of somebody's way."""

    seconds: float  # median
    distance: np.ndarray  # (n,) of each answer from the mean of the others, in shares of the scale


def time_alerts(trials: Trials, ratings: Ratings | None) -> list[Alert]:
    """Who answers too fast, and, of ratings that are numbers, who tires."""
    found = [*_hasty(trials), *_hurried(trials)]
    return found if ratings is None or ratings.is_series else [*found, *_tired(trials, ratings)]


def _by_annotator(trials: Trials) -> dict[str, np.ndarray]:
    """Seconds that are known, of everybody."""
    who, known = np.array(trials.annotator, dtype=object), ~np.isnan(trials.seconds)
    return {name: trials.seconds[known & (who == name)] for name in dict.fromkeys(trials.annotator)}


def too_fast(fast: np.ndarray, n: np.ndarray) -> np.ndarray:
    """(K,) whether so many of n answers came faster than anybody can answer that it is no chance."""
    return np.asarray((fast >= HASTY_ANSWERS) & (fast >= HASTY_SHARE * n))


def _hasty(trials: Trials) -> Iterator[Alert]:
    each = {name: (int((one < FASTEST).sum()), len(one)) for name, one in _by_annotator(trials).items()}
    for name in [name for name, counts in each.items() if too_fast(*np.array(counts))][:MOST_NAMED]:
        yield hasty_alert(name, *each[name])


def _hurried(trials: Trials) -> Iterator[Alert]:
    medians = {name: float(np.median(one)) for name, one in _by_annotator(trials).items() if len(one) >= HASTY_ANSWERS}
    if len(medians) < LEAST_ANNOTATORS:
        return
    for name, mine in sorted(medians.items(), key=lambda pair: pair[1])[:MOST_NAMED]:
        usual = float(np.median([other for who, other in medians.items() if who != name]))
        if mine < HURRIED * usual:
            words = f"Annotator '{name}' takes {mine:.1f} s per answer (median), the others {usual:.1f} s."
            yield Alert("fast-answers", "warning", words, (name,))


def _tired(trials: Trials, ratings: Ratings) -> Iterator[Alert]:
    """Whose answers lie farther from the others' in the last half of their way, and come faster."""
    halves = _halves(trials, ratings)
    named = 0
    for name, (first, last) in halves.items():
        by_chance = _probability(first.distance, last.distance)
        if by_chance < TIRED / len(halves) and last.seconds < first.seconds and named < MOST_NAMED:
            named += 1
            far = [100 * float(np.mean(half.distance)) for half in (first, last)]
            words = (
                f"Annotator '{name}' seems to tire: from the first to the last half of their answers, the distance "
                f"from the others grows from {far[0]:.0f} to {far[1]:.0f} % of the scale, and the median time falls "
                f"from {first.seconds:.1f} to {last.seconds:.1f} s."
            )
            yield Alert("fatigue", "warning", words, (name,))
    differences = np.array([np.mean(last.distance) - np.mean(first.distance) for first, last in halves.values()])
    if len(differences) < 2 * LEAST_ANNOTATORS:
        return
    error = float(np.std(differences, ddof=1)) / len(differences) ** 0.5
    grown = float(np.mean(differences))
    if grown > 3 * error:
        usual = float(np.mean([np.mean(first.distance) for first, _ in halves.values()]))
        words = (
            f"{counted(len(differences), 'annotator')} lie farther from each other in the last half of their answers, "
            f"by {100 * grown:.1f} % of the scale after {100 * usual:.1f} % in the first: the study may be too long."
        )
        yield Alert("fatigue-of-all", "note", words)


def _halves(trials: Trials, ratings: Ratings) -> dict[str, tuple[Half, Half]]:
    """The first and the last half of everybody's way, of those with enough answers."""
    items = {name: number for number, name in enumerate(ratings.items)}
    people = {name: number for number, name in enumerate(ratings.annotators)}
    pair = ratings.item_of.astype(np.int64) * ratings.K + ratings.annotator_of  # sorted, as ratings are
    distance = _distances(ratings)
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for item, name, position, seconds in zip(*trials, strict=True):
        if item not in items or name not in people:
            continue
        wanted = items[item] * ratings.K + people[name]
        at = int(np.searchsorted(pair, wanted))
        if at < len(pair) and pair[at] == wanted and np.isfinite(distance[at]):
            rows.setdefault(name, []).append((position, seconds, distance[at]))
    found = {}
    for name, mine in rows.items():
        if len(mine) >= LEAST_ANSWERS:
            ordered = np.array(sorted(mine))
            first, last = (Half(float(np.nanmedian(part[:, 1])), part[:, 2]) for part in np.array_split(ordered, 2))
            found[name] = (first, last)
    return found


def _distances(ratings: Ratings) -> np.ndarray:
    """(J,) how far every answer is from the mean of the others on its item: the mean over dimensions, in shares of
    the range of answers; NaN where nobody else answered."""
    value, known = ratings.value, ~np.isnan(ratings.value)
    filled = np.where(known, value, 0.0)
    total = np.zeros((ratings.M, ratings.D))
    count = np.zeros((ratings.M, ratings.D))
    np.add.at(total, ratings.item_of, filled)
    np.add.at(count, ratings.item_of, known)
    with np.errstate(invalid="ignore", divide="ignore"):
        others = (total[ratings.item_of] - filled) / (count[ratings.item_of] - known)
        width = np.nanmax(value, axis=0) - np.nanmin(value, axis=0)
        away = np.abs(value - others) / width
    rated = np.isfinite(away)
    return np.where(rated.any(axis=1), np.where(rated, away, 0).sum(axis=1) / np.maximum(rated.sum(axis=1), 1), np.nan)


def _probability(first: np.ndarray, last: np.ndarray) -> float:
    """That the last distances are so much larger by chance: ranks of both, by the normal distribution."""
    n, m = len(first), len(last)
    both = np.concatenate([first, last])
    _, place, times = np.unique(both, return_inverse=True, return_counts=True)
    rank = (np.cumsum(times) - (times - 1) / 2)[place]  # the mean rank of those that are equal
    spread = np.sqrt(n * m * (n + m + 1) / 12)
    z = (rank[n:].sum() - m * (n + m + 1) / 2) / spread
    return 0.5 * erfc(float(z) / 2**0.5)
