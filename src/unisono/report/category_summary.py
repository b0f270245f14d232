"""The summary of fused categories: plain values for summary.json, and the text that `fuse` and `check` print."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.fusers.category_models import FusedCategories, FusedChoices
from unisono.tables.categories import Categories
from unisono.tables.labels import listed, rows_of

SHOWN = 3  # annotators named at either end
ENOUGH = 5  # answers below which an annotator is not ranked
UNSURE = 0.5  # below this probability, another class or several together are as likely
MOST_CLASSES = 6  # classes named in one line


def summarise_categories(categories: Categories, fused: FusedCategories) -> dict[str, Any]:
    """What summary.json says of categories, dimension by dimension."""
    return {one.name: _summary(categories, fused, one) for one in fused}


def _summary(categories: Categories, fused: FusedCategories, one: FusedChoices) -> dict[str, Any]:
    known = one.answered
    sure = one.probability.max(axis=1)[known]
    count = np.bincount(one.best[known], minlength=len(one.classes))
    best, worst = _ends(fused, one)
    return {
        "recognised": categories.recognised,
        "column": None if categories.reading is None else categories.reading.dimensions[one.name],
        "classes": list(one.classes),
        "answers": int(one.answers.sum()),
        "items": int(known.sum()),
        "annotators": int((one.answers > 0).sum()),
        "model": one.model,
        "why": one.why,
        "temperature": one.temperature,
        "items_by_class": {name: int(n) for name, n in zip(one.classes, count, strict=True)},
        "typical_probability": round(float(np.median(sure)), 4),
        "unsure_items": int((sure < UNSURE).sum()),
        "most_accurate": best,
        "least_accurate": worst,
    }


def category_lines(data: dict[str, Any]) -> list[str]:
    """The summary of categories as a person reads it."""
    lines: list[str] = []
    for name, found in data.items():
        lines += ["", *_lines(name, found)] if lines else _lines(name, found)
    return lines


def _lines(name: str, found: dict[str, Any]) -> list[str]:
    lines = [
        f"Categories of '{name}': {found['answers']:,} answers on {found['items']:,} items by {found['annotators']:,} "
        f"annotators, {len(found['classes'])} classes, fused with the model '{found['model']}'"
        + (f", since {found['why']}." if found["why"] else ".")
    ]
    common = sorted(found["items_by_class"].items(), key=lambda one: -one[1])
    shown = ", ".join(f"{label} {n}" for label, n in common[:MOST_CLASSES])
    more = len(common) - MOST_CLASSES
    lines.append(f"  items by class: {shown}" + (f" and {more} more classes" if more > 0 else ""))
    sure = f"  typical probability of the class: {found['typical_probability']:.2f}"
    if found["model"] == "majority":
        sure += " (the share of its votes)"
    unsure = found["unsure_items"]
    lines.append(sure + (f"; below {UNSURE:g} for {unsure} item{'s' * (unsure != 1)}" if unsure else ""))
    if found["temperature"] > 1:
        lines.append(
            "  Answers that were held out show that the model is too sure of itself: its probabilities were drawn "
            f"away from certainty (temperature {found['temperature']:g})."
        )
    for title, key in (("Most accurate annotators", "most_accurate"), ("Least accurate annotators", "least_accurate")):
        if found[key]:
            who = ", ".join(f"{one['annotator']} {one['accuracy']:.2f}" for one in found[key])
            lines.append(f"  {title} (share of answers that are right): {who}")
    return lines


def recognised_line(categories: Categories) -> list[str]:
    """That categories were recognised, and how to leave them out."""
    if not categories.recognised:
        return []
    were = "was" if len(categories.names) == 1 else "were"
    return [f"{listed(categories.names)} {were} taken for categories by the words; --categories none leaves them out."]


def reading_line(categories: Categories) -> list[str]:
    """How a table of categories alone was read."""
    how = categories.reading
    if how is None:
        return []
    many = "y" if len(categories.names) == 1 else "ies"
    return [
        f"Read {categories.source}: item '{how.item}', annotator '{how.annotator}', "
        f"categor{many} {listed(categories.names)}.",
        *(f"  {note}" for note in how.notes),
    ]


def _ends(fused: FusedCategories, one: FusedChoices) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The most and the least accurate annotators; nobody is in both lists, and two are not ranked."""
    ranked = np.flatnonzero(one.answers >= ENOUGH)
    if len(ranked) < 3:
        return [], []
    ranked = ranked[np.argsort(-one.accuracy[ranked], kind="stable")]
    shown = min(SHOWN, len(ranked) // 2)

    accuracy = [round(value, 4) for value in one.accuracy.tolist()]
    table = {"annotator": fused.annotators, "accuracy": accuracy, "answers": one.answers}
    return rows_of(table, ranked[:shown]), rows_of(table, ranked[::-1][:shown])
