"""The description of every annotator, in the units they rated in."""

from __future__ import annotations

import numpy as np

from unisono.data import Ratings
from unisono.fusers.items.posteriors import ItemPosteriors
from unisono.fusers.results import Annotators
from unisono.fusers.scaling import Scaling
from unisono.fusers.signal import crowd_diagnosis
from unisono.maths.grouped import grouped_correlation
from unisono.maths.items.latent import truth_covariance


def annotator_table(ratings: Ratings, items: ItemPosteriors, scaling: Scaling) -> Annotators:
    """Bias, gain, leakage, noise, reliability and agreement from fitted parameters."""
    data, params, D = items.data, items.params, items.data.D
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
        agreement=grouped_correlation(answers, items.left_out.mean, ratings.annotator_of, ratings.K),
        diagnosis=crowd_diagnosis(ratings),
    )
