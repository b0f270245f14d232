"""Where the truth's level lies, and its unit: annotators are a sample of a population, on average without bias.

    bias_k ~ N(level, C / t_k)          b_k = E[bias_k | answers, level 0],  the share s_k of which answers tell
    level = sum_k g_k t_k b_k / sum_k g_k t_k s_k                                                             eq. B33
    its error has the variance c C / sum_k g_k t_k s_k

one dimension at a time, with C the variance of biases between annotators, t_k how far k is tied to it, and g_k from 0
to 1 for who follows the truth. That is generalised least squares with the weights g / (C / t + noise / n), since s is
C / (C + t noise / n): somebody busy counts for hardly more than anybody whose bias is known, and a spammer for nothing.
An average over answers would have the level of whoever answered most. Errors of levels go together as biases do. Of
biases with nu degrees of freedom on D dimensions, c = (nu + D + 2) / (nu + D), the inverse of Fisher's information of
the location of Student's t; C is that of those who follow the truth; and behind the error stand as many degrees of
freedom as there are who follow, one lost and as many imagined as stand
behind C.

    K annotators, D dimensions
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items import bayes_bound, item_params, item_priors
from unisono.maths.items.annotator_rows import expected_gain, weight_of_gain

LEAST_TOLD = 1e-9  # numerical: annotators whose bias is known; fewer tell no level


class Level(NamedTuple):
    """The level of the population's average member in the coordinates of some parameters."""

    at: np.ndarray  # (D,)
    cov: np.ndarray  # (D, D) of its error
    freedom: float  # degrees of freedom behind that


def population_level(
    params: item_params.ItemParams,
    hyper: bayes_bound.Hyper,
    average: np.ndarray,
    rated: np.ndarray,
    heard: np.ndarray,
    bias_freedom: float = item_priors.BIAS_FREEDOM,
) -> Level | None:
    """From biases at the `average` truth (D,) of the annotators who `rated` (K,) and are `heard` (K,).       eq. B33

    None where nobody tells.
    """
    assert params.cov is not None
    D, K = len(average), len(hyper.tie)
    F, b, tie = params.F[:K], params.b[:K], hyper.tie[:, None]
    own, C = params.cov[:K, :, D, D], np.diagonal(hyper.bias)
    follow, told = follows(params, hyper) * heard[:, None], np.clip(1 - own * tie / C, 0.0, 1.0)
    total = (follow * tie * told).sum(axis=0)
    if not (total > LEAST_TOLD).all():
        return None
    away = b + told * ((F - np.eye(D)) @ average)
    at = (follow * tie * away).sum(axis=0) / total
    share = _of_followers((tie * ((away - told * at) ** 2 + own))[rated], follow[rated])
    error = np.sqrt((bias_freedom + D + 2) / (bias_freedom + D) * share * C / total)
    cov = hyper.bias / np.sqrt(np.outer(C, C)) * np.outer(error, error)
    return Level(at, cov, float(follow.sum(axis=0).min()) + item_priors.LEVEL_ANNOTATORS - 1)


def unit_variance(params: item_params.ItemParams, hyper: bayes_bound.Hyper, weight: np.ndarray) -> np.ndarray:
    """(D,) variance of the truth's unit over its square: the mean gain of a sample, with `weight` (K,) each.   eq. B39

    Gains F are one on average; those who follow the truth tell how far they differ, as far as answers and the scale
    that everybody uses show it.
    """
    K = len(weight)
    assert params.cov is not None
    away = np.einsum("kdd->kd", params.F[:K]) - 1
    follow = follows(params, hyper) * (weight > 0)[:, None]
    squares = away**2 + np.einsum("kddd->kd", params.cov[:K, :, :-1, :-1])
    n, share = follow.sum(axis=0), (weight[:, None] * follow) ** 2
    between = (follow * squares).sum(axis=0) / np.maximum(n - 1, 1)
    return np.asarray(between * share.sum(axis=0) / np.maximum((weight[:, None] * follow).sum(axis=0), LEAST_TOLD) ** 2)


def _of_followers(spread: np.ndarray, follow: np.ndarray) -> np.ndarray:
    """(D,) squares of biases (K, D) of who follows over those of all: a spammer's level is no reason for doubt."""
    own = (follow * spread).sum(axis=0) / np.maximum(follow.sum(axis=0), LEAST_TOLD)
    return np.asarray(np.minimum(own / np.maximum(spread.mean(axis=0), LEAST_TOLD), 1.0))


def follows(params: item_params.ItemParams, hyper: bayes_bound.Hyper) -> np.ndarray:
    """(K, D) from 1 for annotators who follow the truth of a dimension to 0 for those who do not, or are spammers."""
    gain = np.einsum("kdd->kd", params.F[: len(hyper.tie)])
    return np.asarray(np.clip(gain / item_priors.SPAMMER_GAIN, 0.0, 1.0) * weight_of_gain(expected_gain(hyper.classes)))
