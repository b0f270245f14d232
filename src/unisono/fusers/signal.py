"""What annotators of a set of ratings have in common, and who they are, before any model; computed once per ratings.

Ratings never change, so what is found about them is kept for as long as they are.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from unisono.data import Ratings
from unisono.maths.items.levels import standardised
from unisono.maths.raters.diagnosis import Diagnosis, diagnose
from unisono.maths.raters.signal import SharedSignal, shared_signal

__all__ = ["SharedSignal", "crowd_diagnosis", "crowd_signal", "item_signal"]

_signals: WeakKeyDictionary[Ratings, SharedSignal] = WeakKeyDictionary()
_diagnoses: WeakKeyDictionary[Ratings, Diagnosis] = WeakKeyDictionary()


def crowd_signal(ratings: Ratings) -> SharedSignal | None:
    """The share of variance that annotators have in common; None for traces, whose frames are no independent items."""
    return None if ratings.is_series else item_signal(ratings)


def item_signal(ratings: Ratings) -> SharedSignal:
    """The same for ratings of items."""
    if ratings not in _signals:
        _signals[ratings] = shared_signal(
            standardised(ratings.value, ratings.annotator_of, ratings.K), ratings.item_of, ratings.annotator_of
        )
    return _signals[ratings]


def crowd_diagnosis(ratings: Ratings) -> Diagnosis:
    """Probabilities of spammers and styles, of annotators of items."""
    if ratings not in _diagnoses:
        signal = item_signal(ratings)
        _diagnoses[ratings] = diagnose(ratings.value, ratings.item_of, ratings.annotator_of, ratings.K, signal)
    return _diagnoses[ratings]
