"""Shards that a process holds: made by their tasks when first needed, let go where memory is short, made again.

Every engine works on shards through `visit`, in whatever process it is: that is all there is to lineage.
"""

from __future__ import annotations

import pickle
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

from unisono.engines.protocol import Shard

MOST_BYTES = 2 << 30  # of shards that a process holds; beyond, the one that was not needed for longest is let go
# Environment of processes that go through the same arrays again and again. By default, glibc gives the memory of every
# large array back to the system and asks for it again, cleared, page by page: a fifth of the time of traces.
KEEP_FREED = {"MALLOC_TRIM_THRESHOLD_": str(512 << 20), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}


class Residents:
    """The shards of one process."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._held: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, shard: Shard) -> Any:
        """The shard, made if it is not here."""
        with self._lock:  # a worker may have several threads; a shard is made once
            if shard.key not in self._held:
                made = shard.task.run()
                self._held[shard.key] = made, size_of(made)
                self._make_room()
            self._held.move_to_end(shard.key)
            return self._held[shard.key][0]

    def forget(self, keys: Iterable[str]) -> None:
        with self._lock:
            for key in keys:
                self._held.pop(key, None)

    def _make_room(self) -> None:
        while len(self._held) > 1 and sum(size for _, size in self._held.values()) > self.most_bytes:
            self._held.popitem(last=False)

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
