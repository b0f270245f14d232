"""An item with all that is known of it, all items of a study by role, and which are compared with which.

Two at a time, or sets of up to six: all pairs, or as many per item as the study wants. A set is called after its items,
in the order of the study, however they are shown.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from unisono.collect.stimuli.colours import Colour, Walk
from unisono.collect.studies import duration, schema
from unisono.errors import DataError

Role = Literal["item", "reference", "practice"]


@dataclass(frozen=True)
class Item:
    """One thing to rate. Exactly one of colour, walk, path, text and together says what is shown."""

    name: str
    role: Role
    media: Literal["colour", "walk", "set"] | schema.Media
    group: str = ""
    truth: Mapping[str, schema.Value] = field(default_factory=dict)
    colour: Colour | None = None
    walk: Walk | None = None
    path: Path | None = None
    text: str = ""
    # Those that are compared.
    together: tuple[Item, ...] = ()

    @property
    def seconds(self) -> float | None:
        """How long it plays, None where that is not known."""
        if self.walk is not None:
            return self.walk.seconds
        return duration.clip_seconds(self.path) if self.path is not None else None

    @property
    def has_file(self) -> bool:
        """Whether a browser has to fetch anything for it: colours and texts come with the page."""
        if self.together:
            return any(item.has_file for item in self.together)
        return self.walk is not None or (self.path is not None and self.media != "text")

    @property
    def is_there(self) -> bool:
        """Whether it can be shown now: a file may have been taken away while the study runs."""
        if self.together:
            return all(item.is_there for item in self.together)
        return self.path is None or self.path.is_file()


@dataclass(frozen=True)
class Catalogue:
    """All items of a study, by role. In comparisons the items are sets, and `members` are what they are made of."""

    items: tuple[Item, ...]
    references: tuple[Item, ...]
    practice: tuple[Item, ...]
    members: tuple[Item, ...] = ()

    def find(self, name: str) -> Item | None:
        """The item or reference of this name, if the study (still) has it; a set as long as all its items are."""
        return self._by_name.get(name) or self._set_again(name)

    @cached_property
    def _by_name(self) -> dict[str, Item]:
        return {item.name: item for item in (*self.items, *self.references)}

    @cached_property
    def _members(self) -> dict[str, Item]:
        return {item.name: item for item in self.members}

    def _set_again(self, name: str) -> Item | None:
        """A set that was handed out before the study was edited, and is no longer among those to hand out."""
        names = split_set(name) if self.members else ()
        if not names or not set(names) <= self._members.keys():
            return None
        return set_of([self._members[one] for one in names])


def set_of(items: Sequence[Item]) -> Item:
    """Items that are compared, as one."""
    return Item(SEPARATOR.join(item.name for item in items), "item", "set", together=tuple(items))


SEPARATOR = " ↔ "
# The store keeps so many characters of a name.
_LONGEST = 400
# Every set is handed out, counted and shown on the researcher's page.
_MOST = 5000
# Places in a ring of the items of a set: no two of them are as far from each other as two others (Golomb), so that
# nobody meets the same item twice.
_RULERS = {2: (0, 1), 3: (0, 1, 3), 4: (0, 1, 4, 6), 5: (0, 1, 4, 9, 11), 6: (0, 1, 4, 10, 12, 17)}


def choose_sets(names: Sequence[str], compare: schema.Compare, seed: int, where: str) -> list[tuple[int, ...]]:
    """Places of the items of every set, in the order of the study.

    With fewer partners than there are others, items stand in a ring at random and meet their neighbours: everybody has
    the same number of partners, and every item is connected with every other. Where an item stands follows from its own
    name, so that one more item changes the sets beside it alone.
    """
    n = compare.together
    _check(names, n, where)
    found = _pairs(names, compare.partners, seed) if n == 2 else _sets(names, n, compare.partners, seed)
    if len(found) > _MOST:
        what = "pairs" if n == 2 else f"sets of {n}"
        raise DataError(
            f"{where}: {len(names)} items make {len(found)} {what}. Set compare.partners to 20 or so: every item then "
            f"meets so many others, and at most {_MOST} {what} are made."
        )
    return found


def _pairs(names: Sequence[str], partners: int, seed: int) -> list[tuple[int, ...]]:
    steps = (partners + 1) // 2
    if not partners or 2 * steps >= len(names) - 1:
        return list(itertools.combinations(range(len(names)), 2))
    ring = sorted(range(len(names)), key=lambda at: _draw(names[at], f"{seed}/pairs"))
    met = ((ring[at], ring[(at + step) % len(ring)]) for step in range(1, steps + 1) for at in range(len(ring)))
    return sorted({(min(pair), max(pair)) for pair in met})


def _sets(names: Sequence[str], n: int, partners: int, seed: int) -> list[tuple[int, ...]]:
    """Rings, in each of which every item is in n sets and meets n (n - 1) others, as far as there are so many."""
    M = len(names)
    ruler = _RULERS[n] if _RULERS[n][-1] < M else tuple(range(n))
    found: set[tuple[int, ...]] = set()
    for lap in range(math.ceil((partners or M - 1) / (n * (n - 1)))):
        ring = sorted(range(M), key=lambda at: _draw(names[at], f"{seed}/sets/{lap}"))
        found |= {tuple(sorted(ring[(at + step) % M] for step in ruler)) for at in range(M)}
    return sorted(found)


def split_set(name: str) -> tuple[str, ...]:
    """The names of the items of a set; none of what is none."""
    return tuple(name.split(SEPARATOR)) if SEPARATOR in name else ()


def _check(names: Sequence[str], n: int, where: str) -> None:
    if len(names) < n:
        raise DataError(f"{where}: there are {len(names)} items to compare. Add some: a comparison takes {_COUNTS[n]}.")
    what = "pair" if n == 2 else "set"
    longest = _LONGEST // n - len(SEPARATOR)
    for name in names:
        if SEPARATOR in name or len(name) > longest:
            raise DataError(f"{where}: the item '{name}' is hard to name in a {what}. Use a shorter name without '↔'.")


_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def _draw(name: str, seed: str) -> bytes:
    return hashlib.sha256(f"{seed}/{name}".encode()).digest()
