"""Ratings and categories at a glance, before anything is fused: counts, coverage, agreement, alerts.

What `unisono check` and `un.check` give.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from unisono.evaluate.agreement_measure import ALPHA, Drawing, measured, span
from unisono.evaluate.alerts import rating_alerts
from unisono.fusers.crowd import CopySet, crowd_copies
from unisono.maths.agreement.agreement_bootstrap import Interval, bootstrap, make_blocks
from unisono.maths.agreement.chance_corrected import nominal_agreement
from unisono.maths.agreement.rater_agreement import leave_one_out
from unisono.maths.category_votes import Votes, agreement_with_others, vote_counts
from unisono.tables import Introduced, Introduction, Ratings, counted, coverage_and_outliers, item_table, listed
from unisono.tables.categories import Categories, Choices
from unisono.tables.rating_checks import CONSTANT_FROM, Alert

MOST_SHARE = 0.5  # a class chosen more often than this may honestly be all that somebody chose


@dataclass(frozen=True)
class CategoryOverview:
    """One dimension of categories."""

    name: str
    answers: int
    items: int
    annotators: int
    classes: dict[str, int]  # answers of each class
    alpha: Interval  # Krippendorff's, nominal
    ac1: Interval  # Gwet's
    others: float  # median over annotators of how often they chose what most others chose
    alerts: tuple[Alert, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return _with_intervals(self)


def _with_intervals(one: CategoryOverview | DimensionOverview) -> dict[str, Any]:
    """Plain data, figures by their values and the ends of their intervals aside."""
    agreed = {name: figure for name, figure in vars(one).items() if isinstance(figure, Interval)}
    values = {name: figure.value for name, figure in agreed.items()}
    return asdict(one) | values | {"intervals": {name: [own.low, own.high] for name, own in agreed.items()}}


def category_overview(categories: Categories, drawing: Drawing | None = None) -> tuple[CategoryOverview, ...]:
    """Counts, agreement and alerts of every dimension of categories."""
    how = Drawing() if drawing is None else drawing
    return tuple(_of_one_category(categories, one, how) for one in categories)


def _of_one_category(categories: Categories, one: Choices, drawing: Drawing) -> CategoryOverview:
    sizes = len(categories.items), len(categories.annotators), len(one.classes)
    one = one.single  # chance is that of answers that name one class
    votes = Votes(one.item_of, one.annotator_of, one.answer, *sizes)
    count = vote_counts(votes)
    count = count[count.any(axis=1)]
    rng = np.random.default_rng(drawing.seed)
    blocks = make_blocks(np.arange(len(count)), rng)
    alpha, ac1 = bootstrap(lambda W: nominal_agreement(count, blocks, W), blocks.G, drawing.draws, drawing.level, rng)
    others = agreement_with_others(votes)
    return CategoryOverview(
        name=one.name,
        answers=one.n,
        items=len(count),
        annotators=len(np.unique(one.annotator_of)),
        classes={name: int(n) for name, n in zip(one.classes, count.sum(axis=0), strict=True)},
        alpha=alpha,
        ac1=ac1,
        others=float(np.median(others[~np.isnan(others)])) if (~np.isnan(others)).any() else float("nan"),
        alerts=(*_no_agreement(one, alpha), *_constant_classes(categories, one, votes)),
    )


def _no_agreement(one: Choices, alpha: Interval) -> Iterator[Alert]:
    if alpha.low <= 0:
        yield Alert(
            "no-agreement",
            "warning",
            f"annotators do not clearly agree on '{one.name}' (alpha {alpha.value:.2f}, {alpha.low:.2f} to "
            f"{alpha.high:.2f}): there may be no class behind the answers",
            (one.name,),
        )


def _constant_classes(categories: Categories, one: Choices, votes: Votes) -> Iterator[Alert]:
    """Who gives one answer to everything, where others do not."""
    by_annotator = vote_counts(votes._replace(item=votes.annotator, annotator=votes.item, M=votes.K, K=votes.M))
    given = by_annotator.sum(axis=1)
    same = (given >= CONSTANT_FROM) & (by_annotator.max(axis=1) == given)
    share = by_annotator.sum(axis=0) / max(votes.n, 1)
    same &= share[by_annotator.argmax(axis=1)] < MOST_SHARE
    names = [categories.annotators[k] for k in np.flatnonzero(same)]
    if names:
        who = "annotator" if len(names) == 1 else "annotators"
        yield Alert(
            "constant-annotators",
            "warning",
            f"{len(names)} {who} always chose the same class for '{one.name}': {listed(names)}",
            tuple(names),
        )


@dataclass(frozen=True)
class DimensionOverview:
    """One dimension: how much there is, where it lies, how far annotators agree."""

    name: str
    ratings: int
    missing: int
    low: float
    mean: float
    high: float
    alpha: Interval  # Krippendorff's alpha, interval data
    icc_a1: Interval
    icc_ak: Interval
    icc_c1: Interval
    icc_ck: Interval
    others: float  # median over annotators of Pearson with the mean of the others


@dataclass(frozen=True, repr=False)
class Overview(Introduced):
    """What `unisono check` prints."""

    source: str
    kind: str  # items or series
    items: int
    annotators: int
    judgements: int
    annotators_per_item: tuple[int, float, int]  # least, median, most
    items_per_annotator: tuple[int, float, int]
    rate: float | None = None  # frames per second of a series
    seconds: float | None = None  # all recordings together
    dimensions: tuple[DimensionOverview, ...] = ()
    alerts: tuple[Alert, ...] = ()
    reading: dict[str, Any] | None = None  # how the table was read
    copies: tuple[CopySet, ...] = ()  # annotators who look like one opinion
    categories: tuple[CategoryOverview, ...] = ()  # dimensions whose answers are categories

    def _introduction(self) -> Introduction:
        things = counted(self.items, "recording" if self.kind == "series" else "item")
        people = counted(self.annotators, "annotator")
        title = f"'{self.source}': {counted(self.judgements, 'judgement')} of {things} by {people}"
        scale = {} if self.reading is None else self.reading["scale"]
        rows = [
            (
                one.name,
                scale.get(one.name, {}).get("words", "").removeprefix("scale "),
                _figure(one.alpha.value),
                _figure(one.icc_ak.value),
            )
            for one in self.dimensions
        ]
        rows += [
            (one.name, counted(len(one.classes), "class", "classes"), _figure(one.alpha.value), "")
            for one in self.categories
        ]
        found = len(self.alerts) + sum(len(one.alerts) for one in self.categories)
        where = ".alerts and .categories" if self.categories else ".alerts"
        look = f"{counted(found, 'thing')} to look at: see {where}" if found else "Nothing suspicious"
        header = ("dimension", "scale", "alpha", "ICC(A,k)")
        return Introduction.of(title, header, rows, f"{look}; .to_dict() has the rest.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        found = asdict(self)
        found["dimensions"] = [_with_intervals(one) for one in self.dimensions]
        if self.categories:
            found["categories"] = [one.to_dict() for one in self.categories]
        else:
            del found["categories"]
        return found


def overview(ratings: Ratings | None, categories: Categories | None = None) -> Overview:
    """Counts, agreement and alerts of ratings, of categories, or of both."""
    chosen = () if categories is None else category_overview(categories)
    if ratings is not None:
        return replace(_of_numbers(ratings), categories=chosen)
    assert categories is not None
    return _of_categories(categories, chosen)


def _of_categories(answers: Categories, chosen: tuple[CategoryOverview, ...]) -> Overview:
    item, annotator = (np.concatenate([getattr(one, name) for one in answers]) for name in ("item_of", "annotator_of"))
    pairs = np.unique(np.stack([item, annotator]), axis=1)
    return Overview(
        source=answers.source,
        kind="items",
        items=len(answers.items),
        annotators=len(answers.annotators),
        judgements=pairs.shape[1],
        annotators_per_item=span(np.bincount(pairs[0], minlength=len(answers.items))),
        items_per_annotator=span(np.bincount(pairs[1], minlength=len(answers.annotators))),
        reading=item_table.reading_data(answers),
        categories=chosen,
    )


def _of_numbers(ratings: Ratings) -> Overview:
    counts = coverage_and_outliers.coverage(ratings)
    clock = ratings.clock
    return Overview(
        source=ratings.source,
        kind="series" if ratings.is_series else "items",
        items=ratings.M,
        annotators=ratings.K,
        judgements=ratings.J,
        annotators_per_item=span(counts.per_item),
        items_per_annotator=span(counts.per_annotator),
        rate=clock.rate if clock else None,
        seconds=float(ratings.length.sum() / clock.rate) if clock else None,
        dimensions=_dimensions(ratings),
        alerts=tuple(rating_alerts(ratings)),
        copies=crowd_copies(ratings).sets,
        reading=item_table.reading_data(ratings),
    )


def _dimensions(ratings: Ratings) -> tuple[DimensionOverview, ...]:
    return tuple(_dimension(ratings, d) for d in range(ratings.D))


def _dimension(ratings: Ratings, d: int) -> DimensionOverview:
    found = measured(ratings, d, Drawing())
    others, _ = leave_one_out(found.data)
    return DimensionOverview(
        ratings.dimensions[d],
        *_extent(ratings.value[:, d]),
        alpha=found.figures[ALPHA],
        icc_a1=found.figures["ICC(A,1)"],
        icc_ak=found.figures["ICC(A,k)"],
        icc_c1=found.figures["ICC(C,1)"],
        icc_ck=found.figures["ICC(C,k)"],
        others=_median(others),
    )


def _extent(column: np.ndarray) -> tuple[int, int, float, float, float]:
    given = column[~np.isnan(column)]
    if not len(given):
        return 0, len(column), float("nan"), float("nan"), float("nan")
    return len(given), len(column) - len(given), float(given.min()), float(given.mean()), float(given.max())


def _figure(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "?"


def _median(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")
