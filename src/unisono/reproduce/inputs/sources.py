"""Where an experiment's own data lie, and whether they are still the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from unisono.data.labels import listed
from unisono.datasets.fetch import cached
from unisono.errors import DataError

ENVIRONMENT = "UNISONO_DATA"  # a folder of data sets, each in a folder of its name


def affective_text(given: Path | None) -> Path | None:
    """The folder of the headlines: as given, below UNISONO_DATA, or as fetched; None where there is none."""
    if given is not None:
        return given
    root = os.environ.get(ENVIRONMENT)
    if root:
        for name in ("affective-text", "snow2008"):
            if (Path(root) / name / "ratings.csv").is_file():
                return Path(root) / name
    return cached("affective-text")


def require_tables(folder: Path, tables: Sequence[str]) -> None:
    """DataError with the names of tables that are not there."""
    missing = [table for table in tables if not (folder / table).is_file()]
    if missing:
        raise DataError(f"{folder} has no {listed(missing, 9)}. Needed are {listed(tables, 9)}.")


def file_sums(folder: Path, tables: Sequence[str]) -> dict[str, str]:
    """SHA-256 of every table, for the settings of a unit: other data are another unit."""
    return {table: hashlib.sha256((folder / table).read_bytes()).hexdigest() for table in tables}
