"""Claims and their verdicts, computed from numbers.

A claim falls into parts (dimensions, metrics). It holds if every part does, it does not hold if one part fails, and it
cannot be tested where there is nothing to measure. Two tests are used: over simulated data sets a paired t-test of the
difference between two models (each data set is one observation), on one real data set the paper's bootstrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from unisono.maths.significance import SIGNIFICANT, paired_t

Verdict = Literal["holds", "does not hold", "cannot be tested"]
Direction = Literal["higher", "lower", "similar"]
ALPHA = 1 - SIGNIFICANT
SIMILAR = 0.1  # a difference up to which two scores are called similar, if it is not significant either
OVER_SETS = "paired t-test over simulated data sets, p < .05 in every part"
OVER_ITEMS = "1000 bootstrap resamples of the items, better in at least 95 % of them, in most of the splits into folds"


class ClaimPart(NamedTuple):
    """One thing that a claim says, and whether it was found."""

    what: str  # "CCC of dim1"
    found: str  # the figures
    holds: bool


class Claim(NamedTuple):
    """What the paper says, what was measured, how it was judged, and the verdict."""

    text: str
    where: str  # in the paper
    measured: str
    test: str
    verdict: Verdict
    reason: str  # why it cannot be tested, or which parts failed

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


def judge(text: str, where: str, test: str, parts: Sequence[ClaimPart], aside: str = "") -> Claim:
    """The verdict that follows from the parts; `aside` is said behind the figures."""
    if not parts:
        return untestable(text, where, "Nothing was measured.")
    failed = [part for part in parts if not part.holds]
    measured = "; ".join(f"{part.what}: {part.found}" for part in parts) + (f". {aside}" if aside else "")
    reason = f"Not so for {', '.join(part.what for part in failed)}." if failed else ""
    return Claim(text, where, measured, test, "does not hold" if failed else "holds", reason)


def untestable(text: str, where: str, reason: str, measured: str = "–") -> Claim:
    """A claim for which there is no data, or which the data were made to satisfy."""
    return Claim(text, where, measured, "–", "cannot be tested", reason)


def over_sets(what: str, first: Sequence[float], second: Sequence[float], direction: Direction = "higher") -> ClaimPart:
    """Two models on the same simulated data sets: is the first significantly higher (lower), or is there no telling?"""
    a, b = np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)
    tested = paired_t(a - b)
    found = f"{np.nanmean(a):.3f} against {np.nanmean(b):.3f}"
    if tested.folds < 2:
        return ClaimPart(what, f"{found} (one data set, no test)", _points(tested.mean, direction))
    significant = tested.p < ALPHA
    found += f" (p = {tested.p:.2g}, first ahead in {tested.wins} of {tested.folds})"
    if direction == "similar":
        return ClaimPart(what, found, not significant and abs(tested.mean) < SIMILAR)
    return ClaimPart(what, found, significant and _points(tested.mean, direction))


def over_splits(
    what: str, difference: Sequence[float], share: Sequence[float], direction: Direction = "higher"
) -> ClaimPart:
    """Two models on one real data set, split into folds in several ways; `share` is the first's in the bootstrap."""
    shares = np.array(share, dtype=np.float64)
    # Ties count for neither, so a low share speaks for the second.
    sure_higher, sure_lower = int((shares >= SIGNIFICANT).sum()), int((shares <= ALPHA).sum())
    mean, most = float(np.mean(difference)), len(shares) / 2
    near = max(sure_higher, sure_lower) <= most and abs(mean) < SIMILAR
    sure = {"higher": sure_higher > most, "lower": sure_lower > most, "similar": near}
    found = f"{mean:+.3f}, significantly higher in {sure_higher}, lower in {sure_lower} of {len(shares)} splits"
    return ClaimPart(what, found, sure[direction] and _points(mean, direction))


def _points(mean: float, direction: Direction) -> bool:
    return mean > 0 if direction == "higher" else mean < 0 if direction == "lower" else True
