"""Who is signed in as the researcher. Only a digest is stored: a copy of the database opens nothing."""

from __future__ import annotations

import hashlib

from sqlalchemy import Connection, delete, select

from unisono.collect.store.raters import get_setting, put_setting
from unisono.collect.store.tables import setting

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
