"""What a report says of each annotator, and what would change without them."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.data import Ratings
from unisono.fusers import Annotators, Fused, Fuser
from unisono.fusers.annotator_columns import by_reliability, mean_of
from unisono.maths.raters.styles import KINDS

MOST_PEOPLE = 500  # rows of the table; beyond, those with the most and the least reliable answers
MOST_WORK = 3_000_000  # numbers times annotators that are fused again to see what changes
FIGURES = ("bias", "gain", "noise", "reliability", "agreement", "delay", "delay_low", "delay_high")


def people(fuser: Fuser, ratings: Ratings, fused: Fused, found: Annotators) -> dict[str, Any]:
    """One row per annotator, the most reliable first."""
    order = by_reliability(found)
    shown = (
        order if len(order) <= MOST_PEOPLE else np.concatenate([order[: MOST_PEOPLE // 2], order[-MOST_PEOPLE // 2 :]])
    )
    moved = _without_each(fuser, ratings, fused, shown)
    return {
        "of": ratings.K,
        "chosen_by": None if len(shown) == ratings.K else "the most and the least reliable halves of the table",
        "without": None if moved is None else "the fitted model, fed with everybody else's answers",
        "rows": [_row(found, int(k), None if moved is None else moved.get(int(k))) for k in shown],
    }


def _row(found: Annotators, k: int, moved: list[float | None] | None) -> dict[str, Any]:
    transform = found.leakage[k] + np.diag(found.gain[k])
    diagnosis = found.diagnosis
    return {
        "annotator": found.annotators[k],
        "kind": None if found.kind is None else found.kind[k],
        "judgements": int(found.ratings[k]),
        "mean_reliability": _plain(mean_of(found, "reliability")[[k]])[0],
        "figures": {name: _row_of(getattr(found, name), k) for name in FIGURES if getattr(found, name) is not None},
        "transform": [_plain(row) for row in transform],
        "spammer": None if diagnosis is None else float(diagnosis.spammer[k]),
        "styles": None
        if diagnosis is None
        else {kind: [float(p) for p in diagnosis.of_kind(kind)[k]] for kind in KINDS},
        "change_without": moved,
    }


def _without_each(
    fuser: Fuser, ratings: Ratings, fused: Fused, shown: np.ndarray
) -> dict[int, list[float | None]] | None:
    """For each annotator and dimension the root mean squared change of the estimate if their answers are left away.

    The fitted annotators stay as they are, so it is what their answers add to the estimate, not to the model.
    """
    # With features the truth of fewer ratings would need the features again.
    if ratings.value.size * len(shown) > MOST_WORK or ratings.K < 3 or fuser.feature_columns:
        return None
    found = {}
    for k in shown.tolist():
        rest = ratings.select_judgements(ratings.annotator_of != k)
        found[k] = _plain(np.sqrt(np.nanmean((fuser.fuse(rest).mean - fused.mean) ** 2, axis=0)))
    return found


def _row_of(values: np.ndarray, k: int) -> list[float | None]:
    return _plain(values[k])


def _plain(values: np.ndarray) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]
