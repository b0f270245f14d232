"""What the time axis of a fused series means, in words: how late annotators are, and what that rests on.

Ratings show only differences between delays. What fixes their mean is the `delay_convention` in a fuser's notes.
"""

from __future__ import annotations

from typing import Any

RELATIVE = "Ratings show only how late annotators are relative to each other."
WHY = {
    "earliest": "By convention the earliest annotator reacts after 0.2 s, to the nearest frame, so they are {lag} s "
    "late on average, "
    "and the truth is placed that much earlier. Set the mean reaction time with --lag SECONDS.",
    "given": "Their mean delay was given as {lag} s, and the truth is placed that much earlier.",
    "features": "The features fix the rest: annotators are {lag} s late on average.",
    "gold": "The known frames fix the rest: annotators are {lag} s late on average.",
    "none": "This model does not place the truth: it is as late as its filters leave it, {lag} s on average.",
}
UNMOVED = "The average leaves the traces where they are: it is as late as its annotators are on average."
ALIGNED = "Traces were moved onto each other; their mean is as late as the median annotator"


def delay_words(notes: dict[str, Any]) -> str | None:
    """A sentence or two about delays, from the notes of a fuser; None for ratings of items."""
    convention = notes.get("delay_convention")
    if convention is None:
        return None
    if convention == "aligned":
        given = notes.get("delay_given")
        return f"{ALIGNED}, less {given:g} s as given." if given else f"{ALIGNED}."
    if notes["mean_delay"] is None:
        return UNMOVED
    return f"{RELATIVE} {WHY[convention].format(lag=format(notes['mean_delay'], 'g'))}"
