"""Likert scales and other verbal rating scales: their labels in order, and the numbers they are coded as.

A scale is a list of levels, the lowest first; a level may have several spellings. Words are coded by the smallest
scale that has all of them, from 1 up (yes and no: 1 and 0). Where two such scales code them differently nothing is
guessed. Scales in other languages are in `likert_languages`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from unisono.tables.reading.likert_languages import LANGUAGES, Level

_NEITHER = ("neutral", "neither", "undecided", "unsure", "not sure", "no opinion")
_STRONG_NO: Level = (
    "strongly disagree",
    "completely disagree",
    "totally disagree",
    "fully disagree",
    "disagree strongly",
)
_STRONG_YES: Level = ("strongly agree", "completely agree", "totally agree", "fully agree", "agree strongly")
_LITTLE_NO: Level = (
    "slightly disagree",
    "somewhat disagree",
    "rather disagree",
    "mildly disagree",
    "disagree slightly",
)
_LITTLE_YES: Level = ("slightly agree", "somewhat agree", "rather agree", "mildly agree", "agree slightly")
_AGREE_MIDDLE: Level = ("neither agree nor disagree", "neither disagree nor agree", *_NEITHER)
_PLEASED_MIDDLE: Level = ("neither satisfied nor dissatisfied", "neither dissatisfied nor satisfied", *_NEITHER)
_LIKELY_MIDDLE: Level = ("neither likely nor unlikely", "neither unlikely nor likely", *_NEITHER)
_NO: Level = ("disagree",)
_YES: Level = ("agree",)
_FAIR: Level = ("fair", "average", "acceptable", "ok", "okay", "medium", "neutral", "mediocre")
_RARELY: Level = ("rarely", "seldom", "hardly ever")
_SOMETIMES: Level = ("sometimes", "occasionally")
_OFTEN: Level = ("often", "frequently", "usually")
_MODERATELY: Level = ("moderately", "somewhat", "fairly")

# family: scales, each from low to high
SCALES: dict[str, tuple[tuple[Level, ...], ...]] = {
    "agreement": (
        (_NO, _YES),
        (_NO, _AGREE_MIDDLE, _YES),
        (_STRONG_NO, _NO, _YES, _STRONG_YES),
        (_STRONG_NO, _LITTLE_NO, _LITTLE_YES, _STRONG_YES),
        (_STRONG_NO, _NO, _AGREE_MIDDLE, _YES, _STRONG_YES),
        (_STRONG_NO, _LITTLE_NO, _AGREE_MIDDLE, _LITTLE_YES, _STRONG_YES),
        (_STRONG_NO, _NO, _LITTLE_NO, _LITTLE_YES, _YES, _STRONG_YES),
        (_STRONG_NO, _NO, _LITTLE_NO, _AGREE_MIDDLE, _LITTLE_YES, _YES, _STRONG_YES),
    ),
    "frequency": (
        (("never",), _SOMETIMES, ("always",)),
        (("never",), _SOMETIMES, _OFTEN, ("always",)),
        (("never",), _RARELY, _SOMETIMES, _OFTEN, ("always", "almost always")),
        (("never",), _RARELY, _SOMETIMES, _OFTEN, ("very often",)),
        (("never",), ("almost never",), _SOMETIMES, ("fairly often",), ("very often",)),
        (("never",), _RARELY, _SOMETIMES, _OFTEN, ("very often",), ("always",)),
    ),
    "satisfaction": (
        (("dissatisfied", "unsatisfied"), ("satisfied",)),
        (("dissatisfied", "unsatisfied"), _PLEASED_MIDDLE, ("satisfied",)),
        (
            ("very dissatisfied", "very unsatisfied", "extremely dissatisfied"),
            ("dissatisfied", "unsatisfied", "somewhat dissatisfied", "slightly dissatisfied"),
            _PLEASED_MIDDLE,
            ("satisfied", "somewhat satisfied", "slightly satisfied"),
            ("very satisfied", "extremely satisfied"),
        ),
    ),
    "quality": (
        (("bad",), ("good",)),
        (("bad",), _FAIR, ("good",)),
        (("poor",), _FAIR, ("good",)),
        # The five grades of absolute category rating in telephony and video.
        (("bad",), ("poor",), ("fair",), ("good",), ("excellent",)),
        (("poor",), ("fair",), ("good",), ("very good",), ("excellent",)),
        (("very poor",), ("poor",), _FAIR, ("good",), ("very good", "excellent")),
        (("very bad", "terrible"), ("bad",), _FAIR, ("good",), ("very good", "great")),
    ),
    "likelihood": (
        (("unlikely",), ("likely",)),
        (("unlikely",), _LIKELY_MIDDLE, ("likely",)),
        (
            ("very unlikely", "extremely unlikely", "highly unlikely"),
            ("unlikely", "somewhat unlikely"),
            _LIKELY_MIDDLE,
            ("likely", "somewhat likely"),
            ("very likely", "extremely likely", "highly likely"),
        ),
        (
            ("definitely not",),
            ("probably not",),
            ("maybe", "possibly", "might or might not", "unsure"),
            ("probably", "probably yes"),
            ("definitely", "definitely yes"),
        ),
    ),
    "degree": (
        (("low",), ("high",)),
        (("low",), ("medium", "moderate"), ("high",)),
        (("none",), ("low",), ("medium", "moderate"), ("high",)),
        (("very low",), ("low",), ("medium", "moderate"), ("high",), ("very high",)),
        (("none",), ("mild",), ("moderate",), ("severe",)),
        (("not at all",), ("a little", "slightly", "a bit"), _MODERATELY, ("very", "very much", "a lot")),
        (
            ("not at all",),
            ("slightly", "a little", "a bit"),
            _MODERATELY,
            ("very", "very much", "quite a bit", "quite"),
            ("extremely", "completely"),
        ),
    ),
    "yes and no": ((("no",), ("yes",)),),
    "true and false": ((("false",), ("true",)),),
    **LANGUAGES,
}
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
