"""What the benchmark against peers measures on which sizes, and its measurements as rows of a table."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

OURS = "unisono auto"


class Load(NamedTuple):
    """What is measured on which sizes."""

    module: str
    unit: str
    sizes: tuple[int, ...]
    quick: tuple[int, ...]  # sizes of a quick run
    draws: dict[int, int]  # of small sizes; one of the others


LOADS = {
    "items": Load(
        "benchmarks.peer_items",
        "ratings",
        (1_000, 10_000, 50_000, 100_000, 1_000_000, 10_000_000),
        (1_000, 10_000, 50_000),
        {1_000: 10, 10_000: 3},
    ),
    "traces": Load(
        "benchmarks.peer_traces",
        "frames",
        (350, 1_000, 4_500, 15_000, 45_000),
        (350, 1_000, 4_500),
        {350: 10, 1_000: 5, 4_500: 3, 15_000: 3},
    ),
}


class Row(NamedTuple):
    """One measurement, or why there is none."""

    load: str
    method: str
    size: int
    seconds: float = np.nan
    cpu: float = np.nan
    megabytes: float = np.nan
    pearson: float = np.nan
    note: str = ""

    @property
    def measured(self) -> bool:
        return bool(np.isfinite(self.cpu))


def write(path: Path, rows: list[Row]) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(Row._fields)
        out.writerows([*row[:3], *(f"{number:.6g}" for number in row[3:7]), row.note] for row in rows)


def read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [
            Row(
                line["load"],
                line["method"],
                int(line["size"]),
                *(float(line[name]) for name in ("seconds", "cpu", "megabytes", "pearson")),
                line["note"],
            )
            for line in csv.DictReader(file)
        ]
