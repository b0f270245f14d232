"""Gauge: scale and zero of the truth are not identified by ratings; the average annotator defines them.

a <- G a + c with the filters, level and covariance carried along leaves every prediction as it is. G is the average
total gain of the annotators: the whole matrix where dimensions may leak into each other and the truth's covariance is
full, its diagonal elsewhere. c is the average bias. Annotators are weighted by their own gain, from 0 to 1, so that
spammers do not define the truth.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.series.params import SeriesParams, Structure


def competence(params: SeriesParams, rated: np.ndarray) -> np.ndarray:
    """(K,) how much an annotator follows the truth, 0 to 1; 0 for who is not among `rated` (K,) bool."""
    own = np.diagonal(params.F.sum(axis=1), axis1=1, axis2=2).mean(axis=1)
    return np.where(rated, np.clip(own, 0.0, 1.0), 0.0)


def recentre(params: SeriesParams, structure: Structure, weight: np.ndarray) -> SeriesParams:
    """The average annotator becomes the identity with no bias. weight: (K,) how much each annotator counts."""
    if not np.any(weight > 0):  # eq. S21
        return params
    share = weight / weight.sum()
    total = np.tensordot(share, params.F.sum(axis=1), axes=1)  # (D, D) average total gain
    gain = _allowed(total, structure)
    if np.linalg.det(gain) <= 0 or np.any(np.diagonal(gain) <= 0):
        return params
    params = rescale(params, gain)
    # Before the clock the paper's truth is zero, and a zero does not shift: only the preroll start can move the level.
    movable = structure.bias and structure.level and structure.start == "preroll"
    if not movable:
        return params
    rest = np.linalg.solve(gain.T, total.T).T  # average total gain that is left
    return shift(params, np.linalg.solve(rest, share @ params.b))


def _allowed(total: np.ndarray, structure: Structure) -> np.ndarray:
    """(D, D) the part of the average gain that the structure can absorb."""
    leaks = structure.transform in ("full", "taps") or (structure.transform == "delay" and structure.crosstalk)
    if leaks and structure.latent == "full":
        return total
    diagonal = np.diagonal(total)
    return np.diag(np.full(len(total), diagonal.mean()) if structure.latent == "isotropic" else diagonal)


def rescale(params: SeriesParams, gain: np.ndarray) -> SeriesParams:
    """a <- gain a. gain: (D, D)."""
    return params._replace(
        F=np.linalg.solve(gain.T, np.swapaxes(params.F, 2, 3)).swapaxes(2, 3),
        mu=gain @ params.mu,
        theta=params.theta @ gain.T,
        sigma=gain @ params.sigma @ gain.T,
    )


def shift(params: SeriesParams, by: np.ndarray) -> SeriesParams:
    """a <- a + by, exact where the truth goes on before the first frame."""
    return params._replace(mu=params.mu + by, b=params.b - np.einsum("kwdp,p->kd", params.F, by))
