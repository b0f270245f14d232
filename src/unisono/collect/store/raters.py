"""Raters: who they are here and elsewhere, and how the study as a whole stands (open, paused, closed)."""

from __future__ import annotations

import itertools
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import Connection, insert, select, update

from unisono.collect.store.tables import rater, setting

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
