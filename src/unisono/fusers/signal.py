"""What the annotators of a set of ratings have in common, before any model."""

from __future__ import annotations

from unisono.data import Ratings
from unisono.maths.raters.signal import SharedSignal, shared_signal

__all__ = ["SharedSignal", "crowd_signal"]


def crowd_signal(ratings: Ratings) -> SharedSignal | None:
    """The share of variance that annotators have in common; None for traces, whose frames are no independent items."""
    return None if ratings.is_series else shared_signal(ratings.value, ratings.item_of, ratings.annotator_of)
