"""Maximum likelihood EM of the item model: the paper's algorithm, for every structure of the family.

A step is an exact E-step and an M-step with current parameters (Theta and F_k first, then the variances that belong to
them), so the log-likelihood rises at every step. `paper_order` computes the variances from the previous iteration's
Theta and F_k instead, as the paper prints it; that is not an ascent step.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from scipy import sparse

from unisono.maths.items import annotator_rows, item_params, item_variances
from unisono.maths.items.item_data import ItemData
from unisono.maths.items.item_estep import Stats, expectation, item_blocks, sparse_rows, statistics
from unisono.maths.items.item_params import ItemParams, Structure


class MlSettings(NamedTuple):
    """What an ml step needs beside data and parameters."""

    structure: Structure
    floor: np.ndarray  # (D,) no variance falls below this
    recentred: bool = True  # the anchor `average`
    paper_order: bool = False


def paper_start(data: ItemData, settings: MlSettings) -> ItemParams:
    """An M-step from the sample moments of each item's ratings, the paper's initialisation.

    There is no previous iteration yet, so the variances belong to the new Theta and F_k whatever the order.
    """
    stats = start_statistics(data)
    before = starting_params(data, settings.structure, settings.floor)
    return maximise(data, stats, before, settings._replace(paper_order=False))


def em_step(data: ItemData, params: ItemParams, settings: MlSettings) -> tuple[ItemParams, float]:
    """One EM step; the log-likelihood is that of the parameters given."""
    _, stats = expectation(data, params)
    new = maximise(data, stats, params, settings)
    if settings.recentred:
        new = item_params.recentre(new, settings.structure, data.by_annotator(data.judgements))
    return new, stats.loglik


def maximise(data: ItemData, stats: Stats, params: ItemParams, settings: MlSettings) -> ItemParams:
    """Parameters that maximise the expected log density of truth and ratings."""
    structure, floor = settings.structure, settings.floor
    B = _likeliest_rows(data, stats, params, structure)
    theta, mu = item_variances.fit_predictor(data, stats, structure)
    use = (params.B, params.theta, params.mu) if settings.paper_order else (B, theta, mu)
    R = item_variances.residual_moments(data, stats, use[0], None)
    N = item_variances.update_noise(structure.noise, data, R, params.N, floor=floor)
    spread = item_variances.latent_moments(data, stats, use[1], use[2]) / max(data.M, 1)
    return ItemParams(B, N, theta, mu, item_variances.shape_latent(structure.latent, spread, floor))


def _likeliest_rows(data: ItemData, stats: Stats, params: ItemParams, structure: Structure) -> np.ndarray:
    free = item_params.free_coefficients(structure, data.D)
    flat = annotator_rows.flat_prior(data.K, data.D)
    if structure.noise == "full":
        W, _ = item_params.noise_precision(params.N, data.annotator, data.answered)
        return annotator_rows.coupled_rows(data, stats, W, free, flat).B
    S, C = annotator_rows.row_moments(data, stats)
    return annotator_rows.separate_rows(S, C, free, np.ones((data.K, data.D)), flat).B


# ---- the start: the paper's sample moments of each item's ratings


class Moments(NamedTuple):
    """First guesses at the truths of some items."""

    mean: np.ndarray  # (m, D)
    cov: np.ndarray  # (m, D, D)
    answers: np.ndarray  # (m, D) how many ratings they come from


def sample_moments(data: ItemData, start: int, stop: int) -> Moments:
    """Sample mean and sample covariance of each item's ratings (the paper's initialisation).          eq. G15

    An item nobody rated on a dimension starts at that dimension's mean and variance over all ratings; an item with one
    rating has no sample covariance, and starts at zero.
    """
    to_item, observed, own = _item_rows(data, start, stop)
    y = data.y[data.item_ptr[start] : data.item_ptr[stop]]
    count = to_item @ observed.astype(float)
    overall, spread = _overall(data)
    mean = np.where(count > 0, (to_item @ y) / np.maximum(count, 1), overall)
    residual = np.where(observed, y - mean[own], 0.0)
    gram = np.stack([to_item @ (residual * residual[:, [d]]) for d in range(data.D)], axis=1)
    root = np.sqrt(np.maximum(count - 1, 1))
    cov = gram / root[:, :, None] / root[:, None, :]
    m, d = np.nonzero(count == 0)
    cov[m, d, d] = spread[d]
    return Moments(mean, cov, count)


def start_statistics(data: ItemData) -> Stats:
    """Sufficient statistics as if the truths had their sample moments."""
    parts = []
    for start, stop in item_blocks(data.M):
        moments = sample_moments(data, start, stop)
        rows, weighted = sparse_rows(data, start, stop)
        mean, cov = moments.mean.T, moments.cov.transpose(1, 2, 0)
        parts.append(statistics(rows, weighted, mean, cov, data.scores.Z[start:stop]))
    return reduce(add, parts)


def rating_spread(data: ItemData) -> tuple[np.ndarray, np.ndarray]:
    """Mean square (D,) of ratings around their item's mean, by degrees of freedom, and variance (D,) of item means."""
    squares, freedom = np.zeros(data.D), np.zeros(data.D)
    means, counts = np.empty((data.M, data.D)), np.empty((data.M, data.D))
    for start, stop in item_blocks(data.M):
        moments = sample_moments(data, start, stop)
        means[start:stop], counts[start:stop] = moments.mean, moments.answers
        _, observed, own = _item_rows(data, start, stop)
        y = data.y[data.item_ptr[start] : data.item_ptr[stop]]
        squares += (np.where(observed, y - moments.mean[own], 0.0) ** 2).sum(axis=0)
        freedom += np.maximum(moments.answers - 1, 0).sum(axis=0)
    rated = counts > 0
    total = np.maximum(rated.sum(axis=0), 1)
    center = np.where(rated, means, 0.0).sum(axis=0) / total
    between = np.where(rated, (means - center) ** 2, 0.0).sum(axis=0) / total
    return squares / np.maximum(freedom, 1), between


def starting_params(data: ItemData, structure: Structure, floor: np.ndarray) -> ItemParams:
    """Identity annotators with the within-item variance as noise: what a first M-step is computed from."""
    D = data.D
    within, between = rating_spread(data)
    return ItemParams(
        B=np.tile(item_params.identity_rows(D), (data.K, 1, 1)),
        N=np.tile(np.diag(np.maximum(within, floor)), (data.K, 1, 1)),
        theta=np.zeros((data.scores.R, D)),
        mu=np.zeros(D),
        Sigma=item_variances.shape_latent(structure.latent, np.diag(between), floor),
    )


def _item_rows(data: ItemData, start: int, stop: int) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """For a block of items: sums over judgements (m, j), which answers there are (j, D), the item of each (j,)."""
    ptr = data.item_ptr[start : stop + 1] - data.item_ptr[start]
    j, m = int(ptr[-1]), stop - start
    to_item = sparse.csr_array((np.ones(j), np.arange(j, dtype=ptr.dtype), ptr), shape=(m, j))
    observed = data.answered[data.profile_of[data.item_ptr[start] : data.item_ptr[stop]]]
    return to_item, observed, np.repeat(np.arange(m), np.diff(ptr))


def _overall(data: ItemData) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance (D,) of all ratings."""
    n = np.maximum(data.judgements @ data.answered, 1)
    mean = data.Sy.sum(axis=0) / n
    square = np.einsum("udd->d", data.Syy) / n
    return mean, np.maximum(square - mean**2, 0.0)
