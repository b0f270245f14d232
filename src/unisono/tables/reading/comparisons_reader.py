"""Reads tables of comparisons: pairs, arenas, preferences, strengths, rankings, best-worst choices, counts.

found = read_comparisons("pairs.csv")
found.items, found.layout, found.notes

A layout is recognised by the names of its columns and by their values (`comparison_layouts`); whatever it is, pairs
with sides come out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables.comparisons import Comparisons
from unisono.tables.labels import sort_labels
from unisono.tables.reading.collected_folder import COMPARISONS
from unisono.tables.reading.column_roles import find_column
from unisono.tables.reading.comparison_layouts import ANYBODY, Cells, Pairs, Words, sides_of, told
from unisono.tables.reading.data_frames import kind_of
from unisono.tables.reading.open_table import open_table
from unisono.tables.reading.raw_table import Table, as_text

_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


def read_comparisons(
    source: Any,
    *,
    annotator: str | None = None,
    left: str | None = None,
    right: str | None = None,
    dims: Sequence[str] | str | None = None,
    sheet: str | None = None,
) -> Comparisons:
    """Which of two items has more: pairs, wins, rankings, best-worst choices, strengths.

    The plain table has the columns annotator, left, right, and one per dimension with left, tie or right; others are
    recognised by names and values.

    Parameters
    ----------
    source : path, data frame or Comparisons
        The table, `-` for standard input, or the folder of an export with comparisons.csv.
    annotator, left, right : str, optional
        Columns that are called otherwise.
    dims : str or sequence of str, optional
        Columns of answers; recognised by default.
    sheet : str, optional
        Which sheet of a workbook, or file of an archive.

    Returns
    -------
    Comparisons
        What `fuse(comparisons=...)` takes.

    Raises
    ------
    DataError
        A row that compares an item with itself, an answer that is none, or no columns of a pair; it names the row.

    Examples
    --------
    >>> import pandas as pd, unisono as un
    >>> rows = {"annotator": ["ann", "bob"], "left": ["a", "b"], "right": ["b", "c"], "mood": ["left", "tie"]}
    >>> un.read_comparisons(pd.DataFrame(rows)).items
    ('a', 'b', 'c')
    """
    if isinstance(source, Comparisons):
        return source
    cells = table_cells(source, sheet)
    given = Words(annotator, left, right, (dims,) if isinstance(dims, str) else tuple(dims or ()))
    return _gathered(told(cells, given), kind_of(source))


def table_cells(source: Any, sheet: str | None = None) -> Cells:
    """All cells of a table as text, and where its rows stand; a folder is that of an export."""
    if isinstance(source, str | Path) and Path(source).is_dir():
        source = Path(source) / COMPARISONS
        if not source.is_file():
            raise DataError(f"{source.parent} is a folder without {COMPARISONS}.")
    table = open_table(str(source) if isinstance(source, Path) else source, sheet)
    return cells_of(table)


def cells_of(table: Table) -> Cells:
    """All cells, rows that are empty throughout left out."""
    frames, records, whole = [], [], {}
    for whole_part in table.parts():
        part = whole_part.without_empty_rows(0)
        columns = part.frame.rename({str(i): name or f"\x1f{i}" for i, name in enumerate(table.columns)}).get_columns()
        whole = {column.name: column.dtype != pl.String for column in columns}
        frames.append(pl.DataFrame([as_text(column).str.strip_chars().fill_null("") for column in columns]))
        records.append(part.records(np.arange(part.frame.height)))
    if not frames:
        raise DataError(f"{table.name} has a header but no rows.")
    # Where all cells are text, ids of digits are whole numbers.
    return Cells(table, pl.concat(frames), np.concatenate(records), whole, not any(whole.values()))


def rows_to_predict(source: Any) -> tuple[list[str], list[str], list[str]]:
    """Annotators, left and right of every row of a table, in its order; answers are not looked at."""
    cells = table_cells(source)
    place = sides_of(cells, Words())
    if place is None:
        raise DataError(f"{cells.table.name} has no columns 'left' and 'right', so there is nothing to predict.")
    who, left, right = place
    people = [ANYBODY] * cells.frame.height if who is None else cells.frame[who].to_list()
    return people, cells.frame[left].to_list(), cells.frame[right].to_list()


def column_of_rows(source: Any, column: str) -> list[str]:
    """What a column says of every row of a table of comparisons."""
    if isinstance(source, Comparisons):
        raise DataError(f"'{column}' is a column of a table of comparisons: give the table, as a file or a data frame.")
    cells = table_cells(source)
    words = cells.frame[cells.table.columns[find_column(cells.table, column)]]
    if (words == "").any():
        row = int((words == "").arg_max() or 0)
        raise DataError(f"{cells.where(row)}: {column} is empty. Fill it in, or leave the row out.")
    return words.to_list()


def _gathered(pairs: Pairs, kind: str | None) -> Comparisons:
    cells = pairs.cells
    empty = (pairs.left == "") | (pairs.right == "")
    if empty.any():
        row = int(empty.arg_max() or 0)
        side = "left" if pairs.left[row] == "" else "right"
        raise DataError(f"{pairs.where(row)}: the {side} item has no name. Fill it in, or leave the row out.")
    same = pairs.left == pairs.right
    if same.any():
        row = int(same.arg_max() or 0)
        raise DataError(f"{pairs.where(row)} compares '{pairs.left[row]}' with itself. Leave the row out.")
    items, (left, right) = _coded([pairs.left, pairs.right])
    people, (who,) = _coded([pairs.annotator])
    columns = left, right, who, pairs.dimension, pairs.answer, pairs.ranking
    return Comparisons.from_answers(
        columns,
        (items, people, pairs.dimensions),
        sided=pairs.sided,
        strength=pairs.strength,
        source=cells.table.name,
        layout=pairs.layout,
        notes=(*cells.table.notes, *pairs.notes),
        frame_kind=kind,
        whole_items=_whole(items, pairs.from_numbers or cells.from_text),
        whole_annotators=_whole(people, pairs.people_from_numbers or cells.from_text),
    )


def _whole(labels: Sequence[str], may_be: bool) -> bool:
    return may_be and bool(pl.Series(labels, dtype=pl.String).str.contains(_WHOLE).all())


def _coded(columns: Sequence[pl.Series]) -> tuple[tuple[str, ...], list[np.ndarray]]:
    """The labels of several columns in canonical order, and the number of each cell's label."""
    labels = sort_labels(pl.concat([column.unique() for column in columns]).unique().to_list())
    place = pl.Enum(labels)
    return labels, [column.cast(place).to_physical().cast(pl.Int64).to_numpy() for column in columns]
