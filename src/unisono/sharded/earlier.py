"""An earlier fit to start from: its annotators among those of the shards, and what it knows as prior."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.fusers import Fuser, Joint, revive
from unisono.fusers.copies import Copies
from unisono.fusers.items.warm_start import PriorFit, absent_annotators, prior_fit_of
from unisono.io.saved import load_fit
from unisono.io.shards import ShardFolder
from unisono.sharded.look import Look
from unisono.sharded.steps import Counted


def prior_fit(start: Any, fuser: Joint) -> PriorFit | None:
    """What an earlier fit (a fuser, or the directory of a saved one) knows, if this one can start from it."""
    if start is None:
        return None
    earlier = start if isinstance(start, Fuser) else revive(load_fit(Path(start)))
    if not isinstance(earlier, Joint):
        raise DataError(f"Shards start from an earlier fit of the model 'auto' or 'joint', not of '{earlier.kind}'.")
    fuser.start_from(earlier)
    return prior_fit_of(earlier)


class Everybody(NamedTuple):
    """Those who rated in the shards, and those of the earlier fit who did not, after them."""

    folder: ShardFolder
    look: Look
    copies: Copies
    counted: Counted


def with_earlier(everybody: Everybody, earlier: PriorFit | None) -> Everybody:
    """Nobody is forgotten; the scale is as wide as that of the earlier fit."""
    if earlier is None:
        return everybody
    folder, look, copies, counted = everybody
    absent = absent_annotators(folder.annotators, folder.dimensions, folder.source, earlier)
    more = len(absent)
    silent = np.arange(len(copies.voice), len(copies.voice) + more)
    return Everybody(
        replace(folder, annotators=(*folder.annotators, *absent)),
        _with_silent(look, more),
        replace(
            copies,
            voice=np.concatenate([copies.voice, silent]),
            probability=np.concatenate([copies.probability, np.zeros(more)]),
        ),
        counted._replace(
            sources=[source._replace(silent=more) for source in counted.sources],
            look=_with_silent(counted.look, more),
            annotators=(*counted.annotators, *absent),
            # A batch that shows less of the scale than the one before was given on the same one.
            scale=counted.scale.joined(earlier.scale).widened(look.span, folder.dimensions, folder.source),
        ),
    )


def _with_silent(look: Look, more: int) -> Look:
    """The look with so many annotators after the others who answered nothing."""

    def extended(part: np.ndarray, value: float) -> np.ndarray:
        return np.concatenate([part, np.full((more, *part.shape[1:]), value, dtype=part.dtype)])

    return look._replace(
        given=extended(look.given, 0),
        rated=extended(look.rated, 0),
        answered=extended(look.answered, 0),
        low=extended(look.low, np.inf),
        high=extended(look.high, -np.inf),
        tied=extended(look.tied, -1),
    )
