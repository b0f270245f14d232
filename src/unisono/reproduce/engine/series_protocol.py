"""The paper's protocol for traces, fold by fold: each fold of each model is a unit of work of its own.

Recordings are in train, validation and test folds. Width of the filters (5, 10, 20, 50 frames), random start and
iteration are chosen on the validation recordings; scores are of all test frames put end to end; joint and independent
are compared by a paired t-test over folds. What a unit keeps are the moments of its test frames, from which scores of
any number of folds put end to end follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from unisono.data import ItemTable, Ratings
from unisono.evaluate.protocol.cross_validate import GOLD as GOLD_SUFFIX
from unisono.evaluate.protocol.cross_validate import Entrant, FoldData, require_unseen, run_fold, visible_labels
from unisono.evaluate.protocol.selection import Labelled
from unisono.evaluate.splits import ItemFold, item_folds
from unisono.fusers import Fuser, make_fuser
from unisono.maths.metrics import ccc, complete_pairs, pearson
from unisono.maths.significance import paired_t
from unisono.reproduce.engine.claims import ALPHA
from unisono.reproduce.engine.experiment import Numbers
from unisono.reproduce.engine.protocol import INDEPENDENT, JOINT, METRIC_NAMES


def random_fold(items: Sequence[str], folds: int, fold: int, seed: int) -> ItemFold:
    """One round of the folds that everybody draws from this seed."""
    return item_folds(tuple(items), folds, np.random.default_rng(seed))[fold]


def race_fold(
    ratings: Ratings,
    reference: ItemTable,
    part: ItemFold,
    *,
    model: str,
    features: ItemTable | None = None,
    restarts: int = 20,
    seed: int = 0,
) -> Numbers:
    """One model on one fold: what was chosen, and how the test recordings came out."""
    labels = visible_labels(reference, part)
    require_unseen(labels, part)
    validation = Labelled(ratings.select_items(list(part.validation)), labels, features)
    train, test = (ratings.select_items(list(items)) for items in (part.train, part.test))
    fuser = series_fuser(model, restarts, seed)
    entrant = Entrant(model, (fuser,), model.endswith(GOLD_SUFFIX))
    value, picks = run_fold(entrant, FoldData(train, validation, test, features), True)
    truth = reference.select_items(part.test).value
    tried = fuser.candidates(train)
    widths = [getattr(tried[pick.candidate], "width", None) for pick in picks]
    return {
        "scores": {
            name: {"ccc": ccc(value[:, d], truth[:, d]), "pearson": pearson(value[:, d], truth[:, d])}
            for d, name in enumerate(reference.columns)
        },
        "moments": {name: moments(value[:, d], truth[:, d]) for d, name in enumerate(reference.columns)},
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
