"""Who comes in: somebody new, somebody who was here before, or a second session of the same identifier.

An identifier at a platform that does not sign it is no secret: whoever came first under it may be somebody else, and
whoever comes second may be its owner. So a second session is neither let in nor locked out: the researcher is asked,
who sees at the platform which session is true.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, select, update

from unisono.collect.store.database import RefusedError
from unisono.collect.store.raters import Arrival, add, find, get_setting, phase, put_setting
from unisono.collect.store.tables import rater, setting

Answer = Literal["same", "anew", "refused"]
ANSWERS: tuple[Answer, ...] = ("same", "anew", "refused")
_PREFIX = "asks/"
# Sessions under one identifier that the researcher is asked about; more are a flood.
_MOST = 20
# A number in brackets has to fit behind it.
_LONGEST_OUTSIDE = 180


class Ask(msgspec.Struct):
    """A second session, and what the researcher said of it; empty while nobody has."""

    rater_id: int
    outside: str
    session: str
    extra: dict[str, str]
    asked_at: int
    answer: Literal["", Answer] = ""


def join(connection: Connection, arrival: Arrival, is_over: Callable[[Connection], bool], now: int) -> str | None:
    """Takes a rater in; the rater's name, an earlier one when the same person comes again.

    None while the researcher is asked about a second session. Who comes in has no place yet: that is for those who
    agree.
    """
    if arrival.outside is not None:
        same = (rater.c.source == arrival.source, rater.c.outside == arrival.outside)
        known = connection.execute(select(rater).where(*same)).one_or_none()
        if known is not None:
            return _again(connection, known, arrival, now)
    # Back and Begin: who shows the same ticket has the same place.
    elif find(connection, arrival.name) is not None:
        return arrival.name
    if phase(connection) != "open":
        raise RefusedError("closed")
    if arrival.outside is None and is_over(connection):
        raise RefusedError("full")
    add(connection, arrival, now)
    return arrival.name


def _again(connection: Connection, known: Any, arrival: Arrival, now: int) -> str | None:
    if known.session == arrival.session:
        return str(known.name)
    key = _key(arrival)
    if (told := get_setting(connection, key)) is not None:
        ask = msgspec.json.decode(told, type=Ask)
        # What was decided about an earlier place says nothing of the one that is there now.
        if ask.rater_id == known.id:
            if ask.answer == "":
                return None
            raise RefusedError("again")
    if sum(ask.rater_id == known.id for ask in asks(connection).values()) >= _MOST:
        raise RefusedError("again")
    _keep(connection, key, Ask(known.id, known.outside, arrival.session, arrival.extra, now))
    return None


def asks(connection: Connection) -> dict[str, Ask]:
    """All second sessions by their key, oldest first."""
    rows = connection.execute(select(setting).where(setting.c.key.like(f"{_PREFIX}%"))).all()
    found = {row.key.removeprefix(_PREFIX): msgspec.json.decode(row.value, type=Ask) for row in rows}
    return dict(sorted(found.items(), key=lambda pair: pair[1].asked_at))


def settle(connection: Connection, key: str, answer: Answer) -> bool:
    """Lets a second session go on at the place that was begun, begin anew, or neither; whether it was waiting."""
    ask = asks(connection).get(key)
    if ask is None or ask.answer:
        return False
    mine = update(rater).where(rater.c.id == ask.rater_id)
    if answer == "same":
        extra = msgspec.json.encode(ask.extra).decode()
        connection.execute(mine.values(session=ask.session, extra=extra))
    elif answer == "anew":
        # The identifier is free for its owner; what was done under it stays, under another word.
        connection.execute(mine.values(outside=f"{ask.outside[:_LONGEST_OUTSIDE]} ({ask.rater_id})"))
    ask.answer = answer
    _keep(connection, _PREFIX + key, ask)
    return True


def replaced(connection: Connection) -> set[int]:
    """Raters whose identifier turned out to be somebody else's."""
    return {ask.rater_id for ask in asks(connection).values() if ask.answer == "anew"}


def _keep(connection: Connection, key: str, ask: Ask) -> None:
    put_setting(connection, key, msgspec.json.encode(ask).decode())


def _key(arrival: Arrival) -> str:
    words = f"{arrival.source}\0{arrival.outside}\0{arrival.session}"
    return _PREFIX + hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:32]
