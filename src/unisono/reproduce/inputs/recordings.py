"""Long recordings cut into pieces, so that there are enough of them for folds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.data import Clock, ItemTable, Ratings


class Traced(NamedTuple):
    """Traces, the reference at the same frames, and features."""

    ratings: Ratings
    reference: ItemTable
    features: ItemTable | None


def cut(traced: Traced, pieces: int) -> Traced:
    """Every recording as `pieces` recordings of nearly equal length, called NAME/1, NAME/2, ..."""
    ratings, features = traced.ratings, traced.features
    ends = [np.linspace(0, T, pieces + 1).astype(np.int64) for T in ratings.length]
    names = [f"{item}/{piece + 1}" for item in ratings.items for piece in range(pieces)]
    length = np.concatenate([np.diff(end) for end in ends])
    assert ratings.clock is not None
    start = np.concatenate(
        [s + end[:-1] / ratings.clock.rate for s, end in zip(ratings.clock.start, ends, strict=True)]
    )
    clock = Clock(ratings.clock.rate, start)
    # Frames of a judgement stay where they are; only the borders between judgements are new.
    item_of = np.concatenate([np.arange(pieces) + pieces * m for m in ratings.item_of])
    return Traced(
        Ratings.from_judgements(
            ratings.value,
            item_of,
            np.repeat(ratings.annotator_of, pieces),
            items=names,
            annotators=ratings.annotators,
            dimensions=ratings.dimensions,
            length=length,
            clock=clock,
            source=ratings.source,
        ),
        _pieces(traced.reference, names, length, clock),
        None if features is None else _pieces(features, names, length, clock),
    )


def _pieces(table: ItemTable, names: list[str], length: np.ndarray, clock: Clock) -> ItemTable:
    return ItemTable.from_rows(
        table.value, items=names, columns=table.columns, length=length, clock=clock, source=table.source
    )
