"""Guards of the default: adjustments after each step of variational EM that do not raise its bound.

- Recentring: the likelihood does not know which way is up. The average competent annotator does.
- Tempering: correlations between errors are believed a little less than they are estimated, because what the model
  calls an error is partly truth that it failed to explain.
- Limited borrowing: dimensions inform each other through the correlation of truths, which shrinks their difference.
  That is right if the truths themselves go together and wrong if all annotators mix the dimensions in the same way;
  ratings cannot tell the two apart. Where people's errors go together too, the dimensions are perceived as one; so
  correlations of truths are believed up to a multiple of those of errors. Without correlated errors the default then
  is no worse than each dimension by itself.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.items.data import ItemData
from unisono.maths.items.gauge import recentre
from unisono.maths.items.params import ItemParams
from unisono.maths.items.priors import LEAST_EIGENVALUE, SPAMMER_GAIN
from unisono.maths.items.state import Hyper
from unisono.maths.items.structure import Structure


def recentred(
    data: ItemData, params: ItemParams, hyper: Hyper, structure: Structure, expected_gain: np.ndarray | None = None
) -> tuple[ItemParams, Hyper]:
    """The average competent annotator becomes the identity, and the average noise scale one.           eq. B7

    Annotators who are not expected to answer the truth (`expected_gain`, as in the settings) have no weight in it.
    """
    given = data.by_annotator(data.judgements)
    competence = np.clip(np.einsum("kdd->k", params.F) / data.D, 0.0, 1.0)
    weight = given * competence
    if expected_gain is not None:
        weight = weight * credibility(expected_gain)
    if weight.sum() > 0:
        params = recentre(params, structure, weight)
    if structure.noise in ("scaled", "shared"):
        level = float(np.exp(given @ np.log(hyper.r) / given.sum()))
        hyper = hyper._replace(r=hyper.r / level, pool=hyper.pool * level)
    return params, hyper


def credibility(gains: np.ndarray) -> np.ndarray:
    """(K,) from 1 for annotators of whom the usual gains (K, D) are expected to 0 for spammers and flipped ones."""
    return np.asarray(np.clip((gains.mean(axis=1) - SPAMMER_GAIN) / (1 - SPAMMER_GAIN), 0.0, 1.0))


def tempered(covariance: np.ndarray, share: float) -> np.ndarray:
    """The covariance with only this share of its correlations."""
    return np.asarray(share * covariance + (1 - share) * np.diag(np.diagonal(covariance)))


def limited_borrowing(Sigma: np.ndarray, error_correlation: np.ndarray, times: float) -> np.ndarray:
    """Sigma with every correlation at most `times` that of the errors (D, D), in size.               eq. B12"""
    if not np.isfinite(times):
        return Sigma
    own, limit = correlation(Sigma), times * np.abs(error_correlation)
    allowed = np.clip(own, -limit, limit)
    np.fill_diagonal(allowed, 1.0)
    if np.array_equal(allowed, own):
        return Sigma
    values, vectors = np.linalg.eigh(allowed)
    allowed = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    root = np.sqrt(np.diagonal(Sigma) / np.diagonal(allowed))
    return np.asarray(allowed * root[:, None] * root)


def correlation(covariance: np.ndarray) -> np.ndarray:
    """(D, D) correlations of a covariance."""
    root = np.sqrt(np.diagonal(covariance))
    found = np.asarray(covariance / root[:, None] / root)
    np.fill_diagonal(found, 1.0)  # which rounding misses
    return found
