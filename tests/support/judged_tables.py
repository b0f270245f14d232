"""Tables of ratings by people and judges with a known truth, as users have them."""

from __future__ import annotations

import polars as pl

from group_cases import simulated_panel
from unisono.tables.ratings import Ratings


def judged_ratings(seed=0, *, kinds=True, **world) -> tuple[Ratings, object]:
    """Simulated people (h0, ...) and judges (gpt-0, ...), and the panel with their truth."""
    panel = simulated_panel(seed, **world)
    value, item_of, annotator_of = panel.ratings
    people = int((panel.group == 0).sum())
    names = [f"h{k}" if k < people else f"gpt-{k - people}" for k in range(len(panel.group))]
    ratings = Ratings.from_judgements(
        value,
        item_of,
        annotator_of,
        items=[f"i{m:03d}" for m in range(panel.M)],
        annotators=names,
        dimensions=[f"d{d}" for d in range(value.shape[1])],
        kinds=["human" if g == 0 else "judge" for g in panel.group] if kinds else None,
    )
    return ratings, panel


def judged_frame(seed=0, **world) -> pl.DataFrame:
    """The same as a table with a column `kind`."""
    ratings, _ = judged_ratings(seed, **world)
    items, names = pl.Series(ratings.items), pl.Series(ratings.annotators)
    kinds = pl.Series(["judge" if name.startswith("gpt") else "human" for name in ratings.annotators])
    labels = {
        "item": items.gather(ratings.item_of),
        "annotator": names.gather(ratings.annotator_of),
        "kind": kinds.gather(ratings.annotator_of),
    }
    return pl.DataFrame(labels | {name: ratings.value[:, d] for d, name in enumerate(ratings.dimensions)})
