"""Gauge: the ratings do not say which scale and which zero the truth has; the typical annotator says it.

a <- G a + c with the filters, level and covariance carried along leaves every prediction as it is. G is the average
total gain of the annotators, dimension by dimension, c their average bias.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.series_params import SeriesParams, Structure


def recentre(params: SeriesParams, structure: Structure, rated: np.ndarray) -> SeriesParams:
    """The average annotator becomes the identity with no bias. rated: (K,) bool, annotators that count."""  # eq. S21
    total = params.F[rated].sum(axis=1).mean(axis=0)  # (D, D) average total gain
    gain = np.diagonal(total).copy()
    if structure.latent == "isotropic":
        gain[:] = gain.mean()
    if np.any(gain <= 0):
        return params
    params = rescale(params, gain)
    # Before the clock the paper's truth is zero, and a zero does not shift: only the preroll start can move the level.
    movable = structure.bias and structure.level and structure.start == "preroll"
    return shift(params, np.linalg.solve(total / gain, params.b[rated].mean(axis=0))) if movable else params


def rescale(params: SeriesParams, gain: np.ndarray) -> SeriesParams:
    """a <- diag(gain) a."""
    return params._replace(
        F=params.F / gain,
        mu=gain * params.mu,
        theta=params.theta * gain,
        sigma=params.sigma * np.outer(gain, gain),
    )


def shift(params: SeriesParams, by: np.ndarray) -> SeriesParams:
    """a <- a + by, exact where the truth goes on before the first frame."""
    return params._replace(mu=params.mu + by, b=params.b - np.einsum("kwdp,p->kd", params.F, by))
