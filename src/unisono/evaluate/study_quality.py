"""The quality of a study in progress: agreement, ratings still needed, raters who stand out, the truth so far.

Plain data for a page that is shown while ratings come in. Built from finished pieces (overview, fusion, plan); says
only that it is too early while there is too little to compare.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.evaluate.agreement_measure import Drawing
from unisono.evaluate.annotator_findings import STYLES, TRACING, findings, tracing_findings
from unisono.evaluate.overview import DimensionOverview, Overview
from unisono.evaluate.pair_agreement import PairAgreement, pair_agreement
from unisono.fusers.compared_items import Pairwise
from unisono.fusers.fusion_results import Annotators, Fused
from unisono.fusers.pair_design import plan_comparisons
from unisono.fusers.rating_design import TARGET, Plan
from unisono.maths.agreement import agreement_bootstrap, intraclass_reliability
from unisono.tables import Ratings, counted
from unisono.tables.comparisons import Comparisons
from unisono.tables.coverage_and_outliers import coverage
from unisono.tables.rating_checks import Alert

LEAST_RATERS = 3  # of two who differ nothing says who is nearer to the truth
LEAST_SHARED = 5  # items with two ratings: the agreement on fewer is an accident
POINTS = 120  # of a trace that is drawn: more would not be seen
MOST_COMPARISONS = 100  # convention: per item, that may be needed
DRAWING = Drawing(200, 0.95, 0)  # convention: of the bootstrap of alpha, while somebody waits
SPAMMER = "answers that follow nobody else's"


@dataclass(frozen=True, repr=False)
class Quality:
    """What can be said of a study so far; everything but the counts is empty while it is too early."""

    kind: str  # items, series, or comparisons of items
    items: int
    raters: int
    judgements: int
    too_early: str = ""
    target: float = TARGET  # correlation of estimate and truth that is reckoned enough
    dimensions: list[dict[str, Any]] = field(default_factory=list)
    needed: dict[str, Any] = field(default_factory=dict)
    unusual: list[dict[str, Any]] = field(default_factory=list)  # raters to look at, and why
    alerts: list[dict[str, str]] = field(default_factory=list)
    truth: list[dict[str, Any]] = field(default_factory=list)

    def __repr__(self) -> str:
        unusual = len({row["annotator"] for row in self.unusual})
        what = self.too_early or f"{counted(unusual, 'rater')} to look at; see .to_dict()"
        return f"Quality of {counted(self.judgements, 'judgement')} by {counted(self.raters, 'rater')}: {what}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dict(vars(self))


def too_early(kind: str, raters: int, shared: int) -> str:
    """Why nothing is said yet, or nothing: `shared` counts the items, or recordings, that two raters have judged."""
    least, what = (1, "recording") if kind == "series" else (LEAST_SHARED, "item")
    if raters >= LEAST_RATERS and shared >= least:
        return ""
    needed = f"{counted(LEAST_RATERS, 'rater')} and {counted(least, what)} that two of them have judged"
    return f"Too early: {needed} are the least that tells anything; so far there are {raters} and {shared}."


def early_quality(ratings: Ratings) -> Quality | None:
    """The counts alone where it is too early to say more, else None."""
    counts = coverage(ratings)
    kind = "series" if ratings.is_series else "items"
    why = too_early(kind, int((counts.per_annotator > 0).sum()), int((counts.per_item >= 2).sum()))
    return Quality(kind, ratings.M, ratings.K, ratings.J, why) if why else None


class Pieces(NamedTuple):
    """What is known of the ratings; traces have no plan."""

    overview: Overview
    fused: Fused
    annotators: Annotators
    plan: Plan | None


def quality_of(ratings: Ratings, pieces: Pieces, target: float = TARGET, unrated: int = 0) -> Quality:
    """Everything, from the pieces; without a plan what is needed follows from the agreement.

    `unrated` further items belong to the study, of which the ratings say nothing yet.
    """
    overview, fused, annotators, plan = pieces
    per_item = coverage(ratings).per_item
    enough = _enough(overview, plan, target)
    dimensions = [_dimension(row, enough[row.name]) for row in overview.dimensions]
    return Quality(
        kind=overview.kind,
        items=overview.items,
        raters=overview.annotators,
        judgements=overview.judgements,
        target=target,
        dimensions=dimensions,
        needed=_needed(enough, np.append(per_item, np.zeros(unrated, dtype=int)), _tried(plan)),
        unusual=unusual_raters(annotators),
        alerts=[{"severity": one.severity, "message": one.message} for one in overview.alerts],
        truth=_traces(fused, per_item) if ratings.is_series else _estimates(fused, per_item),
    )


def quality_of_pairs(
    compared: Comparisons, fuser: Pairwise, alerts: Sequence[Alert] = (), target: float = TARGET
) -> Quality:
    """The same of comparisons: alpha of answers to the same pair, truths in logits, the highest first."""
    agreed, plan = pair_agreement(compared, DRAWING), plan_comparisons(fuser, most=MOST_COMPARISONS)
    D, enough = len(compared.dimensions), plan.enough_each(target)
    sides = np.concatenate([compared.left, compared.right])
    per_item = np.ceil(np.bincount(sides, minlength=len(compared.items)) / D).astype(int)
    needed = _needed(enough, per_item, _tried(plan))
    if needed["ratings"] is not None:
        needed["ratings"] = (needed["ratings"] + 1) // 2  # one comparison is of two items
    dimensions = [
        {"name": one.name, "ratings": one.answers, "alpha": _interval(one.alpha), "enough": enough[one.name]}
        for one in agreed.dimensions
    ]
    return Quality(
        kind="comparisons",
        items=len(compared.items),
        raters=len(compared.annotators),
        judgements=-(-len(np.unique(compared.ranking * D + compared.dimension_of)) // D),
        target=target,
        dimensions=dimensions,
        needed=needed,
        unusual=_unusual_in_pairs(fuser, agreed),
        alerts=[{"severity": one.severity, "message": one.message} for one in alerts],
        truth=_in_order(fuser, _estimates(fuser.fuse(), per_item)),
    )


def _unusual_in_pairs(fuser: Pairwise, agreed: PairAgreement) -> list[dict[str, Any]]:
    people = fuser.comparison_columns()
    rows = [
        {"annotator": who, "dimension": "", "probability": float(p), "kind": kind, "words": words}
        for kind, words in (("spammer", SPAMMER), ("flipped", "answers that turn everybody else's round"))
        for who, p in zip(people["annotator"], people[f"comparison_{kind}"], strict=True)
        if p > 0.5
    ]
    words = "circular choices (a above b, b above c, c above a) about as often as by chance"
    known = {row["annotator"] for row in rows}
    rows += [
        {"annotator": who, "dimension": "", "probability": None, "kind": "circular", "words": words}
        for who in agreed.intransitive
        if who not in known
    ]
    return sorted(rows, key=lambda row: -(row["probability"] or 0.0))


def _in_order(fuser: Pairwise, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The highest of the first dimension first; `above` is how probable it is that each is above the next."""
    rows = sorted(rows, key=lambda row: -row["values"][0][0])
    for row, following in itertools.pairwise(rows):
        with contextlib.suppress(DataError):  # in different components nothing is known
            found = fuser.probability(row["item"], following["item"], fuser.dimensions_[0])
            row["above"] = round(found.probability, 3)
    return rows


def unusual_raters(annotators: Annotators) -> list[dict[str, Any]]:
    """Likely spammers, reversed scales and other habits, the most certain first; as the summary has them."""
    rows = []
    if found := findings(annotators):
        rows += [{**row, "dimension": "", "kind": "spammer", "words": SPAMMER} for row in found["spammers"]]
        rows += [_habit(row, row["style"], STYLES[row["style"]]) for row in found["styles"]]
    rows += [_habit(row, row["kind"], TRACING[row["kind"]]) for row in tracing_findings(annotators) or []]
    return sorted(rows, key=lambda row: -row["probability"])


def _habit(row: dict[str, Any], kind: str, words: str) -> dict[str, Any]:
    known = {name: row[name] for name in ("annotator", "dimension", "probability")}
    return {**known, "kind": kind, "words": words[0].lower() + words[1:]}


def _dimension(row: DimensionOverview, enough: int | None) -> dict[str, Any]:
    figures = {name: _interval(getattr(row, name)) for name in ("alpha", "icc_a1", "icc_ak")}
    return {"name": row.name, "ratings": row.ratings, **figures, "others": row.others, "enough": enough}


def _interval(found: agreement_bootstrap.Interval) -> list[float]:
    return [found.value, found.low, found.high]


def _enough(overview: Overview, plan: Plan | None, target: float) -> dict[str, int | None]:
    if plan is not None:
        return plan.enough_each(target)
    return {row.name: intraclass_reliability.raters_for(row.icc_c1.value, target) for row in overview.dimensions}


def _tried(plan: Plan | None) -> int | None:
    return None if plan is None else int(plan.ratings[-1])


def _needed(enough: dict[str, int | None], per_item: np.ndarray, tried: int | None) -> dict[str, Any]:
    """Ratings per item that are enough in every dimension, what items have, and how many ratings are missing."""
    each = [n for n in enough.values() if n is not None]
    all_told = max(each) if len(each) == len(enough) else None
    missing = None if all_told is None else int(np.maximum(all_told - per_item, 0).sum())
    return {
        "per_item": all_told,
        "tried": tried,
        "fewest": int(per_item.min()),
        "most": int(per_item.max()),
        "ratings": missing,
    }


def _estimates(fused: Fused, per_item: np.ndarray) -> list[dict[str, Any]]:
    low, high = fused.interval()
    return [
        {"item": item, "ratings": int(per_item[m]), "values": _rows(fused.mean[m], low[m], high[m])}
        for m, item in enumerate(fused.items)
    ]


def _traces(fused: Fused, per_item: np.ndarray) -> list[dict[str, Any]]:
    """A few points of every recording, evenly spread, with their band."""
    assert fused.clock is not None
    low, high = fused.interval()
    ends = np.cumsum(fused.length)
    found = []
    for m, (item, T) in enumerate(zip(fused.items, fused.length.tolist(), strict=True)):
        frames = np.unique(np.linspace(0, T - 1, min(T, POINTS)).round().astype(int))
        at = ends[m] - T + frames
        series = [_rows(fused.mean[at, d], low[at, d], high[at, d]) for d in range(len(fused.dimensions))]
        seconds = _rounded(frames / fused.clock.rate)
        found.append({"item": item, "ratings": int(per_item[m]), "seconds": seconds, "series": series})
    return found


def _rows(*columns: np.ndarray) -> list[list[float]]:
    return [_rounded(row) for row in np.stack(columns, axis=1)]


def _rounded(values: np.ndarray | Sequence[float]) -> list[float]:
    # Five digits are more than any screen shows.
    return [float(f"{value:.5g}") for value in values]
