"""Where variational EM starts: identity annotators, variances and covariances from the moments of the ratings."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.maths.items.classes import usual_classes
from unisono.maths.items.components import PairSums
from unisono.maths.items.data import ItemData
from unisono.maths.items.latent import shape_latent
from unisono.maths.items.levels import Levels
from unisono.maths.items.noise import scaled_noise
from unisono.maths.items.params import ItemParams
from unisono.maths.items.priors import Priors
from unisono.maths.items.readings import complete_reading
from unisono.maths.items.state import BayesSettings, BayesState, Hyper, told_apart
from unisono.maths.items.structure import Structure, free_coefficients, identity_rows
from unisono.maths.items.targets import targets_from, variance_targets


def bayes_settings(
    data: ItemData,
    structure: Structure,
    priors: Priors,
    floor: np.ndarray,
    *,
    correlated: bool = True,
    moments: tuple[Levels, PairSums] | None = None,
    **changes: Any,
) -> BayesSettings:
    """Settings with targets from the ratings; only what the structure lets be correlated is, or nothing.

    `moments`: those behind the targets, where the rows of the ratings lie elsewhere.
    """
    alike = {
        "truths": correlated and structure.latent == "full",
        "biases": correlated and structure.couples_dimensions,
    }
    targets = variance_targets(data, **alike) if moments is None else targets_from(moments[0], moments[1], **alike)
    # Where gains are estimated, known truths tell who is right.
    told = 1.0 if priors.estimated else told_apart(data)
    return BayesSettings(structure, priors, floor, targets, told_apart=told)._replace(**changes)


def bayes_start(data: ItemData, settings: BayesSettings) -> BayesState:
    """A deterministic start; there is nothing random about the default model."""
    D, priors, targets = data.D, settings.priors, settings.targets
    ridge = float(data.scores.l.mean()) if data.scores.R else 1.0
    hyper = Hyper(
        gain=1 / (priors.gain_variance * settings.told_apart),
        leak=1 / priors.leak_variance,
        hold=np.ones(data.K),
        bias=targets.bias,
        tie=np.ones(data.K) if targets.tie is None or not settings.structure.bias else targets.tie,
        ridge=ridge,
        theta_var=1 / (data.scores.l + ridge),
        r=np.ones(data.K),
        pool=targets.noise,
        unexplained=np.ones(D),
        classes=usual_classes(data.K, D) if settings.classes is None else settings.classes,
    )
    params = ItemParams(
        B=_rows(data, settings),
        N=scaled_noise(hyper.r, targets.noise),
        theta=np.zeros((data.scores.R, D)),
        mu=np.zeros(D),
        Sigma=shape_latent(settings.structure.latent, targets.latent, settings.floor),
        cov=_row_covariances(data, hyper, settings),
    )
    start = BayesState(params, hyper, np.broadcast_to(np.nan, (data.M, D)))
    nothing = np.broadcast_to(0.0, (data.M, D))  # truths before any look at the ratings: their mean
    if settings.reading is None:
        return start
    fitted = start.read(settings.reading)
    return start._replace(completed=complete_reading(data, data, fitted, params, nothing, learn=False))


def _rows(data: ItemData, settings: BayesSettings) -> np.ndarray:
    """(K, D, q) "answers the truth", but for levels: they may lie so far apart that no truth is told with them."""
    B = np.tile(identity_rows(data.D), (data.K, 1, 1))
    if settings.structure.bias and settings.targets.offset is not None:
        B[:, :, -1] = settings.targets.offset
    return B


def _row_covariances(data: ItemData, hyper: Hyper, settings: BayesSettings) -> np.ndarray:
    """(K, D, q, q) about as uncertain as that many answers would leave each coefficient."""
    D = data.D
    weight = data.answers() / np.diagonal(hyper.pool)
    variances = free_coefficients(settings.structure, D) / (hyper.precision(D) + weight[:, :, None])
    return np.asarray(variances[:, :, :, None] * np.eye(D + 1))
