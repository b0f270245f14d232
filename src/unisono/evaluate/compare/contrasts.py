"""Two models against each other on the same folds, and the answer in plain words.

Held-out ratings inform; they do not decide. What predicts ratings best is not always what comes closest to the truth,
so the words always carry that caveat and the default model never switches on these figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unisono.maths.significance import SIGNIFICANT, PairedT
from unisono.report.alerts import nothing_shared

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
    doubt = [nothing_shared(unclear, dimensions, NOISE)] if unclear else []
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
