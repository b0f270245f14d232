"""Before a fit of shards: its fuser, the scale of the answers, wild answers left out, duplicate annotators merged.

Also what in the ratings deserves a look: the alerts that tables in memory get, from counts over all parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError, SettingsError
from unisono.fusers import Joint, crowd, item_preparation, make_fuser, standardisation
from unisono.maths import grouped_sums, structure_words
from unisono.maths.copies.copy_sets import Disputes, disputes, voice_sums
from unisono.scale.executors import Executor, Shard, Task, add_fields
from unisono.scale.shard_folder import ShardFolder, item_labels
from unisono.scale.shard_parts import Known, Look, Part, Source, Tally, groups_of, make_part
from unisono.scale.sharded_default import Counted, look_at_all
from unisono.tables import ItemTable, Scale, coverage_and_outliers, labels, rating_checks, scale_inference
from unisono.tables.rating_checks import Alert

MODELS = ("auto", "joint")


def fuser_of(model: str, settings: dict[str, Any]) -> Joint:
    """The fuser of shards, if it is one that there is for them."""
    if model not in MODELS:
        raise SettingsError(f"Shards are fused with the model 'auto' or 'joint', not with '{model}'.")
    fuser = make_fuser(model, series=False, **settings)
    assert isinstance(fuser, Joint)
    fuser.check_settings()
    refused = {"inference": fuser.inference != "bayes", "anchor": fuser.anchor != "average", "paper": fuser.paper}
    for name, wrong in refused.items():
        if wrong:
            raise SettingsError(
                f"{name}={getattr(fuser, name)!r} is for tables in memory, not for shards: fuse a table that fits "
                f"with `fuse`, or leave {name} away."
            )
    return fuser


def with_item_tables(
    executor: Executor,
    sources: list[Source],
    folder: ShardFolder,
    features: ItemTable | None,
    gold: ItemTable | None,
) -> tuple[list[Source], ItemTable | None]:
    """Sources that know what is known of their items, and the known truths in the order of the ratings' dimensions."""
    if features is None and gold is None:
        return sources, gold
    if gold is not None:
        gold = gold.select_items(labels.sort_labels(gold.items))
        value = item_preparation.in_dimensions(gold, folder.dimensions)
        gold = ItemTable.from_rows(value, items=gold.items, columns=folder.dimensions, source=gold.source)
    place = {} if gold is None else gold.place()
    found: list[Source] = []
    for source in sources:
        items = item_labels(source.path)
        own = source
        if features is not None:
            X = standardisation.feature_values(features.select_items(items))
            own = own._replace(features=executor.put_array(X))
        rows = [(m, place[item]) for m, item in enumerate(items) if item in place]
        if gold is not None and rows:
            item, at = np.array(rows, dtype=np.int64).T
            own = own._replace(known=Known(item, at, gold.value[at]))
        found.append(own)
    if gold is not None:
        at = [place for source in found if source.known is not None for place in source.known.place.tolist()]
        rating_checks.require_rated(
            [gold.items[m] for m in sorted(set(range(gold.M)) - set(at))], gold.source, folder.source
        )
    return found, gold


def scale_of(look: Look, tallies: list[Tally], said: dict[int, Any], folder: ShardFolder) -> Scale:
    """What the user says of the scale, and for the rest what the answers show."""
    reach = [scale_inference.Reach(low, high) for low, high in zip(look.low.T, look.high.T, strict=True)]
    counted = [_counted(tally, look.span[:, d], look.on_ends[:, d]) for d, tally in enumerate(tallies)]
    seen = scale_inference.scale_of_answers(counted, reach)
    D = len(seen)
    scale = Scale(tuple(said.get(d, own) for d, own in enumerate(seen)), tuple(d in said for d in range(D)))
    for d, ends in enumerate(look.span.T):
        outside = [end for end in ends if end < scale.low[d] or end > scale.high[d]]
        if scale.given[d] and outside:
            raise DataError(
                f"{folder.source}: {folder.dimensions[d]} is {outside[0]:g}, outside the scale that was given. Correct "
                "the answer, or give another scale."
            )
    return scale


def _counted(tally: Tally, ends: np.ndarray, on_ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different answers and how often each was given; where some were kept alone, those at the ends are among them."""
    if not tally.level:
        return tally.value, tally.times
    inside = (tally.value > ends[0]) & (tally.value < ends[1])
    times = np.concatenate([on_ends[:1], tally.times[inside] << tally.level, on_ends[1:]])
    return np.concatenate([ends[:1], tally.value[inside], ends[1:]]), times


def counted_of(
    executor: Executor,
    parts: list[Shard],
    sources: list[Source],
    look: Look,
    tallies: list[Tally],
    folder: ShardFolder,
    scale: Scale,
    copies: crowd.Copies,
    how: structure_words.Counting,
) -> tuple[Counted, bool]:
    """The ratings as a fit sees them, and whether copies are one voice in them."""
    as_they_are = Counted(sources, parts, look, tallies, folder.annotators, folder.dimensions, scale)
    if how == "keep" or not copies.sets:
        return as_they_are, False
    kept, place = np.unique(copies.voice, return_inverse=True)
    sums = executor.total(_voice_sums, parts, place, add=grouped_sums.add_paired)
    distance = executor.total(_disputes, parts, place, sums, add=add_fields).distance()
    one_voice = [source._replace(voice=place, distance=distance) for source in sources]
    merged = executor.load([Task(make_part, (source,)) for source in one_voice])
    seen, answers = look_at_all(executor, merged)
    # If nobody could be compared any more, somebody has to be the other opinion.
    if not seen.compared:
        executor.forget(merged)
        return as_they_are, False
    voices = tuple(folder.annotators[k] for k in kept)
    return Counted(one_voice, merged, seen, answers, voices, folder.dimensions, scale), True


def without_wild_answers(
    executor: Executor, counted: Counted, said: dict[int, Any], folder: ShardFolder
) -> tuple[Counted, list[Alert]]:
    """The ratings without answers that nobody can have meant, and what is to be said of these."""
    inner = [tally.inner() for tally in counted.tallies]
    fence = coverage_and_outliers.fence_of(inner, counted.look.numbers.tolist(), counted.scale)
    crossed = executor.total(_crossings, counted.parts, fence, add=np.add)
    rule = coverage_and_outliers.by_rule(crossed, counted.look.answered)
    if not (crossed * ~rule).any():
        return counted, []
    alerts = wild_alerts(executor, counted.parts, folder, counted.annotators, fence, rule, counted.tallies)
    told = list(alerts)
    executor.forget(counted.parts)
    sources = [source._replace(fence=fence, rule=rule) for source in counted.sources]
    parts = executor.load([Task(make_part, (source,)) for source in sources])
    look, tallies = look_at_all(executor, parts)
    scale = scale_of(look, tallies, said, folder)
    return counted._replace(sources=sources, parts=parts, look=look, tallies=tallies, scale=scale), told


def _crossings(part: Part, fence: coverage_and_outliers.Fence) -> np.ndarray:
    """(K, D) answers beyond the fence."""
    return grouped_sums.segment_sum(fence.crossed(part.value).astype(float), part.annotator_of, part.K)


def _voice_sums(part: Part, voice: np.ndarray) -> grouped_sums.PairedSums:
    return voice_sums(part.value, part.item_of, part.annotator_of, voice)


def _disputes(part: Part, voice: np.ndarray, sums: grouped_sums.PairedSums) -> Disputes:
    return disputes(part.value, part.item_of, part.annotator_of, voice, sums)


def shard_alerts(
    executor: Executor, parts: list[Shard], folder: ShardFolder, look: Look, tallies: list[Tally]
) -> list[Alert]:
    """All alerts about the ratings, the serious ones first."""
    names = folder.annotators
    found = [*rating_checks.group_alerts(groups_of(look.tied), names)]
    for number, items in enumerate((look.unrated, look.single)):
        found += rating_checks.few_raters(
            number, int(look.per_item[number]), tuple(item_name(folder, m) for m in items.tolist())
        )
    found += rating_checks.few_answers(look.rated, names, once=True)
    for d, dimension in enumerate(folder.dimensions):
        found += rating_checks.constant_alerts(look.low[:, d], look.high[:, d], look.answered[:, d], names, dimension)
    found += _unusual_values(executor, parts, folder, look, tallies)
    ends = look.span
    found += rating_checks.scale_alerts(ends[0], ends[1], folder.dimensions)
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
        percentiles = tally.quantiles([share / 100 for share in rating_checks.inner_percentiles(number)])
        low, high = rating_checks.bounds_from(percentiles, number)
        if low <= seen[0] and seen[1] <= high:
            continue
        found = executor.total(_outside, parts, d, low, high, float(percentiles[1]), add=_joined)
        worst = found.worst, folder.annotators[found.who], item_name(folder, found.item)
        names = tuple(folder.annotators[k] for k in found.annotators.tolist())
        yield rating_checks.unusual_alert(folder.dimensions[d], found.many, (found.low, found.high), worst, names)


def wild_alerts(
    executor: Executor,
    parts: list[Shard],
    folder: ShardFolder,
    annotators: tuple[str, ...],
    fence: coverage_and_outliers.Fence,
    rule: np.ndarray,
    tallies: list[Tally],
) -> Iterator[Alert]:
    """About answers beyond the fence of annotators who do not answer there as a `rule` (K, D)."""
    for d, (low, high) in enumerate(zip(*fence, strict=True)):
        middle = float(tallies[d].quantiles([0.5])[0]) if len(tallies[d].value) else 0.0
        found = executor.total(_outside, parts, d, low, high, middle, rule[:, d], add=_joined)
        if found.many:
            worst = found.worst, annotators[found.who], item_name(folder, found.item)
            names = tuple(annotators[k] for k in found.annotators.tolist())
            yield rating_checks.wild_alert(folder.dimensions[d], found.many, (found.low, found.high), worst, names)


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
