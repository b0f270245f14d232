"""Folders of shards: ratings of items in Parquet files, sorted by item, with annotators as numbers.

    ratings/shards.json          what is there: dimensions, annotators, files, numbers of items and judgements
    ratings/part-00000.parquet   columns `item`, `annotator` (a number), and the dimensions

All judgements of an item are in one part. How many parts there are is decided when they are written.
"""

from __future__ import annotations

import glob
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unisono.errors import DataError

FORMAT = 1
MANIFEST = "shards.json"
ITEM, ANNOTATOR = "item", "annotator"


@dataclass(frozen=True)
class ShardFolder:
    """What shards.json says; files in the order of their items."""

    folder: Path
    source: str
    roles: dict[str, Any]  # columns of the table that was read, by what they are
    dimensions: tuple[str, ...]
    annotators: tuple[str, ...]
    files: tuple[str, ...]
    items: tuple[int, ...]  # of each file
    judgements: tuple[int, ...]

    def paths(self) -> list[str]:
        return [str(self.folder / name) for name in self.files]

    def first_items(self) -> list[int]:
        """Number of the first item of each file."""
        return [0, *np.cumsum(self.items).tolist()][:-1]


def is_sharded(source: str) -> bool:
    """Whether a path is a folder of shards, or a pattern for its parts."""
    return _folder_of(source) is not None


def open_shards(source: str) -> ShardFolder:
    """The shards of a folder, by its path or by a pattern such as `ratings/*.parquet`."""
    folder = _folder_of(source)
    if folder is None:
        raise DataError(f"{source} is no folder of shards: it has no {MANIFEST}. `unisono shard` makes one of a table.")
    try:
        words = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        written = words.pop("format")
    except (ValueError, KeyError, AttributeError) as error:
        raise DataError(f"{folder / MANIFEST} is damaged ({error}). Make the shards again.") from None
    if written != FORMAT:
        raise DataError(f"{folder / MANIFEST} was written by another version. Make the shards again.")
    lists: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in words.items()}
    found = ShardFolder(folder, **lists)
    missing = [name for name in found.files if not (folder / name).is_file()]
    if missing:
        raise DataError(
            f"{folder} lacks {missing[0]}, which {MANIFEST} names. Copy all of it, or make the shards again."
        )
    return found


def write_manifest(found: ShardFolder) -> None:
    """Writes shards.json, the last file of a folder."""
    words = {"format": FORMAT} | {name: value for name, value in asdict(found).items() if name != "folder"}
    (found.folder / MANIFEST).write_text(json.dumps(words, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_part(path: str, dimensions: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Answers (J, D) with NaN, item (J,) counted from 0, annotator (J,), and the number of items."""
    table = pl.read_parquet(path)
    value = table.select(pl.col(name).fill_null(float("nan")) for name in dimensions).to_numpy()
    item_of = table[ITEM].rle_id().to_numpy().astype(np.int32)
    annotator_of = table[ANNOTATOR].to_numpy().astype(np.int32)
    return (
        np.ascontiguousarray(value, dtype=np.float64),
        item_of,
        annotator_of,
        int(item_of[-1]) + 1 if len(item_of) else 0,
    )


def item_labels(path: str) -> list[str]:
    """The items of a part in their order."""
    column = pl.read_parquet(path, columns=[ITEM])[ITEM]
    return column.filter(column.rle_id().is_first_distinct()).to_list()


def _folder_of(source: str) -> Path | None:
    path = Path(source)
    if (path / MANIFEST).is_file():
        return path
    if path.name == MANIFEST and path.is_file():
        return path.parent
    if any(sign in source for sign in "*?[") and source.endswith(".parquet"):
        found = {Path(name).parent for name in glob.glob(source)}
        if len(found) == 1 and (folder := found.pop()).joinpath(MANIFEST).is_file():
            return folder
    return None
