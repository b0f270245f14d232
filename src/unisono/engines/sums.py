"""Sums of the shards' results, always added in the same order.

Neighbours first, then neighbours of those: the order depends on the number of shards alone, errors grow with its
logarithm, and no more than that many partial sums are held at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Part = TypeVar("Part")


def pairwise_sum(parts: Iterable[Part], add: Callable[[Part, Part], Part]) -> Part:
    """The sum of the parts, of which there is at least one, by the function that adds two."""
    waiting: list[tuple[int, Part]] = []  # partial sums with the number of parts in them, the largest first
    for part in parts:
        size = 1
        while waiting and waiting[-1][0] == size:
            part = add(waiting.pop()[1], part)
            size *= 2
        waiting.append((size, part))
    total = waiting.pop()[1]
    while waiting:
        total = add(waiting.pop()[1], total)
    return total


def add_fields(one: Any, other: Any) -> Any:
    """Two named tuples of numbers and arrays, added field by field."""
    return type(one)(*(a + b for a, b in zip(one, other, strict=True)))
