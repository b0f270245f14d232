"""What is unusual about the annotators of traces, as probabilities: one dimension, after the sweeps.

    flipped     follows the truth upside down: the sign of the row
    unrelated   follows no truth: gain 0 and the spread of everybody's traces, against the best row of either sign
    flat        a recording of theirs is a trace that hardly moves
    late        a recording of theirs begins with a trace that waits long after others have moved; missing is no waiting
    drifting    errors go steadily up or down inside recordings, further than those of most
Flat and late are shares of recordings that were seen to be so, shrunk to none by a few imaginary ones. The others weigh
the evidence, in independent frames, against a prior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series import trace_parts, trace_priors, tracer_climb, tracer_rows
from unisono.maths.series.trace_frames import Hands, Placed, Shapes, trace_shapes, trends

KINDS = ("flipped", "unrelated", "flat", "late", "drifting")
LEAST_TREND = 0.02  # choice: share of the variance of errors that is a trend: nobody's are usually freer of it


class Seen(NamedTuple):
    """What single traces of one dimension look like, and what their errors do."""

    shapes: Shapes
    trends: list[np.ndarray]  # K times: share of the errors that is a trend, by recording


def look_at_traces(parts: trace_parts.Parts, hands: tuple[Hands, ...]) -> list[Seen]:
    """One look at all frames, for the diagnosis of every dimension."""
    shapes = parts.map(trace_shapes, tuple(one.unit for one in hands))
    errors = parts.map(trends, hands)
    found = []
    for d, one in enumerate(hands):
        own: list[list[float]] = [[] for _ in one.flat]
        for k, share in (pair for part in errors for pair in part[d]):
            own[k].append(share)
        together = Shapes(*(np.concatenate([part[d][i] for part in shapes]) for i in range(len(Shapes._fields))))
        found.append(Seen(together, [np.array(shares) for shares in own]))
    return found


def diagnose_tracers(
    scales: trace_parts.TwoScales, place: Placed, kappa: float, now: tracer_rows.Tracers, rate: float, seen: Seen
) -> np.ndarray:
    """(K, 5) probabilities in the order of KINDS; NaN for who gave no ratings."""
    found = np.zeros((len(scales.present), len(KINDS)))
    nothing = unrelated(scales, place, kappa, now)
    found[:, 0] = (1.0 - nothing) / (1.0 + np.exp(np.clip(now.odds, -700, 700)))
    found[:, 1] = nothing
    found[:, 2] = share_of_recordings(scales, seen.shapes.flat)
    found[:, 3] = share_of_recordings(scales, late_starts(seen.shapes, rate))
    found[:, 4] = drifting(seen.trends)
    found[scales.flat, 0] = found[scales.flat, 1] = found[scales.flat, 4] = 0.0
    return np.where(scales.present[:, None], found, np.nan)


def turned_diagnosis(found: np.ndarray, turned: np.ndarray) -> np.ndarray:
    """The probabilities where gold turned the truth round. found: (K, D, 5); turned: (D,) bool."""
    out, at = found.copy(), KINDS.index("flipped")
    follows = (1.0 - found[:, :, KINDS.index("unrelated")]) * (1.0 - found[:, :, KINDS.index("flat")])
    out[:, turned, at] = np.maximum(follows - found[:, :, at], 0.0)[:, turned]
    return out


# ---- what they follow


def unrelated(scales: trace_parts.TwoScales, place: Placed, kappa: float, now: tracer_rows.Tracers) -> np.ndarray:
    """(K,) probability of following nothing."""  # eq. S45
    out, sums = np.zeros(len(scales.present)), tracer_rows.Sums(scales, place, now)
    for k in np.flatnonzero(scales.moving).tolist():
        out[k] = 1.0 - tracer_climb.looked_at(now, k, sums, kappa).related
        sums.replace(k, now)
    return out


# ---- what a trace looks like


def late_starts(shape: Shapes, rate: float) -> np.ndarray:
    """(J,) bool: begins to move LATE seconds, and a tenth of the recording, after the median of the others did."""
    after = np.where(np.isnan(shape.others), -np.inf, shape.waits - shape.others)
    return np.asarray((shape.flat == 0) & (after > np.maximum(trace_priors.LATE * rate, 0.1 * shape.length)))


def share_of_recordings(scales: trace_parts.TwoScales, seen: np.ndarray) -> np.ndarray:
    """(K,) share of the annotator's recordings where `seen` (J,) is true."""
    K = len(scales.present)
    n = np.bincount(scales.annotator_of, minlength=K)
    count = np.bincount(scales.annotator_of, seen, minlength=K)
    imagined, of = trace_priors.SEEN_BEFORE
    return np.asarray((count + imagined) / (n + of))


# ---- what their errors do


def drifting(shares: list[np.ndarray]) -> np.ndarray:
    """(K,) probability that trends of the errors come from a population with DRIFT times the usual variance."""
    rated = [trend.mean() for trend in shares if len(trend)]
    if not rated:
        return np.zeros(len(shares))
    usual = max(float(np.median(rated)), LEAST_TREND)
    gain = [
        np.sum(0.5 * t / usual * (1.0 - 1.0 / trace_priors.DRIFT) - 0.5 * np.log(trace_priors.DRIFT)) for t in shares
    ]
    odds = np.array(gain) + np.log(trace_priors.UNRELATED) - np.log1p(-trace_priors.UNRELATED)
    return np.where([len(t) > 0 for t in shares], 1.0 / (1.0 + np.exp(np.clip(-odds, -700, 700))), 0.0)
