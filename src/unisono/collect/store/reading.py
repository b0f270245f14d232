"""Questions to the store: what a rater sees on return, what the researcher sees, what is exported.

Whether a trace is all there: what a browser claims to have sent, beside what was received. What raters said of
themselves: of every page of the questionnaire, what was sent last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import ColumnElement, Connection, func, select

from unisono.collect.store.tables import event, item, rater, slot
from unisono.collect.studies.schema import Value

# Slots that are no longer part of a rater's way.
_GONE = ("dropped", "broken")
# What raters have said of a page: an answer, or that it could not be shown.
_SAID = ("done", "broken")
# What answers a page, and what else ends one.
ANSWERS = ("rating", "pass")
_ENDS = (*ANSWERS, "consent", "step", "answers", "practice", "comment")


def slots_of(connection: Connection, rater_id: int) -> Sequence[Any]:
    """The rater's way, in order, without what was dropped."""
    mine = select(slot).where(slot.c.rater_id == rater_id, slot.c.state.not_in(_GONE))
    return connection.execute(mine.order_by(slot.c.position)).all()


def states_of(connection: Connection, rater_id: int) -> list[str]:
    """The state of every page that the rater was ever given."""
    return list(connection.scalars(select(slot.c.state).where(slot.c.rater_id == rater_id)))


def events(
    connection: Connection, *kinds: str, order: Sequence[str] = (), rater_id: int | None = None
) -> Sequence[Any]:
    """What was logged of these kinds, by all or by one, in this order; where nothing tells, oldest first."""
    wanted = select(event).where(event.c.kind.in_(kinds), *([] if rater_id is None else [event.c.rater_id == rater_id]))
    return connection.execute(wanted.order_by(*(event.c[name] for name in order), event.c.id)).all()


def rater_rows(connection: Connection) -> Sequence[Any]:
    """All raters with the number of their slots, and of those done."""
    # Asked, answered or not: a page that is said to be broken is one more that was asked.
    total = func.count(slot.c.id).filter(slot.c.state != "dropped")
    done = func.count(slot.c.id).filter(slot.c.state == "done")
    broken = func.count(slot.c.id).filter(slot.c.state == "broken")
    columns = list(rater.c)
    counts = (total.label("slots"), done.label("done"), broken.label("broken"))
    joined = select(*columns, *counts).join(slot, isouter=True)
    return connection.execute(joined.group_by(*columns).order_by(rater.c.id)).all()


def broken_alone(connection: Connection) -> dict[int, int]:
    """By rater, pages said to be broken that others were able to answer, or that nobody else says are broken."""
    others = slot.alias()
    same = (others.c.item == slot.c.item, others.c.role == slot.c.role, others.c.rater_id != slot.c.rater_id)
    answered, broken = (select(others.c.id).where(*same, others.c.state == state).exists() for state in _SAID)
    mine = select(slot.c.rater_id, func.count()).where(slot.c.state == "broken", answered | ~broken)
    return {row[0]: row[1] for row in connection.execute(mine.group_by(slot.c.rater_id))}


def skipped_checks(connection: Connection) -> dict[int, int]:
    """By rater, attention checks that were got round: said to be broken, as older versions let raters do."""
    mine = select(slot.c.rater_id, func.count()).where(slot.c.role == "check", slot.c.state == "broken")
    return {row[0]: row[1] for row in connection.execute(mine.group_by(slot.c.rater_id))}


def item_rows(connection: Connection) -> Sequence[Any]:
    """All items in the order of the study file, then those that are no longer in it."""
    return connection.execute(select(item).order_by(item.c.place < 0, item.c.place, item.c.name)).all()


def has_ratings(connection: Connection) -> bool:
    """Whether anybody has rated anything."""
    return connection.scalar(select(event.c.id).where(event.c.kind.in_(("rating", "pass"))).limit(1)) is not None


def last_answer(connection: Connection) -> int:
    """The number of the newest rating or trace in the log; 0 before there is one."""
    newest = select(func.max(event.c.id)).where(event.c.kind.in_(("rating", "pass")))
    return int(connection.scalar(newest) or 0)


def totals(connection: Connection) -> tuple[int, int]:
    """How many pages were answered, and by how many raters."""
    columns = (func.count(), func.count(slot.c.rater_id.distinct()))
    answers, people = connection.execute(select(*columns).where(slot.c.state == "done")).one()
    return answers, people


def latest(connection: Connection, *kinds: str, rater_id: int | None = None) -> Sequence[Any]:
    """The last event of these kinds of every slot that is done, by rater and position: what counts as the answer.

    Last is what the rater did last, not what arrived last: a tab that was offline may deliver after a newer one. Within
    a tab its own numbers say what came later; between tabs the moment does, told by our clock.
    """
    wanted: list[ColumnElement[bool]] = [event.c.kind.in_(kinds), event.c.slot_id.is_not(None)]
    if rater_id is not None:
        wanted.append(event.c.rater_id == rater_id)
    back = func.row_number().over(partition_by=(event.c.slot_id, event.c.tab), order_by=event.c.seq.desc())
    tabs = select(event.c.id, event.c.slot_id, event.c.sent_at, back.label("back")).where(*wanted).subquery()
    order = (tabs.c.sent_at.desc(), tabs.c.id.desc())
    place = func.row_number().over(partition_by=tabs.c.slot_id, order_by=order)
    ends = select(tabs.c.id, place.label("place")).where(tabs.c.back == 1).subquery()
    last = select(ends.c.id).where(ends.c.place == 1).subquery()
    columns = (slot.c.id.label("slot_id"), slot.c.rater_id, slot.c.item, slot.c.role, slot.c.repetition, slot.c.part)
    told = (event.c.kind, event.c.tab, event.c.seq, event.c.payload, event.c.stored_at)
    chosen = select(*columns, slot.c.position, *told).join(last, last.c.id == event.c.id)
    return connection.execute(chosen.join(slot).order_by(slot.c.rater_id, slot.c.position)).all()


def sample_payloads(connection: Connection, slot_id: int) -> list[str]:
    """All batches of samples of a slot, oldest first."""
    mine = select(event.c.payload).where(event.c.slot_id == slot_id, event.c.kind == "samples")
    return list(connection.scalars(mine.order_by(event.c.id)))


def all_events(connection: Connection) -> Iterator[Any]:
    """The whole log in the order it was written, a thousand rows in memory at a time."""
    columns = (slot.c.item, slot.c.role, slot.c.repetition, slot.c.part)
    everything = select(event, *columns).join(slot, slot.c.id == event.c.slot_id, isouter=True).order_by(event.c.id)
    return iter(connection.execution_options(yield_per=1000).execute(everything))


def page_ends(connection: Connection) -> Sequence[Any]:
    """Everything that ends a page, by rater in the order in which it came in."""
    return events(connection, *_ENDS, order=("rater_id", "stored_at"))


def notes(connection: Connection) -> Sequence[Any]:
    """What was noted of pages, oldest first."""
    return [row for row in events(connection, "note") if row.slot_id is not None]


# A page that plays samples many times a second; a hole this long was not played.
_LONGEST_HOLE_MS = 5000.0
# Clocks of sound cards and of computers differ by less than this, and menus of speeds begin above it.
_FASTEST = 1.1
_PAUSE_MS = 1000.0


class Claim(NamedTuple):
    """What the end of a pass says: so many samples in this attempt, so many seconds of media."""

    attempt: str
    samples: int
    seconds: float


class _Samples(msgspec.Struct):
    attempt: str
    first: int
    rows: list[list[float | None]]


def claim_fault(connection: Connection, slot_id: int, claim: Claim) -> str | None:
    """What is wrong with the claim, or None."""
    batches = [msgspec.json.decode(payload, type=_Samples) for payload in sample_payloads(connection, slot_id)]
    mine = sorted((one for one in batches if one.attempt == claim.attempt), key=lambda one: one.first)
    received = 0
    for batch in mine:
        if batch.first != received:
            return "samples of this pass are missing"
        received += len(batch.rows)
    if received != claim.samples:
        return "samples of this pass are missing"
    rows = [row for batch in mine for row in batch.rows]
    if not all(any(value is not None for value in column) for column in zip(*(row[3:] for row in rows), strict=True)):
        return "the handle was never touched"
    if _is_too_fast(rows):
        return "it was played faster than it is"
    moments = [row[0] or 0.0 for row in rows]
    if max(b - a for a, b in pairwise([0.0, *moments, 1000 * claim.seconds])) > _LONGEST_HOLE_MS:
        return "the samples do not cover the recording"
    return None


def _is_too_fast(rows: list[list[float | None]]) -> bool:
    """Whether the media went on faster than the page's clock while it played."""
    media = page = 0.0
    for before, after in pairwise(rows):
        step = (after[1] or 0.0) - (before[1] or 0.0)
        # A longer step is a pause, in which the page's clock goes on alone.
        if step < _PAUSE_MS:
            media += (after[0] or 0.0) - (before[0] or 0.0)
            page += step
    return media > _FASTEST * page + _PAUSE_MS


class _Page(msgspec.Struct):
    when: str
    values: dict[str, Value]


class Replies(NamedTuple):
    """The pages that a rater has sent, and what was answered on them."""

    pages: set[str]
    values: dict[str, Value]


def replies_of(connection: Connection, rater_id: int) -> Replies:
    """What one rater answered."""
    return all_replies(connection, rater_id).get(rater_id, Replies(set(), {}))


def all_replies(connection: Connection, rater_id: int | None = None) -> dict[int, Replies]:
    """What everybody answered, or one."""
    last: dict[int, dict[str, dict[str, Value]]] = {}
    for row in events(connection, "answers", order=("rater_id", "sent_at", "seq"), rater_id=rater_id):
        page = msgspec.json.decode(row.payload, type=_Page)
        last.setdefault(row.rater_id, {})[page.when] = page.values
    return {
        one: Replies(set(pages), {name: value for page in pages.values() for name, value in page.items()})
        for one, pages in last.items()
    }
