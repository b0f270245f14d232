"""What a browser may send: one class per kind of event, every field with its bounds; and whether it fits the study.

Decoding refuses what no study takes; `Judge` knows the study: right slot, right dimensions, answers that were offered.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from unisono.collect.store import log, reading
from unisono.collect.store.assign import Slot
from unisono.collect.studies import Catalogue, Item, Study, checks, duration
from unisono.collect.studies.schema import LEAST, PLACES, Value

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
Text = Annotated[str, Meta(max_length=checks.LONGEST_TEXT)]
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


# Seconds by which players, headers and clocks may differ.
_GRACE = 0.5
_CODES = (0, 1, 2, 3, 8, 9, 10, 11)


class Judge:
    """Turns events into log entries and finds what is wrong with them."""

    def __init__(self, study: Study, catalogue: Catalogue) -> None:
        self._study = study
        self._catalogue = catalogue
        self._asked = {dimension.name: dimension for dimension in study.asked}
        self._sliders = {name for name, asked in self._asked.items() if asked.kind == "slider"}
        self._optional = {name for name, asked in self._asked.items() if asked.kind == "text" and not asked.required}

    def entries(self, batch: Batch, now: int) -> list[log.Entry]:
        """The events as the log keeps them, their moments put on our clock."""
        shift = now - batch.now if batch.now is not None else 0
        return [self.entry(event, max(0, min(now, event.at + shift))) for event in batch.events]

    def entry(self, event: Event, sent_at: int) -> log.Entry:
        """The event as the log keeps it."""
        payload = msgspec.json.encode(event).decode()
        slot = getattr(event, "slot", None)
        completes = isinstance(event, Rating | Pass)
        kind = str(event.__struct_config__.tag)
        claim = reading.Claim(event.attempt, event.samples, event.seconds) if isinstance(event, Pass) else None
        note = event.name if isinstance(event, Note) else ""
        fault = partial(self.fault, event)
        known = log.Entry(event.seq, kind, sent_at, payload, slot, completes, fault, claim)
        return known._replace(breaks=note == "broken", tries_again=note == "again")

    def dimensions(self, slot: Slot) -> list[str]:
        """What is asked in this slot: checks ask for all ratings at once, traces for one pass at a time."""
        if slot.role == "check":
            return self._study.answered
        if self._study.mode != "trace":
            return list(self._asked)
        return self._study.passes[slot.part]

    def fault(self, event: Event, slot: Slot | None) -> str | None:
        """What is wrong with the event, or None."""
        if isinstance(event, Practice):
            return self._not_offered(event.values.items())
        if isinstance(event, Consent):
            # Marks that nobody sees are no answer either.
            is_empty = not any(sign.isalnum() for sign in event.code)
            return "the code is missing" if self._study.raters.ask_code and is_empty else None
        if isinstance(event, Answers):
            return checks.questionnaire_fault(self._study, event.when, event.values)
        if isinstance(event, Note) and event.name == "broken":
            return None if slot is not None and self._has_file(slot) else "only media can be broken"
        if slot is None:
            return None
        if isinstance(event, Rating):
            return self._wrong_rating(event, slot)
        if isinstance(event, Samples):
            return self._wrong_samples(event, slot)
        if isinstance(event, Pass):
            return self._wrong_pass(event, slot)
        return None

    def _has_file(self, slot: Slot) -> bool:
        """Whether there is anything on this page that has to be loaded. What has left the study meanwhile had."""
        if slot.role == "check":
            return False
        item = self._catalogue.find(slot.item)
        return item is None or item.has_file

    def _is_trace(self, slot: Slot) -> bool:
        return self._study.mode == "trace" and slot.role != "check"

    def _wrong_rating(self, event: Rating, slot: Slot) -> str | None:
        if self._is_trace(slot):
            return "this item is traced, not rated"
        asked = set(self.dimensions(slot))
        if not asked - self._optional <= set(event.values) <= asked:
            return "every dimension needs exactly one value"
        if fault := self._wrong_order(event, slot):
            return fault
        for name in self._study.rated:
            if event.values[name] == event.values.get(name + LEAST):
                return f"{name} cannot be most and least of the same one"
        return self._not_offered(event.values.items()) or self._wrong_start(event.start) or self._unplayed(event, slot)

    def _wrong_order(self, event: Rating, slot: Slot) -> str | None:
        """Of two, which one was on the left; of more, all of them, each once."""
        n = self._study.compare.together if self._study.mode == "compare" and slot.role != "check" else 0
        if (event.left is UNSET) == (n == 2):
            return "only comparisons have a left side, and all of them"
        if n <= 2:
            return None if event.order is UNSET else "only comparisons of more than two have an order"
        given = () if event.order is UNSET else event.order
        return None if sorted(given) == sorted(PLACES[:n]) else "the order has to name every item once"

    def _unplayed(self, event: Rating, slot: Slot) -> str | None:
        """What plays is judged after it has played, at its own speed."""
        item = self._catalogue.find(slot.item) if slot.role != "check" else None
        sides = () if item is None else _as_shown(item.together, event) or (item,)
        playing = [one for one in sides if one.media in ("audio", "video")]
        share = self._study.design.play_share
        if not playing or share == 0:
            return None
        if len(event.played) != len(playing):
            return "it was not played"
        for one, (played, length) in zip(playing, event.played, strict=True):
            if played < share * (one.seconds or length) - _GRACE:
                return "not enough of it was played"
            if played > event.shown_ms / 1000 + _GRACE:
                return "it was played faster than it is"
        return None

    def _wrong_pass(self, event: Pass, slot: Slot) -> str | None:
        if not self._is_trace(slot):
            return "this item is rated, not traced"
        length = self._length(slot)
        if not duration.shortest(length) <= event.seconds <= duration.longest(length):
            return "the recording is not that long"
        return self._wrong_start(event.start)

    def _length(self, slot: Slot) -> float | None:
        item = self._catalogue.find(slot.item)
        return item.seconds if item else None

    def _wrong_samples(self, event: Samples, slot: Slot) -> str | None:
        if not self._is_trace(slot):
            return "this item is rated, not traced"
        names = self.dimensions(slot)
        last = 1000 * duration.longest(self._length(slot))
        for row in event.rows:
            if len(row) != 3 + len(names):
                return "a sample has the wrong number of values"
            if not _has_time(row[0], row[1], row[2], last):
                return "a sample has no valid time or code"
            if fault := self._not_offered(zip(names, row[3:], strict=True)):
                return fault
        return None

    def _wrong_start(self, start: dict[str, float]) -> str | None:
        if not set(start) <= self._sliders:
            return "only sliders start somewhere"
        return self._not_offered(start.items())

    def _not_offered(self, values: Iterable[tuple[str, Value | None]]) -> str | None:
        for name, value in values:
            asked = self._asked.get(name)
            if asked is None:
                return "there is no such dimension"
            if value is not None and (fault := checks.reply_fault(asked, value) or checks.step_fault(asked, value)):
                return fault
        return None


def _has_time(media: float | None, page: float | None, code: float | None, last: float) -> bool:
    if media is None or page is None:
        return False
    return 0 <= media <= last and 0 <= page <= 1e12 and code in _CODES


def _as_shown(together: tuple[Item, ...], event: Rating) -> tuple[Item, ...]:
    """The items of a set from left to right."""
    if event.order is not UNSET:
        return tuple(together[PLACES.index(name)] for name in event.order if PLACES.index(name) < len(together))
    return together[::-1] if event.left == "second" else together
