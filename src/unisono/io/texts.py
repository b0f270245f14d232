"""Tables of text: rows of plain cells, and texts that belong to items. The same reader as for ratings, no numbers made.

rows = read_text_rows("texts.csv", ("item", "text"))
texts = read_item_texts("texts.csv")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from unisono.io.reading import problems
from unisono.io.reading.naming import as_text
from unisono.io.reading.source import open_table
from unisono.io.reading.table import Table


class TextRows(NamedTuple):
    """Cells by column, without blanks around them, and where the user finds a row."""

    name: str  # of the table
    cells: list[dict[str, str]]
    where: Callable[[int], str]  # number of a row in `cells` -> `texts.csv row 18`


def read_text_rows(source: Any, needed: Sequence[str]) -> TextRows:
    """All rows with a filled cell, as text; DataError if a needed column is missing or there are no rows."""
    table = open_table(source)
    for column in needed:
        if column not in table.columns:
            raise problems.no_such_column(table.name, column, table.columns)
    cells: list[dict[str, str]] = []
    record: list[int] = []
    for number, row in _rows(table):
        if any(row.values()):
            cells.append(row)
            record.append(number)
    if not cells:
        raise problems.header_only(table.name)
    return TextRows(table.name, cells, lambda row: table.where(record[row]))


def read_item_texts(source: Any, item: str = "item", text: str = "text") -> dict[str, str]:
    """Item -> text in the order of the table; DataError where an item has no name, or two rows."""
    rows = read_text_rows(source, (item, text))
    first: dict[str, int] = {}
    for number, row in enumerate(rows.cells):
        name = row[item]
        if not name:
            raise problems.empty_label(rows.where(number), "item", item)
        if name in first:
            places = problems.join_places(rows.where(first[name]), rows.where(number), rows.name)
            raise problems.item_twice(*places, name)
        first[name] = number
    return {row[item]: row[text] for row in rows.cells}


def _rows(table: Table) -> list[tuple[int, dict[str, str]]]:
    found = []
    for part in table.parts():
        columns = [as_text(part.column(i)).fill_null("").str.strip_chars().to_list() for i in range(len(table.columns))]
        for i, row in enumerate(zip(*columns, strict=True)):
            found.append((part.record(i), dict(zip(table.columns, row, strict=True))))
    return found
