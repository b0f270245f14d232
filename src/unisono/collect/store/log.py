"""The log: what raters did, appended once each, in the order they did it.

A browser sends a thing until it is acknowledged, so the same thing can come twice; (rater, tab, seq) says that it is
the same, and the second one changes nothing. A later rating of the same slot supersedes an earlier one when the log is
read; both stay in it.

Files that raters' browsers asked for are lines of the server's own, one per page: their tab is a word that no browser's
tab can have. What was never asked for was never seen, and cannot have failed to load.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import NamedTuple

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from unisono.collect.store import assign, raters
from unisono.collect.store.assign import is_room
from unisono.collect.store.raters import get_setting
from unisono.collect.store.reading import Claim, claim_fault, replies_of
from unisono.collect.store.tables import event, rater, slot

# Said without having done anything.
_IDLE = ("note", "decline", "device")


class Entry(NamedTuple):
    """One thing a rater did."""

    seq: int
    kind: str
    sent_at: int
    payload: str
    slot_id: int | None = None
    # This entry finishes its slot.
    completes: bool = False
    # What is wrong with it, seen together with its slot; None when nothing is.
    fault: Callable[[assign.Slot | None], str | None] = lambda slot: None
    # What it says to have been sent before it.
    claim: Claim | None = None
    # Its slot could not be shown.
    breaks: bool = False
    # The rater wants to try again what could not be had: a place, or pages that could not be shown.
    tries_again: bool = False


class Receipt(NamedTuple):
    """What became of a batch: seqs that are in the log now, and those that never will be, with the reason."""

    acked: list[int]
    rejected: dict[int, str]
    phase: str
    state: str


class Book(NamedTuple):
    """What appending has to know of the study: its plan, its limit, and which pages it can still show."""

    plan: assign.Plan
    most_events: int
    rng: Random
    # (role, item) -> whether the page can be answered; those of an edited study that cannot hold nobody up.
    shows: Callable[[str, str], bool] = lambda role, item: True
    # Whether answers can no longer be changed once the rater has finished.
    final: bool = False
    # Questions about the rater without which nobody has finished.
    required: frozenset[str] = frozenset()
    # How many raters may have a place.
    most_raters: int = 2**31


def append(connection: Connection, rater_id: int, tab: str, entries: Sequence[Entry], book: Book, now: int) -> Receipt:
    """Writes a batch to the log and lets it take effect."""
    # Looking about keeps nobody's place: only what brings a rater on does.
    moves = any(entry.kind not in _IDLE or entry.tries_again for entry in entries)
    row = raters.touch(connection, rater_id, now if moves else None, len(entries))
    # A page that only says where it is shown may have nobody before it: it takes no place from who came since.
    if row.state == "left" and any(entry.kind != "device" for entry in entries):
        assign.reclaim(connection, rater_id, book.plan)
    slots = _slots(connection, rater_id, entries)
    acked: list[int] = []
    rejected: dict[int, str] = {}
    for entry in entries:
        reason = _refusal(entry, slots) if row.events <= book.most_events else "too many events"
        if reason is None:
            reason = _take(connection, rater_id, tab, entry, slots, book, now)
        if reason is None:
            acked.append(entry.seq)
        else:
            rejected[entry.seq] = reason
    state = raters.by_id(connection, rater_id).state
    return Receipt(acked, rejected, raters.phase(connection), state)


def _slots(connection: Connection, rater_id: int, entries: Sequence[Entry]) -> dict[int, assign.Slot]:
    """The slots named in the batch that belong to this rater."""
    wanted = {entry.slot_id for entry in entries if entry.slot_id is not None}
    if not wanted:
        return {}
    columns = [slot.c[name] for name in assign.Slot._fields]
    mine = select(*columns).where(slot.c.rater_id == rater_id, slot.c.id.in_(wanted))
    return {row.id: assign.Slot(*row) for row in connection.execute(mine)}


def _refusal(entry: Entry, slots: dict[int, assign.Slot]) -> str | None:
    if entry.slot_id is not None and entry.slot_id not in slots:
        return "not your slot"
    return entry.fault(slots.get(entry.slot_id) if entry.slot_id is not None else None)


def _take(
    connection: Connection, rater_id: int, tab: str, entry: Entry, slots: dict[int, assign.Slot], book: Book, now: int
) -> str | None:
    """Inserts one entry; its effects only when it is new."""
    if entry.kind == "finish" and (reason := _unfinished(connection, rater_id, book)):
        return reason
    if book.final and _is_too_late(connection, rater_id, tab, entry):
        return "the study is finished and its answers are final"
    if entry.claim and entry.slot_id and (reason := claim_fault(connection, entry.slot_id, entry.claim)):
        return reason
    if entry.breaks and entry.slot_id and not was_asked(connection, entry.slot_id):
        return "its file was never asked for"
    if not _insert(connection, rater_id, tab, entry, now):
        return None
    if entry.completes and entry.slot_id is not None:
        if slots[entry.slot_id].state != "done":
            assign.complete(connection, slots[entry.slot_id], now)
            slots[entry.slot_id] = slots[entry.slot_id]._replace(state="done")
    elif entry.breaks and entry.slot_id is not None:
        assign.give_up(connection, slots[entry.slot_id])
    elif entry.tries_again:
        _again(connection, rater_id, book, now)
    elif entry.kind in _EFFECTS:
        _EFFECTS[entry.kind](connection, rater_id, book, now)
    return None


def _insert(connection: Connection, rater_id: int, tab: str, entry: Entry, now: int) -> bool:
    values = {
        "rater_id": rater_id,
        "tab": tab,
        "seq": entry.seq,
        "kind": entry.kind,
        "slot_id": entry.slot_id,
        "sent_at": entry.sent_at,
        "stored_at": now,
        "payload": entry.payload,
    }
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(event).on_conflict_do_nothing(index_elements=["rater_id", "tab", "seq"])
    # A row comes back only if one was made; the count of rows is not reliable across drivers.
    return connection.execute(statement.returning(event.c.id), values).first() is not None


def _unfinished(connection: Connection, rater_id: int, book: Book) -> str | None:
    mine = select(slot.c.role, slot.c.item, slot.c.state).where(slot.c.rater_id == rater_id)
    rows = connection.execute(mine).all()
    if not rows or any(row.state in ("open", "free") and book.shows(row.role, row.item) for row in rows):
        return "not all items are rated yet"
    if book.required and not book.required <= replies_of(connection, rater_id).values.keys():
        return "not all questions are answered yet"
    # Nothing was left to do for somebody who came late or came back: no reason to be paid.
    states = [row.state for row in rows]
    if "done" not in states:
        return "nothing was answered"
    return "too many pages could not be shown" if too_many_broken(states) else None


def too_many_broken(states: Sequence[str]) -> bool:
    """Whether most of a rater's pages were not answered but said to be broken: no reason to be paid either."""
    counts = Counter(states)
    return counts["broken"] > counts["done"]


def _is_too_late(connection: Connection, rater_id: int, tab: str, entry: Entry) -> bool:
    """Whether this would change an answer after the end. What is only sent again was stored in time."""
    answers = ("rating", "samples", "pass", "answers")
    if entry.kind not in answers or raters.by_id(connection, rater_id).state != "finished":
        return False
    same = (event.c.rater_id == rater_id, event.c.tab == tab, event.c.seq == entry.seq)
    return connection.scalar(select(event.c.id).where(*same)) is None


def _consent(connection: Connection, rater_id: int, book: Book, now: int) -> None:
    row = raters.by_id(connection, rater_id)
    if row.state in ("joined", "full", "declined"):
        assign.lock_items(connection)
        # Who was invited was promised a place.
        room = row.source == "invited" or is_room(connection, book.most_raters)
        count = assign.assign(connection, rater_id, book.plan, book.rng) if room else 0
        raters.set_state(connection, rater_id, "active" if count else "full")


def _again(connection: Connection, rater_id: int, book: Book, now: int) -> None:
    if raters.by_id(connection, rater_id).state == "full":
        _consent(connection, rater_id, book, now)
    else:
        assign.try_again(connection, rater_id, book.plan)


def _decline(connection: Connection, rater_id: int, book: Book, now: int) -> None:
    state = raters.by_id(connection, rater_id).state
    if state == "joined":
        raters.set_state(connection, rater_id, "declined")


def _finish(connection: Connection, rater_id: int, book: Book, now: int) -> None:
    # Said again, it was still the first time that counts.
    if raters.by_id(connection, rater_id).state != "finished":
        raters.set_state(connection, rater_id, "finished", finished_at=now)


_EFFECTS = {"consent": _consent, "decline": _decline, "finish": _finish}


KIND = "asked"
_TAB = "server"


def keep_asked(connection: Connection, rater_id: int, slot_id: int, now: int) -> None:
    """Notes the first time that the file of a page was asked for."""
    values = {"rater_id": rater_id, "tab": _TAB, "seq": slot_id, "kind": KIND, "slot_id": slot_id}
    values |= {"sent_at": now, "stored_at": now, "payload": "{}"}
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    connection.execute(dialect.insert(event).values(values).on_conflict_do_nothing())


def was_asked(connection: Connection, slot_id: int) -> bool:
    """Whether the file of this page was ever asked for."""
    mine = select(event.c.id).where(event.c.slot_id == slot_id, event.c.kind == KIND)
    return connection.scalar(mine.limit(1)) is not None


def unseen(connection: Connection, names: Collection[str]) -> Counter[int]:
    """By rater, pages that were answered though their file was never asked for; `names` are items that have one.

    Of raters who came before this was kept nothing can be said.
    """
    since = int(get_setting(connection, "keeps_asked") or 2**62)
    asked = set(connection.scalars(select(event.c.slot_id).where(event.c.kind == KIND)))
    answered = select(slot.c.id, slot.c.rater_id, slot.c.item).join(rater)
    mine = answered.where(slot.c.state == "done", slot.c.role != "check", rater.c.joined_at >= since)
    rows = connection.execute(mine)
    return Counter(row.rater_id for row in rows if row.item in names and row.id not in asked)
