"""Folders of a rating study in place of a table: the folder of an export, and what its study file says of the ratings.

ratings.csv   the table that is meant
trials.csv    one row per answer, with how long it took; `response_times` says what the columns are
study.toml    kinds and scales of the dimensions, and the rate of traces, so that neither has to be inferred
"""

from __future__ import annotations

import csv
import shlex
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from unisono.errors import DataError
from unisono.tables.response_times import Trials

RATINGS, TRIALS, COMPARISONS, STUDY = "ratings.csv", "trials.csv", "comparisons.csv", "study.toml"


def is_export(folder: Path) -> bool:
    """Whether the folder is what an export wrote."""
    return (folder / RATINGS).is_file() or (folder / COMPARISONS).is_file()


def is_study(folder: Path) -> bool:
    """Whether the folder is a study, whose ratings have to be exported first."""
    return (folder / STUDY).is_file() and not is_export(folder)


def ratings_in(folder: Path) -> Path:
    """The table of ratings of an export."""
    if not (folder / RATINGS).is_file():
        raise DataError(
            f"{folder} holds comparisons, and no ratings: {COMPARISONS} says which of two items has more. "
            f"Say --comparisons {shlex.quote(str(folder))} (comparisons=... in Python)."
        )
    return folder / RATINGS


def trials_beside(ratings: str | Path) -> Path | None:
    """The table of trials that belongs to a table of ratings, if there is one."""
    beside = Path(ratings).with_name(TRIALS)
    return beside if Path(ratings).name == RATINGS and beside.is_file() else None


def words_of_study(folder: Path) -> dict[str, Any]:
    """What the study file says of its ratings, in the words in which a table is read: dims, scale, categories, rate."""
    path = folder / STUDY
    if not path.is_file():
        return {}
    try:
        study = tomllib.loads(path.read_text(encoding="utf-8"))
        asked = [{"kind": "slider", "min": 0, "max": 100, **one} for one in study["dimensions"]]
        numbers = {one["name"]: _ends(one) for one in asked if one["kind"] in ("slider", "likert")}
        chosen = [one["name"] for one in asked if one["kind"] == "choice"]
        rate = study.get("trace", {}).get("rate", 25)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError):
        return {}  # Another program's file of that name says nothing of these ratings.
    words: dict[str, Any] = {"categories": {name: name for name in chosen} or None}
    if numbers:
        words["dims"] = {name: name for name in numbers}
        words["scale"] = tuple(f"{name}={low:g}:{high:g}" for name, (low, high) in numbers.items())
    return words | ({"rate": float(rate)} if study.get("mode") == "trace" else {})


def _ends(asked: dict[str, Any]) -> tuple[float, float]:
    return (1, len(asked["choices"])) if asked["kind"] == "likert" else (asked["min"], asked["max"])


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
