"""The data sets of the accuracy benchmark: what is fused, and what it is compared with.

A set has a reference of its own (experts, or the simulated truth), or its annotators are split in half: one half is
fused and the plain mean of the other half is the target. Each is also thinned to 3 and 5 ratings per item.

    UNISONO_DATA/snow2008/{ratings,reference}.csv        UNISONO_DATA/asset/ratings.csv
    UNISONO_DATA/emobank_pilot/{genre_balanced,movie_review}_ratings.csv (with a column `perspective`)
    UNISONO_DATA/ceap360vr/sam_ratings.csv               squality comes with the package
"""

from __future__ import annotations

import os
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import unisono as un
from unisono.tables.item_table import ItemTable
from unisono.tables.ratings import Ratings

EMOBANK = tuple(
    f"{corpus}/{view}" for corpus in ("genre_balanced", "movie_review") for view in ("reader", "text", "writer")
)
THINNED = (0, 3, 5)  # ratings per item; 0: all of them
SIMULATED = {
    "paper": {"features": 0},
    "crowd": {"items": 200, "annotators": 40, "dimensions": 3, "ratings_per_item": 5, "noise": 0.5},
    "shared": {"annotators": 20, "ratings_per_item": 5, "transform": "shared", "spread": 0.5},
    "honest": {"items": 200, "annotators": 30, "ratings_per_item": 5, "transform": "identity", "noise": 0.5},
}
COMMON = {"crowd": {"transform": "near-identity", "spread": 0.2, "bias": 0.3}, "honest": {"bias": 0.3}}


class Case(NamedTuple):
    """One draw: a set, how many ratings per item are kept, and a seed."""

    group: str  # a row of the tables; the six emobank sets share one
    name: str
    per_item: int
    seed: int

    @property
    def row(self) -> str:
        return f"{self.group}/{self.per_item or 'all'}"


def cases(seeds: int, folder: Path | None) -> tuple[list[Case], list[str]]:
    """Every case of the sets that are there, and what is not there."""
    found: list[Case] = []
    missing: list[str] = []
    for group, names, path in _SETS:
        if path is not None and (folder is None or not (folder / path).exists()):
            missing.append(group)
            continue
        for per_item in THINNED:
            found += [Case(group, name, per_item, s) for name in names for s in _seeds(group, per_item, seeds)]
    found += [Case(f"sim {kind}", kind, 0, s) for kind in SIMULATED for s in range(seeds)]
    return found, missing


def draw(case: Case) -> tuple[Ratings, np.ndarray]:
    """The ratings to fuse and the target (M, D) of their items."""
    if case.group.startswith("sim "):
        settings = {"features": 0} | SIMULATED[case.name] | COMMON.get(case.name, {})
        world = un.simulate_items(**settings, seed=case.seed)
        return world.ratings, world.truth.value
    ratings, reference = _load(case.group, case.name)
    rng = np.random.default_rng(1000 + case.seed)
    if reference is None:
        fused, other = halves(ratings, case, rng)
        target = item_means(other)
    else:
        fused, target = ratings, reference.select_items(ratings.items).select_columns(ratings.dimensions).value
    fused = thin(fused, case.per_item, rng)
    rated = np.unique(fused.item_of)
    return fused.select_items(rated), target[rated]


def halves(ratings: Ratings, case: Case, rng: np.random.Generator) -> tuple[Ratings, Ratings]:
    """Half of the annotators, and the other half; with four annotators, one of the six ways to split them."""
    if ratings.K == 4:
        one = np.array(list(combinations(range(4), 2))[case.seed % 6])
    else:
        one = rng.permutation(ratings.K)[: ratings.K // 2]
    mine = np.isin(ratings.annotator_of, one)
    return ratings.select_judgements(mine), ratings.select_judgements(~mine)


def thin(ratings: Ratings, per_item: int, rng: np.random.Generator) -> Ratings:
    """At most this many judgements of each item, drawn at random; 0 keeps all."""
    if not per_item:
        return ratings
    order = np.lexsort((rng.random(ratings.J), ratings.item_of))
    rank = np.empty(ratings.J, dtype=int)
    rank[order] = np.arange(ratings.J) - np.searchsorted(ratings.item_of[order], ratings.item_of[order])
    return ratings.select_judgements(rank < per_item)


def item_means(ratings: Ratings) -> np.ndarray:
    """(M, D) plain means, NaN where nobody answered."""
    seen = ~np.isnan(ratings.value)
    columns = []
    for d in range(ratings.D):
        total = np.bincount(ratings.item_of, np.where(seen[:, d], ratings.value[:, d], 0.0), minlength=ratings.M)
        count = np.bincount(ratings.item_of, seen[:, d], minlength=ratings.M)
        columns.append(np.where(count > 0, total / np.maximum(count, 1), np.nan))
    return np.stack(columns, axis=1)


def data_folder() -> Path | None:
    given = os.environ.get("UNISONO_DATA")
    return Path(given) if given else None


_SETS: tuple[tuple[str, tuple[str, ...], str | None], ...] = (
    ("snow", ("snow",), "snow2008/ratings.csv"),
    ("asset", ("asset",), "asset/ratings.csv"),
    ("squality", ("squality",), None),
    ("emobank", EMOBANK, "emobank_pilot/genre_balanced_ratings.csv"),
    ("ceap", ("ceap",), "ceap360vr/sam_ratings.csv"),
)


def _seeds(group: str, per_item: int, seeds: int) -> range:
    if group == "squality":  # two annotators per half: six ways to split, and nothing to thin
        return range(6 if per_item == 0 else 0)
    return range(1 if group == "snow" and per_item == 0 else seeds)  # all ratings and a reference: nothing is drawn


@cache
def _load(group: str, name: str) -> tuple[Ratings, ItemTable | None]:
    if group == "squality":
        return un.load_dataset("squality"), None
    folder = data_folder()
    assert folder is not None
    if group == "emobank":
        corpus, view = name.split("/")
        table = pl.read_csv(folder / "emobank_pilot" / f"{corpus}_ratings.csv")
        return un.read_ratings(table.filter(pl.col("perspective") == view).drop("perspective")), None
    if group == "snow":
        return un.read_ratings(folder / "snow2008/ratings.csv"), un.read_item_table(folder / "snow2008/reference.csv")
    path = "asset/ratings.csv" if group == "asset" else "ceap360vr/sam_ratings.csv"
    return un.read_ratings(folder / path), None
