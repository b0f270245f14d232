"""Gain priors from the diagnosis: which class of the variational model each annotator is expected to be of.

A prior around "answers the truth" makes spammers and flipped annotators look better than they are, and they drag the
truth along. The diagnosis holds everybody against the truth of the others; the fit begins with what it suspects and
goes on from there, suspects have less weight in recentring, and the target of the truth's variance is corrected for
them.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.items.classes import (
    FLIPPED_CLASS,
    SPAMMER_CLASS,
    USUAL_CLASS,
    expected_gain,
    usual_classes,
    weight_of_gain,
)
from unisono.maths.items.data import ItemData
from unisono.maths.items.params import ItemParams
from unisono.maths.items.priors import DOUBTED_JUDGEMENTS, SPAMMER_GAIN
from unisono.maths.items.state import BayesSettings
from unisono.maths.raters.diagnosis import Diagnosis


def class_priors(found: Diagnosis, judgements: np.ndarray) -> np.ndarray:
    """(K, D, Z) p(z_kd): flipped as the diagnosis says, spammers as far as they are not flipped.

    Who gave few `judgements` (K,) is suspected because others are, more than by anything he said: he has the benefit of
    the doubt, and the fit may come to think otherwise.                                                     eq. B18
    """
    spammer = found.spammer * judgements / (judgements + DOUBTED_JUDGEMENTS)
    classes = usual_classes(*found.flipped.shape)
    classes[:, :, FLIPPED_CLASS] = found.flipped
    classes[:, :, SPAMMER_CLASS] = spammer[:, None] * (1 - found.flipped)
    classes[:, :, USUAL_CLASS] = (1 - spammer)[:, None] * (1 - found.flipped)
    return classes


def with_gain_priors(data: ItemData, settings: BayesSettings, found: Diagnosis) -> BayesSettings:
    """Settings with classes of annotators from the diagnosis.

    Pairs of annotators share (average gain)^2 times the variance of the truth, so its target is divided by that.

    eq. B20
    """
    classes = class_priors(found, data.by_annotator(data.judgements))
    average = np.clip(data.shares() @ expected_gain(classes), SPAMMER_GAIN, 1.0)
    targets = settings.targets._replace(latent=settings.targets.latent / np.outer(average, average))
    return settings._replace(classes=classes, targets=targets)


def competence(params: ItemParams, expected: np.ndarray) -> np.ndarray:
    """(K,) from 1 for annotators who follow the truth to 0 for those who do not, or are not `expected` (K, D) to."""
    found = np.clip(np.einsum("kdd->k", params.F) / params.F.shape[1], 0.0, 1.0)
    return np.asarray(found * weight_of_gain(expected.mean(axis=1)))
