"""Categories in the report: class probabilities of items, accuracy and confusion of annotators, and their picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from unisono.evaluate.agreement_measure import Drawing
from unisono.evaluate.overview import CategoryOverview, category_overview
from unisono.fusers.category_models import FusedCategories, FusedChoices
from unisono.maths.agreement.agreement_bootstrap import Interval
from unisono.report.report_figures import bar, broad, lettering, short_name, titled
from unisono.tables.categories import Categories
from unisono.tables.labels import rows_of

MOST_CELLS = 30_000  # numbers in the table of items: what a page of 3 MB holds beside those of other dimensions
MOST_PEOPLE = 500  # rows of the table of annotators


class Chosen(NamedTuple):
    """Answers that are categories, and what they were fused into."""

    answers: Categories
    fused: FusedCategories


def choices(chosen: Chosen, drawing: Drawing) -> list[dict[str, Any]]:
    """One entry per dimension of categories."""
    overviews = {one.name: one for one in category_overview(chosen.answers, drawing)}
    return [_entry(chosen.fused, one, overviews[one.name]) for one in chosen.fused]


def _entry(fused: FusedCategories, one: FusedChoices, overview: CategoryOverview) -> dict[str, Any]:
    sure = one.probability.max(axis=1)
    known = np.flatnonzero(one.answered)
    shown, chosen_by = _shown(known, sure, len(one.classes))
    table = {"item": fused.items, "class": np.array(one.classes, dtype=object)[one.best], "probability": sure}
    table |= {"probabilities": one.probability, "votes": one.votes.astype(int)}
    return {
        "name": one.name,
        "classes": list(one.classes),
        "answers_by_class": [int(n) for n in one.votes.sum(axis=0)],
        "items_by_class": [int(n) for n in np.bincount(one.best[known], minlength=len(one.classes))],
        "agreement": {"alpha": _interval(overview.alpha), "AC1": _interval(overview.ac1), "others": overview.others},
        "of": len(known),
        "chosen_by": chosen_by,
        "rows": rows_of(table, shown),
        "people": _people(fused, one),
        "confusion": _crowd(one),
        "alerts": [
            {"kind": alert.kind, "severity": alert.severity, "message": _sentence(alert.message)}
            for alert in overview.alerts
        ],
    }


def _shown(known: np.ndarray, sure: np.ndarray, C: int) -> tuple[np.ndarray, str | None]:
    """The items of the table in their own order: all, or the least certain half of what fits and others evenly."""
    most = max(MOST_CELLS // (2 * C + 2), 30)
    if len(known) <= most:
        return known, None
    order = known[np.argsort(sure[known], kind="stable")]
    vague, rest = order[: most // 2], order[most // 2 :]
    spaced = rest[np.linspace(0, len(rest) - 1, most - most // 2).astype(int)]
    words = f"the {most // 2:,} that are least certain, and others at equal steps of certainty"
    return np.unique(np.concatenate([vague, spaced])), words


def _people(fused: FusedCategories, one: FusedChoices) -> dict[str, Any]:
    """The most accurate first; of very many both ends."""
    order = np.flatnonzero(one.answers > 0)
    order = order[np.argsort(-one.accuracy[order], kind="stable")]
    half = MOST_PEOPLE // 2
    shown = order if len(order) <= MOST_PEOPLE else np.concatenate([order[:half], order[-half:]])
    table = {"annotator": fused.annotators, "answers": one.answers}
    return {"of": len(order), "rows": rows_of(table | {"accuracy": one.accuracy, "agreement": one.agreement}, shown)}


def _crowd(one: FusedChoices) -> list[list[float | None]]:
    """(C, C) how often the answer (in columns) is given where the class (in rows) is the truth, by everybody."""
    expected = one.confused.sum(axis=0)
    total = expected.sum(axis=1, keepdims=True)
    share = np.divide(expected, total, out=np.full_like(expected, np.nan), where=total > 0)
    return [[float(p) if np.isfinite(p) else None for p in row] for row in share]


def _interval(found: Interval) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high}


def _sentence(message: str) -> str:
    return f"{message[0].upper()}{message[1:]}."


LEFT = 150  # width for names of classes


def class_figure(classes: Sequence[str], items: Sequence[int], answers: Sequence[int], name: str) -> Markup:
    """For each class a bar of its share of the items, and a thinner one of its share of the answers; largest first."""
    order = sorted(range(len(classes)), key=lambda c: -items[c])
    total, given = max(sum(items), 1), max(sum(answers), 1)
    top = max(*(items[c] / total for c in order), *(answers[c] / given for c in order), 1e-9)
    marks = []
    for i, c in enumerate(order):
        y = 4 + 24 * i
        wide, thin = (420 * share / top for share in (items[c] / total, answers[c] / given))
        share = f"{items[c] / total:.0%}", f"{answers[c] / given:.0%}"
        about = f"{classes[c]}: {items[c]:,} items ({share[0]}), {answers[c]:,} answers ({share[1]})"
        marks.append(lettering("name", LEFT - 8, y + 13, short_name(classes[c])))
        bars = bar("bar", LEFT, y, f"{wide:.1f}", 12), bar("second", LEFT, y + 13, f"{thin:.1f}", 4)
        marks.append(titled(about, *bars))
        marks.append(lettering("after", f"{LEFT + max(wide, thin) + 6:.1f}", y + 13, f"{items[c]:,}"))
    return broad(24 * len(order) + 4, f"{name}: items and answers by class", marks)
