"""Labels and their order: what people call their items, annotators and dimensions.

Labels are strings everywhere. Their order is canonical (numbers inside a label count as numbers, so that `clip2`
comes before `clip10`), because sums over items then run in the same order whatever the order of the rows was.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

_DIGITS = re.compile(r"(\d+)")


def natural_key(label: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key under which digit runs compare by value; the text itself breaks ties such as `1` and `01`."""
    parts = _DIGITS.split(label)
    key = [(0, int(part), "") if odd else (1, 0, part) for odd, part in _alternate(parts) if part]
    return (*key, (2, 0, label))


def _alternate(parts: Sequence[str]) -> Iterable[tuple[bool, str]]:
    # str.isdigit also accepts characters that int() rejects, so digit runs go by position, not by a test.
    return ((bool(index % 2), part) for index, part in enumerate(parts))


def sort_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Distinct labels in canonical order."""
    return tuple(sorted(set(labels), key=natural_key))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, if any is close."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return found[0] if found else None


def listed(labels: Sequence[str], most: int = 5) -> str:
    """Labels for a message: `'a', 'b' and 7 more`."""
    shown = [f"'{label}'" for label in labels[:most]]
    rest = len(labels) - len(shown)
    if rest:
        return ", ".join(shown) + f" and {rest} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
