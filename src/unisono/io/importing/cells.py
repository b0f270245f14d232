"""Numbers in cells of trace files, which have to be there: times, and what else a file cannot do without."""

from __future__ import annotations

import itertools
import math

from unisono.errors import DataError


def number_in(cell: str, what: str, place: object) -> float:
    """A finite number; raises a DataError with the place otherwise."""
    try:
        found = float(cell)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise DataError(f"{place}: {what} is '{cell.strip()[:40]}', not a number. Is the file whole?")
    return found


def step_of(times: list[float]) -> float | None:
    """The usual step between samples; None of fewer than two."""
    steps = sorted(later - earlier for earlier, later in itertools.pairwise(times))
    return steps[len(steps) // 2] if steps else None
