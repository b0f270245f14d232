"""The executor that does everything itself, one shard after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from unisono.engines.protocol import Executor, OnShard, Shard, Task
from unisono.engines.resident import forget, visit


class SerialExecutor(Executor):
    """No process but this one."""

    name = "serial"

    def map(
        self,
        function: Callable[..., Any],
        shards: Sequence[Shard],
        *parameters: Any,
        on_shard: OnShard | None = None,
    ) -> Iterator[Any]:
        for done, shard in enumerate(shards, start=1):
            yield visit(shard, function, parameters)
            if on_shard is not None:
                on_shard(done, len(shards))

    def forget(self, shards: Sequence[Shard]) -> None:
        forget([shard.key for shard in shards])

    def keep(self, pieces: Sequence[Any], prepare: Callable[[Any], Any], *, once: bool = False) -> list[Shard]:
        tasks = [Task(prepare, (piece,)) for piece in pieces]  # no file: whoever needs them has them
        return self.load(tasks, once=once)
