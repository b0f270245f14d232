"""The executor of one machine: worker processes that each hold the shards they work on.

Processes hold as many shards each, so that a shard is made once; what is needed once goes to whoever is least busy.
Parameters go through a file that every process reads once and all of them share in the page cache. A process that dies
is replaced, and makes its shards again.
"""

from __future__ import annotations

import os
import pickle
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from functools import lru_cache
from pathlib import Path
from typing import Any

from unisono.errors import EngineError
from unisono.scale.executors import KEEP_FREED, Executor, Shard, forget, packed, visit

MOST_DEATHS = 3  # of processes over one shard; after that it is the shard that kills them
AHEAD = 2  # shards per process that wait or are worked on
MOST_DONE = 8  # shards per process that are done before the results of earlier ones have been taken


class ProcessExecutor(Executor):
    """As many processes as workers."""

    name = "processes"

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pools: list[Any] = [None] * workers
        self._calls = 0
        self._home: dict[str, int] = {}  # the process of each shard
        self._busy: list[set[Future[Any]]] = [set() for _ in range(workers)]

    def _map(self, function: Callable[..., Any], shards: Sequence[Shard], parameters: tuple[Any, ...]) -> Iterator[Any]:
        self._calls += 1
        path = Path(self._scratch()) / f"parameters-{self._calls}"
        path.write_bytes(packed(parameters))
        waiting: deque[tuple[int, Future[Any]]] = deque()
        upcoming = iter(range(len(shards)))

        def begin() -> None:
            """Enough work for everybody, whatever takes long."""
            while len(waiting) < MOST_DONE * self.workers and self._unfinished() < AHEAD * self.workers:
                place = next(upcoming, None)
                if place is None:
                    return
                waiting.append((place, self._submit(shards[place], function, path)))

        try:
            begin()
            while waiting:
                place, future = waiting.popleft()
                while not future.done():
                    begin()
                    wait([future, *(one for _, one in waiting if not one.done())], return_when=FIRST_COMPLETED)
                result = self._result(place, future, shards[place], function, path)
                begin()
                yield result
        finally:
            for _, future in waiting:
                future.cancel()
            path.unlink(missing_ok=True)

    def forget(self, shards: Sequence[Shard]) -> None:
        keys = [shard.key for shard in shards]
        for key in keys:
            self._home.pop(key, None)
        told = [self._try(worker, forget, keys) for worker, pool in enumerate(self._pools) if pool is not None]
        wait(told)  # whoever closes a pool that has not heard yet breaks its thread

    def close(self) -> None:
        for pool in self._pools:
            if pool is not None:
                pool.shutdown(wait=True, kill_workers=True)
        self._pools = [None] * self.workers
        super().close()

    def process_ids(self) -> list[int]:
        """Of the processes at work."""
        return [pid for pool in self._pools if pool is not None for pid in pool._processes]

    def _submit(self, shard: Shard, function: Callable[..., Any], path: Path) -> Future[Any]:
        worker = self._place(shard)
        future = self._try(worker, _visit, shard, function, str(path))
        self._busy[worker].add(future)
        return future

    def _place(self, shard: Shard) -> int:
        """The process for a shard."""
        if shard.once:
            self._unfinished()
            return min(range(self.workers), key=lambda worker: len(self._busy[worker]))
        if shard.key not in self._home:
            held = Counter(self._home.values())
            self._home[shard.key] = min(range(self.workers), key=lambda worker: held[worker])
        return self._home[shard.key]

    def _unfinished(self) -> int:
        """Calls that processes have not answered yet."""
        self._busy = [{future for future in own if not future.done()} for own in self._busy]
        return sum(map(len, self._busy))

    def _try(self, worker: int, *call: Any) -> Future[Any]:
        try:
            future: Future[Any] = self._pool(worker).submit(*call)
        except BrokenExecutor:
            self._pools[worker] = None
            future = self._pool(worker).submit(*call)
        return future

    def _pool(self, worker: int) -> Any:
        if self._pools[worker] is None:
            # joblib's processes start clean: no threads are copied, and a script needs no `__main__` guard.
            from joblib.externals.loky import ProcessPoolExecutor

            self._pools[worker] = ProcessPoolExecutor(
                max_workers=1, timeout=None, initializer=_keep_what_is_held, env=KEEP_FREED | dict(os.environ)
            )
        return self._pools[worker]

    def _result(self, place: int, future: Future[Any], shard: Shard, function: Callable[..., Any], path: Path) -> Any:
        for _ in range(MOST_DEATHS):
            try:
                return future.result()
            except BrokenExecutor:
                future = self._submit(shard, function, path)
        raise EngineError(
            f"Processes that worked on part {place + 1} of the ratings died {MOST_DEATHS} times, probably for want of "
            "memory. Use fewer workers (--workers), or smaller shards (unisono shard --rows)."
        )


def _keep_what_is_held() -> None:
    """joblib ends processes whose memory grows, which is what a process does that comes to hold shards."""
    from joblib.externals.loky import process_executor

    process_executor._MAX_MEMORY_LEAK_SIZE = float("inf")


def _visit(shard: Shard, function: Callable[..., Any], path: str) -> Any:
    return visit(shard, function, _parameters(path))


@lru_cache(maxsize=1)
def _parameters(path: str) -> tuple[Any, ...]:
    """Read once per process and call; what is read is what this executor wrote."""
    found: tuple[Any, ...] = pickle.loads(Path(path).read_bytes())
    return found
