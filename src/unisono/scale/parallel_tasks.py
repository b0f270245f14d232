"""Many independent tasks, here or by an executor; the results come in the order of the tasks, whoever did them.

Nothing random happens inside: splits are drawn before, so a task is a pure function of its arguments and the number of
workers cannot matter. One BLAS thread per task, always: matrices are small, and the last bits stay the same.
`open_engine` gives an executor by its name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from unisono.errors import SettingsError
from unisono.maths.structure_words import ENGINE_WORDS, require_word
from unisono.scale.executors import Executor


def open_engine(name: str = "serial", workers: int | None = None, scheduler: str | None = None) -> Executor:
    """An executor, to be closed when done.

    workers: processes at work; by default one per core, on an existing cluster all there are. scheduler: the address of
    an existing cluster, of Dask or Ray; without it they run on this machine.
    """
    require_word("engine", name, ENGINE_WORDS)
    if scheduler is not None and name not in ("dask", "ray"):
        raise SettingsError(
            f"The engine '{name}' runs on this machine and has no scheduler; 'dask' and 'ray' have one."
        )
    if workers is not None and workers < 1:
        raise SettingsError(f"workers={workers}: give the number of processes, at least 1.")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if name == "serial":
        if workers not in (None, 1):
            raise SettingsError(f"The engine 'serial' has one worker, not {workers}; 'processes' has several.")
        from unisono.scale.executors import SerialExecutor

        return SerialExecutor()
    if name == "processes":
        from unisono.scale.process_executor import ProcessExecutor

        return ProcessExecutor(workers or cores)
    if name == "dask":
        from unisono.scale.cluster_executors import DaskExecutor

        return DaskExecutor(workers if workers or scheduler else cores, scheduler)
    from unisono.scale.cluster_executors import RayExecutor

    return RayExecutor(workers if workers or scheduler else cores, scheduler)


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
    if not isinstance(jobs, Executor) and not (isinstance(jobs, Integral) and (jobs == -1 or jobs > 0)):
        raise SettingsError(f"jobs={jobs!r}: give the number of processes, or -1 for one per core.")
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
