"""Fits whose results are on record: every model, on bundled data and on small simulations.

`CASES` has one function per fit; `digest` shrinks the tables of a result to a few numbers per column, which move when
any entry of the column moves. `python tests/support/recorded_cases.py` writes the record anew: do that only where
results are meant to change.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import unisono as un
from judged_tables import judged_ratings
from trace_world import trace_world
from unisono.fusers.fusion_results import dimension_columns, overall_columns
from unisono.tables.item_table import ItemTable
from unisono.tables.ratings import Ratings

RECORD = Path(__file__).with_name("recorded.json")
MODELS = (
    *("auto", "independent", "paper-joint", "paper-independent"),
    *("mean", "median", "zscore-mean", "ewe", "weighted-mean"),
)
TRACE_MODELS = ("aligned-mean", "lag-mi", "dtw-mean", "windowed-ewe", "rank-mean", "fpca", "dpcca", "dpctw")
ITEM_MODELS = (*MODELS, "types", "regions", "curved", "raykar")
ITEM_STRUCTURES: dict[str, dict[str, Any]] = {
    "ml": {"inference": "ml", "max_iter": 20},
    "ml diagonal": {"inference": "ml", "transform": "gain", "noise": "diagonal", "latent": "diagonal", "max_iter": 20},
    "posterior": {"estimate": "posterior"},
    "uncorrelated": {"anchor": "uncorrelated"},
    "unanchored": {"anchor": "none", "max_iter": 30},
    "gain": {"transform": "gain", "panel": np.inf},
    "identity": {"transform": "identity", "noise": "full"},
}


@cache
def simulated_items(seed: int = 0) -> Any:
    settings = {"items": 40, "annotators": 8, "dimensions": 3, "features": 3, "ratings_per_item": 5}
    return un.simulate_items(**settings, transform="near-identity", bias=0.3, missing=0.1, seed=seed)


@cache
def film(name: str, frames: int) -> Ratings:
    """The first frames of a bundled set of traces."""
    whole = un.load_dataset(name)
    length = np.minimum(whole.length, frames)
    values = [whole.value[whole.offset[j] :][: length[m]] for j, m in enumerate(whole.item_of)]
    labels = {"items": whole.items, "annotators": whole.annotators, "dimensions": whole.dimensions}
    return Ratings.from_judgements(
        np.concatenate(values), whole.item_of, whole.annotator_of, **labels, length=length, clock=whole.clock
    )


def first_items(table: ItemTable, n: int) -> ItemTable:
    return table.select_items(table.items[:n])


def on_bundled(model: str) -> Any:
    return un.fuse(un.load_dataset("squality"), model=model)


def on_simulated(model: str) -> Any:
    drawn = simulated_items()
    return un.fuse(drawn.ratings, model=model, features=drawn.features)


def on_structure(word: str) -> Any:
    return un.fuse(simulated_items(1).ratings, model="joint", **ITEM_STRUCTURES[word])


def on_whole_numbers() -> Any:
    """Answers from 1 to 5, a tenth of them at an end."""
    ratings = simulated_items().ratings
    return un.fuse(ratings.with_value(np.clip(np.round(3 + 1.2 * ratings.value), 1, 5)))


def with_gold() -> Any:
    drawn = simulated_items(2)
    return un.fuse(drawn.ratings, gold=first_items(drawn.truth, 10), features=drawn.features)


def in_two_batches() -> Any:
    first, second = simulated_items(3), simulated_items(4)
    return un.fuse(second.ratings, start=un.fuse(first.ratings).fuser)


def with_judges() -> Any:
    return un.fuse(judged_ratings(0, items=60, labels=25)[0])


def judges_alone() -> Any:
    ratings = judged_ratings(1, items=40, labels=0)[0]
    return un.fuse(ratings, kinds={"judge": "*"})


def on_traces(model: str) -> Any:
    limits = {"width": 5, "restarts": 2, "max_iter": 20} if model.startswith("paper") else {}
    return un.fuse(trace_world().ratings, model=model, **limits)


def on_film(name: str, frames: int, model: str) -> Any:
    return un.fuse(film(name, frames), model=model)


def traces_with(**settings: Any) -> Any:
    return un.fuse(trace_world(seed=1).ratings, model="joint", **settings)


def traces_with_features() -> Any:
    world = trace_world(seed=2)
    return un.fuse(world.ratings, features=world.features)


def neighbour_with_features(model: str) -> Any:
    world = trace_world(seed=2)
    return un.fuse(world.ratings, features=world.features, model=model)


def traces_with_gold() -> Any:
    world = trace_world(seed=3)
    return un.fuse(world.ratings, gold=first_items(world.truth, 1))


CASES: dict[str, Callable[[], Any]] = {
    **{f"squality {model}": partial(on_bundled, model) for model in ITEM_MODELS if model != "curved"},
    **{f"items {model}": partial(on_simulated, model) for model in ITEM_MODELS},
    **{f"items {word}": partial(on_structure, word) for word in ITEM_STRUCTURES},
    "items 1 to 5": on_whole_numbers,
    "items with gold": with_gold,
    "items in two batches": in_two_batches,
    **{f"traces {model}": partial(on_traces, model) for model in (*MODELS, *TRACE_MODELS)},
    "traces shared": partial(traces_with, shared=0.3),
    "traces with features": traces_with_features,
    "traces lag-mi with features": partial(neighbour_with_features, "lag-mi"),
    "traces dpcca with features": partial(neighbour_with_features, "dpcca"),
    "traces with gold": traces_with_gold,
    **{f"green {model}": partial(on_film, "green_intensity", 120, model) for model in ("auto", "ewe")},
    **{f"forrest gump {model}": partial(on_film, "forrest_gump", 300, model) for model in ("auto", "aligned-mean")},
    "people and judges": with_judges,
    "judges alone": judges_alone,
}


def tables(name: str) -> dict[str, dict[str, np.ndarray]]:
    """The columns of truth and annotators that hold numbers, and what the objective came to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CASES[name]()
        described = result.described
    found = {
        "truth": result.fused.columns(),
        "annotators": dimension_columns(described),
        "overall": overall_columns(described),
        "fit": {"objective": result.fuser.trace_.objective[-1:]},
    }
    return {table: _numbers(columns) for table, columns in found.items()}


def _numbers(columns: dict[str, Any]) -> dict[str, np.ndarray]:
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    return {name: array.astype(float) for name, array in arrays.items() if array.dtype.kind in "fiu"}


def digest(column: np.ndarray) -> float:
    """One weighted sum with weights of all sizes, in which a missing number counts as a number of its own."""
    return float(np.nan_to_num(column, nan=0.123) @ np.cos(0.7 * np.arange(1, len(column) + 1)))


def digests(name: str) -> dict[str, list[float]]:
    """One number per column, by table."""
    return {table: [float(f"{digest(c):.14g}") for c in columns.values()] for table, columns in tables(name).items()}


def write_record() -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(digests(name))}" for name in CASES]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:]:  # every number, to find the entry in which two versions differ
        whole = {f"{name}|{table}|{c}": v for name in CASES for table, t in tables(name).items() for c, v in t.items()}
        np.savez_compressed(sys.argv[1], **whole)
    else:
        write_record()
