"""The description of every annotator, in the units they rated in."""

from __future__ import annotations

import numpy as np

from unisono.data import Ratings
from unisono.fusers.items.posteriors import ItemPosteriors
from unisono.fusers.results import Annotators
from unisono.fusers.scaling import Scaling
from unisono.fusers.signal import crowd_diagnosis
from unisono.maths.grouped import grouped_correlation
from unisono.maths.items.data import ItemData
from unisono.maths.items.latent import truth_covariance
from unisono.maths.items.params import ItemParams
from unisono.maths.raters.diagnosis import Diagnosis


def annotator_table(ratings: Ratings, items: ItemPosteriors, scaling: Scaling) -> Annotators:
    """Bias, gain, leakage, noise, reliability and agreement from fitted parameters."""
    data, params, answers = items.data, items.params, scaling.standardise(ratings.value)
    return described(
        ratings.annotators,
        ratings.dimensions,
        np.bincount(ratings.annotator_of, minlength=ratings.K),
        data=data,
        params=params,
        scaling=scaling,
        center=params.prior_mean(data.scores).mean(axis=0),
        noise=items.noise,
        agreement=grouped_correlation(answers, items.left_out.mean, ratings.annotator_of, ratings.K),
        diagnosis=crowd_diagnosis(ratings),
    )


def described(
    annotators: tuple[str, ...],
    dimensions: tuple[str, ...],
    given: np.ndarray,
    *,
    data: ItemData,
    params: ItemParams,
    scaling: Scaling,
    center: np.ndarray,
    noise: np.ndarray,
    agreement: np.ndarray,
    diagnosis: Diagnosis,
) -> Annotators:
    """The table of annotators with `given` (K,) judgements each.

    `center` (D,) is the average truth, `noise` (K, D) are variances. Of the ratings the sums of their profiles are
    enough.
    """
    K, D = len(annotators), data.D
    F, b = params.F[:K], params.b[:K]
    signal = np.einsum("kdi,ij,kdj->kd", F, truth_covariance(data, params), F)
    leakage = scaling.restore_matrix(F) * (1 - np.eye(D))
    return Annotators(
        annotators=annotators,
        dimensions=dimensions,
        ratings=given,
        bias=(b + (F - np.eye(D)) @ center) * scaling.scale,
        gain=np.diagonal(F, axis1=1, axis2=2).copy(),
        leakage=leakage,
        noise=np.sqrt(noise) * scaling.scale,
        reliability=signal / (signal + noise),
        agreement=agreement,
        diagnosis=diagnosis,
    )
