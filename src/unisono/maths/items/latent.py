"""M-step of the truth's own parameters: its mean, its predictor and its covariance given the features."""

from __future__ import annotations

import numpy as np

from unisono.maths.items.data import ItemData
from unisono.maths.items.estep import Stats
from unisono.maths.items.noise import floor_eigenvalues
from unisono.maths.items.params import ItemParams
from unisono.maths.items.predictor import fit_theta
from unisono.maths.items.structure import Structure
from unisono.words import Latent


def fit_predictor(
    data: ItemData, stats: Stats, structure: Structure, ridge: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """theta (R, D) and mu (D,); with an intercept the scores are centred, so mu is the mean truth."""
    theta = fit_theta(data.scores, stats.Sza, ridge)
    mean = stats.items[-1, :-1] / max(data.M, 1)
    return theta, mean if structure.intercept else np.zeros(data.D)


def latent_moments(data: ItemData, stats: Stats, theta: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """(D, D) sum over items of E[(a - m0)(a - m0)'], m0 = mu + theta'z.                               eq. G14"""
    second, first = stats.items[:-1, :-1], stats.items[:-1, -1]
    total_z = data.scores.Z.sum(axis=0)
    m0_first = data.M * mu + total_z @ theta
    cross = np.outer(first, mu) + stats.Sza.T @ theta
    shift = np.outer(mu, m0_first) + np.outer(total_z @ theta, mu) + theta.T @ (data.scores.l[:, None] * theta)
    moment = second - cross - cross.T + shift
    return np.asarray((moment + moment.T) / 2)


def truth_covariance(data: ItemData, params: ItemParams) -> np.ndarray:
    """(D, D) of the truth over items, what features explain included."""
    explained = params.theta.T @ (data.scores.l[:, None] * params.theta) / max(data.M, 1)
    return np.asarray(params.Sigma + explained)


def shape_latent(latent: Latent, spread: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """(D, D) the covariance of the given form that is most likely for the average outer product `spread`."""
    D = len(spread)
    if latent == "full":
        return floor_eigenvalues(spread, floor)
    if latent == "diagonal":
        return np.diag(np.maximum(np.diagonal(spread), floor))
    return max(float(np.trace(spread)) / D, float(floor.mean())) * np.eye(D)
