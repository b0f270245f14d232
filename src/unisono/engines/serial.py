"""The executor that does everything itself, one shard after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from unisono.engines.protocol import OnShard, Shard, Task
from unisono.engines.resident import forget, visit
from unisono.engines.shards import named


class SerialExecutor:
    """No process but this one."""

    name = "serial"

    def load(self, tasks: Sequence[Task]) -> list[Shard]:
        return named(tasks)

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

    def close(self) -> None:
        """Nothing was begun."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
