"""Names of shards, and who works on which."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence

from unisono.engines.protocol import Shard, Task


def named(tasks: Sequence[Task]) -> list[Shard]:
    """Shards with names that no other run uses."""
    run = uuid.uuid4().hex[:12]
    return [Shard(f"shard-{run}-{place}", task) for place, task in enumerate(tasks)]


def preferred(place: int, workers: Sequence[str]) -> str:
    """The worker that a shard belongs to; when workers come or go, only the shards that have to move do."""
    return max(workers, key=lambda worker: hashlib.sha1(f"{place}:{worker}".encode()).digest())
