"""The answer scale: its minimum and maximum by dimension, and how users state them.

ratings.scale[0]                        # (1.0, 7.0), or None where answers have no limits
ratings.scale.low, ratings.scale.high   # (D,) each, infinite where there is no limit

1:7                       every dimension
valence=1:9,arousal=none  some dimensions; the others are inferred (`scale_inference`)
0:inf                     a minimum and no maximum
none                      no limits at all
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unisono.errors import DataError, SettingsError
from unisono.tables.labels import did_you_mean

Ends = tuple[float, float]  # low, high


@dataclass(frozen=True)
class Scale:
    """The ends of every dimension, and whether the user gave them or the answers show them."""

    ends: tuple[Ends | None, ...]
    given: tuple[bool, ...]

    @classmethod
    def none(cls, D: int) -> Scale:
        """Nothing known of D dimensions."""
        return cls((None,) * D, (False,) * D)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, d: int) -> Ends | None:
        return self.ends[d]

    def __iter__(self) -> Iterator[Ends | None]:
        return iter(self.ends)

    @property
    def low(self) -> np.ndarray:
        """(D,) where the scale begins, -inf where it does not."""
        return np.array([-np.inf if own is None else own[0] for own in self.ends])

    @property
    def high(self) -> np.ndarray:
        """(D,) where the scale ends, inf where it does not."""
        return np.array([np.inf if own is None else own[1] for own in self.ends])

    def select(self, index: Sequence[int] | np.ndarray) -> Scale:
        """Some of the dimensions, in this order."""
        return Scale(tuple(self.ends[d] for d in index), tuple(self.given[d] for d in index))

    def leaves(self, value: np.ndarray) -> np.ndarray:
        """(S, D) whether numbers lie outside; missing ones do not."""
        return np.asarray((value < self.low) | (value > self.high))

    def widened(
        self, value: np.ndarray, dimensions: Sequence[str], source: str, items: Sequence[str] | None = None
    ) -> Scale:
        """Inferred ends made wide enough for known truths (M, D); truths outside a given scale are a DataError.

        `items` are the names of the rows, where each is an item.
        """
        outside = np.argwhere(self.leaves(value) & np.array(self.given, dtype=bool))
        if len(outside):
            m, d = outside[0]
            whose = "" if items is None else f" of item '{items[m]}'"
            raise DataError(
                f"{source}: {dimensions[d]}{whose} is {value[m, d]:g}, outside the scale {span(self.ends[d])}. "
                "Correct the number, or give another scale (--scale)."
            )
        ends = tuple(own if own is None else _holding(own, value[:, d]) for d, own in enumerate(self.ends))
        return replace(self, ends=ends)

    def for_origins(self, low: np.ndarray, high: np.ndarray) -> Scale:
        """Inferred ends made wide enough for annotators whose answers, `low` to `high` (K, D), lie off at both ends.

        They have an origin of their own, and their share in the truth may bring it beyond the scale of the others; who
        is off at one end alone made a typing error.
        """
        up, down = high - self.high, self.low - low
        off = np.where((up > 0) & (-down > up / 2), high, np.where((down > 0) & (-up > down / 2), low, np.nan))
        ends = tuple(own if own is None else _holding(own, off[:, d]) for d, own in enumerate(self.ends))
        return replace(
            self, ends=tuple(a if told else b for a, b, told in zip(self.ends, ends, self.given, strict=True))
        )

    def joined(self, earlier: Scale) -> Scale:
        """Inferred ends made as wide as those that earlier answers of the same annotators showed."""
        pairs = zip(self.ends, earlier.ends, self.given, strict=True)
        return replace(self, ends=tuple(own if given else _wider(own, before) for own, before, given in pairs))

    def words(self, d: int) -> str:
        """`scale 1 to 7 (inferred)`"""
        own = self.ends[d]
        if own is None:
            return "no scale" if self.given[d] else "no scale found"
        return f"scale {span(own)}{'' if self.given[d] else ' (inferred)'}"

    def to_dict(self, dimensions: Sequence[str]) -> dict[str, Any]:
        """Plain values for JSON; an end that there is not is None."""
        return {
            name: {
                "low": _finite(self.low[d]),
                "high": _finite(self.high[d]),
                "given": self.given[d],
                "words": self.words(d),
            }
            for d, name in enumerate(dimensions)
        }


def span(ends: Ends | None) -> str:
    """`1 to 7`, `from 0`, `up to 10`"""
    low, high = ends or (-np.inf, np.inf)
    if np.isinf(high):
        return f"from {low:g}"
    return f"up to {high:g}" if np.isinf(low) else f"{low:g} to {high:g}"


def _wider(one: Ends | None, other: Ends | None) -> Ends | None:
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])


def _holding(ends: Ends, value: np.ndarray) -> Ends:
    """The ends, or the lowest and highest number where these lie beyond."""
    known = value[~np.isnan(value)]
    return float(known.min(initial=ends[0])), float(known.max(initial=ends[1]))


def _finite(end: float) -> float | None:
    return float(end) if np.isfinite(end) else None


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
            hint = did_you_mean(name, dimensions)
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
