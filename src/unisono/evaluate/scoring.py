"""How a fused truth compares with a reference, dimension by dimension, and what could not be compared.

Numbers by CCC, Pearson, RMSE and Spearman; classes by accuracy, macro F1, log loss and calibration. Traces are scored
frame by frame, recording by recording, and at the best lag: where the truth lies in time is partly a convention.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from unisono.errors import DataError
from unisono.maths import metrics
from unisono.maths.series.delay_search import advanced
from unisono.tables import Introduced, Introduction, ItemTable, Ratings, counted, listed, sort_labels


@dataclass(frozen=True)
class CategoryScore:
    """The figures of one dimension of categories; NaN where probabilities are not known."""

    name: str
    n: int  # items in both
    classes: int  # in the reference
    accuracy: float
    macro_f1: float
    log_loss: float  # nats per item
    calibration_error: float  # mean distance of stated probabilities from the share that is right
    not_in_truth: tuple[str, ...]  # classes of the reference that nobody chose

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def score_categories(
    truth: Mapping[str, Mapping[str, str]],
    reference: Mapping[str, Mapping[str, str]],
    probability: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> tuple[CategoryScore, ...]:
    """Scores of every column that both have and that share items: column -> item -> class (-> probability)."""
    shared = [name for name in reference if name in truth and set(truth[name]) & set(reference[name])]
    return tuple(_score_classes(name, truth[name], reference[name], probability.get(name, {})) for name in shared)


def _score_classes(
    name: str, truth: Mapping[str, str], reference: Mapping[str, str], known: Mapping[str, Mapping[str, float]]
) -> CategoryScore:
    items = sort_labels(set(truth) & set(reference))
    classes = sort_labels([*(truth[m] for m in items), *(reference[m] for m in items), *_classes(known)])
    place = {label: c for c, label in enumerate(classes)}
    best = np.array([place[truth[m]] for m in items])
    true = np.array([place[reference[m]] for m in items])
    loss = off = float("nan")
    if all(m in known for m in items):
        p = np.array([[known[m].get(label, 0.0) for label in classes] for m in items])
        loss = metrics.log_loss(p, true)
        off = metrics.calibration_error(p[np.arange(len(items)), best], best == true)
    chosen = _classes(known) | set(truth.values())
    unseen = tuple(label for label in sort_labels(reference[m] for m in items) if label not in chosen)
    figures = metrics.accuracy(best, true), metrics.macro_f1(best, true, len(classes)), loss, off
    return CategoryScore(name, len(items), len(set(true.tolist())), *figures, unseen)


def _classes(known: Mapping[str, Mapping[str, float]]) -> set[str]:
    return {label for row in known.values() for label in row}


REACH = 5.0  # seconds either way
STEPS = 100  # lags tried either way, at most


@dataclass(frozen=True)
class DimensionScore:
    """The figures of one dimension; NaN where one is not defined."""

    name: str
    n: int
    ccc: float
    pearson: float
    rmse: float
    spearman: float


@dataclass(frozen=True)
class RecordingScore:
    """One dimension of one recording."""

    recording: str
    name: str
    n: int
    ccc: float
    pearson: float


@dataclass(frozen=True)
class LagScore:
    """One dimension at the lag that suits it best, the same in every recording."""

    name: str
    lag: float  # seconds by which the estimate is late behind the reference; negative: early
    ccc: float
    pearson: float


@dataclass(frozen=True, repr=False)
class Scores(Introduced):
    """Scores, and what the two tables do not share."""

    dimensions: tuple[DimensionScore, ...]
    items: int  # in both
    only_in_truth: tuple[str, ...]
    only_in_reference: tuple[str, ...]
    dimensions_only_in_reference: tuple[str, ...]
    frames_without_partner: int = 0  # of the truth, in recordings that both have
    recordings: tuple[RecordingScore, ...] = ()  # series alone: one by one
    at_best_lag: tuple[LagScore, ...] = ()  # series alone: one row per dimension
    categories: tuple[CategoryScore, ...] = ()  # classes instead of numbers

    def with_categories(self, found: tuple[CategoryScore, ...]) -> Scores:
        """The same with the scores of classes."""
        return replace(self, categories=found) if found else self

    def _introduction(self) -> Introduction:
        title = f"Truth against reference on {counted(self.items, 'item' if not self.at_best_lag else 'recording')}"
        header: tuple[str, ...] = ("dimension", "pairs", "CCC", "Pearson", "RMSE", "Spearman")
        rows: list[tuple[str, ...]] = [
            (one.name, f"{one.n:,}", *(f"{x:.3f}" for x in (one.ccc, one.pearson, one.rmse, one.spearman)))
            for one in self.dimensions
        ]
        if not self.dimensions:
            header, rows = ("dimension", "items", "accuracy", "macro F1", "log loss"), self._class_rows()
        also = " and .categories" if self.categories and self.dimensions else ""
        return Introduction.of(title, header, rows, f"See .{self._first()}{also} and .to_dict().")

    def _first(self) -> str:
        return "dimensions" if self.dimensions or not self.categories else "categories"

    def _class_rows(self) -> list[tuple[str, ...]]:
        return [
            (one.name, f"{one.n:,}", *(f"{x:.3f}" for x in (one.accuracy, one.macro_f1, one.log_loss)))
            for one in self.categories
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        found = asdict(self)
        if not self.categories:
            del found["categories"]
        return found


def score_tables(
    truth: ItemTable, reference: ItemTable, *, align: Callable[[ItemTable, ItemTable], ItemTable] | None = None
) -> Scores:
    """Compares the columns that both tables have, on the items that both have.

    For series, `align` brings the reference onto the clock of the truth (see `unisono.tables.reading.clock_alignment`).
    """
    names = [column for column in reference.columns if column in truth.columns]
    known = set(reference.items)
    items = [item for item in truth.items if item in known]
    if not names:
        raise _nothing_shared(truth, reference, "dimension", truth.columns, reference.columns)
    if not items:
        raise _nothing_shared(truth, reference, "item", truth.items, reference.items)
    estimate = truth.select_items(items).select_columns(names)
    known_values = reference.select_items(items).select_columns(names)
    partner = align(known_values, estimate) if align else known_values
    x, y = estimate.value, partner.value
    if len(x) != len(y):
        raise DataError(f"{truth.source} and {reference.source} are series on different clocks.")
    series = estimate.clock is not None
    of_truth = set(truth.items)
    return Scores(
        tuple(_score(name, x[:, d], y[:, d]) for d, name in enumerate(names)),
        len(items),
        tuple(item for item in truth.items if item not in known),
        tuple(item for item in reference.items if item not in of_truth),
        tuple(column for column in reference.columns if column not in names),
        int(np.count_nonzero(np.isnan(y).all(axis=1))) if series else 0,
        recording_scores(estimate, partner) if series else (),
        best_lags(estimate, partner) if series else (),
    )


def rated_reference(ratings: Ratings, reference: ItemTable) -> tuple[ItemTable, tuple[str, ...]]:
    """The reference for items that were rated, and the other rated items, which can only train."""
    names = [name for name in ratings.dimensions if name in reference.columns]
    if not names:
        raise _nothing_shared(ratings, reference, "dimension", ratings.dimensions, reference.columns)
    table = reference.select_columns(names)
    known = np.repeat(np.arange(table.M), table.length)[~np.isnan(table.value).all(axis=1)]
    with_truth = {table.items[m] for m in known}
    labelled = [item for item in ratings.items if item in with_truth]
    if not labelled:
        raise DataError(f"No item of {ratings.source} has a truth in {reference.source}: look at the item column.")
    return table.select_items(labelled), tuple(item for item in ratings.items if item not in with_truth)


def recording_scores(estimate: ItemTable, reference: ItemTable) -> tuple[RecordingScore, ...]:
    """Every recording and dimension by itself; both tables have the same recordings, frames and columns."""
    first = np.concatenate([[0], np.cumsum(estimate.length)])
    found = []
    for m, item in enumerate(estimate.items):
        rows = slice(first[m], first[m + 1])
        for d, name in enumerate(estimate.columns):
            x, y = estimate.value[rows, d], reference.value[rows, d]
            n = int(np.count_nonzero(~(np.isnan(x) | np.isnan(y))))
            found.append(RecordingScore(item, name, n, metrics.ccc(x, y), metrics.pearson(x, y)))
    return tuple(found)


def best_lags(estimate: ItemTable, reference: ItemTable) -> tuple[LagScore, ...]:
    """The lag within 5 seconds with the highest Pearson, dimension by dimension, all recordings end to end."""
    assert estimate.clock is not None
    rate, longest = estimate.clock.rate, int(estimate.length.max())
    reach = min(round(REACH * rate), longest // 4)
    stride = max(-(-reach // STEPS), 1)
    steps = np.arange(-(reach // stride), reach // stride + 1) * stride
    found = []
    for d, name in enumerate(estimate.columns):
        moved = [_advanced(estimate.value[:, d], estimate.length, int(step)) for step in steps]
        score = np.array([metrics.pearson(x, reference.value[:, d]) for x in moved])
        # Of equal figures the smallest shift counts; without any, none.
        order = np.argsort(np.abs(steps), kind="stable")
        best = order[int(np.argmax(np.nan_to_num(score[order], nan=-2.0)))]
        figures = metrics.ccc(moved[best], reference.value[:, d]), float(score[best])
        found.append(LagScore(name, float(steps[best] / rate), *figures))
    return tuple(found)


def _score(name: str, x: np.ndarray, y: np.ndarray) -> DimensionScore:
    n = len(metrics.complete_pairs(x, y)[0])
    return DimensionScore(name, n, metrics.ccc(x, y), metrics.pearson(x, y), metrics.rmse(x, y), metrics.spearman(x, y))


def _advanced(x: np.ndarray, length: np.ndarray, step: int) -> np.ndarray:
    """Every recording moved `step` frames towards the past."""
    return np.concatenate([advanced(part, step) for part in np.split(x, np.cumsum(length)[:-1])])


def _nothing_shared(
    one: ItemTable | Ratings, other: ItemTable, what: str, ours: Sequence[str], theirs: Sequence[str]
) -> DataError:
    return DataError(
        f"{one.source} and {other.source} have no {what} in common: {listed(ours)} against {listed(theirs)}."
    )
