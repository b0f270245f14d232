"""What each annotator is, from the column `kind` of a table of ratings."""

from __future__ import annotations

import numpy as np

from unisono.data.kinds import two_kinds
from unisono.io.reading import problems
from unisono.io.reading.columns import KIND
from unisono.io.reading.naming import Coded
from unisono.io.reading.rows import Rows


def annotator_kinds(rows: Rows) -> tuple[str, ...] | None:
    """(K,) the kind of every annotator; None without such a column, or where it says something else.

    Numbers are answers to "how kind?". One word for each item, whoever rates it, describes the items: photographs and
    paintings, say. A cell may be empty if the annotator's other rows are not.
    """
    kind, who = rows.found.label.get(KIND), rows.annotators
    if kind is None or who is None or _says_nothing(kind):
        return None
    said = np.flatnonzero(np.array(kind.labels)[kind.code] != "")
    first = np.full(len(who.labels), -1, dtype=np.int64)
    first[who.code[said[::-1]]] = kind.code[said[::-1]]
    differs = said[first[who.code[said]] != kind.code[said]]
    if len(differs):
        if _constant_within(rows.items.code, kind.code):
            return None
        row = int(differs[0])
        both = [kind.labels[code] for code in (first[who.code[row]], kind.code[row])]
        raise two_kinds(rows.found.where(row), who.labels[who.code[row]], both)
    if (first < 0).any():
        row = int(np.argmax(first[who.code] < 0))
        raise problems.empty_kind(rows.found.where(row), who.labels[who.code[row]])
    return tuple(kind.labels[code] for code in first)


def _says_nothing(kind: Coded) -> bool:
    """Whether all cells are empty, or all are numbers."""
    words = [label for label in kind.labels if label]
    return not words or all(_is_number(word) for word in words)


def _is_number(word: str) -> bool:
    try:
        float(word.replace(",", "."))
    except ValueError:
        return False
    return True


def _constant_within(group: np.ndarray, code: np.ndarray) -> bool:
    """Whether rows of one group all have the same code."""
    anyone = np.empty(int(group.max()) + 1, dtype=np.int64)
    anyone[group] = code
    return bool((anyone[group] == code).all())
