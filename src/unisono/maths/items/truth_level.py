"""Where the truth's level lies: annotators are a sample of a population, whose average member has no bias.

    bias_k ~ N(level, C / t_k)          b_k = E[bias_k | answers, level 0],  the share s_k of which answers tell
    level = sum_k g_k t_k b_k / sum_k g_k t_k s_k                                                             eq. B33
    its error has the variance C / sum_k g_k t_k s_k

one dimension at a time, with C the variance of biases between annotators, t_k how far k is tied to it, and g_k from 0
to 1 for who follows the truth. That is generalised least squares with the weights g / (C / t + noise / n), since s is
C / (C + t noise / n): somebody busy counts for hardly more than anybody whose bias is known, and a spammer for nothing.
An average over answers would have the level of whoever answered most. Errors of levels go together as biases do.

    K annotators, D dimensions
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items.annotator_rows import expected_gain, weight_of_gain
from unisono.maths.items.bayes_bound import Hyper
from unisono.maths.items.item_params import ItemParams
from unisono.maths.items.item_priors import SPAMMER_GAIN

LEAST_TOLD = 1e-9  # numerical: annotators whose bias is known; fewer tell no level


class Level(NamedTuple):
    """The level of the population's average member in the coordinates of some parameters."""

    at: np.ndarray  # (D,)
    cov: np.ndarray  # (D, D) of its error


def population_level(params: ItemParams, hyper: Hyper, average: np.ndarray, rated: np.ndarray) -> Level | None:
    """From biases at the `average` truth (D,) of the annotators who `rated` (K,); None where nobody tells.  eq. B33"""
    assert params.cov is not None
    D, K = len(average), len(hyper.tie)
    F, b, own = params.F[:K][rated], params.b[:K][rated], params.cov[:K][rated][:, :, D, D]
    weight = follows(params, hyper)[rated] * hyper.tie[rated, None]
    C = np.diagonal(hyper.bias)
    told = np.clip(1 - own * hyper.tie[rated, None] / C, 0.0, 1.0)
    total = (weight * told).sum(axis=0)
    if not (total > LEAST_TOLD).all():
        return None
    at = (weight * (b + told * ((F - np.eye(D)) @ average))).sum(axis=0) / total
    error = np.sqrt(C / total)
    return Level(at, hyper.bias / np.sqrt(np.outer(C, C)) * np.outer(error, error))


def follows(params: ItemParams, hyper: Hyper) -> np.ndarray:
    """(K, D) from 1 for annotators who follow the truth of a dimension to 0 for those who do not, or are spammers."""
    gain = np.einsum("kdd->kd", params.F[: len(hyper.tie)])
    return np.asarray(np.clip(gain / SPAMMER_GAIN, 0.0, 1.0) * weight_of_gain(expected_gain(hyper.classes)))
