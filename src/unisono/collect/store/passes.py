"""Whether a trace is all there: what a browser claims to have sent, beside what was received."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection

from unisono.collect.store import reading

# A page that plays samples many times a second; a hole this long was not played.
_LONGEST_HOLE_MS = 5000.0
# Clocks of sound cards and of computers differ by less than this, and menus of speeds begin above it.
_FASTEST = 1.1
_PAUSE_MS = 1000.0


class Claim(NamedTuple):
    """What the end of a pass says: so many samples in this attempt, so many seconds of media."""

    attempt: str
    samples: int
    seconds: float


class _Samples(msgspec.Struct):
    attempt: str
    first: int
    rows: list[list[float | None]]


def claim_fault(connection: Connection, slot_id: int, claim: Claim) -> str | None:
    """What is wrong with the claim, or None."""
    batches = [msgspec.json.decode(payload, type=_Samples) for payload in reading.sample_payloads(connection, slot_id)]
    mine = sorted((one for one in batches if one.attempt == claim.attempt), key=lambda one: one.first)
    received = 0
    for batch in mine:
        if batch.first != received:
            return "samples of this pass are missing"
        received += len(batch.rows)
    if received != claim.samples:
        return "samples of this pass are missing"
    if _is_too_fast([row for batch in mine for row in batch.rows]):
        return "it was played faster than it is"
    moments = [row[0] or 0.0 for batch in mine for row in batch.rows]
    if _widest_hole([0.0, *moments, 1000 * claim.seconds]) > _LONGEST_HOLE_MS:
        return "the samples do not cover the recording"
    return None


def _is_too_fast(rows: list[list[float | None]]) -> bool:
    """Whether the media went on faster than the page's clock while it played."""
    media = page = 0.0
    for before, after in pairwise(rows):
        step = (after[1] or 0.0) - (before[1] or 0.0)
        # A longer step is a pause, in which the page's clock goes on alone.
        if step < _PAUSE_MS:
            media += (after[0] or 0.0) - (before[0] or 0.0)
            page += step
    return media > _FASTEST * page + _PAUSE_MS


def _widest_hole(moments: list[float]) -> float:
    return max(after - before for before, after in pairwise(moments))
