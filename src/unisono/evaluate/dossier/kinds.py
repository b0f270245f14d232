"""What a report says of kinds of annotators beside the summary: whether single judges may replace people."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.data import Ratings
from unisono.data.kinds import divide
from unisono.evaluate.judges.replacing import alternatives
from unisono.fusers import Fuser, Groups

MOST_CELLS = 20_000_000  # items times annotators times judges, beyond which comparing them takes longer than fusing


def replacements(fuser: Fuser, ratings: Ratings) -> list[dict[str, Any]] | None:
    """Per judge the alternative annotator test on every dimension; None without people and judges."""
    if not isinstance(fuser, Groups) or ratings.is_series:
        return None
    division = divide(ratings, fuser.reference_kind)
    judges = np.flatnonzero(division.group > 0)
    if not division.reference or ratings.M * ratings.K * len(judges) > MOST_CELLS:
        return None
    found = alternatives(ratings, judges, np.flatnonzero(division.group == 0))
    rows = []
    for k in judges.tolist():
        name = ratings.annotators[k]
        tests = [found[name, dimension] for dimension in ratings.dimensions]
        rows.append(
            {
                "annotator": name,
                "kind": division.names[division.group[k]],
                "winning_rate": [_plain(test.winning_rate) for test in tests],
                "advantage": [_plain(test.advantage) for test in tests],
                "people": [test.people for test in tests],
                "replaces": [None if np.isnan(test.winning_rate) else test.passes for test in tests],
            }
        )
    return rows


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
