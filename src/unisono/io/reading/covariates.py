"""Columns of a table of ratings that are numbers about the ratings themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono.data.rating_numbers import RatingNumbers, rating_numbers
from unisono.io.reading.arrange import Column, Layout, arrange
from unisono.io.reading.collecting import collect, number_column
from unisono.io.reading.columns import find_column
from unisono.io.reading.source import open_table


def read_covariates(
    source: Any, columns: Sequence[str], *, item: Column = None, annotator: Column = None, sheet: str | None = None
) -> RatingNumbers:
    """The numbers of these columns of a path or data frame, with a row per rating (or per answer)."""
    found = arrange(open_table(source, sheet), Layout(item, annotator), {}, ("item", "annotator"))
    places = [find_column(found.table, name) for name in columns]
    labels = {role: found.roles.place[role] for role in ("item", "annotator")}
    read = collect(found.table, labels, places)
    items, people = read.label["item"], read.label["annotator"]
    value = np.stack([number_column(read, place) for place in places], axis=1)
    named = [items.labels[code] for code in items.code], [people.labels[code] for code in people.code]
    return rating_numbers(list(columns), *named, value, found.table.name)
