"""Data sets that may not be bundled, fetched from their public origin into the user's cache.

What is kept are tables made from what was downloaded, and the checksums are those of the tables: whatever the origin
or the way may do to the archive, the numbers are the right ones or nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from unisono.data.labels import nearest
from unisono.datasets.affective_text import (
    AFFECTIVE_TEXT_ABOUT,
    AFFECTIVE_TEXT_SHA256,
    AFFECTIVE_TEXT_URL,
    affective_text_tables,
)
from unisono.datasets.recipes import RECIPES_ABOUT, RECIPES_SHA256, RECIPES_URL, recipes_tables
from unisono.datasets.simplifications import (
    SIMPLIFICATIONS_ABOUT,
    SIMPLIFICATIONS_SHA256,
    SIMPLIFICATIONS_URL,
    simplifications_tables,
)
from unisono.errors import DataError
from unisono.io.atomic import atomic_directory

TIMEOUT = 60.0  # seconds without an answer
LARGEST = 200_000_000  # bytes; what is longer is not what was asked for


class Origin(NamedTuple):
    """Where a data set is, how its archive becomes tables, and what the tables are known to be."""

    url: str
    convert: Callable[[bytes], dict[str, bytes]]  # archive -> name and content of every table
    sha256: Mapping[str, str]  # of every table
    about: str  # who made it, and under which terms


ORIGINS = {
    "affective-text": Origin(AFFECTIVE_TEXT_URL, affective_text_tables, AFFECTIVE_TEXT_SHA256, AFFECTIVE_TEXT_ABOUT),
    "recipes": Origin(RECIPES_URL, recipes_tables, RECIPES_SHA256, RECIPES_ABOUT),
    "simplifications": Origin(
        SIMPLIFICATIONS_URL, simplifications_tables, SIMPLIFICATIONS_SHA256, SIMPLIFICATIONS_ABOUT
    ),
}


def cache_folder() -> Path:
    """Where fetched data live: UNISONO_CACHE, or the user's cache folder."""
    given = os.environ.get("UNISONO_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unisono"


def cached(name: str) -> Path | None:
    """The folder of a data set that was fetched before."""
    folder = cache_folder() / name
    return folder if all((folder / table).is_file() for table in ORIGINS[name].sha256) else None


def fetch(name: str, origin: Origin | None = None) -> Path:
    """Downloads a data set unless it is there; the folder of its tables. DataError if it is not what it should be."""
    source = origin or _origin(name)
    folder = cache_folder() / name
    if all(_sum_of(folder / table) == known for table, known in source.sha256.items()):
        return folder
    tables = source.convert(_download(source.url))
    for table, known in source.sha256.items():
        found = hashlib.sha256(tables.get(table, b"")).hexdigest()
        if found != known:
            raise DataError(
                f"{source.url} is not the data set '{name}' as it is known: {table} has the checksum {found[:12]}… "
                f"instead of {known[:12]}…. Nothing was kept. If you have a copy, point --data at its folder."
            )
    with atomic_directory(folder) as place:
        for table, content in tables.items():
            (place / table).write_bytes(content)
    return folder


def _origin(name: str) -> Origin:
    if name not in ORIGINS:
        close = nearest(name, ORIGINS)
        hint = f" Did you mean '{close}'?" if close else ""
        raise DataError(f"There is no data set '{name}' to fetch.{hint} There is: {', '.join(ORIGINS)}.")
    return ORIGINS[name]


def _download(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            content: bytes = answer.read(LARGEST + 1)
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        raise DataError(
            f"{url} cannot be read ({getattr(error, 'reason', error)}). Try again when you are online, or point --data "
            "at a folder that holds a copy."
        ) from None
    if len(content) > LARGEST:
        raise DataError(f"{url} is larger than {LARGEST} bytes, so it is not what was expected.")
    return content


def _sum_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
