"""The executor on Ray: an existing cluster by its address, or one on this machine.

One actor per worker holds the shards of its places. Ray starts an actor again that died, and gives it its call again;
it then makes its shards by their tasks. Parameters lie once in the object store, which processes of a machine share.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from unisono.engines.protocol import Executor, OnShard, Shard
from unisono.engines.resident import forget, visit
from unisono.errors import EngineError, SettingsError

RESTARTS = 10  # of an actor, and of a call to it; after that something kills them


class RayExecutor(Executor):
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

    def map(
        self,
        function: Callable[..., Any],
        shards: Sequence[Shard],
        *parameters: Any,
        on_shard: OnShard | None = None,
    ) -> Iterator[Any]:
        ray = self._ray
        try:
            told = ray.put(parameters)
            waiting: list[Any] = [
                self.actors[place % len(self.actors)].visit.remote(shard, function, told)
                for place, shard in enumerate(shards)
            ]
            for done in range(len(shards)):
                result = ray.get(waiting[done])
                waiting[done] = None
                yield result
                if on_shard is not None:
                    on_shard(done + 1, len(shards))
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None  # what the function itself raised
        except (ray.exceptions.RaySystemError, ray.exceptions.RayActorError, ConnectionError) as error:
            raise EngineError(f"The Ray cluster was lost ({type(error).__name__}). Start it again.") from None

    def forget(self, shards: Sequence[Shard]) -> None:
        keys = [shard.key for shard in shards]
        for actor in self.actors:
            actor.forget.remote(keys)

    def close(self) -> None:
        for actor in self.actors:
            self._ray.kill(actor)
        if self._own:
            self._ray.shutdown()
        super().close()


class _Worker:
    """A process of Ray's that holds shards."""

    def visit(self, shard: Shard, function: Callable[..., Any], parameters: tuple[Any, ...]) -> Any:
        return visit(shard, function, parameters)

    def forget(self, keys: Sequence[str]) -> None:
        forget(keys)

    def process_id(self) -> int:
        return os.getpid()
