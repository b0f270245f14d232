"""The store, on SQLite and on PostgreSQL: exactly once, in order, balanced, and nothing forgotten."""

from __future__ import annotations

import json
import threading
from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from unisono.collect.store import arrivals, assign, log, raters, reading
from unisono.collect.store.database import Database, NotSavedError, RefusedError, Writer
from unisono.collect.store.tables import event, item, slot

NOW = 1_700_000_000_000
PLAN = assign.Plan(items=("a", "b", "c", "d", "e", "f"))


def book(plan: assign.Plan = PLAN, most: int = 1000) -> log.Book:
    return log.Book(plan, most, Random(1))


def room(connection: Connection) -> bool:
    """Nobody is turned away."""
    return False


def arrive(connection: Connection, name: str, plan: assign.Plan = PLAN, now: int = NOW) -> int:
    arrivals.join(connection, raters.Arrival(name, "open"), room, now)
    rater_id: int = raters.find(connection, name).id
    log.append(connection, rater_id, "tab", [log.Entry(0, "consent", now, "{}")], book(plan), now)
    return rater_id


def rating(seq: int, slot_id: int, value: float = 1.0) -> log.Entry:
    payload = json.dumps({"values": {"x": value}, "shown_ms": 10})
    return log.Entry(seq, "rating", NOW, payload, slot_id, completes=True)


def slots(connection: Connection, rater_id: int) -> list[Any]:
    return list(reading.slots_of(connection, rater_id))


def loads(connection: Connection) -> list[int]:
    return list(connection.scalars(select(item.c.load).order_by(item.c.place)))


def count(connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(event)) or 0


@pytest.fixture
def ready(database: Database) -> Database:
    with database.write() as connection:
        assign.sync_items(connection, PLAN)
    return database


def test_a_batch_that_comes_twice_is_logged_once(ready: Database) -> None:
    with ready.write() as connection:
        rater_id = arrive(connection, "one")
        way = slots(connection, rater_id)
        batch = [rating(n + 1, one.id) for n, one in enumerate(way)]
        first = log.append(connection, rater_id, "tab", batch, book(), NOW)
        again = log.append(connection, rater_id, "tab", batch, book(), NOW)
        assert first.acked == again.acked == [1, 2, 3, 4, 5, 6]
        assert count(connection) == 1 + 6
        assert [row.done for row in reading.item_rows(connection)] == [1] * 6


def test_a_correction_supersedes_and_the_first_answer_stays(ready: Database) -> None:
    with ready.write() as connection:
        rater_id = arrive(connection, "one")
        where = slots(connection, rater_id)[0].id
        log.append(connection, rater_id, "tab", [rating(1, where, 10.0)], book(), NOW)
        log.append(connection, rater_id, "tab", [rating(2, where, 20.0)], book(), NOW)
        (answer,) = reading.latest(connection, "rating")
        assert json.loads(answer.payload)["values"] == {"x": 20.0}
        told = [
            json.loads(row.payload)["values"]["x"] for row in reading.all_events(connection) if row.kind == "rating"
        ]
        assert told == [10.0, 20.0]
        assert sum(row.done for row in reading.item_rows(connection)) == 1


def test_nobody_writes_to_the_slot_of_another(ready: Database) -> None:
    with ready.write() as connection:
        mine, theirs = arrive(connection, "one"), arrive(connection, "two")
        where = slots(connection, theirs)[0].id
        receipt = log.append(connection, mine, "tab", [rating(1, where)], book(), NOW)
        assert receipt.acked == []
        assert receipt.rejected == {1: "not your slot"}
        assert reading.latest(connection, "rating") == []


def test_finishing_needs_every_slot(ready: Database) -> None:
    with ready.write() as connection:
        rater_id = arrive(connection, "one")
        way = slots(connection, rater_id)
        early = log.append(connection, rater_id, "tab", [log.Entry(1, "finish", NOW, "{}")], book(), NOW)
        assert list(early.rejected) == [1]
        log.append(connection, rater_id, "tab", [rating(n + 2, one.id) for n, one in enumerate(way)], book(), NOW)
        late = log.append(connection, rater_id, "tab", [log.Entry(90, "finish", NOW, "{}")], book(), NOW)
        assert late.acked == [90]
        assert late.state == "finished"


def test_many_arrivals_at_two_servers_keep_items_within_one(ready: Database) -> None:
    plan = assign.Plan(items=PLAN.items, items_per_rater=4)
    # Two writers on one database are two servers; on SQLite they wait for each other's file lock.
    writers = [Writer(ready), Writer(ready)]
    names = [f"rater{number}" for number in range(31)]

    def come(index: int, name: str) -> None:
        writers[index % 2].submit(lambda connection: arrive(connection, name, plan)).result(30)

    threads = [threading.Thread(target=come, args=pair) for pair in enumerate(names)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for writer in writers:
        writer.close()
    found = ready.read(loads)
    assert sum(found) == 31 * 4
    assert max(found) - min(found) <= 1


def test_items_of_those_who_leave_go_to_others_and_come_back_if_needed(ready: Database) -> None:
    plan = assign.Plan(items=PLAN.items, ratings_per_item=1)
    with ready.write() as connection:
        first = arrive(connection, "one", plan)
        where = slots(connection, first)[0]
        log.append(connection, first, "tab", [rating(1, where.id)], book(plan), NOW)
        assert loads(connection) == [1] * 6
        turned_away = arrive(connection, "two", plan, NOW + 1)
        assert raters.by_id(connection, turned_away).state == "full"
        assert assign.free_idle(connection, NOW) == 0
        assert assign.free_idle(connection, NOW + 1) == 1
        assert sum(loads(connection)) == 1
        second = arrive(
            connection, "three", assign.Plan(items=PLAN.items, ratings_per_item=1, items_per_rater=3), NOW + 2
        )
        assert len(slots(connection, second)) == 3
        assign.reclaim(connection, first, plan)
        # Of the five freed, three are somebody else's now.
        assert [one.state for one in slots(connection, first)].count("open") == 2
        assert loads(connection) == [1] * 6


def test_a_late_rating_of_an_item_that_went_to_another_is_kept_and_counted(ready: Database) -> None:
    plan = assign.Plan(items=PLAN.items, ratings_per_item=1)
    with ready.write() as connection:
        first = arrive(connection, "one", plan)
        way = slots(connection, first)
        assign.free_idle(connection, NOW + 1)
        arrive(connection, "two", plan, NOW + 2)
        receipt = log.append(connection, first, "tab", [rating(1, way[0].id)], book(plan), NOW + 3)
        assert receipt.acked == [1]
        assert slots(connection, first)[0].state == "done"
        row = next(row for row in reading.item_rows(connection) if row.name == way[0].item)
        assert (row.load, row.done) == (2, 1)


def test_a_rating_that_arrives_after_its_slot_was_freed_still_counts(ready: Database) -> None:
    with ready.write() as connection:
        rater_id = arrive(connection, "one")
        where = slots(connection, rater_id)[0]
        assign.free_idle(connection, NOW + 1)
        assert sum(loads(connection)) == 0
        receipt = log.append(connection, rater_id, "tab", [rating(1, where.id)], book(), NOW + 2)
        assert receipt.acked == [1]
        assert receipt.state == "active"
        done = {row.name: row.done for row in reading.item_rows(connection)}
        assert done[where.item] == 1
        assert loads(connection) == [1] * 6


def test_a_traced_item_is_done_when_every_pass_is(ready: Database) -> None:
    plan = assign.Plan(items=PLAN.items, parts=2, items_per_rater=1)
    with ready.write() as connection:
        rater_id = arrive(connection, "one", plan)
        first, second = slots(connection, rater_id)
        assert (first.item, first.part, second.part) == (second.item, 0, 1)
        log.append(connection, rater_id, "tab", [rating(1, first.id)], book(plan), NOW)
        assert sum(row.done for row in reading.item_rows(connection)) == 0
        log.append(connection, rater_id, "tab", [rating(2, second.id)], book(plan), NOW)
        assert sum(row.done for row in reading.item_rows(connection)) == 1


def test_references_come_after_every_so_many_and_checks_where_they_should(ready: Database) -> None:
    plan = assign.Plan(items=PLAN.items, references=("ref",), reference_every=2, checks=(("look", 3),), shuffled=False)
    with ready.write() as connection:
        way = slots(connection, arrive(connection, "one", plan))
    roles = [(one.item, one.repetition) for one in way]
    assert roles == [
        ("a", 0), ("b", 0), ("ref", 0), ("c", 0), ("look", 0), ("d", 0), ("ref", 1), ("e", 0), ("f", 0), ("ref", 2),
    ]  # fmt: skip


def test_the_same_person_comes_back_only_with_the_same_session(ready: Database) -> None:
    person = raters.Arrival("n1", "prolific", "pid", "session")
    with ready.write() as connection:
        assert arrivals.join(connection, person, room, NOW) == "n1"
        assert arrivals.join(connection, person._replace(name="n2"), room, NOW) == "n1"
        # Whose another session is, is for the researcher to say.
        assert arrivals.join(connection, person._replace(name="n3", session="other"), room, NOW) is None


def test_a_closed_or_full_study_takes_nobody(ready: Database) -> None:
    with ready.write() as connection:
        arrive(connection, "one")
        with pytest.raises(RefusedError, match="full"):
            arrivals.join(connection, raters.Arrival("two", "open"), lambda connection: True, NOW)
        raters.set_phase(connection, "paused")
        with pytest.raises(RefusedError, match="closed"):
            arrivals.join(connection, raters.Arrival("two", "open"), room, NOW)


def test_a_rater_who_sends_too_much_is_stopped(ready: Database) -> None:
    with ready.write() as connection:
        rater_id = arrive(connection, "one")
        notes = [log.Entry(seq, "note", NOW, "{}") for seq in range(1, 6)]
        receipt = log.append(connection, rater_id, "tab", notes, book(most=3), NOW)
        assert receipt.acked == []
        assert set(receipt.rejected.values()) == {"too many events"}


def test_items_that_leave_the_study_file_are_not_given_out_again(ready: Database) -> None:
    with ready.write() as connection:
        assign.sync_items(connection, assign.Plan(items=("b", "g")))
        way = slots(connection, arrive(connection, "one", assign.Plan(items=("b", "g"))))
        assert sorted(one.item for one in way) == ["b", "g"]


def test_a_server_with_an_older_file_hands_out_what_it_can_show(ready: Database) -> None:
    with ready.write() as connection:
        assign.sync_items(connection, assign.Plan(items=(*PLAN.items, "new")))
        assert "new" not in [one.item for one in slots(connection, arrive(connection, "one"))]


def test_one_job_that_fails_takes_no_other_down(ready: Database) -> None:
    writer = Writer(ready)
    hold = threading.Event()
    blocker = writer.submit(lambda connection: hold.wait(10))

    def fail(connection: Connection) -> None:
        arrive(connection, "ghost")
        raise RefusedError("no")

    # All three wait behind the blocker, so they share a transaction.
    good, bad, other = (
        writer.submit(lambda c: arrive(c, "one")), writer.submit(fail), writer.submit(lambda c: arrive(c, "two")),
    )  # fmt: skip
    hold.set()
    assert blocker.result(10) is True
    assert good.result(10) > 0
    assert other.result(10) > 0
    with pytest.raises(RefusedError):
        bad.result(10)
    writer.close()
    assert ready.read(lambda connection: raters.find(connection, "ghost")) is None
    assert ready.read(lambda connection: connection.scalar(select(func.count()).select_from(slot))) == 12


def test_what_is_acknowledged_is_committed(ready: Database, database_url: str) -> None:
    writer = Writer(ready)
    other = Database(database_url)
    for number in range(20):
        writer.submit(lambda connection, n=number: arrive(connection, f"r{n}")).result(10)
        assert other.read(lambda connection, n=number: raters.find(connection, f"r{n}")) is not None
    writer.close()
    other.close()


def test_closing_the_writer_commits_what_is_waiting(ready: Database) -> None:
    writer = Writer(ready)
    waiting = [writer.submit(lambda connection, n=number: arrive(connection, f"r{n}")) for number in range(40)]
    writer.close()
    assert all(one.done() for one in waiting)
    assert ready.read(lambda connection: raters.find(connection, "r39")) is not None


def test_a_database_that_is_away_says_not_saved() -> None:
    database = Database("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(NotSavedError), database.write():
        pass
