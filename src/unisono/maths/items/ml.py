"""Maximum likelihood EM of the item model: the paper's algorithm, for every structure of the family.

A step is an exact E-step and an M-step with current parameters (Theta and F_k first, then the variances that belong to
them), so the log-likelihood rises at every step. `paper_order` computes the variances from the previous iteration's
Theta and F_k instead, as the paper prints it; that is not an ascent step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items.data import ItemData
from unisono.maths.items.estep import Stats, expectation
from unisono.maths.items.gauge import recentre
from unisono.maths.items.latent import fit_predictor, latent_moments, shape_latent
from unisono.maths.items.ml_start import start_statistics, starting_params
from unisono.maths.items.noise import residual_moments, update_noise
from unisono.maths.items.params import ItemParams, noise_precision
from unisono.maths.items.rows import coupled_rows, flat_prior, row_moments, separate_rows
from unisono.maths.items.structure import Structure, free_coefficients


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
        new = recentre(new, settings.structure, data.by_annotator(data.judgements))
    return new, stats.loglik


def maximise(data: ItemData, stats: Stats, params: ItemParams, settings: MlSettings) -> ItemParams:
    """Parameters that maximise the expected log density of truth and ratings."""
    structure, floor = settings.structure, settings.floor
    B = _rows(data, stats, params, structure)
    theta, mu = fit_predictor(data, stats, structure)
    use = (params.B, params.theta, params.mu) if settings.paper_order else (B, theta, mu)
    R = residual_moments(data, stats, use[0], None)
    N = update_noise(structure.noise, data, R, params.N, floor=floor)
    spread = latent_moments(data, stats, use[1], use[2]) / max(data.M, 1)
    return ItemParams(B, N, theta, mu, shape_latent(structure.latent, spread, floor))


def _rows(data: ItemData, stats: Stats, params: ItemParams, structure: Structure) -> np.ndarray:
    free = free_coefficients(structure, data.D)
    flat = flat_prior(data.K, data.D)
    if structure.noise == "full":
        W, _ = noise_precision(params.N, data.annotator, data.answered)
        return coupled_rows(data, stats, W, free, flat).B
    S, C = row_moments(data, stats)
    return separate_rows(S, C, free, np.ones((data.K, data.D)), flat).B
