"""Traces with labels as arrays of the series model, in parts that an executor may work on; progress of the work.

Ratings, features per frame and gold frames become arrays; the fit and the description of annotators go through them
part by part, in this process or with the workers of an executor. Whoever watches a fit is called with (iteration,
objective) after every iteration, as by every fuser; a watcher that also has the methods of `WatchesTasks` hears of
tasks done of all that the fit consists of, and of phases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from unisono.errors import DataError, SettingsError
from unisono.fusers.fuser import Progress
from unisono.fusers.standardisation import Scaling, identity_scaling, places_by_label, pooled_scaling
from unisono.maths.series.trace_data import SeriesData
from unisono.maths.series.trace_features import accumulate
from unisono.maths.series.trace_parts import HeldParts, OnPart, Parts, make_part, split
from unisono.scale.executors import Executor, OnTask, Workers
from unisono.tables import ItemTable, Ratings, labels, rating_checks

ALIGN = "Bring it there first with unisono.align_to(table, ratings, hold=1.0, complete=True)."


class FrameSpace(NamedTuple):
    """Which features a model was fitted on, how they enter, and their units."""

    columns: tuple[str, ...]
    drive: bool  # whether they drive the truth's change, and are summed up over time first
    scaling: Scaling  # of the columns, summed up or not

    def frames(self, features: ItemTable | None, items: tuple[str, ...], length: np.ndarray) -> np.ndarray:
        """(sum T, P) standardised features of these recordings."""
        if not self.columns:
            return np.zeros((int(length.sum()), 0))
        if features is None:
            raise DataError(f"The model was fitted with features {labels.listed(self.columns)}: give them here too.")
        return self.scaling.standardise(frame_values(features.select_columns(self.columns), items, length, self.drive))


def learn_frame_space(features: ItemTable | None, ratings: Ratings, *, drive: bool, standardise: bool) -> FrameSpace:
    """The space of features on the clock of the ratings."""
    if features is None:
        return FrameSpace((), drive, identity_scaling(0))
    X = frame_values(features, ratings.items, ratings.length, drive)
    return FrameSpace(features.columns, drive, pooled_scaling(X) if standardise else identity_scaling(X.shape[1]))


def frame_values(features: ItemTable, items: tuple[str, ...], length: np.ndarray, drive: bool) -> np.ndarray:
    """(sum T, P) features of these recordings, every one of which must be known at every frame."""
    table = features.select_items(items)
    if table.clock is None or not np.array_equal(table.length, length):
        raise DataError(f"{table.source} is not on the clock of the ratings. {ALIGN}")
    if np.isnan(table.value).any():
        row, column = np.argwhere(np.isnan(table.value))[0].tolist()
        m = int(np.searchsorted(np.cumsum(table.length), row, side="right"))
        raise DataError(f"{table.source}: recording '{table.items[m]}' has a frame without {table.columns[column]}.")
    return accumulate(table.value, table.length) if drive else table.value


def gold_frames(gold: ItemTable, ratings: Ratings) -> np.ndarray:
    """(sum T, D) known truths at the frames of the ratings, NaN where not known."""
    dims = [name for name in ratings.dimensions if name in gold.columns]
    if not dims:
        raise DataError(
            f"{gold.source} has the columns {labels.listed(gold.columns)}, none of which was rated: "
            f"the dimensions are {labels.listed(ratings.dimensions)}."
        )
    rating_checks.require_known_items(gold, ratings)
    known = np.full((int(ratings.length.sum()), ratings.D), np.nan)
    first = np.concatenate([[0], np.cumsum(ratings.length)])
    begin = np.concatenate([[0], np.cumsum(gold.length)])
    for i, item in enumerate(gold.items):
        m = ratings.items.index(item)
        if gold.clock is None or gold.length[i] != ratings.length[m]:
            raise DataError(f"{gold.source} is not on the clock of the ratings. {ALIGN}")
        for name in dims:
            column = gold.value[begin[i] : begin[i + 1], gold.columns.index(name)]
            known[first[m] : first[m + 1], ratings.dimensions.index(name)] = column
    if np.isnan(known).all():
        raise DataError(f"{gold.source} knows the truth of no frame that was rated. Look at its time column.")
    return known


def to_series(ratings: Ratings, scaling: Scaling, X: np.ndarray) -> SeriesData:
    """The traces in standardised units; annotators by their place in the ratings."""
    return in_own_units(ratings)._replace(y=scaling.standardise(ratings.value), X=X)


def in_own_units(ratings: Ratings) -> SeriesData:
    """The traces as they are, without features."""
    return SeriesData(
        y=ratings.value,
        item_of=ratings.item_of.astype(np.int64),
        annotator_of=ratings.annotator_of.astype(np.int64),
        length=ratings.length,
        X=np.zeros((int(ratings.length.sum()), 0)),
        K=ratings.K,
    )


def to_known_series(
    ratings: Ratings, scaling: Scaling, X: np.ndarray, known: tuple[str, ...]
) -> tuple[SeriesData, tuple[str, ...]]:
    """The same with annotators by their place in an earlier fit, and who was not in it: they follow, one by one."""
    place = places_by_label(ratings, known).astype(np.int64)
    given = np.flatnonzero(np.bincount(ratings.annotator_of, minlength=ratings.K))
    newcomers = tuple(ratings.annotators[k] for k in given.tolist() if ratings.annotators[k] not in known)
    extra = {label: len(known) + i for i, label in enumerate(newcomers)}
    new = place == len(known)
    place[new] = [extra[ratings.annotators[k]] for k in ratings.annotator_of[new].tolist()]
    data = to_series(ratings, scaling, X)._replace(annotator_of=place, K=len(known) + len(newcomers))
    return data, newcomers


def active_annotators(data: SeriesData) -> tuple[SeriesData, np.ndarray]:
    """The traces with a number in them, annotators without any left out, and (K,) who is left."""
    active = np.zeros(data.K, dtype=bool)
    active[data.annotator_of[rated_traces(data).any(axis=1)]] = True
    if active.all():
        return data, active
    keep = active[data.annotator_of]
    part = data._replace(
        y=data.y[np.repeat(keep, data.length[data.item_of])],
        item_of=data.item_of[keep],
        annotator_of=(np.cumsum(active) - 1)[data.annotator_of[keep]],
        K=int(active.sum()),
    )
    return part, active


def rated_traces(data: SeriesData) -> np.ndarray:
    """(J, D) bool, traces with a number in them."""
    size = data.length[data.item_of]
    return np.asarray(np.logical_or.reduceat(~np.isnan(data.y), np.cumsum(size) - size, axis=0))


def one_dimension(data: SeriesData, d: int) -> SeriesData:
    """The traces of one dimension alone."""
    return data._replace(y=data.y[:, [d]])


def require_series(ratings: Ratings) -> float:
    """Frames per second of traces; DataError for ratings of items."""
    if ratings.clock is None:
        raise DataError(f"{ratings.source} has no time column, and this model is for traces over time.")
    return ratings.clock.rate


def require_rated(ratings: Ratings) -> None:
    """Refuses a dimension without a single number."""
    empty = [name for d, name in enumerate(ratings.dimensions) if np.isnan(ratings.value[:, d]).all()]
    if empty:
        raise DataError(f"{ratings.source}: nobody rated {labels.listed(empty)}. Leave it out with --dim.")


Result = TypeVar("Result")


class SpreadParts:
    """Parts with the workers of an executor."""

    def __init__(self, executor: Executor, data: SeriesData) -> None:
        self.executor = executor
        self.shards = executor.keep(split(data), make_part)

    def map(self, function: Callable[..., Result], *parameters: Any, on_part: OnPart | None = None) -> list[Result]:
        return list(self.executor.map(function, self.shards, *parameters, on_shard=on_part))


def parts_of(data: SeriesData, executor: Executor | None) -> Parts:
    """Parts in this process, or with the workers of an executor."""
    return HeldParts(data) if executor is None else SpreadParts(executor, data)


class WorksOnParts:
    """A fuser whose work on frames is done here, or by the workers of an executor."""

    executor: Executor | None = None
    _spread: tuple[np.ndarray, Parts] | None = None  # parts with the executor, and the traces they are of

    def work_on(self, executor: Executor | None) -> Self:
        """Fits and descriptions are worked on by this executor from now on, or by this process; numbers stay."""
        self.executor = executor
        self._spread = None
        return self

    def _workers(self) -> Workers:
        """Who works on starts and windows: the executor, or so many processes."""
        return getattr(self, "jobs", 1) if self.executor is None else self.executor

    def _parts(self, data: SeriesData) -> Parts:
        """The traces in parts; those of an executor are made once."""
        if self.executor is None:
            return HeldParts(data)
        if self._spread is None or self._spread[0] is not data.y:
            self._spread = data.y, SpreadParts(self.executor, data)
        return self._spread[1]


@contextmanager
def works_on(executor: Executor | None, fuser: object) -> Iterator[None]:
    """Inside, the executor does the work of a fuser of traces."""
    if executor is None:
        yield
        return
    if not isinstance(fuser, WorksOnParts):
        raise SettingsError(
            "An executor works on traces here; ratings of items are made into shards for it, by "
            "unisono.scale.sharded_fusion.fuse_shards."
        )
    try:
        fuser.work_on(executor)
        yield
    finally:
        fuser.work_on(None)


@runtime_checkable
class WatchesTasks(Protocol):
    def task(self, done: int, total: int) -> None:
        """`done` of the `total` tasks of the whole fit are finished."""

    def phase(self, what: str, done: int, total: int) -> None:
        """Inside a task, something that is not EM: `what`, so much of it."""


class Watcher:
    """Tells one watcher, or nobody, about one fit of `total` tasks; a single task is not worth counting."""

    def __init__(self, on_step: Progress | None, total: int = 1) -> None:
        self._on_step = on_step
        self._tasks = on_step if isinstance(on_step, WatchesTasks) else None
        self._total = total
        self._iterations, self._done = 0, -1
        self.tasks_done(0)

    def step(self, iteration: int, params: object, objective: float) -> None:
        """After an iteration of EM, as `run_em` tells it; iterations are counted over all runs of the fit."""
        if self._on_step is not None:
            self._on_step(self._iterations, objective)
        self._iterations += 1

    def tasks_done(self, count: int) -> None:
        """`count` tasks of the fit are finished, or were not needed, counted from its beginning."""
        news, self._done = count > self._done, count
        if self._tasks is not None and self._total > 1 and news:
            self._tasks.task(count, self._total)

    def task_done(self, *_: int) -> None:
        """One more is finished; `run_tasks` may call it with the numbers of its own share."""
        self.tasks_done(self._done + 1)

    def phase(self, what: str) -> OnTask:
        """A callback (done, total) for a phase inside a task."""

        def tell(done: int, total: int) -> None:
            if self._tasks is not None:
                self._tasks.phase(what, done, total)

        return tell
