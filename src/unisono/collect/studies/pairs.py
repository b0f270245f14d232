"""Which items are compared with which: all pairs, or as many per item as the study wants.

A pair is called after both its items, in the order of the study, whichever of them is shown on the left.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence

from unisono.errors import DataError

SEPARATOR = " ↔ "
# The store keeps 400 characters of a name, and a pair has two.
_LONGEST = 195
# Every pair is handed out, counted and shown on the researcher's page.
_MOST = 5000


def choose_pairs(names: Sequence[str], partners: int, seed: int, where: str) -> list[tuple[int, int]]:
    """Places of the two items of every pair, in the order of the study.

    With fewer partners than there are others, items stand in a ring at random and meet their neighbours: everybody has
    the same number of partners, and every item is connected with every other. Where an item stands follows from its own
    name, so that one more item changes the pairs beside it alone.
    """
    _check(names, where)
    steps = (partners + 1) // 2
    if not partners or 2 * steps >= len(names) - 1:
        found = list(itertools.combinations(range(len(names)), 2))
    else:
        ring = sorted(range(len(names)), key=lambda at: _draw(names[at], seed))
        met = ((ring[at], ring[(at + step) % len(ring)]) for step in range(1, steps + 1) for at in range(len(ring)))
        found = sorted({(min(pair), max(pair)) for pair in met})
    if len(found) > _MOST:
        raise DataError(
            f"{where}: {len(names)} items make {len(found)} pairs. Set compare.partners to 20 or so: every item then "
            f"meets so many others, and at most {_MOST} pairs are made."
        )
    return found


def pair_name(first: str, second: str) -> str:
    """What a pair is called."""
    return f"{first}{SEPARATOR}{second}"


def split_pair(name: str) -> tuple[str, str] | None:
    """The names of the two items of a pair; None for what is none."""
    first, found, second = name.partition(SEPARATOR)
    return (first, second) if found else None


def _check(names: Sequence[str], where: str) -> None:
    if len(names) < 2:
        raise DataError(f"{where}: there are {len(names)} items to compare. Add some: a comparison takes two.")
    for name in names:
        if SEPARATOR in name or len(name) > _LONGEST:
            raise DataError(f"{where}: the item '{name}' is hard to name in a pair. Use a shorter name without '↔'.")


def _draw(name: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}/pairs/{name}".encode()).digest()
