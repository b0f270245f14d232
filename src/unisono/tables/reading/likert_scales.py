"""Likert scales and other verbal rating scales: their labels in order, and the numbers they are coded as.

A scale is a list of levels, the lowest first; a level may have several spellings. Words are coded by the smallest
scale that has all of them, from 1 up (yes and no: 1 and 0). Where two such scales code them differently nothing is
guessed. The scales, in five languages, are in `rating_scales.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

Level = tuple[str, ...]


def _read_scales(text: str) -> dict[str, tuple[tuple[Level, ...], ...]]:
    """Scales by family, from the lines of `rating_scales.txt`, which says how they are written."""
    found: dict[str, list[tuple[Level, ...]]] = {}
    named: dict[str, Level] = {}
    for line in (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")):
        name, _, spellings = line.partition(" = ")
        if spellings:
            named[name] = _spellings(spellings)
        elif not line.startswith(" "):
            found[line] = []
        else:
            levels = (level.strip() for level in line.split("|"))
            found[list(found)[-1]].append(tuple(named.get(level) or _spellings(level) for level in levels))
    return {family: tuple(scales) for family, scales in found.items()}


def _spellings(text: str) -> Level:
    return tuple(word.strip() for word in text.split(";"))


SCALES = _read_scales(Path(__file__).with_name("rating_scales.txt").read_text(encoding="utf-8"))
_FROM_ZERO = ("yes and no", "true and false")  # families that begin so, in any language


class Scale(NamedTuple):
    """Known words and the number of each."""

    family: str
    number: dict[str, float]  # plain word -> number
    names: tuple[str, ...]  # of the levels, the lowest first
    first: int  # number of the lowest level


def plain_word(word: str) -> str:
    """A word as it counts: `Strongly_Agree` is `strongly agree`."""
    return " ".join(re.sub(r"[_\-–—/.,!?()\"]+", " ", word.lower().replace("’", "'")).split())


def families_of(words: Collection[str]) -> list[str]:
    """Families that have all of these plain words, on whatever scales."""
    return [family for family, known in _VOCABULARY.items() if known.issuperset(words)]


def scale_of(family: str, words: Collection[str]) -> Scale | None:
    """The smallest scale of a family for all of these plain words; None if there is none, or two that differ."""
    first = 0 if family.startswith(_FROM_ZERO) else 1
    found: list[Scale] = []
    for levels in sorted(SCALES[family], key=len):
        if found and len(levels) > len(found[0].names):
            break
        number = {word: float(at) for at, level in enumerate(levels, first) for word in level if word in words}
        # Two spellings of one level in one table mean two levels to whoever wrote it.
        if len(number) == len(words) == len(set(number.values())):
            found.append(Scale(family, number, _names(levels, words), first))
    same = all(one.number == found[0].number for one in found)
    return found[0] if found and same else None


def _names(levels: Sequence[Level], words: Collection[str]) -> tuple[str, ...]:
    """Each level in the spelling that occurs, else in the first one."""
    return tuple(next((word for word in level if word in words), level[0]) for level in levels)


_VOCABULARY = {
    family: frozenset(word for levels in scales for level in levels for word in level)
    for family, scales in SCALES.items()
}
