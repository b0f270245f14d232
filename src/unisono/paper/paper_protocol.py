"""One comparison of models as plain numbers: under the paper's protocol, or without labels; items and traces.

Of items also the average annotator matrix of a model. Of traces, each fold of each model is a unit of work of its own:
width of the filters (5, 10, 20, 50 frames), random start and iteration are chosen on the validation recordings, scores
are of all test frames put end to end, and joint and independent are compared by a paired t-test over folds. A unit
keeps the moments of its test frames, from which scores of any number of folds put end to end follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from unisono.errors import ConvergenceWarning, taken
from unisono.evaluate import cross_validation, held_out_ratings, iteration_selection
from unisono.evaluate.cross_validation import GOLD as GOLD_SUFFIX
from unisono.fusers import Fuser, make_fuser
from unisono.maths.metrics import best_switch, ccc, complete_pairs, paired_t, pearson
from unisono.paper.experiment_claims import ALPHA, Numbers
from unisono.paper.experiment_data import Traced
from unisono.tables import ItemTable, Ratings

JOINT, INDEPENDENT, DEFAULT, GOLD, MEAN = "paper-joint", "paper-independent", "auto", "auto+gold", "mean"
PROTOCOL = (JOINT, INDEPENDENT, MEAN, DEFAULT, GOLD)
NAMES = {
    JOINT: "joint (paper)",
    INDEPENDENT: "independent (paper)",
    MEAN: "plain mean",
    DEFAULT: "our default",
    GOLD: "our default with gold",
}
SHORT = NAMES | {JOINT: "joint", INDEPENDENT: "independent"}  # for a sentence
# At most so many EM iterations under the protocol. The best on validation items is almost always among the first
# twenty; with more features than items the published EM goes on for thousands, towards a likelihood without bound.
MAX_ITER = 300
FOLDS = 5
METRIC_NAMES = {"ccc": "CCC", "pearson": "Pearson"}


def race(ratings: Ratings, reference: ItemTable, *, features: ItemTable | None, seed: int) -> Numbers:
    """Test scores of every model, what was chosen in each fold, and all pairwise tests."""
    fusers = {name: protocol_fuser(name) for name in PROTOCOL}
    found = cross_validation.cross_validate_models(
        ratings, reference, models=fusers, features=features, folds=FOLDS, seed=seed
    )
    plain = found.to_dict()
    return {
        "scores": {
            model["model"]: {
                row["name"]: {metric: row[metric] for metric in cross_validation.METRICS} for row in model["dimensions"]
            }
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
        with taken(ConvergenceWarning):  # the number of iterations is reported
            fused = fuser.fit(ratings, features).fuse()
        known = reference.select_items(fused.items)
        columns = [fused.dimensions.index(column) for column in known.columns]
        found["scores"][name] = _scores_by_dimension(fused.mean[:, columns], known)
        if fuser.labels_can_switch:
            found["switched"][name] = _scores_by_dimension(
                best_switch(fused.mean, known.value).apply(fused.mean), known
            )
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
    turned = {
        "first": row["second"],
        "second": row["first"],
        "difference": -row["difference"],
        "share": 1 - row["share"],
    }
    folds = {"by_fold": [-value for value in row["by_fold"]]} if "by_fold" in row else {}
    return row | folds | turned


def _scores_by_dimension(estimate: np.ndarray, known: ItemTable) -> Numbers:
    return {
        name: {"ccc": ccc(estimate[:, d], known.value[:, d]), "pearson": pearson(estimate[:, d], known.value[:, d])}
        for d, name in enumerate(known.columns)
    }


def _listed(fold: Mapping[str, Any]) -> Numbers:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fold.items()}


def average_matrices(
    ratings: Ratings, truth: ItemTable, *, model: str, features: ItemTable | None, folds: int, seed: int
) -> Numbers:
    """The mean F_k over annotators with training ratings, one per fold; dimensions named on validation items."""
    found = []
    for part in held_out_ratings.item_folds(truth.items, folds, np.random.default_rng(seed)):
        labels = truth.select_items(part.validation)
        validation = iteration_selection.Labelled(ratings.select_items(list(part.validation)), labels, features)
        train = ratings.select_items(list(part.train))
        fuser = protocol_fuser(model)
        with taken(ConvergenceWarning):
            if model == GOLD:
                fuser.fit(ratings.select_items([*part.train, *part.validation]), features, labels)
                choice = iteration_selection.last_state([fuser], validation)[0]
            else:
                choice = iteration_selection.select([fuser], train, features, validation)[0]
        seen = np.unique(train.annotator_of)
        found.append(matrices_of(choice)[seen].mean(axis=0).tolist())
    return {"F": found}


def matrices_of(choice: iteration_selection.Choice) -> np.ndarray:
    """(K, D, D) annotator matrices from the truth with its dimensions put right to ratings, in the user's units."""
    fuser, switch = choice.fuser, choice.pick.switch
    scale = fuser.scaling_.scale
    # Dimension d of the truth is sign[d] times dimension order[d] of the model.
    return np.asarray(fuser.parameters().F[:, :, switch.order] * switch.sign * scale[:, None] / scale[None, :])


def random_fold(items: Sequence[str], fold: int, seed: int) -> held_out_ratings.ItemFold:
    """One round of the folds that everybody draws from this seed."""
    return held_out_ratings.item_folds(tuple(items), FOLDS, np.random.default_rng(seed))[fold]


def race_fold(
    traced: Traced, part: held_out_ratings.ItemFold | int, *, model: str, restarts: int = 20, seed: int = 0
) -> Numbers:
    """One model on one fold, or that number of the random ones: what was chosen, how the test recordings came out."""
    ratings, reference, features = traced
    if isinstance(part, int):
        part = random_fold(reference.items, part, seed)
    fold = cross_validation.fold_data(ratings, reference, features, part)
    fuser = series_fuser(model, restarts, seed)
    entrant = cross_validation.Entrant(model, (fuser,), model.endswith(GOLD_SUFFIX))
    value, picks = cross_validation.run_fold(entrant, fold, True)
    truth = reference.select_items(part.test)
    tried = fuser.candidates(fold.train)
    widths = [getattr(tried[pick.candidate], "width", None) for pick in picks]
    return {
        "scores": _scores_by_dimension(value, truth),
        "moments": {name: moments(value[:, d], truth.value[:, d]) for d, name in enumerate(reference.columns)},
        "chosen": {
            "width": widths,
            "iteration": [int(pick.iteration) for pick in picks],
            "validation_ccc": [float(pick.score) for pick in picks],
            "order": [pick.switch.order.tolist() for pick in picks],
            "sign": [pick.switch.sign.tolist() for pick in picks],
        },
    }


def series_fuser(model: str, restarts: int, seed: int) -> Fuser:
    """The model of this name; a published one is to try so many random starts with every width."""
    name = model.removesuffix(GOLD_SUFFIX)
    effort = {"restarts": restarts, "seed": seed} if name in (JOINT, INDEPENDENT) else {}
    return make_fuser(name, series=True, **effort)


def moments(x: np.ndarray, y: np.ndarray) -> list[float]:
    """n and the sums of x, y, xx, yy, xy over frames that have both."""
    x, y = complete_pairs(x, y)
    return [float(value) for value in (len(x), x.sum(), y.sum(), x @ x, y @ y, x @ y)]


def scores_of(parts: Iterable[Sequence[float]]) -> dict[str, float]:
    """CCC and Pearson of frames put end to end, from their moments."""
    n, sx, sy, sxx, syy, sxy = np.sum(np.array(list(parts)), axis=0)
    mx, my = sx / n, sy / n
    vx, vy, cov = sxx / n - mx**2, syy / n - my**2, sxy / n - mx * my
    with np.errstate(invalid="ignore", divide="ignore"):
        return {"ccc": float(2 * cov / (vx + vy + (mx - my) ** 2)), "pearson": float(cov / np.sqrt(vx * vy))}


def gathered(folds: Mapping[str, Sequence[Numbers]]) -> Numbers:
    """All folds of all models on one data set, in the form of a race: scores end to end, and every pairwise t-test."""
    dimensions = list(next(iter(folds.values()))[0]["moments"])
    return {
        "scores": {
            model: {d: scores_of(part["moments"][d] for part in parts) for d in dimensions}
            for model, parts in folds.items()
        },
        "differences": [
            _difference(one, other, folds, dimension, metric)
            for one, other in combinations(folds, 2)
            for metric in METRIC_NAMES
            for dimension in dimensions
        ],
    }


def _difference(one: str, other: str, folds: Mapping[str, Sequence[Numbers]], dimension: str, metric: str) -> Numbers:
    first, second = (
        np.array([part["scores"][dimension][metric] for part in folds[model]], dtype=np.float64)
        for model in (one, other)
    )
    tested = paired_t(first - second)
    significant = tested.p < ALPHA
    return {
        "first": one,
        "second": other,
        "dimension": dimension,
        "metric": metric,
        "difference": tested.mean,
        "share": float("nan"),
        "p": tested.p,
        "better": (one if tested.mean > 0 else other) if significant else None,
        "by_fold": (first - second).tolist(),
    }
