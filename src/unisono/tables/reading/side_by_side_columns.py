"""Tables with annotators (or items) in columns: which columns are whose, and the table with a row for each of them.

    item, rater1, rater2                    one dimension, a column for each annotator
    item, valence_A1, valence_A2, arousal_A1, ...    a column for each dimension and annotator
    participant, clip1, clip2               the same with items

Only names are looked at. Names that may mean anything else are not taken; the message names the option that takes them.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables.labels import listed
from unisono.tables.reading import problems
from unisono.tables.reading.column_roles import SYNONYMS, takes_no_dimension
from unisono.tables.reading.raw_table import Chunk, Table, TableView, is_missing

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
        cells = _split_alike(pattern, role, columns, cells)
    else:
        wanted = [one.strip() for one in pattern.split(",") if one.strip()]
        places = [i for i, column in enumerate(columns) if any(_is_like(column, one) for one in wanted)]
        for one in wanted:
            if not any(_is_like(column, one) for column in columns):
                raise problems.no_such_column(name, one, columns)
        cells = [(columns[index], dimension or ONE_DIMENSION, index) for index in places]
    if not cells:
        raise DataError(f"{name} has no column like '{pattern}'; it has {listed(columns, 12)}.")
    return _spread(role, cells)


def by_names(columns: Sequence[str], free: Sequence[int], role: str, dimension: str | None) -> Spread | None:
    """By names that say it: `rater1`, `A1`, `valence_A1`; None if there are no two of them."""
    own = [index for index in free if _stands_for(columns[index], role)]
    stems = {re.sub(r"[\W\d_]+$", "", columns[index].lower()) for index in own}
    if len(own) > 1 and (len(stems) == 1 or all(_has_word(columns[index], role) for index in own)):
        return _spread(role, [(columns[index], dimension or ONE_DIMENSION, index) for index in own])
    grids = [_grid(columns, free, role, last) for last in (True, False)]
    best = max(grids, key=len)
    whole = crossed([columns[index] for index in free])
    if whole is not None and len(whole.stems) * len(whole.ends) >= len(best):
        for last, labels in ((True, whole.ends), (False, whole.stems)):
            if all(_stands_for(label, role) for label in labels):
                return _spread(role, _cells_of(whole, columns, free, last))
    return _spread(role, best) if best else None


def likely_pattern(columns: Sequence[str], numeric: Sequence[int], role: str) -> str | None:
    """The option's value that would take the columns of numbers; None if there are too few to be anybody's."""
    if len(numeric) < 2:
        return None
    names = [columns[index] for index in numeric]
    if (grid := _rows_of_grids(names, role)) is not None:
        return grid
    whole = crossed(names)
    if whole is None or len(whole.stems) * len(whole.ends) < MOST * len(names):
        return ",".join(names)
    return whole.mark.join(f"{{{part}}}" for part in _parts(whole, role))


def _rows_of_grids(names: Sequence[str], role: str) -> str | None:
    """The form of `Question [Row]`, as grids of forms have it; None unless all names do."""
    parts = [match.groups() for name in names if (match := re.fullmatch(r"(.+) \[(.+)\]", name))]
    if len(parts) < len(names):
        return None
    questions, rows = (tuple(dict.fromkeys(own)) for own in zip(*parts, strict=True))
    if len(questions) == 1:
        return f"{questions[0]} [{{{role}}}]"
    first, last = _parts(Crossed(" [", questions, rows), role)
    return f"{{{first}}} [{{{last}}}]"


MOST = 0.8  # share of the columns (or of the places of a grid) that a form has to explain


class Crossed(NamedTuple):
    """Names that are every stem with every ending, or nearly so."""

    mark: str
    stems: tuple[str, ...]
    ends: tuple[str, ...]

    def split(self, name: str) -> tuple[str, str] | None:
        """The stem and the ending of a name; None if neither is known."""
        found = [(stem, end) for stem, end in _splits(name, self.mark) if stem in self.stems or end in self.ends]
        return max(found, key=lambda two: (two[0] in self.stems) + (two[1] in self.ends), default=None)


def crossed(names: Sequence[str], marks: str = "") -> Crossed | None:
    """The stems and endings that most names are made of: every stem has the same set of endings, two at least."""
    found: list[tuple[int, int, bool, Crossed]] = []
    for mark in marks or _MARKS:
        of_end: dict[str, set[str]] = {}
        place: dict[str, int] = {}
        for name in names:
            for stem, end in _splits(name, mark):
                of_end.setdefault(end, set()).add(stem)
                place.setdefault(stem, len(place))
        sets: dict[frozenset[str], list[str]] = {}
        for end, stems in of_end.items():
            sets.setdefault(frozenset(stems), []).append(end)
        for own, ends in [*sets.items(), *_nearly(names, mark)]:
            if len(own) > 1 and len(ends) > 1:
                inner = len({re.split(f"[{re.escape(_MARKS)}]", stem)[-1] for stem in own}) > 1
                one = Crossed(mark, tuple(sorted(own, key=place.__getitem__)), tuple(ends))
                found.append((len(own) * len(ends), -len(ends), inner, one))
    return max(found, key=lambda one: one[:3])[3] if found else None


def _nearly(names: Sequence[str], mark: str) -> Iterator[tuple[frozenset[str], list[str]]]:
    """Grids with a few gaps: names that are split at their last mark, or at their first one."""
    for split in (str.rpartition, str.partition):
        two = [split(name, mark) for name in names if mark in name.strip(mark)]
        stems, ends = dict.fromkeys(one[0] for one in two), dict.fromkeys(one[2] for one in two)
        if two and len(two) >= MOST * len(stems) * len(ends) and "" not in stems and "" not in ends:
            yield frozenset(stems), list(ends)


def _splits(name: str, mark: str) -> Iterator[tuple[str, str]]:
    parts = name.split(mark)
    for at in range(1, len(parts)):
        stem, end = mark.join(parts[:at]), mark.join(parts[at:])
        if stem and end:
            yield stem, end


def _parts(whole: Crossed, role: str) -> tuple[str, str]:
    """Which part of the names is the role and which the dimension, stem and ending."""
    numbered = [all(re.search(r"\d", label) for label in labels) for labels in (whole.stems, whole.ends)]
    more = role == "annotator" or len(whole.ends) > len(whole.stems)
    last = numbered[1] if numbered[0] != numbered[1] else more
    return ("dimension", role) if last else (role, "dimension")


def _split_alike(
    pattern: str, role: str, columns: Sequence[str], cells: list[tuple[str, str, int]]
) -> list[tuple[str, str, int]]:
    """The cells of a form of two parts, split where names repeat; what fits nowhere is left alone."""
    form = re.fullmatch(rf"\{{(dimension|dim|{role})\}}([{re.escape(_MARKS)}])\{{(dimension|dim|{role})\}}", pattern)
    whole = crossed([columns[index] for _, _, index in cells], form[2]) if form else None
    if form is None or whole is None:
        return cells
    found = []
    for _, _, index in cells:
        two = whole.split(columns[index])
        if two is not None:
            found.append((*(two if form[1] == role else two[::-1]), index))
    return found


def _cells_of(whole: Crossed, columns: Sequence[str], free: Sequence[int], last: bool) -> list[tuple[str, str, int]]:
    split = [(whole.split(columns[index]), index) for index in free]
    return [(*(two[::-1] if last else two), index) for two, index in split if two is not None]


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
    known = {f"{{{role}}}": "(?P<label>.+?)", "*": ".*"}
    known |= dict.fromkeys(("{dimension}", "{dim}"), "(?P<dimension>.+)")
    if f"{{{role}}}" not in parts or any(part.startswith("{") and part not in known for part in parts):
        option = OPTION[role]
        raise DataError(
            f"{name}: '{pattern}' does not say which part of a column's name is the {role}. "
            f"Say for example {option} '{{dimension}}_{{{role}}}', or {option} 'A*' if every column is one."
        )
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


LABEL = "name of the column"


class MeltedTable(TableView):
    """Columns that are not spread, then whose row it is, then the dimensions. Empty cells make no rows."""

    def __init__(self, table: Table, spread: Spread):
        taken = {index for cells in spread.place.values() for index in cells.values()}
        self._kept = [index for index in range(len(table.columns)) if index not in taken]
        super().__init__(table, (*(table.columns[index] for index in self._kept), LABEL, *spread.dimensions))
        self.form = None  # it has been used
        self._spread, self._labels = spread, list(spread.place)

    def parts(self) -> Iterator[Chunk]:
        for part in self._table.parts():
            record = part.first + (np.arange(part.frame.height) if part.kept is None else part.kept)
            found = [self._rows_of(part.frame, number, record) for number in range(len(self._labels))]
            rows = pl.concat([one for one in found if one.height] or found[:1], how="vertical_relaxed").sort("record")
            yield Chunk(rows.drop("record"), 0, rows.get_column("record").to_numpy())

    def original(self, index: int, records: np.ndarray) -> Any:
        if index >= len(self._kept):
            return None
        return self._table.original(self._kept[index], records // len(self._labels))

    def where(self, record: int) -> str:
        row, number = divmod(record, len(self._labels))
        cells = self._spread.place[self._labels[number]]
        names = [self._table.columns[index] for index in cells.values()]
        which = f"column '{names[0]}'" if len(names) == 1 else f"{self._spread.role} '{self._labels[number]}'"
        return f"{self._table.where(row)} {which}"

    def _rows_of(self, frame: pl.DataFrame, number: int, record: np.ndarray) -> pl.DataFrame:
        """The rows of one label, with the number of each among all of the melted table."""
        cells = self._spread.place[self._labels[number]]
        kept = [frame.get_column(str(index)).alias(str(place)) for place, index in enumerate(self._kept)]
        label = pl.Series(str(len(kept)), [self._labels[number]], dtype=pl.String).new_from_index(0, frame.height)
        values = [
            self._cells(frame, dimension, cells.get(dimension)).alias(str(len(kept) + 1 + place))
            for place, dimension in enumerate(self._spread.dimensions)
        ]
        given = np.zeros(frame.height, dtype=bool)
        for value in values:
            given |= ~is_missing(value).to_numpy()
        rows = pl.DataFrame([*kept, label, *values, pl.Series("record", record * len(self._labels) + number)])
        return rows.filter(given)

    def _cells(self, frame: pl.DataFrame, dimension: str, index: int | None) -> pl.Series:
        """Cells of one column, as text if those of any other label are."""
        beside = [frame.get_column(str(one[dimension])) for one in self._spread.place.values() if dimension in one]
        kind = pl.String if any(one.dtype == pl.String for one in beside) else pl.Float64
        if index is None:
            return pl.Series("", [None], dtype=kind).new_from_index(0, frame.height)
        return frame.get_column(str(index)).cast(kind, strict=False)
