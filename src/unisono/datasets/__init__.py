"""Data sets that come with the package, each under a licence that allows it; see the README beside each."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from unisono.data import Ratings
from unisono.data.labels import nearest

BUNDLED = {"squality": "ratings.csv"}


def dataset_path(name: str) -> Path:
    """The ratings file of a bundled data set."""
    if name not in BUNDLED:
        close = nearest(name, BUNDLED)
        hint = f" Did you mean '{close}'?" if close else ""
        raise ValueError(f"There is no data set '{name}'.{hint} Data sets: {', '.join(BUNDLED)}.")
    return Path(str(files("unisono.datasets") / name / BUNDLED[name]))


def load_dataset(name: str) -> Ratings:
    """The ratings of a bundled data set."""
    from unisono.io.tables import read_ratings

    return read_ratings(dataset_path(name))
