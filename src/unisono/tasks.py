"""Many independent tasks, here or in processes; the results come in the order of the tasks, whoever did them.

Nothing random happens inside: splits are drawn before, so a task is a pure function of its arguments and the number of
workers cannot matter. One BLAS thread per task, always: matrices are small, and the last bits stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

Result = TypeVar("Result")
OnTask = Callable[[int, int], None]  # tasks done, tasks in all


def run_tasks(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], jobs: int = 1, on_task: OnTask | None = None
) -> list[Result]:
    """`function(*task)` for every task; `jobs` processes at once, -1 for one per core."""
    if jobs == 0 or jobs < -1:
        raise ValueError(f"jobs is {jobs}: give the number of processes, or -1 for one per core.")
    results: list[Result] = []
    for result in _results(function, tasks, jobs):
        results.append(result)
        if on_task is not None:
            on_task(len(results), len(tasks))
    return results


def _results(function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], jobs: int) -> Iterable[Result]:
    if jobs == 1 or len(tasks) < 2:
        return (_single_threaded(function, task) for task in tasks)
    from joblib import Parallel, delayed

    work = (delayed(_single_threaded)(function, task) for task in tasks)
    found: Iterable[Result] = Parallel(n_jobs=jobs, return_as="generator")(work)
    return found


def _single_threaded(function: Callable[..., Result], task: tuple[Any, ...]) -> Result:
    with threadpool_limits(limits=1):
        return function(*task)
