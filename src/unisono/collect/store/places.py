"""Places: how many are taken, whether nobody more is needed, and when one may come free.

Who only opened the door holds none, and who agreed and did nothing holds one until the study has waited long enough.
"""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from unisono.collect.store.assign import Plan
from unisono.collect.store.tables import item, rater, slot


def is_room(connection: Connection, most: int) -> bool:
    """Whether one more rater may have a place. Counted exactly only where it could matter."""
    return _people(connection) < most or _holders(connection, "open", "done") < most


def is_over(connection: Connection, plan: Plan, most: int) -> bool:
    """Whether nobody more is needed: enough raters have answered, or every item has its ratings."""
    if _people(connection) >= most and _holders(connection, "done") >= most:
        return True
    wanted = select(item.c.name, item.c.done).where(item.c.place >= 0)
    counts = {row.name: row.done for row in connection.execute(wanted)}
    least = plan.ratings_per_item
    return least > 0 and all(counts.get(name, 0) >= least for name in plan.items)


def free_in(connection: Connection, patience: int, now: int) -> int:
    """Milliseconds until somebody's place is given to others, if nothing more is heard of them."""
    holding = select(slot.c.id).where(slot.c.rater_id == rater.c.id, slot.c.state == "open").exists()
    oldest = connection.scalar(select(func.min(rater.c.seen_at)).where(rater.c.state == "active", holding))
    return max(0, oldest + patience - now) if oldest is not None else 0


def _people(connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(rater)) or 0


def _holders(connection: Connection, *states: str) -> int:
    mine = select(func.count(slot.c.rater_id.distinct())).where(slot.c.state.in_(states))
    return connection.scalar(mine) or 0
