"""How long pages took, as browsers claim and as far as the server can confirm.

Pages come one after another, so a page cannot have been looked at for longer than since the page before was answered.
Answers wait in the browser while the connection is down, and then arrive together: of such a delivery the server knows
how long all of it can have taken, and shares that among its pages as they claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from statistics import median
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection

from unisono.collect.store import reading

# Requests that follow one another faster than this are one delivery: nobody answers page upon page in less.
_DELIVERY_MS = 1000
# Seconds. It takes a person longer than this to answer a sight or a sound at all, before any judgement.
FASTEST = 0.2


class Visit(NamedTuple):
    """One page, from when it was there until it was answered."""

    event_id: int
    rater_id: int
    slot_id: int
    claimed: float  # seconds, as the browser says; of a trace, as long as the recording played
    confirmed: float  # seconds, as far as the server can tell
    # Came within half of the time that it claims after what came before it.
    together: bool


class Spent(NamedTuple):
    """The pages of one rater together, each with all its visits: corrections make no page more."""

    pages: int = 0
    claimed: float = 0.0
    confirmed: float = 0.0
    median: float | None = None
    together: int = 0
    # Pages of whose claimed time less than half is possible.
    impossible: int = 0
    # Pages answered before anybody can have reacted to what was there.
    instant: int = 0

    @property
    def percent(self) -> float | None:
        """How much of the claimed time is confirmed."""
        return 100 * self.confirmed / self.claimed if self.claimed > 0 else None


def visits(connection: Connection) -> list[Visit]:
    """All of them, by rater in the order in which they arrived."""
    found: list[Visit] = []
    for _, rows in groupby(reading.page_ends(connection), key=lambda row: row.rater_id):
        before = None
        for delivery in _deliveries(list(rows)):
            found += _visits(delivery, delivery[0].stored_at if before is None else before)
            before = delivery[-1].stored_at
    return found


def spent(found: Sequence[Visit]) -> dict[int, Spent]:
    """What each rater's visits come to."""
    by_rater = groupby(found, key=lambda one: one.rater_id)
    return {rater_id: _spent(_pages(rows)) for rater_id, rows in by_rater}


def _pages(rows: Iterable[Visit]) -> list[Visit]:
    """One visit per page: whoever corrects an answer has looked again, at the same page."""
    found: dict[int, Visit] = {}
    for row in rows:
        first = found.get(row.slot_id)
        if first is not None:
            row = first._replace(claimed=first.claimed + row.claimed, confirmed=first.confirmed + row.confirmed)
        found[row.slot_id] = row
    return list(found.values())


def _spent(pages: list[Visit]) -> Spent:
    confirmed = [one.confirmed for one in pages]
    return Spent(
        len(pages),
        sum(one.claimed for one in pages),
        sum(confirmed),
        median(confirmed),
        sum(one.together for one in pages),
        sum(one.confirmed < one.claimed / 2 for one in pages),
        sum(seconds < FASTEST for seconds in confirmed),
    )


def _deliveries(rows: list[Any]) -> Iterator[list[Any]]:
    """What arrived in one go."""
    start = 0
    for at in range(1, len(rows) + 1):
        if at == len(rows) or rows[at].stored_at - rows[at - 1].stored_at >= _DELIVERY_MS:
            yield rows[start:at]
            start = at


def _visits(delivery: list[Any], before: int) -> Iterator[Visit]:
    claims = [_claimed(row) for row in delivery]
    possible = (delivery[-1].stored_at - before) / 1000
    share = min(1.0, possible / sum(claims)) if sum(claims) > 0 else 1.0
    last = before
    for row, claimed in zip(delivery, claims, strict=True):
        if row.kind in reading.ANSWERS:
            gap = (row.stored_at - last) / 1000
            yield Visit(row.id, row.rater_id, row.slot_id, claimed, share * claimed, gap < claimed / 2)
        last = row.stored_at


def _claimed(row: Any) -> float:
    if row.kind not in reading.ANSWERS:
        return 0.0
    data = msgspec.json.decode(row.payload)
    return float(data["shown_ms"]) / 1000 if row.kind == "rating" else float(data["seconds"])
