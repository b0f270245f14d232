"""The executor of one machine: worker processes that each hold the shards they work on.

A shard belongs to the process of its place, so that it is made once. Parameters go through a file that every process
reads once and all of them share in the page cache. A process that dies is replaced, and makes its shards again.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future
from functools import lru_cache
from pathlib import Path
from typing import Any

from unisono.engines.protocol import Executor, OnShard, Shard
from unisono.engines.resident import forget, visit
from unisono.errors import EngineError

MOST_DEATHS = 3  # of processes over one shard; after that it is the shard that kills them
AHEAD = 2  # shards per process that are worked on before the results of earlier ones have been taken


class ProcessExecutor(Executor):
    """As many processes as workers."""

    name = "processes"

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pools: list[Any] = [None] * workers
        self._scratch = Path(tempfile.mkdtemp(prefix="unisono-"))
        self._calls = 0

    def map(
        self,
        function: Callable[..., Any],
        shards: Sequence[Shard],
        *parameters: Any,
        on_shard: OnShard | None = None,
    ) -> Iterator[Any]:
        self._calls += 1
        path = self._scratch / f"parameters-{self._calls}"
        path.write_bytes(pickle.dumps(parameters, protocol=5))
        waiting: deque[tuple[int, Future[Any]]] = deque()
        upcoming = iter(range(len(shards)))
        done = 0

        def begin() -> None:
            place = next(upcoming, None)
            if place is not None:
                waiting.append((place, self._submit(place, shards[place], function, path)))

        try:
            for _ in range(AHEAD * self.workers):
                begin()
            while waiting:
                place, future = waiting.popleft()
                result = self._result(place, future, shards[place], function, path)
                begin()
                yield result
                done += 1
                if on_shard is not None:
                    on_shard(done, len(shards))
        finally:
            for _, future in waiting:
                future.cancel()
            path.unlink(missing_ok=True)

    def forget(self, shards: Sequence[Shard]) -> None:
        keys = [shard.key for shard in shards]
        for worker, pool in enumerate(self._pools):
            if pool is not None:
                self._try(worker, forget, keys)

    def close(self) -> None:
        for pool in self._pools:
            if pool is not None:
                pool.shutdown(wait=True, kill_workers=True)
        self._pools = [None] * self.workers
        shutil.rmtree(self._scratch, ignore_errors=True)

    def process_ids(self) -> list[int]:
        """Of the processes at work."""
        return [pid for pool in self._pools if pool is not None for pid in pool._processes]

    def _submit(self, place: int, shard: Shard, function: Callable[..., Any], path: Path) -> Future[Any]:
        return self._try(place % self.workers, _visit, shard, function, str(path))

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

            self._pools[worker] = ProcessPoolExecutor(max_workers=1, timeout=None, initializer=_keep_what_is_held)
        return self._pools[worker]

    def _result(self, place: int, future: Future[Any], shard: Shard, function: Callable[..., Any], path: Path) -> Any:
        for _ in range(MOST_DEATHS):
            try:
                return future.result()
            except BrokenExecutor:
                future = self._submit(place, shard, function, path)
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
