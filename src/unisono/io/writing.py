"""Containers as columns of a table: what a reader of the file would want to see, in the shape that can be read back."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.data import ItemTable, Ratings


def rating_columns(ratings: Ratings) -> dict[str, Any]:
    """One row per judgement (per frame of a series): item, annotator, then the dimensions."""
    frames = ratings.length[ratings.item_of]
    items = np.array(ratings.items, dtype=object)[np.repeat(ratings.item_of, frames)]
    annotators = np.array(ratings.annotators, dtype=object)[np.repeat(ratings.annotator_of, frames)]
    table: dict[str, Any] = {"item": items.tolist(), "annotator": annotators.tolist()}
    if ratings.clock is not None:
        clock = ratings.clock.select(ratings.item_of)
        table = {"recording": table["item"], "time": clock.seconds(frames), "annotator": table["annotator"]}
    return table | {name: ratings.value[:, d] for d, name in enumerate(ratings.dimensions)}


def item_columns(table: ItemTable) -> dict[str, Any]:
    """One row per item (per frame of a recording): item, then the columns."""
    items = np.repeat(np.array(table.items, dtype=object), table.length).tolist()
    labels: dict[str, Any] = {"item": items}
    if table.clock is not None:
        labels = {"recording": items, "time": table.clock.seconds(table.length)}
    return labels | {name: table.value[:, p] for p, name in enumerate(table.columns)}
