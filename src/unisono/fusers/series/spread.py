"""Parts of traces that an executor works on: the fit and the description of annotators run there, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar

import numpy as np

from unisono.engines.protocol import Executor
from unisono.errors import SettingsError
from unisono.maths.series.params import SeriesData
from unisono.maths.series.parts import HeldParts, OnPart, Parts, make_part, split
from unisono.tasks import Workers

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
    _spread: tuple[np.ndarray, Parts]

    def work_on(self, executor: Executor | None) -> Self:
        """Fits and descriptions are worked on by this executor from now on, or by this process; numbers stay."""
        self.executor = executor
        vars(self).pop("_spread", None)
        return self

    def _workers(self) -> Workers:
        """Who works on starts and windows: the executor, or so many processes."""
        return getattr(self, "jobs", 1) if self.executor is None else self.executor

    def _parts(self, data: SeriesData) -> Parts:
        """The traces in parts; those of an executor are made once."""
        if self.executor is None:
            return HeldParts(data)
        if "_spread" not in vars(self) or self._spread[0] is not data.y:
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
            "unisono.sharded.fusion.fuse_shards."
        )
    try:
        fuser.work_on(executor)
        yield
    finally:
        fuser.work_on(None)
