"""How well a fuser predicts ratings it has not seen, and annotators it has not met. No reference is needed.

Held-out ratings: some judgements are hidden, the fuser is fitted to the rest and predicts the hidden ones. Left-out
annotators: the others are fused, and the result is correlated with the answers of the left-out person. All figures are
in standard deviations of each dimension's ratings, so that dimensions on different scales count alike.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from unisono.errors import ConvergenceWarning, taken
from unisono.fusers import Fuser, fusion_results, standardisation
from unisono.fusers.held_out_stretches import without_rows
from unisono.maths.grouped_sums import grouped_correlation
from unisono.maths.items.item_estimates import HeldOut, held_out_scores
from unisono.tables.coverage_and_outliers import frame_index, raters_per_frame
from unisono.tables.item_table import ItemTable
from unisono.tables.ratings import Ratings

MOST_LATE = 5.0  # seconds by which a left-out trace may be behind the truth
LAGS = 26  # of them tried


class Effort(NamedTuple):
    """What a fit cost, and whether it ended by itself."""

    seconds: float
    iterations: int
    converged: bool


def timed_fit(fuser: Fuser, ratings: Ratings, features: ItemTable | None) -> Effort:
    """Fits in place. A fit that stops early is reported as such instead of warned about, once per fold."""
    start = time.perf_counter()
    with taken(ConvergenceWarning):
        fuser.fit(ratings, features)
    trace = fuser.trace_
    return Effort(time.perf_counter() - start, trace.iterations, trace.converged)


def score_hidden(fuser: Fuser, ratings: Ratings, features: ItemTable | None, hidden: np.ndarray) -> HeldOut:
    """Fits the fuser to what is not `hidden` and scores its predictions of what is.

    `hidden` (J,) are judgements of items, or (S,) rows of traces: stretches longer than filters reach.
    """
    series = ratings.is_series
    timed_fit(fuser, without_rows(ratings, hidden) if series else ratings.select_judgements(~hidden), features)
    answers = without_rows(ratings, ~hidden) if series else ratings.select_judgements(hidden)
    predicted = fuser.predict_ratings(answers)
    unit = standardisation.pooled_scaling(ratings.value)
    standardised = predicted._replace(
        mean=unit.standardise(predicted.mean), variance=predicted.variance / unit.scale**2
    )
    return held_out_scores(standardised, unit.standardise(answers.value), fusion_results.INTERVAL)


def left_out_agreement(fuser: Fuser, ratings: Ratings, features: ItemTable | None, people: np.ndarray) -> np.ndarray:
    """(len(people),) how each left-out annotator's answers correlate with the truth fused from all the others.

    Mean over dimensions; NaN for who rated fewer than three items that others rated too, or never varied. A trace
    counts at the delay at which it agrees best: where a model puts the truth in time is no merit.
    """
    out = np.isin(ratings.annotator_of, people)
    others = ratings.select_judgements(~out)
    timed_fit(fuser, others, features)
    truth = fuser.fuse().mean
    if ratings.is_series:
        by_lag = _delayed_agreement(truth, others, ratings.select_judgements(out))
        return np.asarray(np.fmax.reduce(by_lag, axis=0)[people])
    # An item without other raters has a truth by the model's prior alone: it says nothing about agreement.
    rated = np.bincount(others.item_of, minlength=ratings.M) > 0
    item, answers = ratings.item_of[out], ratings.value[out]
    unit = standardisation.pooled_scaling(ratings.value)
    expected = np.where(rated[item][:, None], unit.standardise(truth[item]), np.nan)
    found = grouped_correlation(unit.standardise(answers), expected, ratings.annotator_of[out], ratings.K)[people]
    return _mean_of_known(found)


def _delayed_agreement(truth: np.ndarray, others: Ratings, out: Ratings) -> np.ndarray:
    """(lags, K) correlation, mean over dimensions, of left-out traces with the truth so many frames earlier."""
    assert out.clock is not None
    unit = standardisation.pooled_scaling(out.value)
    known = np.where(raters_per_frame(others) > 0, unit.standardise(truth), np.nan)
    frame, who = frame_index(out), np.repeat(out.annotator_of, out.length[out.item_of])
    into = frame - (np.cumsum(out.length) - out.length)[np.repeat(out.item_of, out.length[out.item_of])]
    reach = round(MOST_LATE * out.clock.rate)
    found = []
    for lag in np.unique(np.linspace(0, reach, LAGS).round().astype(int)).tolist():
        # Frames before a recording's first have no truth.
        expected = np.where((into >= lag)[:, None], known[np.maximum(frame - lag, 0)], np.nan)
        found.append(_mean_of_known(grouped_correlation(unit.standardise(out.value), expected, who, out.K)))
    return np.stack(found)


def _mean_of_known(values: np.ndarray) -> np.ndarray:
    """(n,) means over columns of what is known, NaN if nothing is."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=1) / known.sum(axis=1))
