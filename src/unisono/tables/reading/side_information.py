"""What tables say beside the ratings: classes, texts and systems of items, and covariates of ratings.

    texts = read_item_texts("texts.csv")
    classes = read_item_classes("truth.csv")
    covariates = read_covariates("ratings.csv", ["length"])

The same reader as for ratings. Class probabilities come from the categories.csv beside a truth.csv.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables import item_table, ratings
from unisono.tables.reading import problems
from unisono.tables.reading.category_columns import names_as_roles, worth_reading
from unisono.tables.reading.column_roles import find_column, find_roles, named_otherwise
from unisono.tables.reading.label_and_number_columns import Coded
from unisono.tables.reading.open_table import open_table
from unisono.tables.reading.ratings_reader import read_item_table
from unisono.tables.reading.raw_table import CoveredTable, Table, is_missing
from unisono.tables.reading.table_layout import Column, Layout, arrange, join_columns
from unisono.tables.reading.table_rows import Collected, collect, sorted_claims

PROBABILITIES = "categories.csv"


def read_item_classes(
    source: Any, *, item: Column = None, names: Sequence[str] | None = None, sheet: str | None = None
) -> dict[str, dict[str, str]]:
    """Column of words -> item -> class, of a table with one row per item; `names` insists on columns."""
    table, label, _ = join_columns(open_table(source, sheet), item)
    roles = find_roles(table, ("item",), (), {"item": label}, ())
    if names is not None:
        columns = {name: find_column(table, name) for name in names}
    else:
        others = {name: i for i, name in enumerate(table.columns) if name and i != roles.place["item"]}
        columns = {n: i for n, i in others.items() if not named_otherwise(n) and worth_reading(table.head, i)}
    if not columns:
        return {}
    return _classes(table, roles.place["item"], columns)


def read_item_numbers(source: Any, words: Collection[str], **reading: Any) -> item_table.ItemTable:
    """The numbers of a table of items, without columns of `words` and their probabilities."""
    table = open_table(source, reading.get("sheet"))
    covered = {*words, *(f"{name}_probability" for name in words)}
    hidden = [index for index, name in enumerate(table.columns) if name in covered]
    return read_item_table(CoveredTable(table, hidden) if hidden else table, **reading)


def _once(found: Collected) -> Coded:
    """The items of a table with one row each."""
    items = found.label["item"]
    _, twice = sorted_claims(items.code.astype(np.int64))
    if twice is not None:
        first, second = (found.where(row) for row in sorted(twice))
        places = problems.join_places(first, second, found.table.name)
        raise problems.item_twice(*places, items.labels[items.code[twice[0]]])
    return items


def _classes(table: Table, item: int, columns: dict[str, int]) -> dict[str, dict[str, str]]:
    roles = names_as_roles(columns)
    found = collect(table, {"item": item} | roles, [], may_be_empty=roles)
    items = _once(found)
    result: dict[str, dict[str, str]] = {}
    for role, name in zip(roles, columns, strict=True):
        word = found.label[role]
        given = ~is_missing(pl.Series(word.labels, dtype=pl.String)).to_numpy()
        pairs = zip(items.code, word.code, strict=True)
        result[name] = {items.labels[m]: word.labels[c] for m, c in pairs if given[c]}
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
    value = found.numbers(index, full=True)
    result: dict[str, dict[str, dict[str, float]]] = {}
    columns = [[one.labels[code] for code in one.code] for one in (found.label[name] for name in place)]
    for what, dimension, label, p in zip(*columns, value.tolist(), strict=True):
        result.setdefault(dimension, {}).setdefault(what, {})[label] = p
    return result


def read_item_texts(source: Any, item: str = "item", text: str = "text") -> dict[str, str]:
    """Item -> text in the order of the table; DataError where an item has no name, or two rows."""
    table = open_table(source)
    place = {role: find_column(table, column) for role, column in (("item", item), ("text", text))}
    found = collect(table, place, [], may_be_empty=("text",))
    items, texts = _once(found), found.label["text"]
    return {items.labels[m]: texts.labels[c] for m, c in zip(items.code, texts.code, strict=True)}


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


MOST_WORDS = 20  # convention: more different words than these are texts or names, not batches or versions


def read_covariates(
    source: Any, columns: Sequence[str], *, item: Column = None, annotator: Column = None, sheet: str | None = None
) -> ratings.RatingNumbers:
    """These columns of a path or data frame, with a row per rating (or per answer).

    A column of words becomes a column of zeros and ones for each word but the first, named `batch=spring`.
    """
    found = arrange(open_table(source, sheet), Layout(item, annotator), {}, ("item", "annotator"))
    places = [find_column(found.table, name) for name in columns]
    labels = {role: found.roles.place[role] for role in ("item", "annotator")}
    read = collect(found.table, labels, places)
    items, people = read.label["item"], read.label["annotator"]
    each = [_covariate_columns(read, labels, place, name) for place, name in zip(places, columns, strict=True)]
    pairs = zip((items.labels[code] for code in items.code), (people.labels[code] for code in people.code), strict=True)
    names = tuple(name for part, _ in each for name in part)
    # Of rows about the same rating the last one holds.
    of_pair = {pair: row for row, pair in enumerate(pairs)}
    return ratings.RatingNumbers(names, of_pair, np.hstack([value for _, value in each]), found.table.name)


def _covariate_columns(read: Collected, labels: dict[str, int], place: int, name: str) -> tuple[list[str], np.ndarray]:
    """Names and numbers (rows, P) of one column."""
    if read.number[place].kind != "text":
        return [name], read.numbers(place)[:, None]
    words = collect(read.table, labels | {name: place}, []).label[name]
    others = words.labels[1:]
    if len(others) >= MOST_WORDS:
        raise DataError(
            f"{read.table.name}: the covariate '{name}' has {len(words.labels):,} different words, as '{others[0]}'. "
            f"Give a column of numbers, or of at most {MOST_WORDS} words (a batch, a version)."
        )
    if not others:
        raise DataError(f"{read.table.name}: the covariate '{name}' is the same for all ratings. Leave it out.")
    return [f"{name}={word}" for word in others], (words.code[:, None] == 1 + np.arange(len(others))).astype(float)
