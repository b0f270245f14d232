"""Data sets: three that come with the package, each under a licence that allows it (see the README beside each).

`fetched` has those whose licence does not allow it; they are downloaded into the user's cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from unisono.tables.item_table import ItemTable
from unisono.tables.labels import did_you_mean
from unisono.tables.ratings import Ratings

BUNDLED = {  # name -> table -> file
    "squality": {"ratings": "ratings.csv"},
    "green_intensity": {"ratings": "ratings.csv.gz", "reference": "reference.csv.gz", "features": "features.csv.gz"},
    "forrest_gump": {"ratings": "ratings.csv.gz"},
}


def dataset_path(name: str, table: str = "ratings") -> Path:
    """A file of a bundled data set: its ratings, or its reference or features where it has them."""
    _refuse_unknown("data set", name, BUNDLED)
    _refuse_unknown(f"table of {name}", table, BUNDLED[name])
    return Path(str(files("unisono.tables.datasets") / name / BUNDLED[name][table]))


def load_dataset(name: str) -> Ratings:
    """The ratings of a bundled data set.

    Parameters
    ----------
    name : {"squality", "green_intensity", "forrest_gump"}
        Summaries rated by people, and traces of two studies.

    Returns
    -------
    Ratings
        All of them.

    Raises
    ------
    ValueError
        There is no such data set.

    Examples
    --------
    >>> import unisono as un
    >>> len(un.load_dataset("squality").items)
    300
    """
    from unisono.tables.reading.ratings_reader import read_ratings

    return read_ratings(dataset_path(name))


def load_dataset_table(name: str, table: str) -> ItemTable:
    """The `reference` or the `features` of a bundled data set, on a clock of their own; see `unisono.align_to`.

    Parameters
    ----------
    name : str
        As in `load_dataset`.
    table : {"reference", "features"}
        Which of them.

    Returns
    -------
    ItemTable
        As it is in the file.

    Raises
    ------
    ValueError
        There is no such data set, or it has no such table.

    Examples
    --------
    >>> import unisono as un
    >>> un.load_dataset_table("green_intensity", "reference").P
    1
    """
    from unisono.tables.reading.ratings_reader import read_item_table

    return read_item_table(dataset_path(name, table))


def _refuse_unknown(what: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        hint = did_you_mean(name, known)
        raise ValueError(f"There is no {what} '{name}'.{hint} There are: {', '.join(known)}.")
