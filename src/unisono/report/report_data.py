"""report.json: every number of the report on a fusion, as plain data; `report_page` makes the page of it.

    data = build_dossier(Subject("auto", fuser, ratings, estimate, annotators, summary))

Large tables are shown in part, by rules that the data state. Includes whether the model predicts held-out ratings
better than the plain mean does.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from unisono.evaluate.agreement_measure import Drawing, Estimate, measure_agreement
from unisono.evaluate.held_out_ratings import judgement_folds, score_hidden
from unisono.fusers import Annotators, Fuser, make_fuser
from unisono.maths.metrics import standard_error
from unisono.report import report_annotators, report_truths
from unisono.report.report_categories import Chosen, choices
from unisono.tables import Ratings, coverage_and_outliers, item_table

FOLDS = 5
MOST_HELD_OUT = 30_000  # beyond, fitting five times over takes longer than anybody waits for a page
FEWEST_JUDGEMENTS = 30


def foresight(model: str, fuser: Fuser, ratings: Ratings) -> dict[str, Any]:
    """Error, log density and coverage on hidden judgements, for the model and for the mean, or why there are none."""
    if ratings.is_series or ratings.value.size > MOST_HELD_OUT:
        return {"why_not": "Fitting several times over would take long here; `unisono compare` does it."}
    if ratings.J < FEWEST_JUDGEMENTS or ratings.K < 3 or fuser.feature_columns:
        return {"why_not": "Too few ratings, or features that would be needed again; see `unisono compare`."}
    fold_of = judgement_folds(ratings, FOLDS, np.random.default_rng(0))
    rows = []
    for name, one in {model: fuser.alike(), "mean": make_fuser("mean", series=False)}.items():
        scores = [score_hidden(one, ratings, None, fold_of == f) for f in range(FOLDS) if (fold_of == f).any()]
        row: dict[str, Any] = {"model": name}
        for figure in ("rmse", "log_density", "coverage"):
            values = np.array([getattr(score, figure) for score in scores])
            row |= {figure: float(np.nanmean(values)), f"{figure}_se": float(standard_error(values))}
        rows.append(row)
    return {"folds": FOLDS, "rows": rows}


FORMAT = 2  # of report.json
DRAWS = 500  # of the bootstrap behind the intervals of agreement figures
MOST_TO_DRAW = 10_000  # annotators; of a sample by more, the same
MOST_TO_RESAMPLE = 2_000_000  # numbers; beyond, figures of agreement come without intervals
TOO_MANY = "Fitting several times over would take long with so many ratings; `unisono compare` does it on some of them."
OnPhase = Callable[[str], None]


class Subject(NamedTuple):
    """A finished fusion, in its parts."""

    model: str
    fuser: Fuser
    ratings: Ratings
    estimate: Estimate
    annotators: Annotators
    summary: dict[str, Any]
    chosen: Chosen | None = None  # categories beside the numbers
    sample: Sample | None = None  # where ratings and truths are some of those that were fused


class Sample(NamedTuple):
    """What is known of all items, where only some of them are at hand."""

    items: int
    chosen_by: str
    coverage: dict[str, Any]  # as `coverage_of_counts` has it
    truth_file: str = "truth.csv"


def build_dossier(
    subject: Subject, *, command: str | None = None, created: str | None = None, on_phase: OnPhase | None = None
) -> dict[str, Any]:
    """Computes what a report needs beyond the fusion. `command` is how to make it again, `created` its date."""
    tell = on_phase if on_phase is not None else _ignore
    ratings, fused = subject.ratings, subject.estimate.fused
    tell("the plain mean")
    mean = make_fuser("mean", series=ratings.is_series).fit(ratings).fuse()
    tell("agreement")
    draws = DRAWS if ratings.value.size <= MOST_TO_RESAMPLE else 0
    if subject.sample is not None and ratings.K > MOST_TO_DRAW:
        draws = 0
    agreement = measure_agreement(ratings, drawing=Drawing(draws, 0.95, 0), estimate=subject.estimate)
    tell("annotators")
    described = report_annotators.people(subject.fuser, ratings, fused, subject.annotators)
    tell("held-out ratings")
    foreseen = foresight(subject.model, subject.fuser, ratings) if subject.sample is None else {"why_not": TOO_MANY}
    tell("tables")
    truths, sample = report_truths.truth_rows(ratings, fused, mean), subject.sample
    return {
        "format": FORMAT,
        "created": created or datetime.now(UTC).date().isoformat(),
        "command": command,
        "kind": "traces" if ratings.is_series else "items",
        "source": ratings.source,
        "model": subject.model,
        "dimensions": list(ratings.dimensions),
        "summary": subject.summary,
        "sample": None if sample is None else {"items": ratings.M, "of": sample.items, "chosen_by": sample.chosen_by},
        "coverage": _coverage(ratings) if sample is None else sample.coverage,
        "agreement": agreement.to_dict() | {"apa": agreement.apa(), "notes": agreement.notes},
        "truth": truths if sample is None else truths | {"file": sample.truth_file},
        "curves": report_truths.curves(ratings, fused, mean) if ratings.is_series else None,
        "annotators": described,
        "replacements": report_annotators.replacements(subject.fuser, ratings),
        "categories": [] if subject.chosen is None else choices(subject.chosen, Drawing(DRAWS, 0.95, 0)),
        "correlations": report_truths.correlations(ratings, fused),
        "held_out": foreseen,
        "objective": [float(value) for value in subject.fuser.trace_.objective],
        "settings": {name: _plain(value) for name, value in subject.fuser.saved_params().items()},
    }


def build_category_dossier(
    chosen: Chosen, summary: dict[str, Any], *, command: str | None = None, created: str | None = None
) -> dict[str, Any]:
    """The same of a table that holds categories alone."""
    how = chosen.answers.reading
    return {
        "format": FORMAT,
        "created": created or datetime.now(UTC).date().isoformat(),
        "command": command,
        "kind": "categories",
        "source": chosen.answers.source,
        "dimensions": [],
        "reading": None if how is None else item_table.column_roles(how) | {"scale": {}},
        "summary": summary,
        "categories": choices(chosen, Drawing(DRAWS, 0.95, 0)),
    }


def _coverage(ratings: Ratings) -> dict[str, Any]:
    """How many annotators items have, and how many items annotators have, as counts of counts."""
    counts = coverage_and_outliers.coverage(ratings)
    return coverage_of_counts(_histogram(counts.per_item), counts.per_annotator)


def coverage_of_counts(annotators_per_item: list[list[int]], per_annotator: np.ndarray) -> dict[str, Any]:
    """The same from pairs of a number of annotators and how many items have it, and from items per annotator (K,)."""
    items, judgements = sum(n for _, n in annotators_per_item), sum(v * n for v, n in annotators_per_item)
    return {
        "annotators_per_item": annotators_per_item,
        "items_per_annotator": _histogram(per_annotator),
        "filled": float(judgements / max(items * len(per_annotator), 1)),
    }


def _histogram(counts: np.ndarray) -> list[list[int]]:
    value, times = np.unique(counts, return_counts=True)
    return [[int(v), int(n)] for v, n in zip(value, times, strict=True)]


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, int, float, bool)) else repr(value)


def _ignore(_what: str) -> None:
    """Nobody watches."""
