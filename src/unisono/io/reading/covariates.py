"""Columns of a table of ratings that say something about the ratings themselves: numbers, or words such as a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono.data.rating_numbers import RatingNumbers, rating_numbers
from unisono.errors import DataError
from unisono.io.reading.arrange import Column, Layout, arrange
from unisono.io.reading.collecting import Collected, collect, number_column
from unisono.io.reading.columns import find_column
from unisono.io.reading.source import open_table

MOST_WORDS = 20  # convention: more different words than these are texts or names, not batches or versions


def read_covariates(
    source: Any, columns: Sequence[str], *, item: Column = None, annotator: Column = None, sheet: str | None = None
) -> RatingNumbers:
    """These columns of a path or data frame, with a row per rating (or per answer).

    A column of words becomes a column of zeros and ones for each word but the first, named `batch=spring`.
    """
    found = arrange(open_table(source, sheet), Layout(item, annotator), {}, ("item", "annotator"))
    places = [find_column(found.table, name) for name in columns]
    labels = {role: found.roles.place[role] for role in ("item", "annotator")}
    read = collect(found.table, labels, places)
    items, people = read.label["item"], read.label["annotator"]
    each = [_numbers(read, labels, place, name) for place, name in zip(places, columns, strict=True)]
    named = [items.labels[code] for code in items.code], [people.labels[code] for code in people.code]
    names = [name for part, _ in each for name in part]
    return rating_numbers(names, *named, np.hstack([value for _, value in each]), found.table.name)


def _numbers(read: Collected, labels: dict[str, int], place: int, name: str) -> tuple[list[str], np.ndarray]:
    """Names and numbers (rows, P) of one column."""
    if read.number[place].kind != "text":
        return [name], number_column(read, place)[:, None]
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
