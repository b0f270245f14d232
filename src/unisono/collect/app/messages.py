"""What a browser may send: one class per kind of event, every field with its bounds.

Decoding refuses what does not fit; whether values fit the study (its scales, its items) is decided in `validate`.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from unisono.collect.studies.choices import LONGEST_TEXT

Seq = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Moment = Annotated[int, Meta(ge=0, le=2**52)]
Id = Annotated[int, Meta(ge=1, le=2**52)]
Name = Annotated[str, Meta(min_length=1, max_length=40)]
Small = Annotated[int, Meta(ge=0, le=100_000)]
Milliseconds = Annotated[float, Meta(ge=0, le=1e9)]
Seconds = Annotated[float, Meta(ge=0, le=100_000)]
Pixels = Annotated[float, Meta(ge=0, le=100_000)]
Place = Literal["first", "second", "third", "fourth", "fifth", "sixth"]
Source = Literal["mouse", "key", "touch", "pen", "other"]
Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]
# One answer per dimension: a number, or words.
Values = Annotated[dict[Name, float | Text], Meta(min_length=1, max_length=40)]
# Where the handles stood before they were touched.
Starts = Annotated[dict[Name, float], Meta(max_length=40)]

# One row: media ms, page ms, code, then a value per dimension of the pass, null until touched.
# code: 0 tick, 1 mouse, 2 key, 3 touch; 8 is added while paused.
Sample = Annotated[list[float | None], Meta(min_length=4, max_length=8)]


class Sent(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """What every event has: its number in the tab, and the rater's clock."""

    seq: Seq
    at: Moment


class Consent(Sent, frozen=True, tag="consent"):
    """The rater agreed; with the code or name that the study asked for."""

    code: Annotated[str, Meta(max_length=200)] = ""


class Decline(Sent, frozen=True, tag="decline"):
    """The rater did not agree."""


class Step(Sent, frozen=True, tag="step"):
    """A page without ratings was left behind."""

    name: Literal["instructions", "play", "practice", "break"]


class Answers(Sent, frozen=True, tag="answers"):
    """A page of the questionnaire. A second one for the same page is a correction."""

    when: Literal["before", "after"]
    values: Annotated[dict[Name, float | Text], Meta(max_length=40)] = {}


class Rating(Sent, frozen=True, tag="rating"):
    """All dimensions of one slot. A second one for the same slot is a correction."""

    slot: Id
    values: Values
    start: Starts
    shown_ms: Milliseconds
    sources: Annotated[dict[Name, Source], Meta(max_length=40)] = {}
    # Comparisons: which item of the pair was on the left; of more, all from left to right.
    left: Literal["first", "second"] | UnsetType = UNSET
    order: Annotated[list[Place], Meta(min_length=3, max_length=6)] | UnsetType = UNSET
    # Sounds and films: seconds that were played, each stretch once, and seconds in all; of several, from left to right.
    played: Annotated[list[tuple[Seconds, Seconds]], Meta(max_length=6)] = []
    # How often they were started, how often and for how long they stood still because nothing had arrived.
    plays: Small = 0
    stalls: Small = 0
    stalled_ms: Milliseconds = 0.0


class Samples(Sent, frozen=True, tag="samples"):
    """A piece of a trace."""

    slot: Id
    attempt: Name
    first: Annotated[int, Meta(ge=0, le=10_000_000)]
    rows: Annotated[list[Sample], Meta(min_length=1, max_length=1000)]


class Pass(Sent, frozen=True, tag="pass"):
    """A trace came to its end: so many samples, so many seconds of media."""

    slot: Id
    attempt: Name
    samples: Annotated[int, Meta(ge=1, le=10_000_000)]
    seconds: Annotated[float, Meta(gt=0, le=100_000)]
    start: Starts
    # What moved the handle first.
    by: Literal["", "mouse", "key", "touch", "pen", "other"] = ""


class Practice(Sent, frozen=True, tag="practice"):
    """A rating of a practice item; a trace that was practised has no values."""

    index: Small
    values: Annotated[dict[Name, float | Text], Meta(max_length=40)] = {}


class Note(Sent, frozen=True, tag="note"):
    """Something worth knowing when a trace looks odd."""

    name: Literal["pause", "play", "blur", "focus", "stall", "resume", "tab", "restart", "broken", "again", "outside"]
    slot: Id | None = None
    media_ms: Milliseconds = 0.0
    # How long a stall was.
    lasted_ms: Milliseconds = 0.0


class Device(Sent, frozen=True, tag="device"):
    """Where the page is shown: width and height of screen and window, what the browser calls itself."""

    screen: tuple[Pixels, Pixels]
    window: tuple[Pixels, Pixels]
    ratio: Annotated[float, Meta(ge=0, le=100)]
    touch: bool
    agent: Annotated[str, Meta(max_length=300)]


class Comment(Sent, frozen=True, tag="comment"):
    """What the rater wants to say at the end."""

    text: Text


class Finish(Sent, frozen=True, tag="finish"):
    """The rater is done; accepted only when every slot is."""


Event = Consent | Decline | Step | Answers | Rating | Samples | Pass | Practice | Note | Device | Comment | Finish


class Batch(Struct, frozen=True, forbid_unknown_fields=True):
    """What one request carries."""

    tab: Annotated[str, Meta(pattern="^[0-9a-z]{8,32}$")]
    events: Annotated[list[Event], Meta(min_length=1, max_length=200)]
    # The rater's clock as this is sent: with it the age of an event is known even where the clock is wrong.
    now: Moment | None = None


_batch = msgspec.json.Decoder(Batch)


def decode_batch(body: bytes) -> Batch:
    """The batch in a request's body; msgspec.MsgspecError when it is none."""
    return _batch.decode(body)
