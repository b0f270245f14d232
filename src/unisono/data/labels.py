"""Labels and their order: what people call their items, annotators and dimensions.

Labels are strings everywhere. Their order is canonical (numbers inside a label count as numbers, so that `clip2`
comes before `clip10`), because sums over items then run in the same order whatever the order of the rows was.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

_DIGITS = re.compile("0*([0-9]+)")


def natural_key(label: str) -> str:
    """A text whose plain order is the natural order of labels.

    A run of digits becomes a zero, its length and its digits, so that it stands where digits stand among other
    characters, and a longer number is a larger one.
    """
    return _DIGITS.sub(_number_key, label)


def sort_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Distinct labels in canonical order; their own text decides between `1` and `01`."""
    return tuple(sorted(sorted(set(labels)), key=natural_key))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, if any is close."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return found[0] if found else None


def listed(labels: Sequence[str], most: int = 5, of: int | None = None) -> str:
    """Labels for a message: `'a', 'b' and 7 more`; `of` how many, where not all are given."""
    shown = [f"'{label}'" for label in labels[:most]]
    rest = (len(labels) if of is None else of) - len(shown)
    if rest:
        return ", ".join(shown) + f" and {rest} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _number_key(found: re.Match[str]) -> str:
    digits = found.group(1)
    return f"0{chr(min(len(digits), 0x10FFFF))}{digits}"
