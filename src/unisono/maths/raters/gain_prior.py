"""Gain priors from the diagnosis: prior means of the annotators' gains in the variational model.

A prior around "answers the truth" makes spammers and flipped annotators look better than they are, and they drag the
truth along. The diagnosis holds everybody against the truth of the others; the fit expects less of those it suspects,
they have no weight in recentring, and the target of the truth's variance is corrected for them. Where nobody looks
suspicious at first sight there is nothing to diagnose.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unisono.maths.grouped import grouped_correlation, segment_sum
from unisono.maths.items.data import ItemData
from unisono.maths.items.priors import (
    DOUBTED_ANSWERS,
    LEAST_AVERAGE_GAIN,
    SPAMMER_GAIN,
    SPAMMER_THRESHOLD,
    SUSPICIOUS,
)
from unisono.maths.items.state import BayesSettings
from unisono.maths.raters.diagnosis import Diagnosis, diagnose


def diagnosis_of(data: ItemData) -> Diagnosis:
    """The diagnosis of the annotators of these ratings."""
    return diagnose(data.value, data.item_of, data.annotator_of, data.K)


def expected_gains(data: ItemData, diagnosis: Callable[[], Diagnosis] | None = None) -> np.ndarray | None:
    """(K, D) 1 for usual annotators, SPAMMER_GAIN for spammers, -1 for flipped scales; None: usual, all of them.

    `diagnosis` gives that of these ratings, where it may be known already.                               eq. B18
    """
    if not _anyone_suspicious(data, data.item_of, data.annotator_of):
        return None
    found = diagnosis_of(data) if diagnosis is None else diagnosis()
    given = data.by_annotator(data.judgements)
    ground = given / (given + DOUBTED_ANSWERS)
    spammer = ground * np.maximum(found.spammer - SPAMMER_THRESHOLD, 0.0) / (1 - SPAMMER_THRESHOLD)
    flipped = ground[:, None] * found.flipped
    return np.asarray((1 - (1 - SPAMMER_GAIN) * spammer)[:, None] * (1 - 2 * flipped))


def with_gain_priors(
    data: ItemData, settings: BayesSettings, diagnosis: Callable[[], Diagnosis] | None = None
) -> BayesSettings:
    """Settings with gain priors from the diagnosis.

    Pairs of annotators share (average gain)^2 times the variance of the truth, so its target is divided by that.

    eq. B20
    """
    gains = expected_gains(data, diagnosis)
    if gains is None:
        return settings
    average = np.clip(data.shares() @ gains, LEAST_AVERAGE_GAIN, 1.0)
    targets = settings.targets._replace(latent=settings.targets.latent / np.outer(average, average))
    return settings._replace(expected_gain=gains, targets=targets)


def _anyone_suspicious(data: ItemData, item_of: np.ndarray, annotator_of: np.ndarray) -> bool:
    """Whether any annotator agrees much less with the plain mean of the others than annotators usually do."""
    answered = data.answered[data.profile_of]
    seen = answered.astype(float)
    own = segment_sum(data.y, annotator_of, data.K) / np.maximum(segment_sum(seen, annotator_of, data.K), 1)
    away = np.where(answered, data.y - own[annotator_of], 0.0)
    total, count = segment_sum(away, item_of, data.M), segment_sum(seen, item_of, data.M)
    others = count[item_of] - seen
    mean = np.where(answered & (others > 0), (total[item_of] - away) / np.maximum(others, 1), np.nan)
    agreement = grouped_correlation(np.where(answered, away, np.nan), mean, annotator_of, data.K)
    # An annotator without a correlation gives the same answer to everything, or has rated next to nothing.
    if not np.isfinite(agreement).all():
        return True
    return bool((agreement < SUSPICIOUS * np.maximum(np.median(agreement, axis=0), 0.0)).any())
