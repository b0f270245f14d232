"""Columns of words (or dimensions of a long table): which of them are categories, and the answers they hold.

A category is an answer: it varies within items and within annotators, and annotators share the words. Free text does
not repeat; words about the item or the person do not vary there; words about how an answer was collected (a status, a
condition) are known by the names of their columns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables.labels import as_number
from unisono.tables.reading import problems
from unisono.tables.reading.cell_meanings import families_of, plain_word
from unisono.tables.reading.column_roles import Roles, candidates, find_column, named_otherwise, varies_within
from unisono.tables.reading.label_and_number_columns import Coded
from unisono.tables.reading.raw_table import Chunk, Table, is_missing
from unisono.tables.reading.table_rows import Collected, collect, sorted_claims

MOST_CLASSES = 50  # more distinct words are names or text
LONGEST_CLASS = 60  # characters; a longer one is a sentence
LEAST_PER_CLASS = 2.0  # answers per distinct word, on average
SHARED = 0.9  # share of answers whose word a second annotator used too
APART = "|"  # between classes that one cell names
PEEKED = 2000  # cells that decide whether a column is worth reading


def worth_reading(part: Chunk, index: int) -> bool:
    """Whether the first cells of a column are words (no number among them), and not too many different ones."""
    column = part.column(index).head(PEEKED)
    if column.dtype != pl.String:
        return False
    cells = column.filter(~is_missing(column)).str.strip_chars()
    if not len(cells) or cells.cast(pl.Float64, strict=False).is_not_null().any():
        return False
    return cells.n_unique() <= MOST_CLASSES


def are_categories(answer: np.ndarray, item: np.ndarray, annotator: np.ndarray, classes: tuple[str, ...]) -> bool:
    """Whether the answers (n,) look chosen from the same few words by everybody; codes of items and annotators."""
    if not 2 <= len(classes) <= MOST_CLASSES or len(answer) < LEAST_PER_CLASS * len(classes):
        return False
    if max(len(name) for name in classes) > LONGEST_CLASS:
        return False
    if not (varies_within(answer, item) and varies_within(answer, annotator)):
        return False
    pairs = np.unique(np.stack([answer, annotator]), axis=1)
    users = np.bincount(pairs[0], minlength=len(classes))
    return bool(np.mean(users[answer] >= 2) >= SHARED)


class WordAnswers(NamedTuple):
    """Answers in words: which rows give one, and which word it is."""

    name: str
    column: str
    word: Coded
    rows: np.ndarray  # (n,) rows that answer, among those collected

    @property
    def classes(self) -> tuple[str, ...]:
        """The distinct words in canonical order."""
        return tuple(self.word.labels[code] for code in np.unique(self.word.code[self.rows]))

    @property
    def answer(self) -> np.ndarray:
        """(n,) which of the classes each answer is."""
        return np.unique(self.word.code[self.rows], return_inverse=True)[1]

    @property
    def approved(self) -> Approved | None:
        """The same with cells such as `joy|fear` taken apart; None where every cell names one class."""
        if not any(APART in name for name in self.classes):
            return None
        named = [sorted({part.strip() for part in cell.split(APART)} - {""}) for cell in self.classes]
        classes = tuple(sorted({one for cell in named for one in cell}))
        place = {name: code for code, name in enumerate(classes)}
        number = np.array([len(cell) for cell in named])
        first = np.cumsum(number) - number
        flat = np.array([place[one] for cell in named for one in cell], dtype=np.int64)
        many = number[self.answer]
        within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        answer = flat[np.repeat(first[self.answer], many) + within]
        weight = approval_weight(many, len(classes))
        return Approved(classes, np.repeat(self.rows, many), answer, np.repeat(weight, many))


class Approved(NamedTuple):
    """Answers that may name several classes, one row per class named."""

    classes: tuple[str, ...]
    rows: np.ndarray  # (n,) as of WordAnswers
    answer: np.ndarray  # (n,)
    weight: np.ndarray  # (n,) what it counts for


def approval_weight(named: np.ndarray, C: int) -> np.ndarray:
    """What each class counts for where `named` of C were named at once: (1 - 1/C)^(named - 1).          eq. K5

    The payment of Shah, Zhou and Peres (2015) is multiplied by 1 - rho for every further class, rho the least belief at
    which a class is worth naming; here that is chance.
    """
    return np.asarray((1 - 1 / C) ** (named - 1))


class FoundWords(NamedTuple):
    """Answers in words, and the labels they belong to."""

    words: list[WordAnswers]
    found: Collected


class Settled(NamedTuple):
    """What the user says about answers: which of several counts, and which stand for missing."""

    duplicates: str | None = None
    missing: Collection[str] = ()


def asked_words(table: Table, roles: Roles, asked: Mapping[str, str], how: Settled) -> FoundWords:
    """The columns (or dimensions of a long table) that the user names, whatever they hold."""
    if roles.is_long and not all(column in table.columns for column in asked.values()):
        found = _collected_levels(table, roles)
        dimension = found.label["dimension"]
        for level in asked.values():
            if level not in dimension.labels:
                raise problems.no_such_column(table.name, level, (*table.columns, *dimension.labels))
        words = [_level(found, name, level) for name, level in asked.items()]
    else:
        names = {name: find_column(table, column) for name, column in asked.items()}
        _refuse_labels(table, roles, names)
        found, words = _collected_columns(table, roles, names)
    return FoundWords([_settled(found, roles, _answered(one, how.missing), how.duplicates) for one in words], found)


def recognised_words(table: Table, roles: Roles, offered: Collection[str] | None, how: Settled) -> FoundWords | None:
    """Those that look like categories, among columns that are `offered` (None: all); None if there are none."""
    if roles.is_long:
        found = _collected_levels(table, roles)
        words = [_level(found, name, name) for name in found.label["dimension"].labels]
    else:
        names = _worth_reading(table, roles, offered)
        if not names:
            return None
        found, words = _collected_columns(table, roles, names)
    chosen = []
    for one in words:
        try:
            settled = _settled(found, roles, _answered(one, how.missing), how.duplicates)
        except DataError:
            continue  # answers at several times, or two different ones: what is wrong is said where numbers are read
        if _look_chosen(found, settled):
            chosen.append(settled)
    return FoundWords(chosen, found) if chosen else None


def _collected_columns(table: Table, roles: Roles, names: Mapping[str, int]) -> tuple[Collected, list[WordAnswers]]:
    words = names_as_roles(names)
    labels = {role: roles.place[role] for role in ("item", "annotator")}
    found = collect(table, labels | words, [], may_be_empty=words)
    every = np.arange(len(found.label["item"].code))
    return found, [
        WordAnswers(name, table.columns[index], found.label[role], every)
        for role, (name, index) in zip(words, names.items(), strict=True)
    ]


def names_as_roles(names: Mapping[str, int]) -> dict[str, int]:
    """Roles for columns of words, which no role of a table is called."""
    return {f"words of {name}": index for name, index in names.items()}


def _collected_levels(table: Table, roles: Roles) -> Collected:
    place = {role: index for role, index in roles.place.items() if role != "time"}
    return collect(table, place, [], may_be_empty=("value",))


def _level(found: Collected, name: str, level: str) -> WordAnswers:
    dimension = found.label["dimension"]
    rows = np.flatnonzero(dimension.code == dimension.labels.index(level))
    return WordAnswers(name, level, found.label["value"], rows)


def _worth_reading(table: Table, roles: Roles, offered: Collection[str] | None) -> dict[str, int]:
    """Columns that may hold categories by their name and their first cells."""
    free, _ = candidates(table, roles)
    names = {table.columns[index]: index for index in free if not named_otherwise(table.columns[index])}
    asked = {name: index for name, index in names.items() if offered is None or name in offered}
    return {name: index for name, index in asked.items() if worth_reading(table.head, index)}


def _answered(words: WordAnswers, codes: Collection[str]) -> WordAnswers:
    """Without the rows whose cell is empty or says that it is missing, in any case or by the user's word."""
    labels = pl.Series(words.word.labels, dtype=pl.String)
    missing = (is_missing(labels) | labels.is_in(list(codes))).to_numpy()
    return words._replace(rows=words.rows[~missing[words.word.code[words.rows]]])


def _look_chosen(found: Collected, words: WordAnswers) -> bool:
    """Whether words that nobody asked for are categories; those of known answer scales are numbers."""
    classes = words.classes
    numeric = any(as_number(name, comma=True) is not None for name in classes)
    if not classes or numeric or families_of([plain_word(one) for one in classes]):
        return False
    item, annotator = found.label["item"].code[words.rows], found.label["annotator"].code[words.rows]
    return are_categories(words.answer, item, annotator, classes)


def _settled(found: Collected, roles: Roles, words: WordAnswers, policy: str | None) -> WordAnswers:
    """One answer of an annotator to an item: copies are dropped, and what differs is settled as the user says."""
    items, annotators = found.label["item"], found.label["annotator"]
    pair = items.code[words.rows].astype(np.int64) * len(annotators.labels) + annotators.code[words.rows]
    order, twice = sorted_claims(pair)
    if twice is None:
        return words
    if "time" in roles.place:
        column = found.table.columns[roles.place["time"]]
        raise DataError(
            f"{found.table.name}: '{words.name}' is answered at several times ('{column}'), and categories over time "
            "are not fused. Give every moment an item name of its own."
        )
    if policy not in ("first", "last"):
        _refuse_contradiction(found, words, pair, order)
    later = np.diff(pair[order]) == 0
    keep = ~np.append(later, False) if policy == "last" else ~np.insert(later, 0, False)
    return words._replace(rows=np.sort(words.rows[order[keep]]))


def _refuse_contradiction(found: Collected, words: WordAnswers, pair: np.ndarray, order: np.ndarray) -> None:
    code = words.word.code[words.rows][order]
    differs = np.flatnonzero((np.diff(pair[order]) == 0) & (np.diff(code) != 0))
    if not len(differs):
        return
    rows = sorted(int(words.rows[order[differs[0] + step]]) for step in (0, 1))
    items, annotators = found.label["item"], found.label["annotator"]
    first, second = (found.where(row) for row in rows)
    places = problems.join_places(first, second, found.table.name)
    who, what = annotators.labels[annotators.code[rows[0]]], items.labels[items.code[rows[0]]]
    raise DataError(
        f"{places[0]} and {places[1]}: annotator '{who}' answered {words.name} of item '{what}' twice. "
        "Say which one counts with --duplicates first or last; words have no mean."
    )


def _refuse_labels(table: Table, roles: Roles, names: Mapping[str, int]) -> None:
    for name, index in names.items():
        for role, place in roles.place.items():
            if place == index and role in ("item", "annotator"):
                raise DataError(
                    f"{table.name}: column '{table.columns[index]}' names the {role}, so it cannot be the categories "
                    f"'{name}'. Say which column is the {role} with --{role} COLUMN."
                )
