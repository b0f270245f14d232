"""Reads tables of comparisons: pairs, arenas, preferences, strengths, rankings, best-worst choices, counts.

found = read_comparisons("pairs.csv")
found.items, found.layout, found.notes

A layout is recognised by the names of its columns and by their values (`comparison_layouts`); whatever it is, pairs
with sides come out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables.comparisons import Comparisons
from unisono.tables.reading import collected_folder, column_roles, data_frames, raw_table
from unisono.tables.reading.comparison_layouts import ANYBODY, Cells, Words, refuse_empty, sides_of, told
from unisono.tables.reading.open_table import open_table


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
    return replace(told(cells, given), frame_kind=data_frames.kind_of(source))


def table_cells(source: Any, sheet: str | None = None) -> Cells:
    """All cells of a table as text, and where its rows stand; a folder is that of an export."""
    if isinstance(source, str | Path) and Path(source).is_dir():
        source = Path(source) / collected_folder.COMPARISONS
        if not source.is_file():
            raise DataError(f"{source.parent} is a folder without {collected_folder.COMPARISONS}.")
    table = open_table(str(source) if isinstance(source, Path) else source, sheet)
    return cells_of(table)


def cells_of(table: raw_table.Table) -> Cells:
    """All cells, rows that are empty throughout left out."""
    frames, records, whole = [], [], {}
    for whole_part in table.parts():
        part = whole_part.without_empty_rows(0)
        columns = part.frame.rename({str(i): name or f"\x1f{i}" for i, name in enumerate(table.columns)}).get_columns()
        whole = {column.name: column.dtype != pl.String for column in columns}
        frames.append(pl.DataFrame([raw_table.as_text(column).str.strip_chars().fill_null("") for column in columns]))
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
    words = cells.frame[cells.table.columns[column_roles.find_column(cells.table, column)]]
    refuse_empty(cells, words, np.arange(len(words)), f"{column} is empty", "Fill it in")
    return words.to_list()
