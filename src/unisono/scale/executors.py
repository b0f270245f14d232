"""What an executor is: it keeps shards of data where they are worked on, and maps functions over them.

    with open_engine("processes", workers=2) as executor:
        shards = executor.load([Task(read_part, (path,)) for path in paths])
        totals = list(executor.map(count_rows, shards))

A shard is made by a task, a function with its arguments, and known by its place alone. Whoever works on a shard and
does not hold it makes it by its task: after a worker died, when one joined, or when memory was short. Shards never
travel; parameters go to the workers, small results come back. Which worker does what is of no influence on results:
functions are pure, how many shards there are is a matter of the data, results come in the order of the shards, and
sums are added as a tree of pairs that the number of shards alone decides: on a cluster by the workers, so that one sum
reaches the driver. Every engine works on shards through `visit`, in whatever process it is. The
executor that does everything itself, one shard after the other, is here.

`run_tasks` does many independent tasks, here or by an executor; the results come in the order of the tasks, whoever did
them. Nothing random happens inside: splits are drawn before, so a task is a pure function of its arguments and the
number of workers cannot matter. `open_engine` gives an executor by its name.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
import tempfile
import threading
import uuid
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController, threadpool_limits

from unisono.errors import EngineError, SettingsError
from unisono.maths.structure_words import ENGINE_WORDS, require_word

OnShard = Callable[[int, int], None]  # shards done, shards in all


class Task(NamedTuple):
    """How a shard is made, as often as it takes."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()

    def run(self) -> Any:
        return self.function(*self.arguments)


class Shard(NamedTuple):
    """A shard as the driver knows it: a name that no other has, and how it is made."""

    key: str
    task: Task
    once: bool = False  # it is worked on a single time, so that anybody may who has time


class Executor(ABC):
    """Whoever does the work."""

    name: ClassVar[str]
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def load(self, tasks: Sequence[Task], *, once: bool = False) -> list[Shard]:
        """Shards for these tasks, with names that no other run uses; each is made where and when it is worked on."""
        run = uuid.uuid4().hex[:12]
        return [Shard(f"shard-{run}-{place}", task, once) for place, task in enumerate(tasks)]

    def keep(self, pieces: Sequence[Any], prepare: Callable[[Any], Any], *, once: bool = False) -> list[Shard]:
        """Shards `prepare(piece)` of what the driver has at hand; workers find the pieces in files, until the end."""
        folder = Path(tempfile.mkdtemp(prefix="pieces-", dir=self._scratch()))
        tasks = []
        for place, piece in enumerate(pieces):
            path = folder / f"{place}.pickle"
            path.write_bytes(packed(piece))
            tasks.append(Task(_prepared, (str(path), prepare)))
        return self.load(tasks, once=once)

    def put_array(self, array: np.ndarray) -> str:
        """A file with the array that workers see, until the end."""
        path = Path(tempfile.mkdtemp(prefix="array-", dir=self._scratch())) / "array.npy"
        np.save(path, array, allow_pickle=False)
        return str(path)

    def _scratch(self) -> str:
        """A folder that goes when the executor is closed."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="unisono-")
        return self._folder.name

    def map(
        self, function: Callable[..., Any], shards: Sequence[Shard], *parameters: Any, on_shard: OnShard | None = None
    ) -> Iterator[Any]:
        """`function(shard, *parameters)` for every shard, in their order, whoever is done first."""
        for done, result in enumerate(self._map(function, shards, parameters), start=1):
            yield result
            if on_shard is not None:
                on_shard(done, len(shards))

    def total(
        self, function: Callable[..., Any], shards: Sequence[Shard], *parameters: Any, add: Callable[[Any, Any], Any]
    ) -> Any:
        """The sum over shards of `function(shard, *parameters)`, by a tree that their number alone decides."""
        return pairwise_sum(self.map(function, shards, *parameters), add)

    @abstractmethod
    def _map(self, function: Callable[..., Any], shards: Sequence[Shard], parameters: tuple[Any, ...]) -> Iterator[Any]:
        """The results in the order of the shards."""

    @abstractmethod
    def forget(self, shards: Sequence[Shard]) -> None:
        """These shards are not needed any more; whoever holds them may let them go."""

    def close(self) -> None:
        """Ends what was begun for this executor."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def packed(value: Any) -> bytes:
    """As `pickle.loads` takes it; functions and classes of a script go along, since workers do not run the script."""
    from joblib.externals.loky.backend.reduction import dumps  # what joblib itself sends with

    return bytes(dumps(value, protocol=5))


def _prepared(path: str, prepare: Callable[[Any], Any]) -> Any:
    """What the driver wrote, prepared by the worker that needs it."""
    return prepare(pickle.loads(_bytes_of(path)))


def array_at(path: str) -> np.ndarray:
    """What `put_array` wrote."""
    found: np.ndarray = np.load(io.BytesIO(_bytes_of(path)), allow_pickle=False)
    return found


def _bytes_of(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise EngineError(
            f"A worker does not see {path}. Workers on other machines need a folder that all of them see under the "
            "same path: set TMPDIR to one."
        ) from None


MOST_BYTES = 2 << 30  # of shards that a process holds; beyond, the one that was not needed for longest is let go
# Environment of processes that go through the same arrays again and again. By default, glibc gives the memory of every
# large array back to the system and asks for it again, cleared, page by page: a fifth of the time of traces.
KEEP_FREED = {"MALLOC_TRIM_THRESHOLD_": str(512 << 20), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}


class Residents:
    """The shards of one process."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._held: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, shard: Shard) -> Any:
        """The shard, made if it is not here."""
        with self._lock:  # a worker may have several threads; a shard is made once
            if shard.key not in self._held:
                made = shard.task.run()
                self._held[shard.key] = made, size_of(made)
                self._bytes += self._held[shard.key][1]
                self._make_room()
            self._held.move_to_end(shard.key)
            return self._held[shard.key][0]

    def forget(self, keys: Iterable[str]) -> None:
        with self._lock:
            for key in keys:
                self._bytes -= self._held.pop(key, (None, 0))[1]

    def _make_room(self) -> None:
        while len(self._held) > 1 and self._bytes > self.most_bytes:
            _, (_, size) = self._held.popitem(last=False)
            self._bytes -= size

    def __len__(self) -> int:
        return len(self._held)


def size_of(made: Any) -> int:
    """Bytes of the arrays in a shard; of anything else, of what it would be in a file."""
    told = getattr(made, "nbytes", None)
    return int(told) if told is not None else len(pickle.dumps(made, protocol=5))


_residents = Residents()


def visit(shard: Shard, function: Callable[..., Any], parameters: tuple[Any, ...]) -> Any:
    """The function of a shard that this process holds, or makes. One BLAS thread: the last bits stay the same."""
    with _threads("scipy.linalg" in sys.modules).limit(limits=1):
        return function(_residents.get(shard), *parameters)


@cache
def _threads(scipy: bool) -> ThreadpoolController:
    """Of the libraries loaded; looking for them takes longer than many a visit, and SciPy brings one of its own."""
    return ThreadpoolController()


def forget(keys: Iterable[str]) -> None:
    """Lets go of shards that this process may hold."""
    _residents.forget(keys)


class SerialExecutor(Executor):
    """No process but this one."""

    name = "serial"

    def _map(self, function: Callable[..., Any], shards: Sequence[Shard], parameters: tuple[Any, ...]) -> Iterator[Any]:
        for shard in shards:
            yield visit(shard, function, parameters)

    def forget(self, shards: Sequence[Shard]) -> None:
        forget([shard.key for shard in shards])

    def keep(self, pieces: Sequence[Any], prepare: Callable[[Any], Any], *, once: bool = False) -> list[Shard]:
        tasks = [Task(prepare, (piece,)) for piece in pieces]  # no file: whoever needs them has them
        return self.load(tasks, once=once)


Part = TypeVar("Part")


def pairwise_sum(parts: Iterable[Part], add: Callable[[Part, Part], Part]) -> Part:
    """The sum of the parts, of which there is at least one, by the function that adds two."""
    waiting: list[tuple[int, Part]] = []  # partial sums with the number of parts in them, the largest first
    for part in parts:
        size = 1
        while waiting and waiting[-1][0] == size:
            part = add(waiting.pop()[1], part)
            size *= 2
        waiting.append((size, part))
    total = waiting.pop()[1]
    while waiting:
        total = add(waiting.pop()[1], total)
    return total


FAN = 8  # numerical: sums that are added at once; a power of two, so that the tree is that of `pairwise_sum`


def leaf_size(shards: int, workers: int) -> int:
    """Neighbours whose sum one worker finds, few enough that all workers have several; sums do not depend on it."""
    size = 1
    while size < FAN and shards >= 8 * size * workers:
        size *= 2
    return size


def visit_neighbours(
    shards: Sequence[Shard], function: Callable[..., Any], parameters: tuple[Any, ...], add: Callable[[Any, Any], Any]
) -> Any:
    """The sum over some shards that this process holds, or makes."""
    return pairwise_sum((visit(shard, function, parameters) for shard in shards), add)


def added(add: Callable[[Any, Any], Any], *parts: Any) -> Any:
    """Sums of neighbours as one."""
    return pairwise_sum(parts, add)


def summed_up(parts: list[Any], join: Callable[[list[Any]], Any]) -> Any:
    """One sum of many, FAN at a time, by whoever `join`s them."""
    while len(parts) > 1:
        parts = [join(parts[start : start + FAN]) for start in range(0, len(parts), FAN)]
    return parts[0]


def add_fields(one: Any, other: Any) -> Any:
    """Two named tuples of numbers and arrays, added field by field."""
    return type(one)(*(a + b for a, b in zip(one, other, strict=True)))


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
