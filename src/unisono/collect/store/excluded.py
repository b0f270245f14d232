"""Raters whom the researcher has excluded. What they said stays in the log; it counts for nothing until taken back."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import Connection, delete, select, update

from unisono.collect.store.raters import get_setting, put_setting
from unisono.collect.store.tables import item, setting, slot

_PREFIX = "excluded/"


def set_excluded(connection: Connection, rater_id: int, excluded: bool, now: int) -> None:
    """Excludes a rater, or takes that back; items count their ratings anew."""
    key = f"{_PREFIX}{rater_id}"
    if excluded:
        put_setting(connection, key, str(now))
    else:
        connection.execute(delete(setting).where(setting.c.key == key))
    _recount(connection)


def is_excluded(connection: Connection, rater_id: int) -> bool:
    """Whether what this rater says counts for nothing."""
    return get_setting(connection, f"{_PREFIX}{rater_id}") is not None


def excluded_ids(connection: Connection) -> set[int]:
    """All who are excluded."""
    keys = connection.scalars(select(setting.c.key).where(setting.c.key.like(f"{_PREFIX}%")))
    return {int(key.removeprefix(_PREFIX)) for key in keys}


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
