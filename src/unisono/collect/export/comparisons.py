"""What raters said of pairs: one row per rater, pair and dimension."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec
from sqlalchemy import Connection

from unisono.collect.export.answers import label
from unisono.collect.store import reading
from unisono.collect.store.excluded import excluded_ids
from unisono.collect.studies.pairs import split_pair

HEADER = ["annotator", "left", "right", "dimension", "answer", "seconds", "time"]


def comparison_rows(connection: Connection, names: list[str]) -> Iterator[list[str]]:
    """The rows of comparisons.csv; `answer` is left, right or tie, as the pair was shown."""
    left_out = excluded_ids(connection)
    for row in reading.latest(connection, "rating"):
        pair = split_pair(row.item)
        if row.role != "item" or pair is None or row.rater_id in left_out:
            continue
        data = msgspec.json.decode(row.payload)
        left, right = pair if data["left"] == "first" else pair[::-1]
        moment = datetime.fromtimestamp(row.stored_at / 1000, UTC).isoformat(timespec="seconds")
        for name in names:
            if name in data["values"]:
                seconds = f"{data['shown_ms'] / 1000:.10g}"
                yield [label(row.rater_id), left, right, name, data["values"][name], seconds, moment]
