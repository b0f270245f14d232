"""Whether an event fits the study: right slot, right dimensions, answers that were offered."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import msgspec
from msgspec import UNSET

from unisono.collect.app import messages
from unisono.collect.store.assign import Slot
from unisono.collect.store.log import Entry
from unisono.collect.store.reading import Claim
from unisono.collect.studies import Catalogue, Item, Study
from unisono.collect.studies.choices import questionnaire_fault, reply_fault, step_fault
from unisono.collect.studies.duration import longest, shortest
from unisono.collect.studies.schema import LEAST, PLACES, Value

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

    def entries(self, batch: messages.Batch, now: int) -> list[Entry]:
        """The events as the log keeps them, their moments put on our clock."""
        shift = now - batch.now if batch.now is not None else 0
        return [self.entry(event, max(0, min(now, event.at + shift))) for event in batch.events]

    def entry(self, event: messages.Event, sent_at: int) -> Entry:
        """The event as the log keeps it."""
        payload = msgspec.json.encode(event).decode()
        slot = getattr(event, "slot", None)
        completes = isinstance(event, messages.Rating | messages.Pass)
        kind = str(event.__struct_config__.tag)
        claim = Claim(event.attempt, event.samples, event.seconds) if isinstance(event, messages.Pass) else None
        note = event.name if isinstance(event, messages.Note) else ""
        fault = partial(self.fault, event)
        known = Entry(event.seq, kind, sent_at, payload, slot, completes, fault, claim)
        return known._replace(breaks=note == "broken", tries_again=note == "again")

    def dimensions(self, slot: Slot) -> list[str]:
        """What is asked in this slot: checks ask for all ratings at once, traces for one pass at a time."""
        if slot.role == "check":
            return self._study.answered
        if self._study.mode != "trace":
            return list(self._asked)
        return self._study.passes[slot.part]

    def fault(self, event: messages.Event, slot: Slot | None) -> str | None:
        """What is wrong with the event, or None."""
        if isinstance(event, messages.Practice):
            return self._not_offered(event.values.items())
        if isinstance(event, messages.Consent):
            # Marks that nobody sees are no answer either.
            is_empty = not any(sign.isalnum() for sign in event.code)
            return "the code is missing" if self._study.raters.ask_code and is_empty else None
        if isinstance(event, messages.Answers):
            return questionnaire_fault(self._study, event.when, event.values)
        if isinstance(event, messages.Note) and event.name == "broken":
            return None if slot is not None and self._has_file(slot) else "only media can be broken"
        if slot is None:
            return None
        if isinstance(event, messages.Rating):
            return self._wrong_rating(event, slot)
        if isinstance(event, messages.Samples):
            return self._wrong_samples(event, slot)
        if isinstance(event, messages.Pass):
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

    def _wrong_rating(self, event: messages.Rating, slot: Slot) -> str | None:
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

    def _wrong_order(self, event: messages.Rating, slot: Slot) -> str | None:
        """Of two, which one was on the left; of more, all of them, each once."""
        n = self._study.compare.together if self._study.mode == "compare" and slot.role != "check" else 0
        if (event.left is UNSET) == (n == 2):
            return "only comparisons have a left side, and all of them"
        if n <= 2:
            return None if event.order is UNSET else "only comparisons of more than two have an order"
        given = () if event.order is UNSET else event.order
        return None if sorted(given) == sorted(PLACES[:n]) else "the order has to name every item once"

    def _unplayed(self, event: messages.Rating, slot: Slot) -> str | None:
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

    def _wrong_pass(self, event: messages.Pass, slot: Slot) -> str | None:
        if not self._is_trace(slot):
            return "this item is rated, not traced"
        length = self._length(slot)
        if not shortest(length) <= event.seconds <= longest(length):
            return "the recording is not that long"
        return self._wrong_start(event.start)

    def _length(self, slot: Slot) -> float | None:
        item = self._catalogue.find(slot.item)
        return item.seconds if item else None

    def _wrong_samples(self, event: messages.Samples, slot: Slot) -> str | None:
        if not self._is_trace(slot):
            return "this item is rated, not traced"
        names = self.dimensions(slot)
        last = 1000 * longest(self._length(slot))
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
            if value is not None and (fault := reply_fault(asked, value) or step_fault(asked, value)):
                return fault
        return None


def _has_time(media: float | None, page: float | None, code: float | None, last: float) -> bool:
    if media is None or page is None:
        return False
    return 0 <= media <= last and 0 <= page <= 1e12 and code in _CODES


def _as_shown(together: tuple[Item, ...], event: messages.Rating) -> tuple[Item, ...]:
    """The items of a set from left to right."""
    if event.order is not UNSET:
        return tuple(together[PLACES.index(name)] for name in event.order if PLACES.index(name) < len(together))
    return together[::-1] if event.left == "second" else together
