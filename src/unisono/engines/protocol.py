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

import pickle
import tempfile
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from unisono.errors import EngineError

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

    def _scratch(self) -> str:
        """A folder that goes when the executor is closed."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="unisono-")
        return self._folder.name

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
    try:
        return prepare(pickle.loads(Path(path).read_bytes()))
    except FileNotFoundError:
        raise EngineError(
            f"A worker does not see {path}. Workers on other machines need a folder that all of them see under the "
            "same path: set TMPDIR to one."
        ) from None
