"""Draws from the item model: truths from their prior, ratings given the truths. eq. G1, eq. G2"""

from __future__ import annotations

import numpy as np

from unisono.maths.items.params import ItemParams
from unisono.maths.items.predictor import Scores


def sample_truths(params: ItemParams, scores: Scores, rng: np.random.Generator) -> np.ndarray:
    """(M, D) truths."""
    root = np.linalg.cholesky(params.Sigma)
    return np.asarray(params.prior_mean(scores) + rng.standard_normal((scores.M, len(root))) @ root.T)


def sample_ratings(
    params: ItemParams,
    truth: np.ndarray,
    item_of: np.ndarray,
    annotator_of: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """(J, D) ratings of these items by these annotators; under `bayes` with a drawn B_k for each annotator."""
    B = params.B if params.cov is None else params.B + _row_noise(params.cov, rng)
    roots = np.linalg.cholesky(params.N)
    abar = np.hstack([truth, np.ones((len(truth), 1))])[item_of]
    noise = rng.standard_normal((len(item_of), truth.shape[1]))
    return np.asarray(
        np.einsum("ndi,ni->nd", B[annotator_of], abar) + np.einsum("ndi,ni->nd", roots[annotator_of], noise)
    )


def _row_noise(cov: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(K, D, q) deviations with these covariances, which are zero where a coefficient is fixed."""
    values, vectors = np.linalg.eigh(cov)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    return np.asarray(np.einsum("kdij,kdj->kdi", roots, rng.standard_normal(cov.shape[:3])))
