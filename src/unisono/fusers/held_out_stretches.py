"""Blocked cross-validation of traces: prediction error on held-out stretches, and a choice between models by it.

Single frames could be predicted from their neighbours by any model, so a stretch is longer than the filters. Every
stretch is hidden from one annotator at a time, and the others still rate it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import ConvergenceWarning, DataError, taken
from unisono.fusers.fuser import Fuser
from unisono.fusers.standardisation import pooled_scaling
from unisono.scale.executors import OnTask, Workers, run_tasks
from unisono.tables import ItemTable, Ratings

SECONDS = 10.0  # convention: of a stretch, at least
FOLDS = 5  # convention: every frame is hidden in one of them
TRIED = 2  # numerical: folds that a choice between models rests on
SAME = 1e-9  # numerical: relative difference of squared errors that rounding makes
NEVER = -1  # layout: a frame that is not hidden


class UndeterminedError(DataError):
    """The traces say too little for a model; others may do with less."""


class HeldOutError(NamedTuple):
    """One candidate of a choice: what it is, and how far it was off on stretches it had not seen."""

    name: str
    rmse: float  # in standard deviations of the ratings


def stretch_folds(ratings: Ratings, window: float, folds: int, rng: np.random.Generator) -> np.ndarray:
    """(S,) the fold in which each row of the traces is hidden, or NEVER where a frame has no other rating.

    `window` is how many seconds filters reach back; stretches are at least twice as long.
    """
    assert ratings.clock is not None
    span = round(max(SECONDS, 2 * window) * ratings.clock.rate) + 1
    fold = np.full(len(ratings.value), NEVER)
    for m in range(ratings.M):
        js = range(ratings.item_ptr[m], ratings.item_ptr[m + 1])
        T = int(ratings.length[m])
        # A recording too short for many stretches still gives some: one of them at a time.
        block = np.minimum((np.arange(T) + rng.integers(span)) // span, T)
        deal = rng.permutation(folds)
        given = np.stack([~np.isnan(ratings.judgement(j)).all(axis=1) for j in js]) if len(js) else np.zeros((0, T))
        shared = given.sum(axis=0) >= 2
        for i, j in enumerate(js):
            rows = slice(ratings.offset[j], ratings.offset[j + 1])
            fold[rows] = np.where(shared & given[i], deal[(block + i) % folds], NEVER)
    if not (fold >= 0).any():
        raise DataError(f"{ratings.source}: no stretch can be hidden, because no frame has two ratings.")
    return fold


def without_rows(ratings: Ratings, hidden: np.ndarray) -> Ratings:
    """The traces with the rows where `hidden` (S,) is true made missing."""
    return ratings.with_value(np.where(hidden[:, None], np.nan, ratings.value))


def hidden_error(fuser: Fuser, hidden: np.ndarray, ratings: Ratings, features: ItemTable | None) -> float:
    """Mean square error, in variances of the ratings, of what a fit without the hidden rows says about them."""
    with taken(ConvergenceWarning):
        try:
            fuser.fit(without_rows(ratings, hidden), features)
        except UndeterminedError:
            return np.inf
    unit = pooled_scaling(ratings.value)
    error = (fuser.predict_ratings(ratings).mean - ratings.value)[hidden] / unit.scale
    return float(np.nanmean(error**2))


def windows_tried(fuser: Fuser) -> dict[str, Any]:
    """The report of a choice for the summary; a fit from disk has forgotten how it chose."""
    report: tuple[HeldOutError, ...] = getattr(fuser, "report_", ())
    return {"windows_tried": [one._asdict() for one in report]} if report else {}


def least_error(
    candidates: Sequence[tuple[str, Fuser]],
    ratings: Ratings,
    features: ItemTable | None,
    *,
    window: float,
    seed: int,
    jobs: Workers = 1,
    on_task: OnTask | None = None,
) -> tuple[int, tuple[HeldOutError, ...]]:
    """Which candidate predicts hidden stretches best, and the report. All see the same stretches.

    A candidate that cannot do with what is left when a stretch is hidden is not chosen, and not in the report.
    """
    fold = stretch_folds(ratings, window, FOLDS, np.random.default_rng(seed))
    parts = [fold == f for f in range(TRIED)]
    tasks = [(fuser, hidden) for _, fuser in candidates for hidden in parts if hidden.any()]
    errors = run_tasks(hidden_error, tasks, jobs, on_task, common=(ratings, features))
    found = np.array(errors).reshape(len(candidates), -1).mean(axis=1)
    if np.isinf(found).all():
        raise UndeterminedError(
            f"{ratings.source}: with a stretch hidden, the traces say too little for any of the models."
        )
    report = tuple(
        HeldOutError(name, float(np.sqrt(square)))
        for (name, _), square in zip(candidates, found, strict=True)
        if not np.isinf(square)
    )
    best = found <= np.nanmin(found) * (1 + SAME)  # of equals the first, whatever the last digits say
    return int(np.argmax(best)), report
