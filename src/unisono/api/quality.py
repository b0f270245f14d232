"""Ratings that are still coming in: how good they are so far."""

from __future__ import annotations

import warnings
from typing import Any

from unisono.api.advice import plan
from unisono.api.fusion import Fusion, fuse
from unisono.api.looking import check
from unisono.api.tables import rating_table
from unisono.errors import ConvergenceWarning, DataWarning
from unisono.evaluate.quality import Pieces, Quality, early_quality, quality_of
from unisono.fusers.advice import TARGET


def quality(ratings: Any, *, scale: Any = None, target: float = TARGET, unrated: int = 0, **reading: Any) -> Quality:
    """Agreement, ratings still needed for a correlation of `target`, raters to look at, and the truth so far.

    `ratings`, `scale` and `reading` are those of `check`; `unrated` counts items of the study that nobody has rated
    yet, which need ratings too. While there is too little to compare, `too_early` says so and nothing is fused.
    """
    table = rating_table(ratings, scale, **reading)
    if early := early_quality(table):
        return early
    with warnings.catch_warnings():
        # What warnings say is among the alerts, and a fit that stopped early is shown for what it is: preliminary.
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        overview = check(table)
        result = fuse(table, categories="none")
        assert isinstance(result, Fusion)  # numbers alone were read
        planned = None if table.is_series else plan(result)
    return quality_of(table, Pieces(overview, result.fused, result.described, planned), target, unrated)
