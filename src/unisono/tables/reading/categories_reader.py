"""Reading categories beside numbers: one table gives ratings, categories, or both.

found = read_answers("ratings.csv", categories=["topic"])
found.ratings, found.categories             # either is None where the table has nothing of the kind
"""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from unisono.errors import DataError, DataWarning, NoNumbersError, taken, warn
from unisono.tables import item_table, labels
from unisono.tables.categories import Categories
from unisono.tables.ratings import Ratings
from unisono.tables.reading.category_columns import FoundWords, Settled, WordAnswers, asked_words, recognised_words
from unisono.tables.reading.cell_meanings import with_missing
from unisono.tables.reading.column_roles import find_column
from unisono.tables.reading.data_frames import identifiers, kind_of, part_identifiers
from unisono.tables.reading.open_table import open_table
from unisono.tables.reading.problems import labels_for
from unisono.tables.reading.ratings_reader import read_ratings
from unisono.tables.reading.raw_table import CoveredTable, Table
from unisono.tables.reading.table_layout import Arranged, Layout, arrange

NONE = "none"
Asked = Mapping[str, str] | Sequence[str] | str | None  # NAME -> COLUMN, names, a name, 'none'; None: recognise them
_LAYOUT = [field.name for field in fields(Layout)]


class Answers(NamedTuple):
    """What a table holds; either may be None, not both."""

    ratings: Ratings | None
    categories: Categories | None


def read_answers(source: Any, *, categories: Asked = None, **reading: Any) -> Answers:
    """Ratings and categories from a path, `-` for standard input, or a data frame.

    `categories` names the columns (or, in a table with one row per answer, the dimensions) whose answers are
    categories, whatever they look like; 'none' for none. By default columns of words are recognised that are no
    numbers, unless `dims` names all that count. `reading` are the other words of `read_ratings`.
    """
    asked = _asked(categories)
    table = open_table(source, reading.get("sheet"))
    if asked:
        found = _named(table, asked, reading)
    elif asked is None and reading.get("dims") is None:
        found = _recognised(table, reading)
    else:
        found = Answers(read_ratings(table, **reading), None)
    kind = kind_of(source)
    return Answers(
        None if found.ratings is None else replace(found.ratings, frame_kind=kind),
        None if found.categories is None else replace(found.categories, frame_kind=kind),
    )


def read_categories(source: Any, categories: Asked = None, **reading: Any) -> Categories:
    """The categories of a table alone.

    Parameters
    ----------
    source : path or data frame
        A table of ratings.
    categories : str, sequence or mapping, optional
        Columns that are categories; recognised by default.
    **reading
        How to read a table: the keyword arguments of `read_ratings`.

    Returns
    -------
    Categories
        What `fuse(categories=...)` takes.

    Raises
    ------
    DataError
        The table has no such column.

    Examples
    --------
    >>> import pandas as pd, unisono as un
    >>> rows = {"item": [1, 1, 2, 2], "annotator": list("abab"), "mood": ["joy", "fear", "joy", "joy"]}
    >>> [one.name for one in un.read_categories(pd.DataFrame(rows), categories="mood").dimensions]
    ['mood']
    """
    table = open_table(source, reading.get("sheet"))
    found = read_answers(table, categories=categories, **reading).categories
    if found is None:
        raise DataError(f"{table.name} has no column that looks like categories. Name one: --categories COLUMN.")
    return replace(found, frame_kind=kind_of(source))


def _asked(categories: Asked) -> dict[str, str] | None:
    if categories is None:
        return None
    if isinstance(categories, str):
        return {} if categories == NONE else {categories: categories}
    names = dict(categories) if isinstance(categories, Mapping) else {str(name): str(name) for name in categories}
    return {} if list(names) == [NONE] else names


def _how(reading: Mapping[str, Any]) -> Settled:
    meanings = with_missing(reading.get("labels"), reading.get("missing")) or {}
    return Settled(reading.get("duplicates"), {label for label, number in meanings.items() if number is None})


def _named(table: Table, asked: Mapping[str, str], reading: Mapping[str, Any]) -> Answers:
    """The categories that the user names, and the numbers of the rest of the table, if there are any."""
    arranged = _arranged(table, reading)
    _refuse_spread(table, arranged, asked)
    words = asked_words(arranged.table, arranged.roles, asked, _how(reading))
    return Answers(_rest(table, arranged, words, reading), _categories(arranged, words, recognised=False))


def _refuse_spread(table: Table, arranged: Arranged, asked: Mapping[str, str]) -> None:
    """A column that stands for an annotator (or an item) is no dimension."""
    found = [name for name in asked.values() if name in table.columns and name not in arranged.table.columns]
    if arranged.wide is not None and found:
        roles = {arranged.table.columns[index] for index in arranged.roles.place.values()}
        cells = [name for name in arranged.table.columns if name not in table.columns and name not in roles]
        raise DataError(
            f"{table.name}: column '{found[0]}' stands for one {arranged.wide}, and the answers in such columns are "
            f"called {labels.listed(cells)}. Say --categories {shlex.quote(cells[0])} (categories=... in Python)."
        )


def _recognised(table: Table, reading: Mapping[str, Any]) -> Answers:
    """What numbers do not take is looked at for categories; where there are none, numbers are read as ever."""
    trouble: DataError | None = None
    ratings: Ratings | None = None
    with taken(Warning) as told:
        try:
            ratings = read_ratings(table, **reading)
        except DataError as error:
            trouble = error
    offered = None  # of items' ratings the columns that were left out because they hold text
    if ratings is not None:
        left_out = () if ratings.reading is None or ratings.is_series else ratings.reading.left_out
        offered = [one.column for one in left_out if not one.numeric]
    if (offered is None or offered) and (left := _words_left(table, offered, reading)) is not None:
        words, arranged = left
        return Answers(_rest(table, arranged, words, reading), _categories(arranged, words, recognised=True))
    if trouble is not None:
        raise trouble
    for message, category in told:
        warn(message, category, stacklevel=4)
    return Answers(ratings, None)


def _words_left(
    table: Table, offered: Sequence[str] | None, reading: Mapping[str, Any]
) -> tuple[FoundWords, Arranged] | None:
    try:
        arranged = _arranged(table, reading)
        words = recognised_words(arranged.table, arranged.roles, offered, _how(reading))
    except DataError:
        return None  # what is wrong with the table is said where numbers are read
    return None if words is None else (words, arranged)


def _arranged(table: Table, reading: Mapping[str, Any]) -> Arranged:
    layout = Layout(**{name: reading.get(name) for name in _LAYOUT})
    return arrange(table, layout, {}, ("item", "annotator"))


def _categories(arranged: Arranged, found: FoundWords, *, recognised: bool) -> Categories:
    table, items, annotators = arranged.table, found.found.label["item"], found.found.label["annotator"]
    answers = {}
    for one in found.words:
        _warn_of_spellings(table.name, one)
        several = one.approved
        own = (one.classes, one.rows, one.answer) if several is None else several
        classes, rows, answer, *weight = own
        answers[one.name] = (classes, items.code[rows], annotators.code[rows], answer, *weight)
    advice = [  # how to have words taken for numbers that nobody said are categories
        f"The words of '{one.name}' count as categories; if they are grades, number them as they go up: "
        f"{labels_for(one.classes)}."
        for one in found.words
        if recognised
    ]
    reading = item_table.Reading(
        table.columns[arranged.roles.place["item"]],
        table.columns[arranged.roles.place["annotator"]],
        None,
        {one.name: one.column for one in found.words},
        notes=(*table.notes, *arranged.notes, *advice),
        item_parts=arranged.item_parts,
        item_ids=identifiers(found.found, arranged, "item"),
        annotator_ids=identifiers(found.found, arranged, "annotator"),
        part_ids=part_identifiers(found.found, arranged.item_parts),
    )
    made = Categories.from_answers(
        answers, items=items.labels, annotators=annotators.labels, source=table.name, reading=reading
    )
    return replace(made, recognised=recognised)


def _rest(table: Table, arranged: Arranged, found: FoundWords, reading: Mapping[str, Any]) -> Ratings | None:
    """The ratings of the rest of the table, if there are any."""
    if arranged.wide is not None:
        # Annotators (or items) stood side by side, and have rows of their own now.
        names = {role: arranged.table.columns[arranged.roles.place[role]] for role in ("item", "annotator")}
        table, reading = arranged.table, {**reading, **names, "annotators_in_columns": None, "items_in_columns": None}
    if "dimension" in found.found.label:
        levels = [one.column for one in found.words]
        if set(levels) >= set(found.found.label["dimension"].labels):
            return None
        of = find_column(table, arranged.table.columns[arranged.roles.place["dimension"]])
        rest: Table = CoveredTable(table, of=of, rows=levels)
    else:
        rest = CoveredTable(table, columns=[find_column(table, one.column) for one in found.words])
    try:
        return _as_it_was(read_ratings(rest, **reading), arranged)
    except NoNumbersError:
        return None


def _as_it_was(ratings: Ratings, arranged: Arranged) -> Ratings:
    """Ratings read from rows that the table did not have: names that stood side by side are no column of it."""
    how = ratings.reading
    if arranged.wide is None or how is None:
        return ratings
    names: dict[str, Any] = {f"{role}_ids": None for role in arranged.made}
    return replace(ratings, reading=replace(how, notes=(*how.notes, *arranged.notes), **names))


def _warn_of_spellings(source: str, words: WordAnswers) -> None:
    alike: dict[str, list[str]] = {}
    for one in words.classes:
        alike.setdefault(" ".join(unicodedata.normalize("NFKC", one).casefold().split()), []).append(one)
    for group in alike.values():
        if len(group) > 1:
            warn(
                f"{source}: the classes {labels.listed(group)} of '{words.name}' differ in spelling alone and count as "
                "different. Write them alike if they are one.",
                DataWarning,
                stacklevel=4,
            )
