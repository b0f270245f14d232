"""What an executor is: it keeps shards of data where they are worked on, and maps functions over them.

    with open_engine("processes", workers=2) as executor:
        shards = executor.load([Task(read_part, (path,)) for path in paths])
        totals = list(executor.map(count_rows, shards))

A shard is made by a task, a function with its arguments, and known by its place alone. Whoever works on a shard and
does not hold it makes it by its task: after a worker died, when one joined, or when memory was short. Shards never
travel; parameters go to the workers, small results come back. Which worker does what is of no influence on results:
functions are pure, how many shards there are is a matter of the data, and results come in the order of the shards.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self

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


class Executor(ABC):
    """Whoever does the work."""

    name: ClassVar[str]

    def load(self, tasks: Sequence[Task]) -> list[Shard]:
        """Shards for these tasks, with names that no other run uses; each is made where and when it is worked on."""
        run = uuid.uuid4().hex[:12]
        return [Shard(f"shard-{run}-{place}", task) for place, task in enumerate(tasks)]

    @abstractmethod
    def map(
        self,
        function: Callable[..., Any],
        shards: Sequence[Shard],
        *parameters: Any,
        on_shard: OnShard | None = None,
    ) -> Iterator[Any]:
        """`function(shard, *parameters)` for every shard, in their order, whoever is done first."""

    @abstractmethod
    def forget(self, shards: Sequence[Shard]) -> None:
        """These shards are not needed any more; whoever holds them may let them go."""

    @abstractmethod
    def close(self) -> None:
        """Ends what was begun for this executor."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
