"""The truth that `unisono fuse` wrote, read back: estimates and their uncertainty by item and dimension."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unisono.data import Clock
from unisono.data.labels import listed
from unisono.errors import DataError
from unisono.io.tables import read_item_table

NAME = "unisono"  # what annotators and models are called in the files of others


@dataclass(frozen=True)
class Truth:
    """S rows (frames of all recordings end to end; items) of D dimensions."""

    source: str
    items: tuple[str, ...]
    length: np.ndarray  # (M,) rows of each item
    clock: Clock | None  # None for items
    dimensions: tuple[str, ...]
    mean: np.ndarray  # (S, D)
    sd: np.ndarray  # (S, D)
    low: np.ndarray  # (S, D)
    high: np.ndarray  # (S, D)

    def parts(self) -> Iterator[tuple[int, str, slice]]:
        """Number, name and rows of every item."""
        end = np.cumsum(self.length)
        for index, item in enumerate(self.items):
            yield index, item, slice(int(end[index] - self.length[index]), int(end[index]))

    def need_items(self) -> None:
        """Raises a DataError for traces."""
        if self.clock is not None:
            raise DataError(f"{self.source} holds traces; this kind takes one value per item. Export nova or elan.")

    def need_traces(self) -> Clock:
        """The clock; raises a DataError for items."""
        if self.clock is None:
            raise DataError(f"{self.source} holds items without time; this kind takes traces. Export another kind.")
        return self.clock


def read_truth(path: Path, wanted: Sequence[str] = ()) -> Truth:
    """Truth from the folder that `unisono fuse --out` wrote, or from its truth.csv."""
    file = path / "truth.csv" if path.is_dir() else path
    if not file.is_file():
        raise DataError(f"{path.name} holds no truth.csv. Give the folder that unisono fuse --out wrote.")
    table = read_item_table(file, companions=True)
    known = [name for name in table.columns if f"{name}_sd" in table.columns]
    missing = [name for name in wanted if name not in known]
    if missing or not known:
        raise DataError(f"{file.name} has no {listed(missing or ['estimates with their sd'])}; it has {listed(known)}.")
    names = tuple(wanted) or tuple(known)

    def columns(end: str) -> np.ndarray:
        return table.value[:, [table.columns.index(name + end) for name in names]]

    return Truth(
        source=file.name,
        items=table.items,
        length=np.asarray(table.length),
        clock=table.clock,
        dimensions=names,
        mean=columns(""),
        sd=columns("_sd"),
        low=columns("_low"),
        high=columns("_high"),
    )
