"""How a study is doing, as plain numbers: for the researcher's page and for `unisono collect status`."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import Connection

from unisono.collect.export.answers import answers, label
from unisono.collect.export.raters import Standing, standings
from unisono.collect.store import raters, reading
from unisono.collect.store.arrivals import asks
from unisono.collect.studies import StudyFolder


def summary(connection: Connection, folder: StudyFolder) -> dict[str, Any]:
    """Everything on the researcher's page."""
    people = standings(connection, folder, answers(connection))
    items = _items(connection, folder)
    done = [item["done"] for item in items[: len(folder.catalogue.items)]]
    target = folder.study.design.ratings_per_item
    states = Counter(person.state for person in people)
    return {
        "title": folder.study.title,
        "mode": folder.study.mode,
        "phase": raters.phase(connection),
        "target": target,
        "ratings": sum(item["done"] for item in items),
        "wanted": target * len(done),
        "fewest": min(done, default=0),
        "most": max(done, default=0),
        "raters": {
            state: states.get(state, 0) for state in ("joined", "active", "finished", "left", "declined", "full")
        },
        "items": items,
        "people": [_person(person) for person in people],
        "asks": _asks(connection),
    }


def _asks(connection: Connection) -> list[dict[str, Any]]:
    """Second sessions about which the researcher has not yet said whose they are."""
    begun = {row.id: row.session for row in reading.rater_rows(connection)}
    return [
        {
            "ask": key,
            "annotator": label(ask.rater_id),
            "name": ask.outside,
            "begun_session": begun[ask.rater_id],
            "session": ask.session,
            "asked_at": ask.asked_at,
        }
        for key, ask in asks(connection).items()
        if not ask.answer
    ]


def _person(person: Standing) -> dict[str, Any]:
    seen = person.evidence
    time = seen.time._asdict() | {"percent": seen.time.percent}
    return person._asdict() | {"evidence": seen._asdict() | {"time": time}}


def _items(connection: Connection, folder: StudyFolder) -> list[dict[str, Any]]:
    """The items of the study file, rated or not, then those that have left it with ratings."""
    rows = {row.name: row for row in reading.item_rows(connection)}
    now = [item.name for item in folder.catalogue.items]
    gone = [name for name, row in rows.items() if row.done and name not in set(now)]
    counts = {name: (row.done, row.load - row.done) for name, row in rows.items()}
    return [
        {"name": name, "done": done, "active": active}
        for name in (*now, *gone)
        for done, active in (counts.get(name, (0, 0)),)
    ]
