"""Annotators in report.json: their parameters, what would change without them, whether a judge may replace a person.

Beside it the strongest leakage between dimensions, as the table of annotators shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono.evaluate.judge_figures import judge_rows
from unisono.fusers import Annotators, Fused, Fuser, Groups
from unisono.fusers.fusion_results import by_reliability, mean_of
from unisono.maths.groups.judge_tests import EPSILON
from unisono.maths.raters.response_styles import KINDS
from unisono.tables.annotator_kinds import divide
from unisono.tables.ratings import Ratings

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
        "ends": None
        if found.ends is None
        else {name: [_row_of(low, k), _row_of(high, k)] for name, (low, high) in found.ends.items()},
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


MOST_COMPARED = 20_000_000  # items times annotators times judges, beyond which comparing them takes longer than fusing


def replacements(fuser: Fuser, ratings: Ratings) -> list[dict[str, Any]] | None:
    """Per judge the alternative annotator test on every dimension; None without people and judges."""
    if not isinstance(fuser, Groups) or ratings.is_series:
        return None
    division = divide(ratings, fuser.reference_kind)
    judges = np.flatnonzero(division.group > 0)
    if not division.reference or ratings.M * ratings.K * len(judges) > MOST_COMPARED:
        return None
    found = judge_rows(ratings, judges, np.flatnonzero(division.group == 0), EPSILON, None)
    rows = []
    for k in dict.fromkeys(row.judge for row in found):
        own = [row for row in found if row.judge == k]
        rows.append(
            {
                "annotator": ratings.annotators[k],
                "kind": division.names[division.group[k]],
                "verdict": [row.verdict for row in own],
                "correlation": [_finite(row.beside.correlation) for row in own],
                "winning_rate": [_finite(row.test.winning_rate) for row in own],
                "advantage": [_finite(row.test.advantage) for row in own],
                "people": [row.test.people for row in own],
            }
        )
    return rows


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


NOTICED = 0.005  # leakage below this would be shown as nothing

Transform = Sequence[Sequence[float | None]]


def strongest_leakage(transform: Transform, d: int) -> tuple[int, float | None]:
    """The other dimension whose truth moves answers on dimension d most, and by how much; None where there is none."""
    others = [(e, value) for e, value in enumerate(transform[d]) if e != d and value is not None]
    if not others:
        return d, None
    return max(others, key=lambda one: abs(one[1]))


def leaking(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether anybody's answers on any dimension follow the truth of another one."""
    return any(
        abs(strongest_leakage(row["transform"], d)[1] or 0.0) >= NOTICED
        for row in rows
        for d in range(len(row["transform"]))
    )
