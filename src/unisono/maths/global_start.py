"""Where EM starts: the paper's sample moments of each item's ratings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from unisono.maths.global_data import GlobalData
from unisono.maths.global_estep import Stats, sparse_rows, statistics
from unisono.maths.global_params import GlobalParams
from unisono.maths.latent import shape_latent
from unisono.maths.structure import Structure, identity_rows


class Moments(NamedTuple):
    """First guesses at the truths of the items."""

    mean: np.ndarray  # (M, D)
    cov: np.ndarray  # (M, D, D)


def sample_moments(data: GlobalData) -> Moments:
    """Sample mean and sample covariance of each item's ratings (the paper's initialisation).          eq. G15

    An item nobody rated on a dimension starts at that dimension's mean and variance over all ratings; an item with one
    rating has no sample covariance, and starts at zero.
    """
    observed = data.answered[data.profile_of]
    to_item = _item_sum(data)
    count = to_item @ observed.astype(float)
    seen = np.maximum(count, 1)
    overall_n = np.maximum(observed.sum(axis=0), 1)
    overall = data.y.sum(axis=0) / overall_n
    mean = np.where(count > 0, (to_item @ data.y) / seen, overall)
    own = np.repeat(np.arange(data.M), np.diff(data.item_ptr))
    residual = np.where(observed, data.y - mean[own], 0.0)
    gram = np.stack([to_item @ (residual * residual[:, [d]]) for d in range(data.D)], axis=1)
    root = np.sqrt(np.maximum(count - 1, 1))
    cov = gram / root[:, :, None] / root[:, None, :]
    spread = np.where(observed, (data.y - overall) ** 2, 0.0).sum(axis=0) / overall_n
    m, d = np.nonzero(count == 0)
    cov[m, d, d] = spread[d]
    return Moments(mean, cov)


def moment_statistics(data: GlobalData, moments: Moments) -> Stats:
    """Sufficient statistics as if the truths had these moments."""
    rows, weighted = sparse_rows(data, 0, data.M)
    return statistics(rows, weighted, moments.mean, moments.cov, data.scores.Z)


def starting_params(data: GlobalData, structure: Structure, floor: np.ndarray) -> GlobalParams:
    """Identity annotators with the within-item variance as noise: what a first M-step is computed from."""
    D = data.D
    moments = sample_moments(data)
    rated = np.maximum(np.diff(data.item_ptr), 1)
    within = np.einsum("mdd,m->d", moments.cov, rated) / rated.sum()
    between = moments.mean.var(axis=0) if data.M else np.ones(D)
    return GlobalParams(
        B=np.tile(identity_rows(D), (data.K, 1, 1)),
        N=np.tile(np.diag(np.maximum(within, floor)), (data.K, 1, 1)),
        theta=np.zeros((data.scores.R, D)),
        mu=moments.mean.mean(axis=0) if structure.intercept else np.zeros(D),
        Sigma=shape_latent(structure.latent, np.diag(between), floor),
    )


def _item_sum(data: GlobalData) -> sparse.csr_array:
    J = len(data.y)
    return sparse.csr_array((np.ones(J), np.arange(J), data.item_ptr), shape=(data.M, J))
