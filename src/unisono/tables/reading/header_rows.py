"""Headers over several rows: what pandas writes of a pivot table, groups over names as in spreadsheets, and Qualtrics.

    dim,valence,valence,arousal,arousal         item,valence,,arousal,
    annotator,A,B,A,B                           ,A1,A2,A1,A2
    item,,,,                                    clip1,3,4,2,2

Both become item, valence_A, valence_B, ...; where pandas says what the levels are, so does `form`. Qualtrics writes the
questions and then its own names for them (as JSON) below the header.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unisono.tables.reading.column_roles import SYNONYMS, plain_name

MARK = "_"
ROWS = 3  # that a header may have
_QUALTRICS = '{"ImportId"'


class Header(NamedTuple):
    """Names of columns, how many rows they took, and what their parts mean, as `--annotators-in-columns` has it."""

    columns: tuple[str, ...]
    rows: int
    form: str | None = None
    note: str = ""


def joined_header(rows: Sequence[Sequence[str]]) -> Header | None:
    """The header in the first rows of a table; None if one row is all there is of it."""
    cells = [[cell.strip() for cell in row] for row in rows[:ROWS]]
    first = cells[0]
    if len(cells) < 2 or any(len(row) != len(first) for row in cells):
        return None
    if len(cells) == ROWS and any(cell.startswith(_QUALTRICS) for cell in cells[2]):
        return Header(tuple(first), ROWS, None, "Rows 2 and 3 repeat the header in other words (Qualtrics).")
    if len(set(filter(None, first))) == len(first):
        return None
    return _of_pivot(cells) or _of_groups(cells)


def with_names(columns: Sequence[str], below: Sequence[Sequence[str]]) -> list[str]:
    """Names by number for columns of cells that have none; an index, unnamed and first, needs none."""
    filled = {at for row in below for at, cell in enumerate(row) if cell.strip()}
    bare = [at for at, name in enumerate(columns) if not name.strip() and at in filled]
    return [f"column {at + 1}" if at in bare and bare != [0] else name for at, name in enumerate(columns)]


def _of_pivot(cells: Sequence[Sequence[str]]) -> Header | None:
    """Two levels of names, and below them a row with the names of the index alone."""
    if len(cells) < ROWS:
        return None
    over, names, index = cells
    labels = [cell for cell in index if cell]
    k = len(labels)
    if not 0 < k < len(index) or any(index[k:]) or not all(names[k:]):
        return None
    columns = (*labels, *_joined(over[k:], names[k:]))
    form = MARK.join(f"{{{role}}}" for level in (over[0], names[0]) if (role := _role(level)))
    told = form if form.count("{") == 2 and "{dimension}" in form and form.count("{dimension}") == 1 else None
    return Header(columns, ROWS, told, "The header is rows 1 to 3, joined.")


def _of_groups(cells: Sequence[Sequence[str]]) -> Header | None:
    """Groups over names; columns that label rows have a name in the first row alone."""
    over, names = cells[0], cells[1]
    k = next((place for place, name in enumerate(names) if name), 0)
    if not k or not all(names[k:]) or not all(over[:k]) or not over[k]:
        return None
    return Header((*over[:k], *_joined(over[k:], names[k:])), 2, None, "The header is rows 1 and 2, joined.")


def _joined(over: Sequence[str], names: Sequence[str]) -> list[str]:
    found, group = [], ""
    for above, name in zip(over, names, strict=True):
        group = above or group
        found.append(f"{group}{MARK}{name}")
    return found


def _role(level: str) -> str | None:
    """What a level of a pivot table holds, by the name of the column that it was."""
    plain = plain_name(level)
    return next((role for role in ("annotator", "item", "dimension") if plain in SYNONYMS[role]), None)
