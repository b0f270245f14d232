"""What users say about the scale, as text or as Python values, and what it means for the dimensions of a table.

    1:7                       every dimension
    valence=1:9,arousal=none  some of them; the others are inferred
    0:inf                     a beginning and no end
    none                      no ends at all

Imports the sibling modules and errors alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unisono.data.labels import nearest
from unisono.data.scale import Ends
from unisono.errors import SettingsError

ScaleWords = Any  # None, text, (low, high), a mapping from dimensions to these, or several texts
Said = dict[str | None, Ends | None]  # by dimension; None: every dimension that is not named

_HELP = "Write LOW:HIGH as in 1:7, NAME=LOW:HIGH as in valence=1:9, or none."


def said_scale(words: ScaleWords) -> Said:
    """What was said, by dimension; nothing where nothing was. A SettingsError says how to write it."""
    if words is None:
        return {}
    if isinstance(words, str):
        return _unique(part for part in map(_named, words.split(",")))
    if isinstance(words, Mapping):
        return {str(name): _ends(ends) for name, ends in words.items()}
    if isinstance(words, Sequence) and words and all(isinstance(part, str) for part in words):
        return _unique(part for text in words for part in map(_named, text.split(",")))
    return {None: _ends(words)}


def scale_by_dimension(said: Said, dimensions: Sequence[str]) -> dict[int, Ends | None]:
    """What was said of each dimension, by its place; a name that is no dimension is a SettingsError."""
    for name in said:
        if name is not None and name not in dimensions:
            close = nearest(name, dimensions)
            hint = f" Did you mean '{close}'?" if close else ""
            raise SettingsError(f"scale: there is no dimension '{name}'; there is {', '.join(dimensions)}.{hint}")
    return {d: said.get(name, said.get(None)) for d, name in enumerate(dimensions) if name in said or None in said}


def _unique(parts: Iterable[tuple[str | None, Ends | None]]) -> Said:
    found: Said = {}
    for name, ends in parts:
        if name in found:
            what = "the scale" if name is None else f"the scale of '{name}'"
            raise SettingsError(f"scale: {what} is given twice. {_HELP}")
        found[name] = ends
    return found


def _named(text: str) -> tuple[str | None, Ends | None]:
    name, equals, ends = text.rpartition("=")
    if equals and not name.strip():
        raise SettingsError(f"scale '{text}' has no name before the equals sign. {_HELP}")
    return (name.strip() if equals else None), _ends(ends)


def _ends(words: Any) -> Ends | None:
    if words is None or (isinstance(words, str) and words.strip().lower() == "none"):
        return None
    pair = words.split(":") if isinstance(words, str) else words
    try:
        low, high = (float(end) for end in pair)
    except (TypeError, ValueError):
        raise SettingsError(f"scale '{words}' is not understood. {_HELP}") from None
    if not low < high:
        raise SettingsError(f"scale '{words}' does not rise from its first number to its second. {_HELP}")
    if low == float("-inf") and high == float("inf"):
        return None
    return low, high
