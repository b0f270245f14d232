"""Files that raters' browsers asked for: what was never asked for was never seen, and cannot have failed to load.

Kept in the log as lines of the server's own, one per page: their tab is a word that no browser's tab can have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from unisono.collect.store.raters import get_setting
from unisono.collect.store.tables import event, rater, slot

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
