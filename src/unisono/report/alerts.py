"""Whether the crowd as a whole has anything in common, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unisono.data.checks import Alert
from unisono.fusers.signal import SharedSignal

NO_SIGNAL = "no-shared-signal"  # the kind of alert


def signal_alerts(dimensions: Sequence[str], signal: SharedSignal | None) -> list[Alert]:
    """One alert for each dimension on which annotators do not clearly agree more than chance would let them.

    Nothing is said of dimensions with too few items to tell, nor where there is no signal to speak of (traces).
    """
    if signal is None:
        return []
    told = np.isfinite(signal.share) & np.isfinite(signal.error)
    return [
        Alert(NO_SIGNAL, "warning", _words(name, float(share), float(error)), (name,))
        for name, share, error, unclear in zip(
            dimensions, signal.share, signal.error, told & ~signal.clear, strict=True
        )
        if unclear
    ]


def _words(dimension: str, share: float, error: float) -> str:
    return (
        f"Annotators do not clearly agree on {dimension}: they share {max(share, 0.0):.2f} of the variance "
        f"of an answer, with a standard error of {error:.2f}; it may well be nothing. If so, the fused {dimension} is "
        "noise, and nothing can be said about single annotators."
    )
