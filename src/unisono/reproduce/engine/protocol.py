"""One race between models, as plain numbers: under the paper's protocol, or with no labels at all."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from unisono.data import ItemTable, Ratings
from unisono.errors import ConvergenceWarning
from unisono.evaluate.protocol.cross_validate import GOLD as GOLD_SUFFIX
from unisono.evaluate.protocol.cross_validate import cross_validate_models
from unisono.evaluate.protocol.results import METRICS
from unisono.fusers import Fuser, make_fuser
from unisono.maths.label_switch import best_switch
from unisono.maths.metrics import ccc, pearson
from unisono.reproduce.engine.experiment import Numbers

JOINT, INDEPENDENT, DEFAULT, GOLD, MEAN = "paper-joint", "paper-independent", "auto", "auto+gold", "mean"
PROTOCOL = (JOINT, INDEPENDENT, MEAN, DEFAULT, GOLD)
NAMES = {
    JOINT: "joint (paper)",
    INDEPENDENT: "independent (paper)",
    MEAN: "plain mean",
    DEFAULT: "our default",
    GOLD: "our default with gold",
}
# At most so many EM iterations under the protocol. The best on validation items is almost always among the first
# twenty; with more features than items the published EM goes on for thousands, towards a likelihood without bound.
MAX_ITER = 300
METRIC_NAMES = {"ccc": "CCC", "pearson": "Pearson"}


def race(
    ratings: Ratings,
    reference: ItemTable,
    *,
    models: Sequence[str] = PROTOCOL,
    features: ItemTable | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Numbers:
    """Test scores of every model, what was chosen in each fold, and all pairwise tests."""
    fusers = {name: protocol_fuser(name) for name in models}
    found = cross_validate_models(ratings, reference, models=fusers, features=features, folds=folds, seed=seed)
    plain = found.to_dict()
    return {
        "scores": {
            model["model"]: {row["name"]: {metric: row[metric] for metric in METRICS} for row in model["dimensions"]}
            for model in plain["models"]
        },
        "folds": {model["model"]: [_listed(fold) for fold in model["folds"]] for model in plain["models"]},
        "differences": plain["differences"],
    }


def protocol_fuser(name: str) -> Fuser:
    """The model of this name; the paper's stop at MAX_ITER."""
    fuser = make_fuser(name.removesuffix(GOLD_SUFFIX))
    return fuser.alike(max_iter=MAX_ITER) if name in (JOINT, INDEPENDENT) else fuser


def unaided(
    ratings: Ratings, reference: ItemTable, *, models: Sequence[str], features: ItemTable | None = None
) -> Numbers:
    """Scores of fusing everything to convergence without a single label, as a user without labels does it.

    `switched` are the scores after the best permutation and signs, which need the truth: what hand-work could reach.
    """
    found: Numbers = {"scores": {}, "switched": {}, "iterations": {}}
    for name in models:
        fuser = make_fuser(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the number of iterations is reported
            fused = fuser.fit(ratings, features).fuse()
        known = reference.select_items(fused.items)
        columns = [fused.dimensions.index(column) for column in known.columns]
        found["scores"][name] = _scores(fused.mean[:, columns], known)
        if fuser.labels_can_switch:
            found["switched"][name] = _scores(best_switch(fused.mean, known.value).apply(fused.mean), known)
        found["iterations"][name] = int(fuser.trace_.iterations)
    return found


def collected(results: Iterable[Numbers], model: str, dimension: str, metric: str) -> list[float]:
    """One score in many races."""
    return [float(result["scores"][model][dimension][metric]) for result in results]


def compared(results: Iterable[Numbers], first: str, second: str, dimension: str, metric: str) -> list[Numbers]:
    """The tests of two models in many races, as first against second whichever way they were made."""
    return [
        _oriented(row, first)
        for result in results
        for row in result["differences"]
        if _is(row, first, second, dimension, metric)
    ]


def switched_folds(results: Iterable[Numbers], model: str) -> tuple[int, int]:
    """In how many folds dimensions had to be swapped or flipped, and how many folds there were."""
    folds = [fold for result in results for fold in result["folds"][model]]
    moved = [fold for fold in folds if fold["order"] != sorted(fold["order"]) or min(fold["sign"]) < 0]
    return len(moved), len(folds)


def _is(row: Mapping[str, Any], first: str, second: str, dimension: str, metric: str) -> bool:
    return {row["first"], row["second"]} == {first, second} and (row["dimension"], row["metric"]) == (dimension, metric)


def _oriented(row: Numbers, first: str) -> Numbers:
    if row["first"] == first:
        return row
    # Ties are so rare among resampled scores that one minus the share is the other's share.
    folds = {"by_fold": [-value for value in row["by_fold"]]} if "by_fold" in row else {}
    return (
        row
        | folds
        | {
            "first": row["second"],
            "second": row["first"],
            "difference": -row["difference"],
            "share": 1 - row["share"],
        }
    )


def _scores(estimate: np.ndarray, known: ItemTable) -> Numbers:
    return {
        name: {"ccc": ccc(estimate[:, d], known.value[:, d]), "pearson": pearson(estimate[:, d], known.value[:, d])}
        for d, name in enumerate(known.columns)
    }


def _listed(fold: Mapping[str, Any]) -> Numbers:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fold.items()}
