"""Tables with annotators (or items) side by side: which columns are whose, by the user's pattern or by their names.

    item, rater1, rater2                    one dimension, a column for each annotator
    item, valence_A1, valence_A2, arousal_A1, ...    a column for each dimension and annotator
    participant, clip1, clip2               the same with items

Only names are looked at. Names that could mean anything else are not taken, but told with the option that takes them.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from unisono.io.reading import problems
from unisono.io.reading.columns import SYNONYMS, takes_no_dimension

ONE_DIMENSION = "rating"
OPTION = {"annotator": "--annotators-in-columns", "item": "--items-in-columns"}
# Short for annotators, before a number: A1, R2, w03, pp7. Not q (question), s (system, sentence), v, x or f.
_CODES = {"annotator": {*"arpwj", "ann", "anno", "annot", "rat", "subj", "pp", "vp", "obs"}, "item": set()}
_MARKS = "_.- :/"


class Spread(NamedTuple):
    """Which column holds what somebody said about a dimension."""

    role: str  # annotator or item: what the columns stand for
    place: dict[str, dict[str, int]]  # label -> dimension -> position of the column
    dimensions: tuple[str, ...]


def by_pattern(name: str, columns: Sequence[str], role: str, pattern: str, dimension: str | None) -> Spread:
    """By the user's word: names or wildcards between commas, or a form such as `{dimension}_{annotator}`."""
    if "{" in pattern:
        form = _form(name, pattern, role)
        found = [(index, match) for index, column in enumerate(columns) if (match := form.fullmatch(column))]
        only = dimension or re.sub(r"[\W_]*\{.*?\}[\W_]*", "", pattern).strip() or ONE_DIMENSION
        cells = [(match["label"], match.groupdict().get("dimension", only), index) for index, match in found]
    else:
        wanted = [one.strip() for one in pattern.split(",") if one.strip()]
        places = [i for i, column in enumerate(columns) if any(_is_like(column, one) for one in wanted)]
        for one in wanted:
            if not any(_is_like(column, one) for column in columns):
                raise problems.no_such_column(name, one, columns)
        cells = [(columns[index], dimension or ONE_DIMENSION, index) for index in places]
    if not cells:
        raise problems.no_match(name, pattern, columns)
    return _spread(role, cells)


def by_names(columns: Sequence[str], free: Sequence[int], role: str, dimension: str | None) -> Spread | None:
    """By names that say it: `rater1`, `A1`, `valence_A1`; None if there are no two of them."""
    own = [index for index in free if _stands_for(columns[index], role)]
    stems = {re.sub(r"[\W\d_]+$", "", columns[index].lower()) for index in own}
    if len(own) > 1 and (len(stems) == 1 or all(_has_word(columns[index], role) for index in own)):
        return _spread(role, [(columns[index], dimension or ONE_DIMENSION, index) for index in own])
    grids = [_grid(columns, free, role, last) for last in (True, False)]
    best = max(grids, key=len)
    return _spread(role, best) if best else None


def likely_pattern(columns: Sequence[str], numeric: Sequence[int], role: str) -> str | None:
    """The option's value that would take the columns of numbers; None if there are too few to be anybody's."""
    if len(numeric) < 2:
        return None
    names = [columns[index] for index in numeric]
    for mark in _MARKS:
        split = [name.rsplit(mark, 1) for name in names]
        if all(len(two) == 2 for two in split):
            dimensions, labels = {two[0] for two in split}, {two[1] for two in split}
            if len(dimensions) * len(labels) == len(names) and len(labels) > 1:
                return f"{{dimension}}{mark}{{{role}}}"
    return ",".join(names)


def said(spread: Spread, columns: Sequence[str]) -> str:
    """The sentence about columns that were taken without being asked for."""
    names = [columns[index] for cells in spread.place.values() for index in cells.values()]
    shown = ", ".join(f"'{name}'" for name in names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    held = " and ".join(f"'{name}'" for name in spread.dimensions[:4])
    call = "; --dim NAME calls it otherwise" if spread.dimensions == (ONE_DIMENSION,) else ""
    return f"Columns {shown} were taken for {len(spread.place)} {spread.role}s, their cells for {held}{call}."


def free_columns(columns: Sequence[str], taken: Collection[int]) -> list[int]:
    """Columns that nobody needs for anything else."""
    return [i for i, column in enumerate(columns) if i not in taken and column and not takes_no_dimension(column)]


def _is_like(column: str, wanted: str) -> bool:
    """Whether a column is the one that is wanted, by its name or by a wildcard; brackets in names are no wildcards."""
    return column == wanted or fnmatch.fnmatchcase(column, wanted)


def _spread(role: str, cells: Sequence[tuple[str, str, int]]) -> Spread:
    place: dict[str, dict[str, int]] = {}
    for label, dimension, index in cells:
        place.setdefault(label, {}).setdefault(dimension, index)
    return Spread(role, place, tuple(dict.fromkeys(dimension for _, dimension, _ in cells)))


def _form(name: str, pattern: str, role: str) -> re.Pattern[str]:
    """`{dimension}_{annotator}` as an expression; names of dimensions may hold the mark, those of annotators do not."""
    parts = re.split(r"(\{\w+\}|\*)", pattern)
    known = {
        "{dimension}": "(?P<dimension>.+)",
        "{dim}": "(?P<dimension>.+)",
        f"{{{role}}}": "(?P<label>.+?)",
        "*": ".*",
    }
    if f"{{{role}}}" not in parts or any(part.startswith("{") and part not in known for part in parts):
        raise problems.bad_pattern(name, pattern, OPTION[role], role)
    return re.compile("".join(known.get(part, re.escape(part)) for part in parts))


def _grid(columns: Sequence[str], free: Sequence[int], role: str, last: bool) -> list[tuple[str, str, int]]:
    """Columns whose name ends (or begins) with somebody, where every dimension has two of them."""
    cells = []
    for index in free:
        for mark in _MARKS:
            left, _, right = columns[index].rpartition(mark) if last else columns[index].partition(mark)
            label, dimension = (right, left) if last else (left, right)
            if label and dimension and _stands_for(label, role):
                cells.append((label, dimension, index))
                break
    count = {dimension: sum(1 for _, other, _ in cells if other == dimension) for _, dimension, _ in cells}
    return [cell for cell in cells if count[cell[1]] > 1]


def _stands_for(name: str, role: str) -> bool:
    """Whether a name is a word for the role with a number or a letter: `rater1`, `Annotator B`, `A1`."""
    if _has_word(name, role):
        return True
    code = re.fullmatch(r"([a-z]+)[\W_]?\d{1,4}", name.lower())
    return code is not None and code[1] in _CODES[role]


def _has_word(name: str, role: str) -> bool:
    parts = re.fullmatch(r"([A-Za-z]+?)(?:[\W_]*(\d+)|[\W_]+(\w+)|([A-Z]))", name)
    return parts is not None and parts[1].lower() in _WORDS[role]


_WORDS = {role: {word for word in SYNONYMS[role] if not word.endswith("id")} for role in ("annotator", "item")}
