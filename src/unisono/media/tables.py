"""Measured features under names: items with one row each, recordings with one row per frame of a clock."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.maths.rounding import significant


class Measured(NamedTuple):
    """Features of one thing."""

    names: tuple[str, ...]
    value: np.ndarray  # (P,) of an item, (T, P) of a recording
    rate: float | None = None  # frames per second of a recording


def item_name(path: Path, all_paths: list[Path]) -> str:
    """What ratings call a file: its name without the ending, unless two files would share it."""
    if sum(other.stem == path.stem for other in all_paths) > 1:
        raise DataError(
            f"Two files are called '{path.stem}': {', '.join(str(p) for p in all_paths if p.stem == path.stem)}. "
            "Items are named after files, so rename one of them."
        )
    return path.stem


def feature_columns(things: dict[str, Measured]) -> dict[str, Any]:
    """The columns of features.csv: item and features, or recording, time and features."""
    names = next(iter(things.values())).names
    if next(iter(things.values())).rate is None:
        value = np.stack([one.value for one in things.values()])
        return {"item": list(things)} | _columns(names, value)
    seconds = [np.arange(len(one.value)) / float(one.rate or 1.0) for one in things.values()]
    labels = [name for name, one in things.items() for _ in range(len(one.value))]
    value = np.concatenate([one.value for one in things.values()])
    return {"recording": labels, "time": np.concatenate(seconds).round(6)} | _columns(names, value)


def _columns(names: tuple[str, ...], value: np.ndarray) -> dict[str, Any]:
    return {name: significant(value[:, p]) for p, name in enumerate(names)}


def missing_library(package: str, extra: str) -> DataError:
    """What to say if an optional library is not there."""
    return DataError(f"This needs one more package, {package}: pip install 'unisono[{extra}]'.")
