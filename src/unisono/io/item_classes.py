"""Classes of items: the columns of words of a truth or a reference, and class probabilities from categories.csv."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unisono.data import ItemTable
from unisono.errors import DataError
from unisono.io.reading import problems
from unisono.io.reading.arrange import Column
from unisono.io.reading.category_columns import named_otherwise, worth_reading
from unisono.io.reading.collecting import collect, number_column
from unisono.io.reading.columns import find_column, find_roles
from unisono.io.reading.ids import join_columns
from unisono.io.reading.numbers import MISSING_WORDS
from unisono.io.reading.rows import sorted_claims
from unisono.io.reading.source import open_table
from unisono.io.reading.table import Table
from unisono.io.reading.views import CoveredTable
from unisono.io.reading.word_answers import names_as_roles
from unisono.io.tables import read_item_table

PROBABILITIES = "categories.csv"


class ItemClasses(NamedTuple):
    """For every column of words the class of each item that has one."""

    source: str
    of: dict[str, dict[str, str]]  # column -> item -> class


def read_item_classes(
    source: Any, *, item: Column = None, names: Sequence[str] | None = None, sheet: str | None = None
) -> ItemClasses:
    """Columns of words of a table with one row per item; `names` insists on columns, whatever they hold."""
    table, label, _ = join_columns(open_table(source, sheet), item)
    roles = find_roles(table, ("item",), (), {"item": label}, ())
    if names is not None:
        columns = {name: find_column(table, name) for name in names}
    else:
        first = next(table.parts(), None)
        place = {roles.place["item"]}
        free = [index for index in range(len(table.columns)) if index not in place and table.columns[index]]
        free = [index for index in free if not named_otherwise(table.columns[index])]
        columns = {} if first is None else {table.columns[i]: i for i in free if worth_reading(first, i)}
    if not columns:
        return ItemClasses(table.name, {})
    return ItemClasses(table.name, _classes(table, roles.place["item"], columns))


def read_item_numbers(source: Any, words: Collection[str], **reading: Any) -> ItemTable:
    """The numbers of a table of items, without columns of `words` and their probabilities."""
    table = open_table(source, reading.get("sheet"))
    covered = {*words, *(f"{name}_probability" for name in words)}
    hidden = [index for index, name in enumerate(table.columns) if name in covered]
    return read_item_table(CoveredTable(table, hidden) if hidden else table, **reading)


def _classes(table: Table, item: int, columns: dict[str, int]) -> dict[str, dict[str, str]]:
    roles = names_as_roles(columns)
    found = collect(table, {"item": item} | roles, [], may_be_empty=roles)
    items = found.label["item"]
    _, twice = sorted_claims(items.code.astype(np.int64))
    if twice is not None:
        first, second = (found.where(row) for row in sorted(twice))
        places = problems.join_places(first, second, table.name)
        raise problems.item_twice(*places, items.labels[items.code[twice[0]]])
    result: dict[str, dict[str, str]] = {}
    for role, name in zip(roles, columns, strict=True):
        word = found.label[role]
        given = [code for code in zip(items.code, word.code, strict=True) if not _missing(word.labels[code[1]])]
        result[name] = {items.labels[m]: word.labels[c] for m, c in given}
    return result


def read_probabilities(truth: Any) -> dict[str, dict[str, dict[str, float]]]:
    """dimension -> item -> class -> probability, from the categories.csv beside a truth.csv; empty without one."""
    path = Path(str(truth)).parent / PROBABILITIES
    if str(truth) == "-" or not path.is_file():
        return {}
    table = open_table(path)
    try:
        place = {name: find_column(table, name) for name in ("item", "dimension", "class", "probability")}
    except DataError:
        return {}  # a file of somebody else's that has the same name
    index = place.pop("probability")
    found = collect(table, place, [index])
    value = number_column(found, index, full=True)
    result: dict[str, dict[str, dict[str, float]]] = {}
    columns = [[one.labels[code] for code in one.code] for one in (found.label[name] for name in place)]
    for what, dimension, label, p in zip(*columns, value.tolist(), strict=True):
        result.setdefault(dimension, {}).setdefault(what, {})[label] = p
    return result


def _missing(word: str) -> bool:
    return word.lower() in ("", *MISSING_WORDS)
