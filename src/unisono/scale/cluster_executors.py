"""The executors on Dask and on Ray: an existing cluster by its address, or one on this machine.

Dask: shards are held by the workers themselves and made by tasks that travel with every call, so that nothing is
scattered and nothing rests on where Dask keeps what: a worker that dies, joins or is told to move costs reading its
shards. Ray: one actor per worker holds the shards of its places. Ray starts an actor again that died, and gives it its
call again; it then makes its shards by their tasks. Parameters lie once in the object store, which processes of a
machine share.
"""

from __future__ import annotations

import hashlib
import logging
import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib import import_module
from typing import Any

from unisono.errors import EngineError, SettingsError
from unisono.scale import executors
from unisono.scale.executors import Executor, Shard

LOCAL = {
    # Shards stay where they are: to steal the work on one means to read it again.
    "distributed.scheduler.work-stealing": False,
    # In place of Dask's own MALLOC_TRIM_THRESHOLD_, which gives every freed array back at once.
    "distributed.nanny.pre-spawn-environ": executors.KEEP_FREED
    | dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), 1),
}
WAIT = "30s"  # for a scheduler to answer, and for a first worker to come


class ClusterExecutor(Executor):
    """What both have in common: neighbouring shards stay with one worker, parameters reach it once."""

    @abstractmethod
    def _workers(self) -> list[Any]:
        """Who is there now."""

    @abstractmethod
    def _put(self, parameters: tuple[Any, ...]) -> Any:
        """Parameters where workers find them."""

    @abstractmethod
    def _begun(self, worker: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        """A call that this worker has begun, or will begin."""

    @abstractmethod
    def _joined(self, add: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
        """The sum of begun calls, found by any worker."""

    @abstractmethod
    def _result(self, begun: Any) -> Any:
        """What a call came to."""

    @abstractmethod
    def _watched(self) -> AbstractContextManager[None]:
        """Inside, a cluster that was lost is an EngineError."""

    def _homes(self, shards: int) -> tuple[int, list[Any]]:
        """How many neighbours stay together, and the worker of each such group."""
        workers = self._workers()
        size = executors.leaf_size(shards, len(workers))
        return size, self._shared_out(-(-shards // size), workers)

    def _shared_out(self, groups: int, workers: Sequence[Any]) -> list[Any]:
        return [workers[group % len(workers)] for group in range(groups)]

    def _map(self, function: Callable[..., Any], shards: Sequence[Shard], parameters: tuple[Any, ...]) -> Iterator[Any]:
        with self._watched():
            (size, homes), told = self._homes(len(shards)), self._put(parameters)
            calls: list[Any] = [
                self._begun(homes[place // size], executors.visit, shard, function, told)
                for place, shard in enumerate(shards)
            ]
            for done in range(len(shards)):
                result = self._result(calls[done])
                calls[done] = None  # the worker need not keep what has been taken
                yield result

    def total(
        self, function: Callable[..., Any], shards: Sequence[Shard], *parameters: Any, add: Callable[[Any, Any], Any]
    ) -> Any:
        with self._watched():
            (size, homes), told = self._homes(len(shards)), self._put(parameters)
            groups = (shards[start : start + size] for start in range(0, len(shards), size))
            leaves = [
                self._begun(home, executors.visit_neighbours, group, function, told, add)
                for home, group in zip(homes, groups, strict=True)
            ]
            return self._result(executors.summed_up(leaves, lambda parts: self._joined(add, parts)))


class DaskExecutor(ClusterExecutor):
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

    def _put(self, parameters: tuple[Any, ...]) -> Any:
        # Parameters are the result of a task of their own: they reach a worker once, and can be made again.
        return self.client.submit(_same, parameters, pure=False)

    def _begun(self, worker: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        """A task for this worker, or another one if it dies."""
        place: dict[str, Any] = {"workers": [worker], "allow_other_workers": True}
        return self.client.submit(function, *arguments, **place, pure=False, retries=1)

    def _joined(self, add: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
        return self.client.submit(executors.added, add, *parts, pure=False)

    def _result(self, begun: Any) -> Any:
        return begun.result()

    def _shared_out(self, groups: int, workers: Sequence[Any]) -> list[Any]:
        return shared_out(groups, workers)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except self._lost() as error:
            raise EngineError(
                f"The Dask cluster at {self.address} was lost ({type(error).__name__}: {error}). Start it again."
            ) from None

    def forget(self, shards: Sequence[Shard]) -> None:
        with suppress(*self._lost(), KeyError):  # who is gone holds nothing
            self.client.run(executors.forget, [shard.key for shard in shards])

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


RESTARTS = 10  # of an actor, and of a call to it; after that something kills them


class RayExecutor(ClusterExecutor):
    """Work for a Ray cluster."""

    name = "ray"

    def __init__(self, workers: int | None = None, scheduler: str | None = None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        try:
            ray: Any = import_module("ray")
        except ImportError:
            raise SettingsError("The engine 'ray' needs an extra: pip install 'unisono[ray]'.") from None
        self._ray = ray
        self._own = not ray.is_initialized()
        try:
            if self._own:
                how = {"num_cpus": workers or 2} if scheduler is None else {}
                ray.init(
                    address=scheduler, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR, **how
                )
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise EngineError(f"No Ray cluster answers at {scheduler} ({error}).") from None
        count = workers or max(int(ray.cluster_resources().get("CPU", 1)), 1)
        actor = ray.remote(max_restarts=RESTARTS, max_task_retries=RESTARTS, num_cpus=1)(_Worker)
        self.actors: list[Any] = [actor.remote() for _ in range(count)]

    def _workers(self) -> list[Any]:
        return self.actors

    def _put(self, parameters: tuple[Any, ...]) -> Any:
        return self._ray.put(parameters)

    def _begun(self, worker: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        return worker.call.remote(function, *arguments)

    def _joined(self, add: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
        return self._ray.remote(num_cpus=0)(executors.added).remote(add, *parts)

    def _result(self, begun: Any) -> Any:
        return self._ray.get(begun)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        ray = self._ray
        try:
            yield
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None  # what the function itself raised
        except (ray.exceptions.RaySystemError, ray.exceptions.RayActorError, ConnectionError) as error:
            raise EngineError(f"The Ray cluster was lost ({type(error).__name__}). Start it again.") from None

    def forget(self, shards: Sequence[Shard]) -> None:
        keys = [shard.key for shard in shards]
        for actor in self.actors:
            self._begun(actor, executors.forget, keys)

    def close(self) -> None:
        for actor in self.actors:
            self._ray.kill(actor)
        if self._own:
            self._ray.shutdown()
        super().close()


class _Worker:
    """A process of Ray's that holds shards."""

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return function(*arguments)
