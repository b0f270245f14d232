"""Reads a table of trials: one row per answer, with how long it took; `response_times` says what the columns are."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from unisono.errors import DataError
from unisono.tables.response_times import Trials

_NEEDED = ("item", "annotator", "position", "response_seconds")


def read_trials(path: Path) -> Trials:
    """The table of trials; pages that are no ratings (references, checks) are left out."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        table = csv.DictReader(stream)
        head = table.fieldnames or []
        if missing := [name for name in _NEEDED if name not in head]:
            raise DataError(f"{path} has no column {missing[0]}. A table of trials has {', '.join(_NEEDED)}.")
        mine = [(number, row) for number, row in enumerate(table, 2) if row.get("role", "item") == "item"]

    def numbers(name: str) -> np.ndarray:
        return np.array([_number(row.get(name, ""), f"{path.name} row {n}: {name}") for n, row in mine], dtype=float)

    seconds = numbers("response_seconds")
    return Trials(
        tuple(row["item"] for _, row in mine),
        tuple(row["annotator"] for _, row in mine),
        numbers("position"),
        np.fmin(seconds, numbers("confirmed_seconds")) if "confirmed_seconds" in head else seconds,
    )


def _number(text: str, where: str) -> float:
    try:
        return float(text) if text.strip() else np.nan
    except ValueError:
        raise DataError(f"{where} is '{text}'. Leave the cell empty if it is not known.") from None
