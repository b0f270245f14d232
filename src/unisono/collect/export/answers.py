"""What raters answered, read from the log: the last rating of each slot, the last complete trace of each pass.

Samples of traces lie at uneven moments, and become one value per frame on the clock of the media.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection

from unisono.collect.store import reading
from unisono.collect.store.raters import excluded_ids
from unisono.collect.studies import Study, StudyFolder, duration, schema


class Answer(NamedTuple):
    """One rater on one item: one value per dimension, none for a text that was left empty."""

    annotator: str
    item: str
    role: str
    repetition: int
    values: dict[str, schema.Value]
    shown_ms: float


class TracedPass(NamedTuple):
    """One rater on one recording: a value per frame and dimension, None before the first touch."""

    annotator: str
    item: str
    role: str
    repetition: int
    values: dict[str, list[float | None]]


def label(rater_id: int) -> str:
    """What a rater is called in every table: says nothing of who they are elsewhere."""
    return f"r{rater_id:04d}"


def answers(connection: Connection) -> list[Answer]:
    """All ratings that count, by rater in the order of their way."""
    found = []
    for row in reading.latest(connection, "rating"):
        data = msgspec.json.decode(row.payload)
        known = (label(row.rater_id), row.item, row.role, row.repetition)
        found.append(Answer(*known, data["values"], data["shown_ms"]))
    return found


def counting(connection: Connection, rated: list[Answer]) -> list[Answer]:
    """The answers of those who are not excluded."""
    left_out = {label(rater_id) for rater_id in excluded_ids(connection)}
    return [answer for answer in rated if answer.annotator not in left_out]


def traces(
    connection: Connection, folder: StudyFolder, roles: tuple[str, ...] = ("item", "reference")
) -> Iterator[TracedPass]:
    """All traces that count, the passes of a rater over a recording put together; one in memory at a time."""
    groups: dict[tuple[int, str, str, int], list[tuple[int, int, str]]] = {}
    left_out = excluded_ids(connection)
    for row in reading.latest(connection, "pass"):
        if row.role not in roles or row.rater_id in left_out:
            continue
        key = (row.rater_id, row.item, row.role, row.repetition)
        groups.setdefault(key, []).append((row.part, row.slot_id, row.payload))
    for (rater_id, item, role, repetition), parts in groups.items():
        values = _put_together(connection, folder.study, parts, _frames(folder, item, parts))
        yield TracedPass(label(rater_id), item, role, repetition, values)


def _put_together(
    connection: Connection, study: Study, parts: list[tuple[int, int, str]], frames: int
) -> dict[str, list[float | None]]:
    values: dict[str, list[float | None]] = {}
    for part, slot_id, payload in parts:
        names = study.passes[part]
        samples = _samples(connection, slot_id, msgspec.json.decode(payload)["attempt"])
        for column, name in enumerate(names, 3):
            values[name] = held(samples, column, study.trace.rate, frames)
    return {name: values.get(name, [None] * frames) for name in study.names}


def _samples(connection: Connection, slot_id: int, attempt: str) -> list[Sample]:
    """The samples of one attempt in the order they were taken."""
    batches = [msgspec.json.decode(payload) for payload in reading.sample_payloads(connection, slot_id)]
    mine = sorted((batch for batch in batches if batch["attempt"] == attempt), key=lambda batch: int(batch["first"]))
    return [row for batch in mine for row in batch["rows"]]


def _frames(folder: StudyFolder, item: str, parts: list[tuple[int, int, str]]) -> int:
    """How many frames the recording has: as made here, or as long as the player said, within what the file says."""
    known = folder.catalogue.find(item)
    if known is not None and known.walk is not None:
        return len(known.walk.saturation)
    played = max(float(msgspec.json.decode(payload)["seconds"]) for _, _, payload in parts)
    seconds = min(played, duration.longest(known.seconds if known else None))
    return max(1, round(seconds * folder.study.trace.rate))


# media ms, page ms, code, then a value per dimension of the pass
Sample = list[float | None]


def held(samples: list[Sample], column: int, rate: float, frames: int) -> list[float | None]:
    """The value in force at each t / rate: the last one sampled by then, None before the first touch.

    A handle stays where it was left, so values are held, not interpolated. A tick that is meant for a frame comes a
    few milliseconds after it; half a frame of grace keeps it from counting one frame late.
    """
    values: list[float | None] = []
    current: float | None = None
    at = 0
    for frame in range(frames):
        limit = 1000 * (frame + 0.5) / rate
        while at < len(samples) and (samples[at][0] or 0.0) <= limit:
            current = samples[at][column]
            at += 1
        values.append(current)
    return values


def seconds(frame: int, rate: float) -> str:
    """The time of a frame, for a table."""
    return f"{frame / rate:.10g}"
