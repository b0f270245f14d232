"""Raters and the researcher: who they are here and elsewhere, who is excluded, how the study as a whole stands.

Whom the researcher has excluded counts for nothing until taken back; what they said stays in the log. Of a researcher
who is signed in, only a digest is stored: a copy of the database opens nothing.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from unisono.collect.store.tables import item, rater, setting, slot

Phase = Literal["open", "paused", "closed"]
PHASES: tuple[Phase, ...] = ("open", "paused", "closed")


class Arrival(NamedTuple):
    """Who comes: a name of ours, and who they are where they come from."""

    name: str
    source: str
    outside: str | None = None
    session: str = ""
    extra: dict[str, str] = {}  # noqa: RUF012  (a NamedTuple's default is never changed)


def add(connection: Connection, arrival: Arrival, now: int) -> None:
    """A new rater, whatever the phase: invitations are made before the study opens."""
    extra = msgspec.json.encode(arrival.extra).decode()
    row = {**arrival._asdict(), "extra": extra, "state": "joined", "joined_at": now, "seen_at": now}
    connection.execute(insert(rater), [row])


def invite(connection: Connection, outside: str, name: str, now: int) -> str:
    """The invited rater whom the researcher calls `outside`; `name` becomes the rater's own if there was none."""
    invited = (rater.c.source == "invited", rater.c.outside == outside)
    known = connection.scalar(select(rater.c.name).where(*invited))
    if known is None:
        add(connection, Arrival(name, "invited", outside), now)
    return str(known or name)


def guests(connection: Connection, count: int) -> list[str]:
    """So many numbered words for guests, none used before."""
    used = set(connection.scalars(select(rater.c.outside).where(rater.c.source == "invited")))
    fresh = (name for number in itertools.count(1) if (name := f"guest-{number}") not in used)
    return list(itertools.islice(fresh, count))


def by_id(connection: Connection, rater_id: int) -> Any:
    """The rater's row."""
    return connection.execute(select(rater).where(rater.c.id == rater_id)).one()


def find(connection: Connection, name: str) -> Any | None:
    """The rater's row."""
    return connection.execute(select(rater).where(rater.c.name == name)).one_or_none()


def touch(connection: Connection, rater_id: int, now: int | None, events: int = 0) -> Any:
    """Notes that the rater did something, when `now` is given, and how much; the rater's row as it is now."""
    change = {"events": rater.c.events + events} | ({} if now is None else {"seen_at": now})
    statement = update(rater).where(rater.c.id == rater_id).values(change)
    return connection.execute(statement.returning(rater.c.id, rater.c.state, rater.c.events)).one()


def set_state(connection: Connection, rater_id: int, state: str, finished_at: int | None = None) -> None:
    """Moves the rater on."""
    change = {"state": state, "finished_at": finished_at}
    connection.execute(update(rater).where(rater.c.id == rater_id).values(change))


def phase(connection: Connection) -> Phase:
    """Whether the study takes raters."""
    found = connection.scalar(select(setting.c.value).where(setting.c.key == "phase"))
    return next((phase for phase in PHASES if phase == found), "open")


def set_phase(connection: Connection, value: Phase) -> None:
    """Opens, pauses or closes the study."""
    put_setting(connection, "phase", value)


def put_setting(connection: Connection, key: str, value: str) -> None:
    """Stores one word about the study."""
    changed = connection.execute(update(setting).where(setting.c.key == key).values(value=value))
    if changed.rowcount == 0:
        connection.execute(insert(setting).values(key=key, value=value))


def get_setting(connection: Connection, key: str) -> str | None:
    """What `put_setting` stored."""
    return connection.scalar(select(setting.c.value).where(setting.c.key == key))


_PREFIX = "admin/"


def open_session(connection: Connection, word: str, until: int, now: int) -> None:
    """Lets `word` in until then; sessions that have run out are forgotten."""
    rows = connection.execute(select(setting).where(setting.c.key.like(f"{_PREFIX}%"))).all()
    over = [row.key for row in rows if int(row.value) <= now]
    connection.execute(delete(setting).where(setting.c.key.in_(over)))
    put_setting(connection, _key(word), str(until))


def is_open(connection: Connection, word: str, now: int) -> bool:
    """Whether `word` is let in now."""
    until = get_setting(connection, _key(word))
    return until is not None and now < int(until)


def close_session(connection: Connection, word: str) -> None:
    """Ends the session, wherever its cookie may have been copied to."""
    connection.execute(delete(setting).where(setting.c.key == _key(word)))


def _key(word: str) -> str:
    return _PREFIX + hashlib.sha256(word.encode("utf-8", "replace")).hexdigest()[:32]


_EXCLUSION = "excluded/"


def set_excluded(connection: Connection, rater_id: int, excluded: bool, now: int) -> None:
    """Excludes a rater, or takes that back; items count their ratings anew."""
    key = f"{_EXCLUSION}{rater_id}"
    if excluded:
        put_setting(connection, key, str(now))
    else:
        connection.execute(delete(setting).where(setting.c.key == key))
    _recount(connection)


def is_excluded(connection: Connection, rater_id: int) -> bool:
    """Whether what this rater says counts for nothing."""
    return get_setting(connection, f"{_EXCLUSION}{rater_id}") is not None


def excluded_ids(connection: Connection) -> set[int]:
    """All who are excluded."""
    keys = connection.scalars(select(setting.c.key).where(setting.c.key.like(f"{_EXCLUSION}%")))
    return {int(key.removeprefix(_EXCLUSION)) for key in keys}


def _recount(connection: Connection) -> None:
    """Loads and ratings of all items from the slots of those who count."""
    left_out = excluded_ids(connection)
    states: dict[tuple[int, str], set[str]] = {}
    for row in connection.execute(select(slot.c.rater_id, slot.c.item, slot.c.state).where(slot.c.role == "item")):
        if row.rater_id not in left_out:
            states.setdefault((row.rater_id, row.item), set()).add(row.state)
    done = Counter(name for (_, name), found in states.items() if found == {"done"})
    load = Counter(name for (_, name), found in states.items() if found == {"done"} or "open" in found)
    for row in connection.execute(select(item)).all():
        if (row.load, row.done) != (load[row.name], done[row.name]):
            change = {"load": load[row.name], "done": done[row.name]}
            connection.execute(update(item).where(item.c.name == row.name).values(change))
