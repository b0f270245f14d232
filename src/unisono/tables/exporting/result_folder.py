"""What goes into files: the results of a fusion as a folder, and containers as CSV that can be read back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.maths.rating_values import significant
from unisono.tables import atomic_files, item_table
from unisono.tables.labels import listed
from unisono.tables.ratings import Ratings

NOTHING: Mapping[str, str] = MappingProxyType({})
DUST = 1e-12  # of the largest figure of a column: what is smaller is the rounding of sums that come to nothing


SUMMARY = "summary.json"
FORMATS = ("leaderboard/", "judges/")  # of summaries that no fusion wrote, but leaderboards and looks at judges
WRITTEN = (
    *("truth.csv", "annotators.csv", "annotators_overall.csv", "categories.csv", "groups.csv", "report.html"),
    SUMMARY,
)


def require_own_folder(directory: Path) -> None:
    """Raises a DataError where results would replace files that no fusion wrote."""
    atomic_files.require_place(directory)
    if directory.exists() and not directory.is_dir():
        raise DataError(f"{directory} is a file; results are written to a folder.")
    there = [name for name in WRITTEN if (directory / name).exists()]
    if there and not _is_ours(directory):
        raise DataError(
            f"{directory} holds {listed(there)}, which no fusion wrote. Choose another folder, or --overwrite."
        )


def _is_ours(directory: Path) -> bool:
    try:
        found = json.loads((directory / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(found, dict):
        return False
    return {"dimensions", "annotators"} <= found.keys() or str(found.get("format")).startswith(FORMATS)


def write_results(
    directory: Path,
    tables: Mapping[str, Mapping[str, Any]],
    summary: Mapping[str, Any],
    texts: Mapping[str, str] = NOTHING,
    write_more: Iterable[Callable[[Path], None]] = (),
    *,
    overwrite: bool = False,
) -> None:
    """Tables by name (`truth` becomes truth.csv), summary.json, and other texts by file name; all or none.

    Files of the same names that no fusion wrote are replaced only with `overwrite`.

    Each of `write_more` writes something else into the folder that it is given: a saved fit, or a table in pieces.
    """
    if not overwrite:
        require_own_folder(directory)
    with atomic_files.atomic_directory(directory) as folder:
        for write in write_more:
            write(folder)
        for name, columns in tables.items():
            (folder / f"{name}.csv").write_text(csv_text(columns), encoding="utf-8")
        (folder / SUMMARY).write_text(atomic_files.json_text(summary, indent=1) + "\n", encoding="utf-8")
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")


def csv_text(columns: Mapping[str, Any]) -> str:
    """A table as CSV; what is not known is an empty cell."""
    return pl.DataFrame(dict(columns)).fill_nan(None).write_csv()


def rounded_figures(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns with numbers to six significant digits; counts and labels as they are."""
    return {name: _rounded(column) for name, column in columns.items()}


def _rounded(column: Any) -> Any:
    if not isinstance(column, np.ndarray) or column.dtype.kind != "f":
        return column
    dust = DUST * np.max(np.abs(column), initial=0.0, where=np.isfinite(column))
    return np.where(np.abs(column) <= dust, 0.0, significant(column))


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


def item_columns(table: item_table.ItemTable) -> dict[str, Any]:
    """One row per item (per frame of a recording): item, then the columns."""
    items = np.repeat(np.array(table.items, dtype=object), table.length).tolist()
    labels: dict[str, Any] = {"item": items}
    if table.clock is not None:
        labels = {"recording": items, "time": table.clock.seconds(table.length)}
    return labels | {name: table.value[:, p] for p, name in enumerate(table.columns)}
