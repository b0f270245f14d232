"""Many independent tasks, here or by an executor; the results come in the order of the tasks, whoever did them.

Nothing random happens inside: splits are drawn before, so a task is a pure function of its arguments and the number of
workers cannot matter. One BLAS thread per task, always: matrices are small, and the last bits stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from unisono.engines.choice import open_engine
from unisono.engines.protocol import Executor
from unisono.errors import SettingsError

Result = TypeVar("Result")
OnTask = Callable[[int, int], None]  # tasks done, tasks in all
Workers = int | Executor  # so many processes, -1 for one per core; or who does the work


def run_tasks(
    function: Callable[..., Result],
    tasks: Sequence[tuple[Any, ...]],
    jobs: Workers = 1,
    on_task: OnTask | None = None,
    *,
    common: tuple[Any, ...] = (),
) -> list[Result]:
    """`function(*task, *common)` for every task, in their order.

    jobs: processes at once, -1 for one per core, or an executor. common: what all tasks need; it reaches a worker once.
    """
    if isinstance(jobs, int) and (jobs == 0 or jobs < -1):
        raise SettingsError(f"jobs is {jobs}: give the number of processes, or -1 for one per core.")
    results: list[Result] = []
    for result in _results(function, tasks, jobs, common):
        results.append(result)
        if on_task is not None:
            on_task(len(results), len(tasks))
    return results


def _results(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], jobs: Workers, common: tuple[Any, ...]
) -> Iterator[Result]:
    if isinstance(jobs, int) and (jobs == 1 or len(tasks) < 2):
        for task in tasks:
            with threadpool_limits(limits=1):
                yield function(*task, *common)
        return
    if isinstance(jobs, Executor):
        shards = jobs.keep(tasks, _Arguments, once=True)
        yield from jobs.map(_run, shards, function, common)
        jobs.forget(shards)
        return
    with open_engine("processes", None if jobs == -1 else min(jobs, len(tasks))) as executor:
        yield from executor.map(_run, executor.keep(tasks, _Arguments, once=True), function, common)


class _Arguments:
    """Of one task."""

    nbytes = 0  # a worker need not make room for what it uses once

    def __init__(self, task: tuple[Any, ...]) -> None:
        self.task = task


def _run(arguments: _Arguments, function: Callable[..., Result], common: tuple[Any, ...]) -> Result:
    return function(*arguments.task, *common)
