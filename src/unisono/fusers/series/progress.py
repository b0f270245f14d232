"""What a long fit of traces tells about itself: iterations, tasks done of all that the fit consists of, phases.

Whoever watches is called with (iteration, objective) after every iteration, as by every fuser. A watcher that also has
the methods of `WatchesTasks` hears of tasks and phases too.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from unisono.fusers.base import Progress
from unisono.tasks import OnTask


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
