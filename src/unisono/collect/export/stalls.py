"""How often and for how long what plays stood still because nothing had arrived, by rater."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from sqlalchemy import Connection

from unisono.collect.store import reading


class Stalled(NamedTuple):
    """All stalls of one rater."""

    times: int = 0
    seconds: float = 0.0


def stalls(connection: Connection) -> dict[int, Stalled]:
    """Of traces from the notes that came with them, of ratings from what they say themselves."""
    found: dict[int, Stalled] = {}
    for row in reading.notes(connection):
        data = msgspec.json.decode(row.payload)
        if data["name"] == "stall":
            _add(found, row.rater_id, 1, data.get("lasted_ms", 0))
    for row in reading.latest(connection, "rating"):
        data = msgspec.json.decode(row.payload)
        if data.get("stalls"):
            _add(found, row.rater_id, data["stalls"], data.get("stalled_ms", 0))
    return found


def _add(found: dict[int, Stalled], rater_id: int, times: int, ms: float) -> None:
    before = found.get(rater_id, Stalled())
    found[rater_id] = Stalled(before.times + times, before.seconds + ms / 1000)
