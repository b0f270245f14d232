"""Categories at a glance, before anything is fused: how many answers, how they agree, what deserves a look."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unisono.data.categories import Categories, Choices
from unisono.data.checks import CONSTANT_FROM, Alert
from unisono.data.labels import listed
from unisono.evaluate.agreement.figures import Drawing
from unisono.maths.agreement.bootstrap import Interval, bootstrap, make_blocks
from unisono.maths.agreement.nominal import nominal_agreement
from unisono.maths.categories.votes import Votes, agreement_with_others, vote_counts

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
        found = asdict(self)
        for name in ("alpha", "ac1"):
            one: Interval = getattr(self, name)
            found[name] = one.value
            found.setdefault("intervals", {})[name] = [one.low, one.high]
        return found


def category_overview(categories: Categories, drawing: Drawing | None = None) -> tuple[CategoryOverview, ...]:
    """Counts, agreement and alerts of every dimension of categories."""
    how = Drawing() if drawing is None else drawing
    return tuple(_overview(categories, one, how) for one in categories)


def _overview(categories: Categories, one: Choices, drawing: Drawing) -> CategoryOverview:
    sizes = len(categories.items), len(categories.annotators), len(one.classes)
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
        alerts=(*_no_agreement(one, alpha), *_constant(categories, one, votes)),
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


def _constant(categories: Categories, one: Choices, votes: Votes) -> Iterator[Alert]:
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
