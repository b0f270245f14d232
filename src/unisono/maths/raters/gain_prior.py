"""Gain priors from the diagnosis: prior means of the annotators' gains in the variational model.

A prior around "answers the truth" makes spammers and flipped annotators look better than they are, and they drag the
truth along. The diagnosis holds everybody against the truth of the others; the fit expects less of those it suspects,
they have no weight in recentring, and the target of the truth's variance is corrected for them.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.items.data import ItemData
from unisono.maths.items.params import ItemParams
from unisono.maths.items.priors import SPAMMER_COUNTS, SPAMMER_GAIN
from unisono.maths.items.state import BayesSettings
from unisono.maths.raters.diagnosis import Diagnosis


def expected_gains(found: Diagnosis) -> np.ndarray:
    """(K, D) 1 for usual annotators, SPAMMER_GAIN for spammers, -1 for flipped scales.                    eq. B18

    What anybody is suspected of before answering anything is no suspicion.
    """
    share = SPAMMER_COUNTS[0] / sum(SPAMMER_COUNTS)
    spammer = np.maximum(found.spammer - share, 0.0) / (1 - share)
    return np.asarray((1 - (1 - SPAMMER_GAIN) * spammer)[:, None] * (1 - 2 * found.flipped))


def with_gain_priors(data: ItemData, settings: BayesSettings, found: Diagnosis) -> BayesSettings:
    """Settings with gain priors from the diagnosis.

    Pairs of annotators share (average gain)^2 times the variance of the truth, so its target is divided by that.

    eq. B20
    """
    gains = expected_gains(found)
    average = np.clip(data.shares() @ gains, SPAMMER_GAIN, 1.0)
    targets = settings.targets._replace(latent=settings.targets.latent / np.outer(average, average))
    return settings._replace(expected_gain=gains, targets=targets)


def competence(params: ItemParams, expected_gain: np.ndarray | None) -> np.ndarray:
    """(K,) from 1 for annotators who follow the truth to 0 for those who do not, or are not expected to."""
    found = np.clip(np.einsum("kdd->k", params.F) / params.F.shape[1], 0.0, 1.0)
    if expected_gain is None:
        return np.asarray(found)
    return np.asarray(found * np.clip((expected_gain.mean(axis=1) - SPAMMER_GAIN) / (1 - SPAMMER_GAIN), 0.0, 1.0))
