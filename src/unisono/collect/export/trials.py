"""One row per answered page: how long it took, where it came, how it was answered, and what disturbed it.

`item` and `annotator` are those of ratings.csv. Response times are those of the first answer; the values count as last
corrected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection

from unisono.collect.export.answers import label
from unisono.collect.export.doubts import Devices
from unisono.collect.export.raters import plain
from unisono.collect.export.times import Visit, visits
from unisono.collect.store import reading
from unisono.collect.store.raters import excluded_ids
from unisono.collect.studies import Study

_KEYS = ["item", "annotator", "role", "repetition", "position", "pass"]
_ABOUT = ["response_seconds", "confirmed_seconds", "times_answered", "plays", "pauses", "stalls", "stalled_seconds"]
_PAUSES = ("pause", "blur", "outside")


def header(study: Study) -> list[str]:
    """Values where pages are rated; traces have theirs, over time, in ratings.csv."""
    sliders = [one.name for one in study.asked if one.kind == "slider"]
    by = [f"by_{name}" for name in study.answered] if study.mode != "trace" else ["by"]
    values = study.answered if study.mode != "trace" else []
    return [*_KEYS, *values, *_ABOUT, *(f"start_{name}" for name in sliders), *by, "screen", "window"]


def trial_rows(connection: Connection, study: Study) -> Iterator[dict[str, str]]:
    """The rows of trials.csv, by rater in the order of their way; cells by column."""
    found = visits(connection)
    first = {one.slot_id: one for one in reversed(found)}
    times = Counter(one.slot_id for one in found)
    notes, devices, left_out = _notes(connection), Devices(connection), excluded_ids(connection)
    kind = "pass" if study.mode == "trace" else "rating"
    for row in reading.latest_of(connection, ("rating", "pass")):
        if row.rater_id in left_out or (row.kind != kind and row.role != "check"):
            continue
        data = msgspec.json.decode(row.payload)
        device = devices.at(row.rater_id, row.tab, row.seq)
        yield (
            _key(row, study)
            | _answered(data, first.get(row.slot_id), times[row.slot_id])
            | _disturbed(data, notes.get(row.slot_id, {}))
            | ({"screen": device.screen, "window": device.window} if device else {})
        )


def _key(row: Any, study: Study) -> dict[str, str]:
    names = study.passes[row.part] if study.mode == "trace" and row.role != "check" else []
    cells = (row.item, label(row.rater_id), row.role, row.repetition, row.position + 1, " ".join(names))
    return dict(zip(_KEYS, map(str, cells), strict=True))


def _answered(data: dict[str, Any], first: Visit | None, times: int) -> dict[str, str]:
    cells = {name: _cell(value) for name, value in data.get("values", {}).items()}
    cells |= {f"start_{name}": _cell(value) for name, value in data["start"].items()}
    cells |= {f"by_{name}": source for name, source in data.get("sources", {}).items()}
    if first is not None:
        cells |= {"response_seconds": _cell(first.claimed), "confirmed_seconds": f"{first.confirmed:.3f}"}
    return cells | {"times_answered": str(times), "by": data.get("by", "")}


def _disturbed(data: dict[str, Any], notes: dict[str, float]) -> dict[str, str]:
    """Of traces from the notes that came with them, of ratings from what they say themselves."""
    pauses = sum(notes.get(name, 0) for name in _PAUSES)
    plays, stalls = (max(notes.get(name, 0), data.get(f"{name}s", 0)) for name in ("play", "stall"))
    lost = max(notes.get("stalled_ms", 0), data.get("stalled_ms", 0)) / 1000
    known = {"plays": plays, "pauses": pauses, "stalls": stalls, "stalled_seconds": lost}
    return {name: _cell(float(value)) for name, value in known.items()}


def _notes(connection: Connection) -> dict[int, dict[str, float]]:
    """How often what was noted on a page, and how many milliseconds it stood still."""
    found: dict[int, dict[str, float]] = {}
    for row in reading.notes(connection):
        data = msgspec.json.decode(row.payload)
        mine = found.setdefault(row.slot_id, {})
        mine[data["name"]] = mine.get(data["name"], 0) + 1
        mine["stalled_ms"] = mine.get("stalled_ms", 0) + data.get("lasted_ms", 0)
    return found


def _cell(value: float | str | None) -> str:
    if value is None:
        return ""
    return plain(value) if isinstance(value, str) else f"{value:.10g}"
