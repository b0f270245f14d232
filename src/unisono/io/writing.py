"""What goes into files: the results of a fusion as a folder, and containers as tables that can be read back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unisono.data import ItemTable, Ratings
from unisono.fusers.results import Fit
from unisono.io.atomic import atomic_directory
from unisono.io.json_text import json_text
from unisono.io.saved import write_fit


def write_results(
    directory: Path,
    truth: Mapping[str, Any],
    annotators: Mapping[str, Any],
    summary: Mapping[str, Any],
    fit: Fit,
    tables: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """truth.csv, annotators.csv, summary.json, fit/ and further `tables` by name in a folder; all of them or none."""
    with atomic_directory(directory) as folder:
        (folder / "truth.csv").write_text(csv_text(truth), encoding="utf-8")
        pl.DataFrame(dict(annotators)).fill_nan(None).write_csv(folder / "annotators.csv")
        for name, columns in (tables or {}).items():
            pl.DataFrame(dict(columns)).fill_nan(None).write_csv(folder / name)
        (folder / "summary.json").write_text(json_text(summary, indent=1) + "\n", encoding="utf-8")
        write_fit(fit, folder / "fit")


def csv_text(columns: Mapping[str, Any]) -> str:
    """A table as CSV."""
    return pl.DataFrame(dict(columns)).write_csv()


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
