"""What a column of a table says about items: their system, their prompt."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.errors import DataError
from unisono.io.reading.arrange import Column
from unisono.io.reading.collecting import collect
from unisono.io.reading.columns import find_column, find_roles
from unisono.io.reading.ids import join_columns
from unisono.io.reading.source import open_table


def read_item_labels(source: Any, column: str, *, item: Column = None, sheet: str | None = None) -> dict[str, str]:
    """The word that the column has for each item of a path or data frame; an item with two of them is refused."""
    table, name, _ = join_columns(open_table(source, sheet), item)
    place = find_column(table, column)
    roles = find_roles(table, ("item",), (), {"item": name}, [place])
    found = collect(table, {"item": roles.place["item"], "by": place}, [])
    items, words = found.label["item"], found.label["by"]
    first = np.full(len(items.labels), -1, dtype=np.int64)
    first[items.code[::-1]] = words.code[::-1]
    differs = np.flatnonzero(first[items.code] != words.code)
    if len(differs):
        row = int(differs[0])
        one, other = (words.labels[code] for code in (first[items.code[row]], words.code[row]))
        raise DataError(
            f"{found.where(row)}: {column} of item '{items.labels[items.code[row]]}' is '{other}', elsewhere '{one}'. "
            "An item belongs to one; give answers of several systems different item names."
        )
    return {label: words.labels[code] for label, code in zip(items.labels, first, strict=True)}
