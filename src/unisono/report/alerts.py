"""Whether the crowd as a whole has anything in common, in words."""

from __future__ import annotations

from collections.abc import Sequence

from unisono.data import Ratings
from unisono.data.checks import Alert, check_ratings
from unisono.data.labels import listed
from unisono.fusers.copies import count_copies, crowd_copies
from unisono.fusers.signal import SharedSignal, crowd_signal
from unisono.report.copies import COPIES, WILL_COUNT_ONCE, copy_alerts, how_counted
from unisono.words import Counting

NO_SIGNAL = "no-shared-signal"  # the kind of alert
TOLD_AT_ONCE = (NO_SIGNAL, COPIES, "wild-values")  # kinds that a fusion warns of, beside listing them


def rating_alerts(ratings: Ratings, copies: Counting | None = None) -> list[Alert]:
    """What in the ratings deserves a look, the gravest first; `copies` says how a fusion counted them.

    Copies agree with each other whatever they answer: what annotators share is told without them.
    """
    counted = count_copies(ratings, copies or "merge")
    words = WILL_COUNT_ONCE
    if copies is not None:
        words = how_counted(None if copies == "keep" else counted is not ratings)
    return [
        *signal_alerts(ratings.dimensions, crowd_signal(counted)),
        *copy_alerts(crowd_copies(ratings), words),
        *check_ratings(ratings),
    ]


def unclear_dimensions(dimensions: Sequence[str], signal: SharedSignal | None) -> tuple[str, ...]:
    """The dimensions of those alerts."""
    return tuple(alert.labels[0] for alert in signal_alerts(dimensions, signal))


def nothing_shared(unclear: Sequence[str], dimensions: Sequence[str], so: str) -> str:
    """Results that rest on a shared signal, where there may be none: on what, and what that means for them."""
    where = "any dimension" if len(unclear) == len(dimensions) > 1 else listed(unclear, len(unclear))
    return f"Annotators do not clearly agree on {where}: {so}"


def signal_alerts(dimensions: Sequence[str], signal: SharedSignal | None) -> list[Alert]:
    """One alert for each dimension on which annotators do not clearly agree more than chance would let them.

    Nothing is said of dimensions with too few items to tell, nor where there is no signal to speak of (traces).
    """
    if signal is None:
        return []
    return [
        Alert(NO_SIGNAL, "warning", _words(name, float(share), float(error)), (name,))
        for name, share, error, unclear in zip(
            dimensions, signal.share, signal.error, signal.told & ~signal.clear, strict=True
        )
        if unclear
    ]


def _words(dimension: str, share: float, error: float) -> str:
    return (
        f"Annotators do not clearly agree on {dimension}: they share {max(share, 0.0):.2f} of the variance "
        f"of an answer, and answers that share nothing would show {error:.2f} by chance; it may well be nothing. "
        f"If so, the fused {dimension} is noise, and nothing can be said about single annotators."
    )
