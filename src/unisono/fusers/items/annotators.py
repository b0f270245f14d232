"""The description of every annotator, in the units they rated in."""

from __future__ import annotations

import numpy as np

from unisono.data import Ratings
from unisono.fusers.results import Annotators
from unisono.fusers.scaling import Scaling
from unisono.maths.grouped import grouped_correlation
from unisono.maths.items.data import ItemData
from unisono.maths.items.estep import left_out_means
from unisono.maths.items.latent import truth_covariance
from unisono.maths.items.params import ItemParams
from unisono.maths.raters.diagnosis import diagnose


def annotator_table(ratings: Ratings, data: ItemData, params: ItemParams, scaling: Scaling) -> Annotators:
    """Bias, gain, leakage, noise, reliability and agreement from fitted parameters."""
    D = data.D
    F, b = params.F[: ratings.K], params.b[: ratings.K]
    center = params.prior_mean(data.scores).mean(axis=0)
    signal = np.einsum("kdi,ij,kdj->kd", F, truth_covariance(data, params), F)
    noise = np.diagonal(params.N[: ratings.K], axis1=1, axis2=2)
    answers = scaling.standardise(ratings.value)
    leakage = scaling.restore_matrix(F) * (1 - np.eye(D))
    return Annotators(
        annotators=ratings.annotators,
        dimensions=ratings.dimensions,
        ratings=np.bincount(ratings.annotator_of, minlength=ratings.K),
        bias=(b + (F - np.eye(D)) @ center) * scaling.scale,
        gain=np.diagonal(F, axis1=1, axis2=2).copy(),
        leakage=leakage,
        noise=np.sqrt(noise) * scaling.scale,
        reliability=signal / (signal + noise),
        agreement=grouped_correlation(answers, left_out_means(data, params), ratings.annotator_of, ratings.K),
        diagnosis=diagnose(ratings.value, ratings.item_of, ratings.annotator_of, ratings.K),
    )
