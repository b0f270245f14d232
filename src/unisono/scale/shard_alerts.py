"""What in shards of ratings deserves a look: the alerts that tables in memory get, from counts over all parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from unisono.scale.executors import Executor, Shard, pairwise_sum
from unisono.scale.shard_folder import ShardFolder, item_labels
from unisono.scale.shard_parts import Look, Part, Tally, groups_of
from unisono.tables.coverage_and_outliers import Fence
from unisono.tables.rating_checks import (
    Alert,
    bounds_from,
    constant_alerts,
    few_answers,
    few_raters,
    group_alerts,
    inner_percentiles,
    scale_alerts,
    unusual_alert,
    wild_alert,
)


def shard_alerts(
    executor: Executor, parts: list[Shard], folder: ShardFolder, look: Look, tallies: list[Tally]
) -> list[Alert]:
    """All alerts about the ratings, the serious ones first."""
    names = folder.annotators
    found = [*group_alerts(groups_of(look.tied), names)]
    for number, items in enumerate((look.unrated, look.single)):
        found += few_raters(number, int(look.per_item[number]), tuple(item_name(folder, m) for m in items.tolist()))
    found += few_answers(look.rated, names, once=True)
    for d, dimension in enumerate(folder.dimensions):
        found += constant_alerts(look.low[:, d], look.high[:, d], look.answered[:, d], names, dimension)
    found += _unusual_values(executor, parts, folder, look, tallies)
    ends = look.span
    found += scale_alerts(ends[0], ends[1], folder.dimensions)
    return sorted(found, key=lambda alert: alert.severity != "warning")


def item_name(folder: ShardFolder, item: int) -> str:
    """The name of an item by its number over all parts."""
    first = np.array(folder.first_items())
    n = int(np.searchsorted(first, item, side="right")) - 1
    return item_labels(folder.paths()[n])[item - int(first[n])]


class _Outside(NamedTuple):
    """Values far outside the others, of one dimension."""

    many: int
    worst: float  # NaN where there is none
    away: float
    who: int
    item: int
    annotators: np.ndarray  # who gave any
    low: float  # of the values inside
    high: float


def _unusual_values(
    executor: Executor, parts: list[Shard], folder: ShardFolder, look: Look, tallies: list[Tally]
) -> Iterator[Alert]:
    for d, (tally, seen) in enumerate(zip(tallies, look.span.T, strict=True)):
        number = int(look.numbers[d])
        if not number:
            continue
        percentiles = tally.quantiles([share / 100 for share in inner_percentiles(number)])
        low, high = bounds_from(percentiles, number)
        if low <= seen[0] and seen[1] <= high:
            continue
        found = pairwise_sum(executor.map(_outside, parts, d, low, high, float(percentiles[1])), _joined)
        worst = found.worst, folder.annotators[found.who], item_name(folder, found.item)
        names = tuple(folder.annotators[k] for k in found.annotators.tolist())
        yield unusual_alert(folder.dimensions[d], found.many, (found.low, found.high), worst, names)


def wild_alerts(
    executor: Executor,
    parts: list[Shard],
    folder: ShardFolder,
    annotators: tuple[str, ...],
    fence: Fence,
    rule: np.ndarray,
    tallies: list[Tally],
) -> Iterator[Alert]:
    """About answers beyond the fence of annotators who do not answer there as a `rule` (K, D)."""
    for d, (low, high) in enumerate(zip(*fence, strict=True)):
        middle = float(tallies[d].quantiles([0.5])[0]) if len(tallies[d].value) else 0.0
        found = pairwise_sum(executor.map(_outside, parts, d, low, high, middle, rule[:, d]), _joined)
        if found.many:
            worst = found.worst, annotators[found.who], item_name(folder, found.item)
            names = tuple(annotators[k] for k in found.annotators.tolist())
            yield wild_alert(folder.dimensions[d], found.many, (found.low, found.high), worst, names)


def _outside(part: Part, d: int, low: float, high: float, middle: float, but: np.ndarray | None = None) -> _Outside:
    """`but` (K,): annotators of whom nothing is outside."""
    column = part.value[:, d]
    far = (column < low) | (column > high)
    if but is not None:
        far &= ~but[part.annotator_of]
    rows, inside = np.flatnonzero(far), column[~far & ~np.isnan(column)]
    ends = float(inside.min(initial=np.inf)), float(inside.max(initial=-np.inf))
    if not len(rows):
        return _Outside(0, np.nan, -1.0, -1, -1, np.zeros(0, dtype=np.int64), *ends)
    away = np.abs(column[rows] - middle)
    worst = rows[np.argmax(away)]
    who = np.unique(part.annotator_of[rows]).astype(np.int64)
    item = part.first + int(part.item_of[worst])
    return _Outside(len(rows), float(column[worst]), float(away.max()), int(part.annotator_of[worst]), item, who, *ends)


def _joined(one: _Outside, other: _Outside) -> _Outside:
    worse = one if one.away >= other.away else other
    return worse._replace(
        many=one.many + other.many,
        annotators=np.union1d(one.annotators, other.annotators),
        low=min(one.low, other.low),
        high=max(one.high, other.high),
    )
