"""Columns of labels and columns of numbers, collected from cells part by part.

Each row of a label column gets the number of its label in canonical order. A number column remembers the first cell
of each kind of trouble. Missing is an empty cell or NA, NaN, null in any case; everything else that is no number is
text. As long as a column has few different texts they are kept, so that they can be given numbers (`settle`); text
that remains among numbers is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables.labels import sort_labels
from unisono.tables.reading import problems
from unisono.tables.reading.raw_table import Chunk, Table, as_text, is_missing


class Coded(NamedTuple):
    """Labels in canonical order, and which of them each row carries."""

    code: np.ndarray  # (rows,) int32
    labels: tuple[str, ...]
    column: str = ""  # that the labels come from


class LabelColumn:
    """Collects one column of labels; surrounding blanks do not count."""

    def __init__(self, name: str, index: int):
        self.name = name
        self.index = index
        self._parts: list[pl.Series] = []
        self._runs: list[np.ndarray] = []

    def add(self, part: Chunk) -> None:
        """Takes the column of a part. Rows about one item mostly lie together, so runs of a label are kept as one."""
        rows = as_text(part.column(self.index)).fill_null("").alias("label")
        first = np.flatnonzero((rows != rows.shift()).fill_null(True).to_numpy())
        self._runs.append(np.diff(first, append=len(rows)).astype(np.int32))
        self._parts.append(rows if len(first) == len(rows) else rows.gather(first))

    def finish(self) -> Coded:
        """The distinct labels sorted, and the number of each row's label among them; an empty label comes first."""
        rows = pl.concat(self._parts).to_frame().with_row_index("row")
        self._parts = []
        grouped = rows.group_by("label").agg("row")
        label, rows_each = grouped.get_column("label"), grouped.get_column("row").list.len().to_numpy()
        name = label.str.strip_chars()
        names, code = _in_order(name) if name.equals(label) else _numbered(name)
        found = np.empty(len(rows), dtype=np.int32)
        found[grouped.get_column("row").explode().to_numpy()] = np.repeat(code, rows_each)
        run = np.concatenate(self._runs)
        every = found if len(run) == run.sum() else np.repeat(found, run)
        return Coded(every, tuple(names.to_list()), self.name)


def _numbered(names: pl.Series) -> tuple[pl.Series, np.ndarray]:
    """The distinct labels in canonical order, and the number of each among them."""
    found, _ = _in_order(names.unique())
    numbers = found.to_frame("name").with_row_index("code")
    return found, names.to_frame("name").join(numbers, on="name", how="left", maintain_order="left")["code"].to_numpy()


def _in_order(names: pl.Series) -> tuple[pl.Series, np.ndarray]:
    """Distinct labels in canonical order, and the place of each; one word and a number are sorted without Python.

    Numbers may be filled up with zeros if all of them have the same width: `01` and `1` are two labels.
    """
    split = names.str.extract_groups(r"^(.*?)([0-9]{1,18})$").struct
    word, number = split[0], split[1]
    order = None
    if number.null_count() == 0 and word.n_unique() == 1:
        padded = number.str.starts_with("0") & (number.str.len_bytes() > 1)
        if not padded.any() or number.str.len_bytes().n_unique() == 1:
            order = number.cast(pl.Int64).arg_sort().to_numpy()
    if order is None:
        place = {name: row for row, name in enumerate(names.to_list())}
        order = np.array([place[name] for name in sort_labels(place)], dtype=np.int64)
    code = np.empty(len(order), dtype=np.int32)
    code[order] = np.arange(len(order), dtype=np.int32)
    return names.gather(order), code


def as_label(value: object) -> str:
    """A cell as text; a whole number without the point that a column of floats gives it."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


MOST_WORDS = 200  # different texts beyond which a column holds prose


class Cell(NamedTuple):
    """A cell to show to the user."""

    record: int
    text: str


class WordCells:
    """Collects texts part by part; they are taken out once they have a meaning."""

    def __init__(self) -> None:
        self._code: dict[str, int] = {}
        self._held: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # rows, records, which text
        self._prose = False

    def add(self, rows: np.ndarray, records: np.ndarray, texts: pl.Series) -> None:
        """Texts with the rows and the records in which they stand."""
        if self._prose:
            return
        for word in texts.unique(maintain_order=True).head(MOST_WORDS + 1).to_list():
            self._code.setdefault(word, len(self._code))
        if len(self._code) > MOST_WORDS:
            self._prose, self._code, self._held = True, {}, []
            return
        self._held.append((rows, records, texts.replace_strict(self._code, return_dtype=pl.Int32).to_numpy()))

    def words(self, among: np.ndarray | None = None) -> list[str]:
        """The different texts (in the rows `among`, a mask) in the order in which they occur; none of prose."""
        rows, _, codes = self._all()
        found, first = np.unique(codes if among is None else codes[among[rows]], return_index=True)
        known = list(self._code)
        return [known[code] for code in found[np.argsort(first)].tolist()]

    def take(self, numbers: Mapping[str, float], among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Rows whose texts have a number, and the numbers; they are no texts any more."""
        rows, records, codes = self._all()
        now = np.array([word in numbers for word in self._code], dtype=bool)[codes]
        if among is not None:
            now &= among[rows]
        self._held = [(rows[~now], records[~now], codes[~now])]
        return rows[now], np.array([numbers.get(word, np.nan) for word in self._code])[codes[now]]

    @property
    def first(self) -> Cell | None:
        """The first text that is left."""
        _, records, codes = self._all()
        return Cell(int(records[0]), list(self._code)[codes[0]]) if len(codes) else None

    def _all(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if not self._held:
            empty = np.zeros(0, dtype=np.int64)
            return empty, empty, empty
        if len(self._held) > 1:
            rows, records, codes = (np.concatenate(arrays) for arrays in zip(*self._held, strict=True))
            self._held = [(rows, records, codes)]
        return self._held[0]


LARGEST = 1e100  # beyond this a square, and so a variance, overflows
_DECIMAL_COMMA = r"^[+-]?\d*,\d+([eE][+-]?\d+)?$"
_THOUSANDS = r"^[+-]?[1-9]\d{0,2},\d{3}$"  # or three decimals


_EXTREMES = {
    "infinite": "'{}', not a finite number. Leave the cell empty if it is missing.",
    "huge": "{}, too large to square. Use another unit, or leave the cell empty if it is missing.",
}


class NumberColumn:
    """Collects one column; afterwards `kind` says what it turned out to be and `trouble` what is wrong with it."""

    def __init__(self, name: str, index: int):
        self.name = name
        self.index = index
        self._parts: list[np.ndarray] = []
        self._numbers = self._texts = 0
        self._first: dict[str, Cell] = {}
        self._rows = 0
        self._held = WordCells()
        self.commas = 0  # cells with a decimal comma where points are expected, without doubt

    def add(self, part: Chunk, decimal_comma: bool) -> None:
        column = part.column(self.index)
        if column.dtype in (pl.Categorical, pl.Enum):
            column = column.cast(pl.String)
        if column.dtype == pl.String:
            value = self._from_text(part, column, decimal_comma)
        elif column.dtype.is_numeric() or column.dtype == pl.Boolean:
            value = np.array(column.cast(pl.Float64).to_numpy(), dtype=np.float64)
        else:
            value = np.full(len(column), np.nan)
        missing = np.isnan(value)
        given = len(value) - int(np.count_nonzero(missing))
        if given and "number" not in self._first:
            self._note("number", part, column, int(np.argmin(missing)))
        self._numbers += given
        self._note_extremes(part, column, value)
        self._parts.append(value)
        self._rows += len(value)

    @property
    def has_numbers(self) -> bool:
        return self._numbers > 0

    def words(self, among: np.ndarray | None = None) -> list[str]:
        """The different texts (in the rows `among`, a mask), in the order in which they occur; none of prose."""
        return self._held.words(among)

    def settle(self, numbers: Mapping[str, float], among: np.ndarray | None = None) -> None:
        """Texts (in the rows `among`, a mask) become numbers; NaN if they stand for missing."""
        rows, value = self._held.take(numbers, among)
        self.look()[rows] = value
        self._texts -= len(rows)
        self._numbers += int((~np.isnan(value)).sum())
        self._first.pop("text", None)
        if self._held.first is not None:
            self._first["text"] = self._held.first

    def recode(self, numbers: Mapping[float, float]) -> list[float]:
        """Numbers become others, NaN where missing is meant; those of them that were there."""
        value = self.look()
        places = {old: np.flatnonzero(value == old) for old in numbers}
        for old, rows in places.items():
            value[rows] = numbers[old]
            self._numbers -= len(rows) if np.isnan(numbers[old]) else 0
        return [old for old, rows in places.items() if len(rows)]

    @property
    def kind(self) -> str:
        """numbers, text (throughout), mixed, or empty"""
        if not self._texts:
            return "numbers" if self._numbers else "empty"
        return "mixed" if self._numbers else "text"

    def look(self) -> np.ndarray:
        """(rows,) the numbers, NaN where missing."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0]

    def trouble(self, table: Table, *, wanted: bool) -> DataError | None:
        """What is wrong with the column; `wanted` if the user named it, so that text cannot just be left out."""
        if self.kind == "mixed":
            return self._mixed_up(table, wanted)
        if "thousands" in self._first and not self.commas:
            place, cell = self._at(table, "thousands")
            point, plain = cell.replace(",", "."), cell.replace(",", "")
            return DataError(f"{place}'{cell}', which may be {point} or {plain}. Write numbers without such commas.")
        if wanted and self.kind == "text":
            place, cell = self._at(table, "text")
            meaning = f", or say what its words mean: {problems.labels_for(self.words())}" if self.words() else ""
            return DataError(f"{place}'{cell}'. The column holds text throughout; name one with numbers{meaning}.")
        if wanted and self.kind == "empty":
            return DataError(f"{table.name}: column '{self.name}' is empty in every row.")
        for what, why in _EXTREMES.items():
            if what in self._first:
                place, cell = self._at(table, what)
                return DataError(f"{place}{why.format(cell)}")
        return None

    def _mixed_up(self, table: Table, wanted: bool) -> DataError:
        if wanted or self._numbers >= self._texts:
            place, cell = self._at(table, "text")
            return DataError(
                f"{place}'{cell}'. Leave the cell empty if the rating is missing, "
                f'or say what it means: --labels "{cell}=" for missing, --labels "{cell}=3" for a number.'
            )
        place, cell = self._at(table, "number")
        return DataError(
            f"{place}'{cell}', but most rows hold text there. "
            "Leave that column out by naming the others with --dim (dims=... or columns=... in Python)."
        )

    def _at(self, table: Table, what: str) -> tuple[str, str]:
        """The first cell of this kind of trouble: `ratings.csv row 18: valence is `, and what it says."""
        cell = self._first[what]
        return f"{table.where(cell.record)}: {self.name} is ", problems.shortened(cell.text)

    def _from_text(self, part: Chunk, column: pl.Series, decimal_comma: bool) -> np.ndarray:
        value = column.cast(pl.Float64, strict=False)
        odd = np.flatnonzero((value.is_null() & column.is_not_null()).to_numpy())
        result: np.ndarray = np.array(value.to_numpy(), dtype=np.float64)
        if len(odd):
            again = column.gather(odd).str.strip_chars()
            result[odd] = self._second_reading(part, column, odd, again, decimal_comma)
            unread = np.flatnonzero(np.isnan(result[odd]) & ~is_missing(again).to_numpy())
            self._texts += len(unread)
            if len(unread):
                self._note("text", part, column, int(odd[unread[0]]))
                self._held.add(self._rows + odd[unread], part.records(odd[unread]), again.gather(unread))
        return result

    def _second_reading(
        self, part: Chunk, column: pl.Series, rows: np.ndarray, cells: pl.Series, decimal_comma: bool
    ) -> np.ndarray:
        """Numbers among cells that did not read as such at once: blanks around them, a comma for the decimal point."""
        comma = cells.str.contains(_DECIMAL_COMMA).fill_null(False)
        if comma.any():
            doubtful = comma & cells.str.contains(_THOUSANDS) & (not decimal_comma)
            self.commas += 0 if decimal_comma else int((comma & ~doubtful).sum())
            if doubtful.any():
                self._note("thousands", part, column, int(rows[int(np.argmax(doubtful.to_numpy()))]))
            cells = cells.str.replace(",", ".", literal=True).zip_with(comma, cells)
        return np.array(cells.cast(pl.Float64, strict=False).to_numpy(), dtype=np.float64)

    def _note_extremes(self, part: Chunk, column: pl.Series, value: np.ndarray) -> None:
        beyond = np.abs(value) > LARGEST
        if beyond.any():
            infinite = np.isinf(value)
            for name, found in (("infinite", infinite), ("huge", beyond & ~infinite)):
                if found.any():
                    self._note(name, part, column, int(np.argmax(found)))

    def _note(self, name: str, part: Chunk, column: pl.Series, row: int) -> None:
        self._first.setdefault(name, Cell(part.record(row), str(column[row]).strip()))
