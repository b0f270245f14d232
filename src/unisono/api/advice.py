"""From a finished fit, or from ratings that are fused first: how many ratings are enough, and what to rate next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unisono.api.fusion import Fusion, fuse
from unisono.data import Ratings
from unisono.fusers import Fit, Fuser, advice, revive
from unisono.fusers.advice import NextRatings, Plan
from unisono.fusers.series import advice as series_advice
from unisono.fusers.series.base import SeriesFuser
from unisono.io.saved import load_fit


def plan(fit: Any, *, most: int = 20, seed: int = 0, **reading: Any) -> Plan:
    """The error to expect for 1 to `most` ratings per item, or annotators per recording, like those of the fit.

    `fit` is a `Fusion` or the folder of a saved one; ratings (a `Ratings`, a file or a data frame, read with `reading`
    as in `read_ratings`) are fused first. `seed` decides which annotators are drawn.
    """
    fuser, known = _fitted(fit, reading)
    ask = series_advice.plan_annotators if isinstance(fuser, SeriesFuser) else advice.plan_ratings
    return ask(fuser, known, most=most, seed=seed)


def next_ratings(fit: Any, **reading: Any) -> NextRatings:
    """Which items to rate next, by how much uncertainty a rating would remove, and whose ratings tell most.

    Of traces: which recordings, and which `stretches` of them, need another annotator.

    `fit` is what it is for `plan`.
    """
    fuser, known = _fitted(fit, reading)
    return (series_advice.next_recordings if isinstance(fuser, SeriesFuser) else advice.next_ratings)(fuser, known)


def _fitted(fit: Any, reading: dict[str, Any]) -> tuple[Fuser, Fit]:
    if not isinstance(fit, Fusion | Ratings) and isinstance(fit, str | Path) and Path(fit).is_dir():
        saved = load_fit(Path(fit))
        return revive(saved), saved
    result = fit if isinstance(fit, Fusion) else fuse(fit, categories="none", **reading)
    assert isinstance(result, Fusion)  # without categories there are numbers, or the table is refused
    return result.fuser, result.fit
