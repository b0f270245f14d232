"""A crowd of known habits that rates a study through its own protocol: honest, reversed, or answering at random."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from collect_support import Rater
from unisono.collect.store import reading
from unisono.collect.studies import Item, StudyFolder

FAST = "\n[limits]\nrequests_per_second = 10000\njoins_per_minute = 60000\n"


def let_rate(client: TestClient, folder: StudyFolder, habits: list[str], seed: int = 1) -> None:
    """Lets one rater per habit ("honest", "reversed", "random") rate everything, in this order."""
    rng = np.random.default_rng(seed)
    for number, habit in enumerate(habits):
        rater = Rater.join(client, f"tab{number:05d}")
        events = []
        for slot, item in _given(client, folder, rater):
            known = folder.study.dimensions
            values = [_answer(habit, item.truth[one.name], rng) if one.is_number else one.choices[0] for one in known]
            events.append(rater.rating(slot, *values))
        assert rater.send(*events).json()["rejected"] == []
        assert rater.do("finish")["rejected"] == []


def let_trace(client: TestClient, folder: StudyFolder, habits: list[str], seed: int = 1) -> None:
    """The same for moving colours, a sample per frame."""
    rng = np.random.default_rng(seed)
    for number, habit in enumerate(habits):
        rater = Rater.join(client, f"tab{number:05d}")
        for slot, item in _given(client, folder, rater):
            assert item.walk is not None
            values = getattr(item.walk, slot["dimensions"][0])
            ms = 1000 / item.walk.rate
            rows = [[ms * n, ms * n, 0, _answer(habit, value, rng)] for n, value in enumerate(values)]
            ids = {"slot": slot["id"], "attempt": str(slot["id"])}
            seconds = len(values) / item.walk.rate
            sent = [
                rater.event("samples", first=0, rows=rows, **ids),
                rater.event("pass", samples=len(rows), seconds=seconds, start=slot["start"], **ids),
            ]
            assert rater.send(*sent).json()["rejected"] == []
        assert rater.do("finish")["rejected"] == []


def _answer(habit: str, truth: float, rng: np.random.Generator) -> float:
    seen = {"honest": truth, "reversed": 100 - truth, "random": 100 * rng.random()}[habit]
    return float(np.clip(round(seen + 6 * rng.normal()), 0, 100))


def _given(client: TestClient, folder: StudyFolder, rater: Rater) -> Iterator[tuple[dict[str, Any], Item]]:
    """The rater's slots with their items, which raters are not told but the database knows."""
    site = client.app.state.site  # type: ignore[attr-defined]
    name = rater.link.rpartition("/")[2].partition(".")[0]
    people = site.database.read(reading.rater_rows)
    mine = next(row.id for row in people if row.name == name)
    items = {slot.id: slot.item for slot in site.database.read(lambda c: reading.slots_of(c, mine))}
    for slot in rater.slots:
        found = folder.catalogue.find(items[slot["id"]])
        assert found is not None
        yield slot, found
