"""Copies in words: who looks like one opinion under several names, how that shows, and how they were counted."""

from __future__ import annotations

from unisono.data.checks import Alert
from unisono.data.labels import listed
from unisono.fusers.copies import Copies, CopySet

COPIES = "copies"  # the kind of alert
NAMED = 8  # annotators of one set that are named
COUNTED_ONCE = "They count as one opinion; --copies keep (copies='keep' in Python) counts each."
COUNTED_EACH = "Each of them counts, as was asked for."
ALONE = "Nobody else rated these items, so that each of them counts: the result rests on one opinion."
WILL_COUNT_ONCE = "`unisono fuse` counts them as one opinion; the agreement figures count each."


def copy_alerts(copies: Copies, counted: str = WILL_COUNT_ONCE) -> list[Alert]:
    """One alert for each set of copies; `counted` says what became of them."""
    return [Alert(COPIES, "warning", f"{_words(one)} {counted}", one.annotators) for one in copies.sets]


def how_counted(merged: bool | None) -> str:
    """What became of the copies in a fusion: whether they could count as one opinion; None if they were not to."""
    if merged is None:
        return COUNTED_EACH
    return COUNTED_ONCE if merged else ALONE


def _words(one: CopySet) -> str:
    names = len(one.annotators)
    most_alike = "Two of them" if names > 2 else "They"
    so = (
        f"Annotators {listed(one.annotators, NAMED)} look like one opinion under {names} names "
        f"(probability {one.probability:.3f})."
    )
    if one.traces:
        return (
            f"{so} What the others do not explain of their traces correlates {one.equal:.3f} over the {one.answers:,} "
            f"frames that both rated; {one.by_chance:.2f} is usual here."
        )
    return (
        f"{so} {most_alike} gave the same answer to {_percent(one.equal)} of the "
        f"{one.answers:,} questions that both answered; {_percent(one.by_chance)} would be chance."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
