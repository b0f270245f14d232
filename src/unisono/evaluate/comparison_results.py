"""The result of a comparison of models: one row per model, paired contrasts, and the answer in words. Plain values.

Held-out ratings inform; they do not decide. What predicts ratings best is not always what comes closest to the truth,
so the words always carry that caveat and the default model never switches on these figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from unisono.evaluate import alerts, held_out_ratings, scoring
from unisono.fusers import Fused
from unisono.maths.items.item_estimates import HeldOut
from unisono.maths.metrics import SIGNIFICANT, PairedT, standard_error
from unisono.tables import item_table, labels

Question = Literal["joint", "default"]
NOISE = (
    "held-out ratings then say who predicts noise best, which says nothing about the truth. More annotators per item "
    "or clearer instructions would have to come first."
)
SURE = ((0.01, "very sure"), (0.05, "sure"), (0.2, "likely, not sure"))  # p below -> words
ASKED = {
    "joint": "Does it help to model the dimensions jointly?",
    "default": "Is the default better than the plain mean?",
}
CAVEAT = (
    "Held-out ratings say who predicts ratings best, which proved a poor guide to who comes closest to the truth: "
    "a model also earns by predicting what annotators have in common that is not the truth. "
    "Read these figures as a report; --model auto does not switch on them."
)
ONE_DIMENSION = "There is one dimension, so there is nothing to model jointly."


@dataclass(frozen=True)
class Contrast:
    """One model against another; differences are first minus second."""

    question: Question
    first: str
    second: str
    log_density: PairedT  # per held-out number, over folds
    agreement: PairedT  # with left-out annotators, over annotators
    ccc_share: float  # of resampled references in which the first has the higher mean CCC; NaN without a reference
    pearson_share: float
    verdict: str  # yes, no or unclear
    sureness: str


def contrast(
    question: Question,
    models: tuple[str, str],
    log_density: PairedT,
    agreement: PairedT,
    shares: tuple[float, float] = (float("nan"), float("nan")),
) -> Contrast:
    """The verdict rests on the held-out ratings alone; the other figures stand beside it."""
    sureness = next((words for limit, words in SURE if log_density.p < limit), "cannot tell")
    verdict = "unclear" if sureness == "cannot tell" else "yes" if log_density.mean > 0 else "no"
    return Contrast(question, *models, log_density, agreement, *shares, verdict, sureness)


def answer(contrasts: Sequence[Contrast], dimensions: Sequence[str], unclear: Sequence[str] = ()) -> str:
    """All questions answered, with the caveat; a paragraph each.

    Where annotators may share nothing on any dimension (all are `unclear`) and there is no reference, none is: models
    then differ in how they predict noise.
    """
    D = len(dimensions)
    asked = [found for found in contrasts if D > 1 or found.question != "joint"]
    doubt = [alerts.nothing_shared(unclear, dimensions, NOISE)] if unclear else []
    if len(unclear) == D and all(np.isnan(found.ccc_share) for found in asked):
        return "\n".join([*doubt, *([CAVEAT] if not doubt else [])])
    return "\n".join([*doubt, *([ONE_DIMENSION] if D == 1 else []), *map(in_words, asked), CAVEAT])


def in_words(found: Contrast) -> str:
    """The question, the answer, and the figures behind it."""
    density = found.log_density
    verdict = {"yes": "Yes", "no": "No", "unclear": "These ratings cannot tell"}[found.verdict]
    sure = "" if found.verdict == "unclear" else f" ({found.sureness})"
    text = (
        f"{ASKED[found.question]} {verdict}{sure}: '{found.first}' predicts held-out ratings "
        f"{_compared(density.mean)} '{found.second}' by {abs(density.mean):.3f} in log density per number "
        f"(s.e. {density.se:.3f}, p = {density.p:.2g}), and is ahead in {density.wins} of {density.folds} folds."
    )
    if not np.isnan(found.agreement.mean):
        text += (
            f" Its agreement with left-out annotators is {found.agreement.mean:+.3f} (s.e. {found.agreement.se:.3f})."
        )
    if not np.isnan(found.ccc_share):
        text += (
            f" Against the reference it is ahead in {100 * found.ccc_share:.0f} % of resamples of the items by CCC, "
            f"{100 * found.pearson_share:.0f} % by Pearson."
        )
        if _disagrees(found):
            text += " The two disagree: the reference, as far as it is the truth, is the better judge."
    return text


def _disagrees(found: Contrast) -> bool:
    """Whether the reference clearly says the opposite of the held-out ratings, by either measure."""
    shares = (found.ccc_share, found.pearson_share)
    against = {"yes": min(shares) < 1 - SIGNIFICANT, "no": max(shares) > SIGNIFICANT, "unclear": False}
    return against[found.verdict]


def _compared(difference: float) -> str:
    return "better than" if difference > 0 else "worse than" if difference < 0 else "exactly as well as"


class Findings(NamedTuple):
    """Everything that was found about one model."""

    effort: held_out_ratings.Effort  # of fitting all ratings
    fused: Fused  # from all ratings
    held_out: Sequence[HeldOut]  # fold by fold
    agreement: np.ndarray  # (people,) with left-out annotators


@dataclass(frozen=True)
class ModelRow:
    """One line of the leaderboard; standard errors are over folds, for the agreement over annotators."""

    model: str
    log_density: float  # per held-out number, in standard deviations of the ratings
    log_density_se: float
    rmse: float
    rmse_se: float
    coverage: float  # share of held-out ratings inside their 90 % predictive interval
    coverage_se: float
    agreement: float  # mean correlation of left-out annotators with the truth fused without them
    agreement_se: float
    ccc: float  # mean over dimensions; NaN without a reference
    pearson: float
    dimensions: tuple[scoring.DimensionScore, ...]  # against the reference
    seconds: float  # fitting all ratings once
    iterations: int
    converged: bool
    folds: tuple[float, ...]  # log density fold by fold


@dataclass(frozen=True, repr=False)
class Comparison(labels.Introduced):
    """What `unisono compare` prints; the best model comes first."""

    source: str
    kind: str  # items or series
    items: int
    annotators: int
    judgements: int
    folds: int
    seed: int
    reference: str | None
    rows: tuple[ModelRow, ...]
    contrasts: tuple[Contrast, ...]
    answer: str
    unclear: tuple[str, ...] = ()  # dimensions on which annotators do not clearly agree

    def _introduction(self) -> labels.Introduction:
        rows = [
            (row.model, *(f"{x:.3f}" for x in (row.log_density, row.rmse, row.coverage, row.agreement)))
            for row in self.rows
        ]
        title = f"{labels.counted(len(self.rows), 'model')} on '{self.source}', best first"
        header = ("model", "log density", "RMSE", "90 % cover", "agreement")
        return labels.Introduction.of(title, header, rows, "See .answer, .rows, .contrasts and .to_dict().")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        found = asdict(self)
        for row, own in zip(found["contrasts"], self.contrasts, strict=True):
            row["log_density"], row["agreement"] = own.log_density._asdict(), own.agreement._asdict()
        return found


def model_row(name: str, found: Findings, reference: item_table.ItemTable | None) -> ModelRow:
    """The figures of one model."""
    density, rmse, coverage = (
        np.array([getattr(fold, figure) for fold in found.held_out]) for figure in ("log_density", "rmse", "coverage")
    )
    scores = () if reference is None else scoring.score_tables(truth_table(found.fused), reference).dimensions
    return ModelRow(
        model=name,
        log_density=known_mean(density),
        log_density_se=standard_error(density),
        rmse=known_mean(rmse),
        rmse_se=standard_error(rmse),
        coverage=known_mean(coverage),
        coverage_se=standard_error(coverage),
        agreement=known_mean(found.agreement),
        agreement_se=standard_error(found.agreement),
        ccc=known_mean(np.array([score.ccc for score in scores])),
        pearson=known_mean(np.array([score.pearson for score in scores])),
        dimensions=scores,
        seconds=found.effort.seconds,
        iterations=found.effort.iterations,
        converged=found.effort.converged,
        folds=tuple(density.tolist()),
    )


def best_first(rows: Sequence[ModelRow], by: str) -> tuple[ModelRow, ...]:
    """Rows by a figure of which more is better; rows without it come last."""
    return tuple(sorted(rows, key=lambda row: -np.nan_to_num(getattr(row, by), nan=-np.inf)))


def truth_table(fused: Fused) -> item_table.ItemTable:
    """A fused truth as a table that can be scored."""
    return item_table.ItemTable.from_rows(
        fused.mean,
        items=fused.items,
        columns=fused.dimensions,
        length=fused.length,
        clock=fused.clock,
        source="the fused truth",
    )


def known_mean(values: np.ndarray) -> float:
    """The mean of what is known, NaN if nothing is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
