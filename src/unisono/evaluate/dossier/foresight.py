"""Whether the model foresees answers it has not seen better than the plain mean does."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.data import Ratings
from unisono.evaluate.compare.held_out import score_hidden
from unisono.evaluate.splits import judgement_folds
from unisono.fusers import Fuser, make_fuser
from unisono.maths.significance import standard_error

FOLDS = 5
MOST_NUMBERS = 30_000  # beyond, fitting five times over takes longer than anybody waits for a page
FEWEST_JUDGEMENTS = 30


def foresight(model: str, fuser: Fuser, ratings: Ratings) -> dict[str, Any]:
    """Error, log density and coverage on hidden judgements, for the model and for the mean, or why there are none."""
    if ratings.is_series or ratings.value.size > MOST_NUMBERS:
        return {"why_not": "Fitting several times over would take long here; `unisono compare` does it."}
    if ratings.J < FEWEST_JUDGEMENTS or ratings.K < 3 or fuser.feature_columns:
        return {"why_not": "Too few ratings, or features that would be needed again; see `unisono compare`."}
    fold_of = judgement_folds(ratings, FOLDS, np.random.default_rng(0))
    rows = []
    for name, one in {model: fuser.alike(), "mean": make_fuser("mean", series=False)}.items():
        scores = [score_hidden(one, ratings, None, fold_of == f) for f in range(FOLDS) if (fold_of == f).any()]
        row: dict[str, Any] = {"model": name}
        for figure in ("rmse", "log_density", "coverage"):
            values = np.array([getattr(score, figure) for score in scores])
            row |= {figure: float(np.nanmean(values)), f"{figure}_se": float(standard_error(values))}
        rows.append(row)
    return {"folds": FOLDS, "rows": rows}
