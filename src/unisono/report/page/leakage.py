"""Leakage between dimensions, as the table of annotators tells it: where most comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

NOTICED = 0.005  # leakage below this would be shown as nothing

Transform = Sequence[Sequence[float | None]]


def strongest_leakage(transform: Transform, d: int) -> tuple[int, float | None]:
    """The other dimension whose truth moves answers on dimension d most, and by how much; None where there is none."""
    others = [(e, value) for e, value in enumerate(transform[d]) if e != d and value is not None]
    if not others:
        return d, None
    return max(others, key=lambda one: abs(one[1]))


def leaking(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether anybody's answers on any dimension follow the truth of another one."""
    return any(
        abs(strongest_leakage(row["transform"], d)[1] or 0.0) >= NOTICED
        for row in rows
        for d in range(len(row["transform"]))
    )
