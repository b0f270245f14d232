"""Pictures of leaderboards: means with intervals and ranks, and what more prompts and annotators would show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from unisono.report.report_figures import (
    LABELS,
    Axis,
    as_number,
    broad,
    dot,
    element,
    lettering,
    short_name,
    stroke,
    titled,
)

RANKS = 640  # where the ranks of systems end
SYSTEM_ROW = 20  # height of a line of a leaderboard


def leaderboard_figure(rows: Sequence[dict[str, Any]], dimension: str, level: float) -> Markup:
    """Means of systems with their intervals, the best on top, and beside them the ranks that they may have."""
    known = [row for row in rows if row["mean"] is not None]
    if not known:
        return Markup("")
    scale = Axis([row[end] for row in known for end in ("low", "high")], LABELS, RANKS - 90)
    marks = [lettering("name", RANKS, 14, "rank")]
    for i, row in enumerate(known):
        y = 30 + SYSTEM_ROW * i
        first, last = row["rank_low"], row["rank_high"]
        rank = f"{first}" if first == last else f"{first} to {last}"
        about = f"{row['system']}: {as_number(row['mean'])} [{as_number(row['low'])}, {as_number(row['high'])}]"
        reach = stroke("reach", (scale(row["low"]), scale(row["high"])), (y, y))
        marks.append(lettering("name", LABELS - 8, y + 4, short_name(row["system"])))
        marks.append(titled(f"{about}, rank {rank}", reach, dot("dot", scale(row["mean"]), y, 3.6)))
        marks.append(lettering("name", RANKS, y + 4, rank))
    height = 30 + SYSTEM_ROW * len(known) + 16
    label = f"{dimension}: means of {len(known)} systems with {level:.0%} intervals and the ranks they may have"
    return broad(height, label, [*scale.axis(20, height - 20), *marks])


def needed_figure(rows: Sequence[dict[str, Any]], dimension: str) -> Markup:
    """Smallest difference that would be seen, by the number of prompts, a line for every number of annotators."""
    if not rows:
        return Markup("")
    across = Axis([math.log2(max(row["prompts"], 1)) for row in rows], 60, 520)
    up = Axis([0.0, *(-row["smallest"] for row in rows)], 14, 150)
    marks, below = [], 14.0
    for annotators in sorted({row["annotators"] for row in rows}):  # the more, the lower
        own = [row for row in rows if row["annotators"] == annotators]
        at = [(across(math.log2(max(row["prompts"], 1))), up(-row["smallest"]), row) for row in own]
        marks.append(element("polyline", "path", points=" ".join(f"{x},{y}" for x, y, _ in at)))
        for x, y, row in at:
            about = f"{row['prompts']} prompts, {annotators} annotators: {as_number(row['smallest'], 2)}"
            marks.append(titled(about, dot("dot", x, y, 3)))
        below = max(float(at[-1][1]) + 4, below + 13)
        said = f"{as_number(own[-1]['smallest'], 2)} by {annotators}"
        marks.append(lettering("", 530, below, said))
    start = as_number(rows[0]["smallest"], 2)
    marks.append(lettering("name", 50, float(up(-rows[0]["smallest"])) + 4, start))
    first = [row for row in rows if row["annotators"] == rows[0]["annotators"]]
    places = [across(math.log2(max(row["prompts"], 1))) for row in first]
    marks += [lettering("tick", x, 172, f"{row['prompts']:,}") for x, row in zip(places, first, strict=True)]
    marks.append(lettering("tick", 290, 188, "prompts"))
    marks.append(lettering("", 530, 14, "by annotators"))
    return broad(194, f"{dimension}: smallest difference that would be clear, by prompts and annotators", marks)
