"""Which items a rater gets, and how many places are left.

Ratings per item stay within one of each other while raters come, and items of raters who leave go back. A rater gets
all items at once, the least loaded ones: taking the k smallest of counts that differ by at most one leaves counts that
differ by at most one. Handing them out one by one would not: a rater who has had all of the least loaded ones would
have to take others. Who is asked first is decided under a lock.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, insert, select, text, update

from unisono.collect.store.raters import get_setting, is_excluded, put_setting
from unisono.collect.store.tables import item, rater, slot


class Stop(NamedTuple):
    """One page of a rater's way: an item (one pass over it), a reference or a check."""

    item: str
    role: str
    repetition: int
    part: int


class Slot(NamedTuple):
    """A page of a rater's way as it is stored."""

    id: int
    rater_id: int
    item: str
    role: str
    part: int
    state: str


@dataclass(frozen=True)
class Plan:
    """What assignment has to know of a study."""

    items: tuple[str, ...]
    references: tuple[str, ...] = ()
    reference_every: int = 10
    # (key, after so many items)
    checks: tuple[tuple[str, int], ...] = ()
    parts: int = 1
    ratings_per_item: int = 0
    items_per_rater: int = 0
    shuffled: bool = True
    # Whether items come in the order that `put_next` has stored, as far as it goes.
    ranked: bool = False


def sync_items(connection: Connection, plan: Plan) -> None:
    """Makes the table of items say what the study file says; items that are gone keep their ratings."""
    known = set(connection.scalars(select(item.c.name)))
    connection.execute(update(item).values(place=-1))
    for place, name in enumerate(plan.items):
        if name in known:
            connection.execute(update(item).where(item.c.name == name).values(place=place))
    rows = [{"name": n, "place": p, "load": 0, "done": 0} for p, n in enumerate(plan.items) if n not in known]
    if rows:
        connection.execute(insert(item), rows)


def assign(connection: Connection, rater_id: int, plan: Plan, rng: Random) -> int:
    """Gives the rater all their slots; how many. 0 when the study needs no more ratings."""
    lock_items(connection)
    names = _choose(connection, plan, rng)
    if not names:
        return 0
    _shift(connection, rater_id, names, load=1)
    last = connection.scalar(select(func.max(slot.c.position)).where(slot.c.rater_id == rater_id))
    rows = [
        {"rater_id": rater_id, "position": position, "state": "open", **stop._asdict()}
        for position, stop in enumerate(_way(names, plan, rng), 0 if last is None else last + 1)
    ]
    connection.execute(insert(slot), rows)
    return len(rows)


def free_idle(connection: Connection, seen_before: int) -> int:
    """Takes back the open slots of raters not heard of since; how many raters left."""
    idle = select(rater.c.id).where(rater.c.state == "active", rater.c.seen_at < seen_before)
    gone = list(connection.scalars(idle))
    if gone:
        lock_items(connection)
    for rater_id in gone:
        _release(connection, rater_id)
    return len(gone)


def reclaim(connection: Connection, rater_id: int, plan: Plan) -> None:
    """A rater who had left is back: the items that are still needed are theirs again."""
    lock_items(connection)
    mine, needed = _taken_back(connection, rater_id, "free", plan)
    # References and checks only make sense among items.
    rest = "open" if needed else "dropped"
    connection.execute(update(slot).where(*mine).values(state=rest))
    done = connection.scalar(select(slot.c.id).where(slot.c.rater_id == rater_id, slot.c.state == "done").limit(1))
    change = {"state": "active" if needed or done else "full", "returns": rater.c.returns + 1}
    connection.execute(update(rater).where(rater.c.id == rater_id).values(change))


def complete(connection: Connection, row: Slot, now: int) -> None:
    """Marks a slot as done and counts its item once all of its parts are."""
    connection.execute(update(slot).where(slot.c.id == row.id).values(state="done", done_at=now))
    if row.role != "item":
        return
    same = (slot.c.rater_id == row.rater_id, slot.c.item == row.item, slot.c.role == "item")
    left = connection.scalar(select(func.count()).select_from(slot).where(*same, slot.c.state != "done"))
    if left == 0:
        # What a rater sends late, for an item that has gone to another, is one more rating than was planned.
        again = 1 if row.state in ("dropped", "broken") else 0
        _shift(connection, row.rater_id, [row.item], load=again, done=1)


def give_up(connection: Connection, row: Slot) -> None:
    """A page that could not be shown holds its rater up no longer; its item goes to others."""
    if row.state != "open":
        return
    same = (slot.c.rater_id == row.rater_id, slot.c.item == row.item, slot.c.role == row.role, slot.c.state == "open")
    lock_items(connection)
    connection.execute(update(slot).where(*same).values(state="broken"))
    if row.role == "item":
        _shift(connection, row.rater_id, [row.item], load=-1)


def _taken_back(connection: Connection, rater_id: int, state: str, plan: Plan) -> tuple[tuple[Any, ...], list[str]]:
    """Which slots are the rater's in this state, and those of their items that are needed; the others are dropped."""
    mine = (slot.c.rater_id == rater_id, slot.c.state == state)
    names = list(connection.scalars(select(slot.c.item).where(*mine, slot.c.role == "item").distinct()))
    needed = [name for name in names if _is_needed(connection, name, plan)]
    _shift(connection, rater_id, needed, load=1)
    unneeded = [name for name in names if name not in needed]
    connection.execute(update(slot).where(*mine, slot.c.item.in_(unneeded)).values(state="dropped"))
    return mine, needed


def try_again(connection: Connection, rater_id: int, plan: Plan) -> None:
    """Pages that could not be shown are the rater's again, as far as their items are still needed."""
    lock_items(connection)
    mine, _ = _taken_back(connection, rater_id, "broken", plan)
    connection.execute(update(slot).where(*mine).values(state="open"))


def lock_items(connection: Connection) -> None:
    """Lets one transaction at a time change the loads. SQLite's writers are alone already."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE item IN SHARE ROW EXCLUSIVE MODE"))


def _choose(connection: Connection, plan: Plan, rng: Random) -> list[str]:
    rows = connection.execute(
        select(item.c.name, item.c.load, item.c.done, item.c.place).where(item.c.place >= 0)
    ).all()
    # The table may know of items that this server does not: another one may have started since, on a newer file.
    mine = set(plan.items)
    wanted = [r for r in rows if r.name in mine and (not plan.ratings_per_item or r.load < plan.ratings_per_item)]
    count = plan.items_per_rater or len(wanted)
    rank = {name: at for at, name in enumerate(next_items(connection))} if plan.ranked else {}
    last = len(rank)
    # What others have before them is not asked again before it is answered.
    ranked = sorted(
        wanted, key=lambda row: (row.load - row.done if rank else 0, rank.get(row.name, last), row.load, rng.random())
    )[:count]
    if plan.shuffled:
        rng.shuffle(ranked)
    else:
        ranked.sort(key=lambda row: row.place)
    return [row.name for row in ranked]


def put_next(connection: Connection, names: Sequence[str]) -> None:
    """The items that tell most, in this order: whoever comes next gets them."""
    put_setting(connection, "next", json.dumps(list(names)))


def next_items(connection: Connection) -> list[str]:
    """What `put_next` stored."""
    found: list[str] = json.loads(get_setting(connection, "next") or "[]")
    return found


def _way(names: list[str], plan: Plan, rng: Random) -> list[Stop]:
    """Items in order, a reference after every so many, checks where the study wants them."""
    stops: list[Stop] = []
    met: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        stops += [Stop(name, "item", 0, part) for part in range(plan.parts)]
        if plan.references and number % plan.reference_every == 0:
            hidden = plan.references[int(rng.random() * len(plan.references))]
            stops += [Stop(hidden, "reference", met.get(hidden, 0), part) for part in range(plan.parts)]
            met[hidden] = met.get(hidden, 0) + 1
        stops += [Stop(key, "check", 0, 0) for key, after in plan.checks if after == number]
    return stops


def _release(connection: Connection, rater_id: int) -> None:
    mine = (slot.c.rater_id == rater_id, slot.c.state == "open")
    names = list(connection.scalars(select(slot.c.item).where(*mine, slot.c.role == "item").distinct()))
    _shift(connection, rater_id, names, load=-1)
    connection.execute(update(slot).where(*mine).values(state="free"))
    connection.execute(update(rater).where(rater.c.id == rater_id).values(state="left"))


def _shift(connection: Connection, rater_id: int, names: list[str], load: int = 0, done: int = 0) -> None:
    """Counts for these items; those of an excluded rater do not count."""
    if not is_excluded(connection, rater_id):
        change = {"load": item.c.load + load, "done": item.c.done + done}
        connection.execute(update(item).where(item.c.name.in_(names)).values(change))


def _is_needed(connection: Connection, name: str, plan: Plan) -> bool:
    load = connection.scalar(select(item.c.load).where(item.c.name == name, item.c.place >= 0))
    return load is not None and (not plan.ratings_per_item or load < plan.ratings_per_item)


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
