"""From a finished fit, or from ratings that are fused first: how many ratings are enough, and what to rate next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unisono.api.fusion import Fusion, fuse
from unisono.data import Ratings
from unisono.fusers import Fit, Fuser, advice, revive
from unisono.fusers.advice import NextRatings, Plan
from unisono.io.saved import load_fit


def plan(fit: Any, *, most: int = 20, seed: int = 0, **reading: Any) -> Plan:
    """The error to expect for 1 to `most` ratings per item by annotators like those of the fit.

    `fit` is a `Fusion` or the folder of a saved one; ratings (a `Ratings`, a file or a data frame, read with `reading`
    as in `read_ratings`) are fused first. `seed` decides which annotators are drawn.
    """
    return advice.plan_ratings(*_fitted(fit, reading), most=most, seed=seed)


def next_ratings(fit: Any, **reading: Any) -> NextRatings:
    """Which items to rate next, by how much uncertainty a rating would remove, and whose ratings tell most.

    `fit` is what it is for `plan`.
    """
    return advice.next_ratings(*_fitted(fit, reading))


def _fitted(fit: Any, reading: dict[str, Any]) -> tuple[Fuser, Fit]:
    if not isinstance(fit, Fusion | Ratings) and isinstance(fit, str | Path) and Path(fit).is_dir():
        saved = load_fit(Path(fit))
        return revive(saved), saved
    result = fit if isinstance(fit, Fusion) else fuse(fit, categories="none", **reading)
    assert isinstance(result, Fusion)  # without categories there are numbers, or the table is refused
    return result.fuser, result.fit
