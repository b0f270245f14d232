"""An item with all that is known of it, all items of a study by role, and which are compared with which.

All pairs, or as many per item as the study wants. A pair is called after both its items, in the order of the study,
whichever of them is shown on the left.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from unisono.collect.stimuli.colours import Colour, Walk
from unisono.collect.studies.duration import clip_seconds
from unisono.collect.studies.schema import Media, Value
from unisono.errors import DataError

Role = Literal["item", "reference", "practice"]


@dataclass(frozen=True)
class Item:
    """One thing to rate. Exactly one of colour, walk, path, text and pair says what is shown."""

    name: str
    role: Role
    media: Literal["colour", "walk", "pair"] | Media
    group: str = ""
    truth: Mapping[str, Value] = field(default_factory=dict)
    colour: Colour | None = None
    walk: Walk | None = None
    path: Path | None = None
    text: str = ""
    # The two that are compared.
    pair: tuple[Item, Item] | None = None

    @property
    def seconds(self) -> float | None:
        """How long it plays, None where that is not known."""
        if self.walk is not None:
            return self.walk.seconds
        return clip_seconds(self.path) if self.path is not None else None

    @property
    def has_file(self) -> bool:
        """Whether a browser has to fetch anything for it: colours and texts come with the page."""
        if self.pair is not None:
            return any(item.has_file for item in self.pair)
        return self.walk is not None or (self.path is not None and self.media != "text")

    @property
    def is_there(self) -> bool:
        """Whether it can be shown now: a file may have been taken away while the study runs."""
        if self.pair is not None:
            return all(item.is_there for item in self.pair)
        return self.path is None or self.path.is_file()


@dataclass(frozen=True)
class Catalogue:
    """All items of a study, by role. In comparisons the items are pairs, and `members` are what they are made of."""

    items: tuple[Item, ...]
    references: tuple[Item, ...]
    practice: tuple[Item, ...]
    members: tuple[Item, ...] = ()

    def find(self, name: str) -> Item | None:
        """The item or reference of this name, if the study (still) has it; a pair as long as both its items are."""
        return self._by_name.get(name) or self._pair_again(name)

    @cached_property
    def _by_name(self) -> dict[str, Item]:
        return {item.name: item for item in (*self.items, *self.references)}

    @cached_property
    def _members(self) -> dict[str, Item]:
        return {item.name: item for item in self.members}

    def _pair_again(self, name: str) -> Item | None:
        """A pair that was handed out before the study was edited, and is no longer among those to hand out."""
        names = split_pair(name) if self.members else None
        if names is None or not set(names) <= self._members.keys():
            return None
        return Item(name, "item", "pair", pair=(self._members[names[0]], self._members[names[1]]))


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
