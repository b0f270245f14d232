"""Checks before ratings are fused: what looks suspicious becomes an `Alert`, a contradiction a `DataError`.

for alert in check_ratings(ratings):
    print(alert.message)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from unisono.errors import DataError, spoken
from unisono.tables import coverage_and_outliers as outliers
from unisono.tables.item_table import ItemTable
from unisono.tables.labels import listed
from unisono.tables.ratings import Ratings

CONSTANT_FROM = 4  # equal answers before a rater counts as constant: three may well be chance
SCALE_RATIO = 5.0  # spreads of two dimensions that differ by more look like two scales
MOST_NAMED = 5  # annotators in alerts of one kind that take a line each
FEW = 40  # below this many values the outer percentiles are the outliers themselves


@dataclass(frozen=True)
class Alert:
    """Something to look at: what kind, how serious (warning or note), in words, and whom or what it is about."""

    kind: str
    severity: str
    message: str
    labels: tuple[str, ...] = ()


def check_ratings(ratings: Ratings) -> list[Alert]:
    """All alerts about the ratings, the serious ones first."""
    counts, ranges = outliers.coverage(ratings), outliers.answer_ranges(ratings)
    wild = outliers.wild_answers(ratings)
    found = [
        *group_alerts(outliers.connected_groups(ratings), ratings.annotators),
        *_few_ratings(ratings, counts),
        *_constant(ratings, counts, *ranges),
        *_traces(ratings, counts),
        *wild_alerts(ratings),
        *_unusual_values(ratings, wild),
        *_scales(ratings, *ranges),
        *_conduct(ratings),
    ]
    return sorted(found, key=lambda alert: alert.severity != "warning")


def require_overlap(ratings: Ratings) -> None:
    """Refuses ratings in which no item (no frame of a series) has two ratings: nothing can be compared."""
    raters = outliers.raters_per_frame(ratings) if ratings.is_series else outliers.coverage(ratings).raters
    if not np.any(raters >= 2):
        what = "No frame of a recording" if ratings.is_series else "No item"
        raise DataError(
            f"{ratings.source}: {what} has ratings by two annotators, so they cannot be compared. "
            "Look whether the item and annotator columns are the right ones."
        )


def require_known_items(table: ItemTable, ratings: Ratings) -> None:
    """Refuses a table (gold, for example) that speaks of items nobody rated."""
    known = set(ratings.items)
    require_rated([item for item in table.items if item not in known], table.source, ratings.source)


def require_rated(unknown: Sequence[str], table: str, ratings: str) -> None:
    """Refuses a table with these items that ratings do not have."""
    if unknown:
        raise DataError(
            f"{table}: item {listed(unknown)} not among the items of {ratings}. "
            "Look at its spelling, or remove the row."
        )


def _conduct(ratings: Ratings) -> Iterator[Alert]:
    """What only the table showed: answers that repeat in blocks, and answers that came too fast."""
    how = ratings.reading
    if how is None:
        return
    for one in how.repeating[:MOST_NAMED]:
        message = (
            f"Annotator '{one.annotator}' repeats a block of {one.period} answers over {one.rows} rows "
            f"(probability {min(one.probability, 0.999):.3f}): look whether the answers are about the items at all."
        )
        yield Alert("repeated-blocks", "warning", message, (one.annotator,))
    for fast in how.hasty[:MOST_NAMED]:
        yield hasty_alert(fast.annotator, fast.fast, fast.answers, f" by the column '{fast.column}'")


def hasty_alert(name: str, fast: int, n: int, where: str = "") -> Alert:
    """About somebody whose answers came faster than anybody can answer."""
    message = f"Annotator '{name}' answered {fast} of {n} times in under 0.3 s{where}, faster than anybody can."
    return Alert("impossible-times", "warning", message, (name,))


def _few_ratings(ratings: Ratings, counts: outliers.Coverage) -> Iterator[Alert]:
    items = np.array(ratings.items, dtype=object)
    what = "recording" if ratings.is_series else "item"
    for number, many in enumerate((items[counts.per_item == 0], items[counts.per_item == 1])):
        yield from few_raters(number, len(many), tuple(many), what)
    yield from few_answers(counts.per_annotator, ratings.annotators, once=not ratings.is_series)


def few_raters(number: int, many: int, labels: tuple[str, ...], what: str = "item") -> Iterator[Alert]:
    """About so `many` items with no annotator or one (`number`); `labels` are the first of them, or all."""
    words = (
        ("unrated-items", f"{what}s without any rating"),
        ("single-rating-items", f"{what}s with a single annotator"),
    )
    yield from _count(words[number][0], "note", words[number][1], labels, many)


def few_answers(per_annotator: np.ndarray, annotators: Sequence[str], *, once: bool) -> Iterator[Alert]:
    """About annotators (K,) who answered nothing and, where asked for, those who answered once."""
    silent, single = (tuple(annotators[k] for k in np.flatnonzero(per_annotator == n).tolist()) for n in (0, 1))
    yield from _count("silent-annotators", "warning", "annotators without any rating", silent, len(silent))
    if once:
        yield from _count("single-rating-annotators", "warning", "annotators with a single item", single, len(single))


def _count(kind: str, severity: str, what: str, labels: tuple[str, ...], many: int) -> Iterator[Alert]:
    if many:
        text = what if many > 1 else what.replace("s with", " with", 1)
        yield Alert(kind, severity, f"{many} {text}: {listed(labels, of=many)}.", labels)


def group_alerts(groups: Sequence[np.ndarray], annotators: Sequence[str]) -> Iterator[Alert]:
    """About annotators in groups that share no item."""
    if len(groups) > 1:
        named = [[annotators[k] for k in group] for group in groups]
        shown = "; ".join(f"({i + 1}) {listed(names, 4)}" for i, names in enumerate(named[:4]))
        more = f"; and {len(groups) - 4} more groups" if len(groups) > 4 else ""
        message = (
            f"Annotators fall into {len(groups)} groups without a common item, which cannot be compared: {shown}{more}."
        )
        yield Alert("disconnected-groups", "warning", message, tuple(name for names in named for name in names))


def _constant(ratings: Ratings, counts: outliers.Coverage, lowest: np.ndarray, highest: np.ndarray) -> Iterator[Alert]:
    """lowest, highest: (J, D) of every judgement."""
    for d, dimension in enumerate(ratings.dimensions):
        given = counts.answers[:, d] > 0
        by = ratings.annotator_of[given]
        low, high = np.full(ratings.K, np.inf), np.full(ratings.K, -np.inf)
        np.minimum.at(low, by, lowest[given, d])
        np.maximum.at(high, by, highest[given, d])
        answers = np.bincount(by, counts.answers[given, d], minlength=ratings.K)
        yield from constant_alerts(low, high, answers, ratings.annotators, dimension)


def constant_alerts(
    low: np.ndarray, high: np.ndarray, n: np.ndarray, annotators: Sequence[str], dimension: str
) -> Iterator[Alert]:
    """About a dimension, or annotators on it, without variation: their lowest and highest of n answers, (K,) each."""
    if low.min() >= high.max():
        yield Alert("constant-dimension", "warning", f"Everyone gives {dimension} the same value.", (dimension,))
        return
    flat = (low == high) & (n >= CONSTANT_FROM)
    if names := [annotators[k] for k in np.flatnonzero(flat).tolist()]:
        gives = "Annotator gives" if len(names) == 1 else "Annotators give"
        message = f"{gives} {dimension} the same value every time: {listed(names)}."
        yield Alert("constant-raters", "warning", message, tuple(names))


def _traces(ratings: Ratings, counts: outliers.Coverage) -> Iterator[Alert]:
    """Traces without a number, and traces that share not one frame with anybody else on the same recording."""
    if not ratings.is_series:
        return
    shared = _any_column(outliers.raters_per_frame(ratings) >= 2)[outliers.frame_index(ratings)]
    meets = np.logical_or.reduceat(shared & _any_column(~np.isnan(ratings.value)), ratings.offset[:-1])
    spoke = counts.spoke
    lonely = _pairs(ratings, spoke & ~meets & (counts.per_item[ratings.item_of] > 1))
    if lonely:
        message = f"Traces that overlap in time with nobody else's: {listed(lonely)}. Look at the time column."
        yield Alert("alone-in-time", "warning", message, tuple(lonely))
    silent = _pairs(ratings, ~spoke)
    if silent:
        yield Alert("empty-traces", "warning", f"Traces without a single number: {listed(silent)}.", tuple(silent))


def _any_column(of: np.ndarray) -> np.ndarray:
    """(S,) whether any of the few columns of (S, D) is true."""
    return reduce(np.logical_or, of.T)


def _pairs(ratings: Ratings, chosen: np.ndarray) -> list[str]:
    pairs = zip(ratings.annotator_of[chosen], ratings.item_of[chosen], strict=True)
    return [f"{ratings.annotators[k]} on {ratings.items[m]}" for k, m in pairs]


def usual_range(value: np.ndarray) -> tuple[float, float]:
    """Bounds that hardly any honest rating leaves: far outside the bulk of the values, whatever their distribution."""
    return bounds_from(np.percentile(value, inner_percentiles(len(value))), len(value))


def inner_percentiles(n: int) -> tuple[int, int, int]:
    """Of n values, those that say where their bulk is."""
    return (5, 50, 95) if n >= FEW else (25, 50, 75)


def bounds_from(percentiles: np.ndarray, n: int) -> tuple[float, float]:
    """The same from these percentiles of n values."""
    low, middle, high = percentiles
    reach = (3.0 if n >= FEW else 5.0) * (high - low)
    return (middle - reach, middle + reach) if reach > 0 else (-np.inf, np.inf)


def _unusual_values(ratings: Ratings, wild: np.ndarray) -> Iterator[Alert]:
    """Beside those that are `wild`, of which more is said."""
    for d, dimension in enumerate(ratings.dimensions):
        column = np.where(wild[:, d], np.nan, ratings.value[:, d]) if wild[:, d].any() else ratings.value[:, d]
        given = column[~np.isnan(column)]
        if not len(given):
            continue
        low, high = usual_range(given)
        outside = np.flatnonzero((column < low) | (column > high))
        if len(outside):
            inside = given[(given >= low) & (given <= high)]
            yield unusual_alert(dimension, len(outside), *_far(ratings, d, outside, inside, np.median(given)))


def wild_alerts(ratings: Ratings) -> Iterator[Alert]:
    """About answers that the default leaves out."""
    wild = outliers.wild_answers(ratings)
    for d in np.flatnonzero(wild.any(axis=0)).tolist():
        column, rows = ratings.value[:, d], np.flatnonzero(wild[:, d])
        others = column[~wild[:, d] & ~np.isnan(column)]
        yield wild_alert(ratings.dimensions[d], len(rows), *_far(ratings, d, rows, others, np.median(others)))


def _far(
    ratings: Ratings, d: int, rows: np.ndarray, others: np.ndarray, middle: float
) -> tuple[tuple[float, float], tuple[float, str, str], tuple[str, ...]]:
    """Where the others lie, the value of these rows that is furthest from the middle, and who gave any of them."""
    value = ratings.value[rows, d]
    judgement = np.repeat(np.arange(ratings.J), ratings.length[ratings.item_of])[rows]
    worst = int(np.argmax(np.abs(value - middle)))
    j = judgement[worst]
    who, item = ratings.annotators[ratings.annotator_of[j]], ratings.items[ratings.item_of[j]]
    names = tuple(ratings.annotators[k] for k in np.unique(ratings.annotator_of[judgement]))
    return (float(others.min()), float(others.max())), (float(value[worst]), who, item), names


def wild_alert(
    dimension: str, many: int, others: tuple[float, float], worst: tuple[float, str, str], names: tuple[str, ...]
) -> Alert:
    """About so many values that are too far from the `others` to be believed, `worst` as for `unusual_alert`."""
    value, who, item = worst
    what = f"{dimension} is {value:g} by annotator '{who}' on '{item}'"
    if many > 1:
        what = f"{many} values of {dimension} cannot be meant, the furthest {value:g} by annotator '{who}' on '{item}'"
    message = (
        f"{what}; the others run from {others[0]:g} to {others[1]:g}. The default takes this for a typing error, or a "
        f"code for 'no answer', and leaves it out. Correct it, or say where the scale ends (--scale)."
    )
    return Alert("wild-values", "warning", spoken(message), names)


def unusual_alert(
    dimension: str, many: int, others: tuple[float, float], worst: tuple[float, str, str], names: tuple[str, ...]
) -> Alert:
    """About so many values far outside the `others`; `worst` with its annotator and item, `names` who gave any."""
    value, who, item = worst
    what = f"{dimension} is {value:g} by annotator '{who}' on '{item}', far outside the others, which run"
    if many > 1:
        what = f"{many} values of {dimension} lie far outside the others, which run"
    furthest = f"; the furthest is {value:g} by annotator '{who}' on '{item}'" if many > 1 else ""
    message = f"{what} from {others[0]:g} to {others[1]:g}{furthest}."
    return Alert("unusual-values", "warning", message, names)


def _scales(ratings: Ratings, lowest: np.ndarray, highest: np.ndarray) -> Iterator[Alert]:
    low = np.array([np.fmin.reduce(column, initial=np.nan) for column in lowest.T])
    high = np.array([np.fmax.reduce(column, initial=np.nan) for column in highest.T])
    yield from scale_alerts(low, high, ratings.dimensions)


def scale_alerts(low: np.ndarray, high: np.ndarray, dimensions: tuple[str, ...]) -> Iterator[Alert]:
    """About dimensions whose answers run from `low` (D,) to `high` (D,)."""
    width = high - low
    known = width > 0
    if known.sum() > 1 and width[known].max() > SCALE_RATIO * width[known].min():
        shown = [f"{name} {lo:g} to {hi:g}" for name, lo, hi in zip(dimensions, low, high, strict=True)]
        message = f"Dimensions are on different scales: {', '.join(shown[:6])}{', ...' if len(shown) > 6 else ''}."
        yield Alert("different-scales", "note", message, dimensions)
