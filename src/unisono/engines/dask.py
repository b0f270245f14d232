"""The executor on Dask: an existing cluster by the address of its scheduler, or a local one.

Shards are held by the workers themselves and made by tasks that travel with every call, so that nothing is scattered
and nothing rests on where Dask keeps what: a worker that dies, joins or is told to move costs reading its shards.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from importlib import import_module
from typing import Any

from unisono.engines.protocol import Executor, OnShard, Shard
from unisono.engines.resident import KEEP_FREED, forget, visit
from unisono.errors import EngineError, SettingsError

LOCAL = {
    # Shards stay where they are: to steal the work on one means to read it again.
    "distributed.scheduler.work-stealing": False,
    # In place of Dask's own MALLOC_TRIM_THRESHOLD_, which gives every freed array back at once.
    "distributed.nanny.pre-spawn-environ": KEEP_FREED
    | dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), 1),
}
WAIT = "30s"  # for a scheduler to answer, and for a first worker to come


class DaskExecutor(Executor):
    """Work for a Dask cluster."""

    name = "dask"

    def __init__(self, workers: int | None = None, scheduler: str | None = None) -> None:
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            raise SettingsError("The engine 'dask' needs an extra: pip install 'unisono[dask]'.") from None
        self._cluster: Any = None
        self.address = scheduler
        try:
            if scheduler is None:
                with import_module("dask").config.set(LOCAL):
                    self._cluster = distributed.LocalCluster(
                        n_workers=workers or 2, threads_per_worker=1, processes=True, dashboard_address=":0"
                    )
                self.address = self._cluster.scheduler_address
            self.client = distributed.Client(self.address, timeout=WAIT, set_as_default=False)
            self.client.wait_for_workers(1, timeout=30)
        except (OSError, TimeoutError) as error:
            self.close()
            raise EngineError(f"No Dask scheduler with workers answers at {self.address} ({error}).") from None
        except RuntimeError as error:  # what a local cluster says whose processes do not come up
            self.close()
            raise EngineError(
                f"Workers of a local Dask cluster could not be started ({error}). A script has to keep what it does "
                "under `if __name__ == '__main__':`, and to be a file."
            ) from None

    def map(
        self,
        function: Callable[..., Any],
        shards: Sequence[Shard],
        *parameters: Any,
        on_shard: OnShard | None = None,
    ) -> Iterator[Any]:
        try:
            homes = shared_out(len(shards), self._workers())
            # Parameters are the result of a task of their own: they reach a worker once, and can be made again.
            told = self.client.submit(_same, parameters, pure=False)
            futures = [
                self.client.submit(
                    visit,
                    shard,
                    function,
                    told,
                    workers=[homes[place]],
                    allow_other_workers=True,
                    pure=False,
                    retries=1,
                )
                for place, shard in enumerate(shards)
            ]
            for done in range(len(shards)):
                result = futures[done].result()
                futures[done] = None  # the worker need not keep what has been taken
                yield result
                if on_shard is not None:
                    on_shard(done + 1, len(shards))
        except self._lost() as error:
            raise EngineError(
                f"The Dask cluster at {self.address} was lost ({type(error).__name__}: {error}). Start it again."
            ) from None

    def forget(self, shards: Sequence[Shard]) -> None:
        with suppress(*self._lost(), KeyError):  # who is gone holds nothing
            self.client.run(forget, [shard.key for shard in shards])

    def close(self) -> None:
        for one in (getattr(self, "client", None), self._cluster):
            if one is not None:
                with suppress(OSError, TimeoutError):  # the other side may be gone already
                    one.close(timeout=5)
        super().close()

    def _workers(self) -> list[str]:
        found = sorted(self.client.scheduler_info(n_workers=-1)["workers"])
        if not found:
            self.client.wait_for_workers(1, timeout=30)
            found = sorted(self.client.scheduler_info(n_workers=-1)["workers"])
        return found

    def _lost(self) -> tuple[type[BaseException], ...]:
        client, scheduler = import_module("distributed.client"), import_module("distributed.scheduler")
        return (OSError, TimeoutError, CancelledError, client.FutureCancelledError, scheduler.KilledWorker)


def _same(parameters: tuple[Any, ...]) -> tuple[Any, ...]:
    return parameters


def shared_out(shards: int, workers: Sequence[str]) -> list[str]:
    """The worker of every shard: as many for each, and few that have to move when workers come or go."""
    most = -(-shards // len(workers))
    held = Counter[str]()
    homes = []
    for place in range(shards):
        free = [worker for worker in workers if held[worker] < most]
        homes.append(max(free, key=lambda worker: hashlib.sha1(f"{place}:{worker}".encode()).digest()))
        held[homes[-1]] += 1
    return homes
