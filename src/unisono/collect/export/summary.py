"""How a study is doing, as plain numbers: for the researcher's page and for `unisono collect status`."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import Connection

from unisono.collect.export.answers import answers
from unisono.collect.export.raters import standings
from unisono.collect.store import raters, reading
from unisono.collect.studies import StudyFolder


def summary(connection: Connection, folder: StudyFolder) -> dict[str, Any]:
    """Everything on the researcher's page."""
    people = standings(connection, folder, answers(connection))
    items = [row for row in reading.item_rows(connection) if row.place >= 0 or row.done]
    done = [row.done for row in items]
    target = folder.study.design.ratings_per_item
    states = Counter(person.state for person in people)
    return {
        "title": folder.study.title,
        "mode": folder.study.mode,
        "phase": raters.phase(connection),
        "target": target,
        "ratings": sum(done),
        "wanted": target * len(items),
        "fewest": min(done, default=0),
        "most": max(done, default=0),
        "raters": {
            state: states.get(state, 0) for state in ("joined", "active", "finished", "left", "declined", "full")
        },
        "items": [{"name": row.name, "done": row.done, "active": row.load - row.done} for row in items],
        "people": [person._asdict() for person in people],
    }
