"""Comparisons as an importer finds them: pairs with sides, and rankings, in the layouts that `read_comparisons` knows.

Where files hold comparisons alone, or comparisons alone were asked for, they are the table; beside ratings they are
left out.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from unisono.errors import DataError
from unisono.tables.labels import counted, listed

LABELS = ("annotator", "kind", "prompt")


class Compared(NamedTuple):
    """A pair and its answer, or an item and its rank in a ranking."""

    place: object
    dimension: str
    who: tuple[str, str | None, str | None]  # annotator, kind, prompt
    items: tuple[str, ...]  # left and right; or the item
    answer: str | int  # left, tie or right; or the rank
    ranking: str | None = None


def comparison_table(found: Sequence[Compared]) -> tuple[pl.DataFrame, list[str]]:
    """The table, and what is to be said about it."""
    dimensions = list(dict.fromkeys(one.dimension for one in found))
    ranked = [one.dimension for one in found if one.ranking is not None]
    if ranked and len(dimensions) > 1:
        raise DataError(
            f"{found[0].place}: there are rankings on '{ranked[0]}' beside {listed(dimensions, 4)}, which no "
            f"table holds together. Take one: --dim {shlex.quote(dimensions[0])}."
        )
    columns: dict[str, list[Any]] = {"ranking": [one.ranking for one in found]} if ranked else {}
    columns |= {name: [one.who[place] for one in found] for place, name in enumerate(LABELS)}
    sides = ("item",) if ranked else ("left", "right")
    columns |= {side: [one.items[place] for one in found] for place, side in enumerate(sides)}
    if len(dimensions) > 1:
        columns["dimension"] = [one.dimension for one in found]
    answer = "rank" if ranked else "answer" if len(dimensions) > 1 else dimensions[0]
    columns[answer] = [one.answer for one in found]
    frame = pl.DataFrame({name: cells for name, cells in columns.items() if any(cell is not None for cell in cells)})
    facts = [_counts(name, [one for one in found if one.dimension == name]) for name in dimensions]
    return frame, [*facts, "These are comparisons: unisono fuse --comparisons FILE reads them."]


def _counts(dimension: str, found: Sequence[Compared]) -> str:
    if found[0].ranking is not None:
        return f"Rankings: {dimension} {counted(len({one.ranking for one in found}), 'ranking')} of items."
    said = [one.answer for one in found]
    sides = ", ".join(f"{side} {said.count(side)}" for side in ("left", "tie", "right"))
    return f"Comparisons: {dimension} {sides} ({counted(len(said), 'answer')})"
