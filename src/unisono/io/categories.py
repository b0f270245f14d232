"""Reading categories beside numbers: one table gives ratings, categories, or both.

found = read_answers("ratings.csv", categories=["topic"])
found.ratings, found.categories             # either is None where the table has nothing of the kind
"""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from unisono.data import Ratings
from unisono.data.categories import Categories
from unisono.data.labels import listed
from unisono.data.reading import Reading
from unisono.errors import DataError, DataWarning, NoNumbersError
from unisono.io.reading import problems
from unisono.io.reading.category_columns import are_categories, named_otherwise, worth_reading
from unisono.io.reading.collecting import Collected, collect
from unisono.io.reading.columns import Roles, candidates, find_column, find_long, find_roles
from unisono.io.reading.frames import kind_of
from unisono.io.reading.naming import Coded
from unisono.io.reading.numbers import MISSING_WORDS
from unisono.io.reading.rows import sorted_claims
from unisono.io.reading.source import open_table
from unisono.io.reading.table import Table
from unisono.io.reading.views import CoveredTable
from unisono.io.tables import read_ratings

NONE = "none"
Asked = (
    Mapping[str, str] | Sequence[str] | str | None
)  # NAME -> COLUMN, names, one name or 'none'; None: recognise them


class Answers(NamedTuple):
    """What a table holds; either may be None, not both."""

    ratings: Ratings | None
    categories: Categories | None


class _Words(NamedTuple):
    """A column (or a level of a long table) whose cells are words."""

    name: str
    column: str
    word: Coded
    rows: np.ndarray  # (n,) rows that answer, among those collected


def read_answers(source: Any, *, categories: Asked = None, **reading: Any) -> Answers:
    """Ratings and categories from a path, `-` for standard input, or a data frame.

    `categories` names the columns (or, in a table with one row per answer, the dimensions) whose answers are
    categories, whatever they look like; 'none' for none. By default columns of words are recognised, unless `dims`
    names all that count. `reading` are the other words of `read_ratings`.
    """
    asked = _asked(categories)
    table = open_table(source)
    if asked == {} or (asked is None and reading.get("dims") is not None):
        return Answers(_of_kind(read_ratings(table, **reading), source), None)
    try:
        roles = _roles(table, reading)
        words, found = _words(table, roles, asked)
    except DataError:
        if asked is not None:
            raise
        words, found = [], None  # what is wrong with the table is said where numbers are read
    if not words or found is None:
        return Answers(_of_kind(read_ratings(table, **reading), source), None)
    chosen = _categories(table, roles, found, words, recognised=asked is None)
    chosen = replace(chosen, frame_kind=kind_of(source))
    return Answers(_numbers(table, roles, words, found, reading, source), chosen)


def read_categories(source: Any, categories: Asked = None, **reading: Any) -> Categories:
    """The categories of a table alone; the words are those of `read_answers`."""
    found = read_answers(source, categories=categories, **reading).categories
    if found is None:
        name = open_table(source).name
        raise DataError(
            f"{name} has no column that looks like categories. Name one with --categories COLUMN (categories=...)."
        )
    return found


def _asked(categories: Asked) -> dict[str, str] | None:
    if categories is None:
        return None
    if isinstance(categories, str):
        return {} if categories == NONE else {categories: categories}
    names = dict(categories) if isinstance(categories, Mapping) else {str(name): str(name) for name in categories}
    return {} if list(names) == [NONE] else names


def _roles(table: Table, reading: Mapping[str, Any]) -> Roles:
    given = {role: reading.get(role) for role in ("item", "annotator", "time")}
    return find_long(table, find_roles(table, ("item", "annotator"), ("time",), given, ()))


def _words(table: Table, roles: Roles, asked: Mapping[str, str] | None) -> tuple[list[_Words], Collected | None]:
    """The columns of words to take for categories, and the labels they belong to."""
    if roles.is_long and (asked is None or not all(column in table.columns for column in asked.values())):
        return _words_of_levels(table, roles, asked)
    if asked is None:
        names = _worth_reading(table, roles)
    else:
        names = {name: find_column(table, column) for name, column in asked.items()}
        _refuse_labels(table, roles, names)
    if not names:
        return [], None
    labels = {role: roles.place[role] for role in ("item", "annotator")} | names_as_roles(names)
    found = collect(table, labels, [], may_be_empty=names_as_roles(names))
    every = np.arange(found.rows)
    words = [
        _answered(_Words(name, table.columns[index], found.label[f"words of {name}"], every))
        for name, index in names.items()
    ]
    return [one for one in words if asked is not None or _recognised(found, one)], found


def names_as_roles(names: Mapping[str, int]) -> dict[str, int]:
    """Roles for columns of words, which no role of a table is called."""
    return {f"words of {name}": index for name, index in names.items()}


def _words_of_levels(
    table: Table, roles: Roles, asked: Mapping[str, str] | None
) -> tuple[list[_Words], Collected | None]:
    """The same for a table with one row per answer: some of its dimensions are categories."""
    if asked is None and not _any_text(table, roles.place["value"]):
        return [], None
    place = {role: index for role, index in roles.place.items() if role != "time"}
    found = collect(table, place, [], may_be_empty=("value",))
    dimension = found.label["dimension"]
    levels = {name: name for name in dimension.labels} if asked is None else asked
    words = []
    for name, level in levels.items():
        if level not in dimension.labels:
            raise problems.no_such_column(table.name, level, (*table.columns, *dimension.labels))
        rows = np.flatnonzero(dimension.code == dimension.labels.index(level))
        one = _answered(_Words(name, level, found.label["value"], rows))
        if asked is not None or (not _numbers_among(one) and _recognised(found, one)):
            words.append(one)
    return words, found


def _worth_reading(table: Table, roles: Roles) -> dict[str, int]:
    """Columns that may hold categories by their name and their first cells."""
    first = next(table.parts(), None)
    if first is None:
        return {}
    free, _ = candidates(table, roles)
    free = [index for index in free if not named_otherwise(table.columns[index])]
    return {table.columns[index]: index for index in free if worth_reading(first, index)}


def _any_text(table: Table, index: int) -> bool:
    import polars as pl

    return any(
        part.column(index).dtype == pl.String
        and bool((part.column(index).str.strip_chars().cast(pl.Float64, strict=False).is_null()).any())
        for part in table.parts()
    )


def _answered(words: _Words) -> _Words:
    """Without the rows whose cell is empty or says that it is missing."""
    missing = np.array([name.lower() in ("", *MISSING_WORDS) for name in words.word.labels])
    return words._replace(rows=words.rows[~missing[words.word.code[words.rows]]])


def _numbers_among(words: _Words) -> bool:
    used = np.unique(words.word.code[words.rows])
    return any(_is_number(words.word.labels[code]) for code in used)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _recognised(found: Collected, words: _Words) -> bool:
    """Whether words that nobody asked for are categories; several answers of one annotator to one item are a series."""
    item, annotator = found.label["item"].code[words.rows], found.label["annotator"].code[words.rows]
    classes, answer = _classes(words)
    pair = item.astype(np.int64) * (int(annotator.max(initial=0)) + 1) + annotator
    return len(answer) > 0 and len(np.unique(pair)) == len(pair) and are_categories(answer, item, annotator, classes)


def _classes(words: _Words) -> tuple[tuple[str, ...], np.ndarray]:
    """The distinct words in canonical order, and which of them each answer is."""
    used, answer = np.unique(words.word.code[words.rows], return_inverse=True)
    return tuple(words.word.labels[code] for code in used), answer


def _categories(
    table: Table, roles: Roles, found: Collected, words: Sequence[_Words], *, recognised: bool
) -> Categories:
    items, annotators = found.label["item"], found.label["annotator"]
    answers = {}
    for one in words:
        classes, answer = _classes(one)
        item, annotator = items.code[one.rows], annotators.code[one.rows]
        _refuse_twice(table, roles, found, one, item.astype(np.int64) * len(annotators.labels) + annotator)
        _warn_of_spellings(table.name, one.name, classes)
        answers[one.name] = (classes, item, annotator, answer)
    reading = Reading(
        table.columns[roles.place["item"]],
        table.columns[roles.place["annotator"]],
        None,
        {one.name: one.column for one in words},
    )
    made = Categories.from_answers(
        answers, items=items.labels, annotators=annotators.labels, source=table.name, reading=reading
    )
    return replace(made, recognised=recognised)


def _numbers(
    table: Table, roles: Roles, words: Sequence[_Words], found: Collected, reading: Mapping[str, Any], source: Any
) -> Ratings | None:
    """The ratings of the rest of the table, if there are any."""
    if "dimension" in found.label:
        levels = [one.column for one in words]
        if set(levels) >= set(found.label["dimension"].labels):
            return None
        rest: Table = CoveredTable(table, of=roles.place["dimension"], rows=levels)
    else:
        rest = CoveredTable(table, columns=[find_column(table, one.column) for one in words])
    try:
        return _of_kind(read_ratings(rest, **reading), source)
    except NoNumbersError:
        return None


def _of_kind(ratings: Ratings, source: Any) -> Ratings:
    return replace(ratings, frame_kind=kind_of(source))


def _refuse_labels(table: Table, roles: Roles, names: Mapping[str, int]) -> None:
    for name, index in names.items():
        for role, place in roles.place.items():
            if place == index and role in ("item", "annotator"):
                raise DataError(
                    f"{table.name}: column '{table.columns[index]}' names the {role}, so it cannot be the categories "
                    f"'{name}'. Say which column is the {role} with --{role} COLUMN."
                )


def _refuse_twice(table: Table, roles: Roles, found: Collected, words: _Words, pair: np.ndarray) -> None:
    _, twice = sorted_claims(pair)
    if twice is None:
        return
    if "time" in roles.place:
        column = table.columns[roles.place["time"]]
        raise DataError(
            f"{table.name}: '{words.name}' is answered at several times ('{column}'), and categories over time are not "
            "fused. Give every moment an item name of its own."
        )
    first, second = (int(words.rows[row]) for row in twice)
    items, annotators = found.label["item"], found.label["annotator"]
    who, what = annotators.labels[annotators.code[first]], items.labels[items.code[first]]
    raise problems.answered_twice(*found.places(first, second), who, what, words.name)


def _warn_of_spellings(source: str, name: str, classes: Sequence[str]) -> None:
    alike: dict[str, list[str]] = {}
    for one in classes:
        alike.setdefault(" ".join(unicodedata.normalize("NFKC", one).casefold().split()), []).append(one)
    for group in alike.values():
        if len(group) > 1:
            warnings.warn(
                f"{source}: the classes {listed(group)} of '{name}' differ in spelling alone and count as different. "
                "Write them alike if they are one.",
                DataWarning,
                stacklevel=4,
            )
