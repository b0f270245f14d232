"""An item with all that is known of it, and all items of a study by role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from unisono.collect.stimuli.colours import Colour
from unisono.collect.stimuli.walks import Walk
from unisono.collect.studies.duration import clip_seconds
from unisono.collect.studies.pairs import split_pair
from unisono.collect.studies.schema import Media, Value

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
