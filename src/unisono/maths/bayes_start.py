"""Where variational EM starts: identity annotators, variances from between and within items."""

from __future__ import annotations

import numpy as np

from unisono.maths.bayes_state import BayesSettings, BayesState, Hyper
from unisono.maths.global_bayes import scaled_noise
from unisono.maths.global_data import GlobalData
from unisono.maths.global_params import GlobalParams
from unisono.maths.global_start import rating_spread
from unisono.maths.latent import shape_latent
from unisono.maths.noise import update_scaled
from unisono.maths.structure import free_coefficients, identity_rows

WITHIN_LIMITS = (0.05, 1.0)  # share of a dimension's variance that may be within items at the start
WITHIN_UNKNOWN = 0.5  # the share assumed when fewer than five degrees of freedom speak to it
BETWEEN_AT_LEAST = 0.02


def bayes_start(data: GlobalData, settings: BayesSettings) -> BayesState:
    """A deterministic start; there is nothing random about the default model."""
    D, priors = data.D, settings.priors
    spread = rating_spread(data)
    within = np.where(spread.freedom >= 5, np.clip(spread.within, *WITHIN_LIMITS), WITHIN_UNKNOWN)
    between = np.maximum(spread.between - within * spread.per_item, BETWEEN_AT_LEAST)
    nu = priors.noise_numbers * D
    r, _ = update_scaled(spread.squares, data.answers(), within, settings.floor, nu, priors.noise_limits)
    ridge = float(data.scores.l.mean()) if data.scores.R else 1.0
    hyper = Hyper(
        gain=priors.gain,
        leak=priors.leak,
        bias=priors.bias,
        ridge=ridge,
        theta_var=1 / (data.scores.l + ridge),
        r=r,
        s=within,
        pool=np.diag(within),
        target=between,
    )
    N = scaled_noise(r, within) if settings.structure.noise == "scaled" else np.tile(np.diag(within), (data.K, 1, 1))
    params = GlobalParams(
        B=np.tile(identity_rows(D), (data.K, 1, 1)),
        N=N,
        theta=np.zeros((data.scores.R, D)),
        mu=np.zeros(D),
        Sigma=shape_latent(settings.structure.latent, np.diag(between), settings.floor),
        cov=_row_covariances(data, hyper, N, settings),
    )
    return BayesState(params, hyper, np.full((data.M, D), np.nan))


def _row_covariances(data: GlobalData, hyper: Hyper, N: np.ndarray, settings: BayesSettings) -> np.ndarray:
    """(K, D, q, q) about as uncertain as that many answers would leave each coefficient."""
    D = data.D
    weight = data.answers() / np.diagonal(N, axis1=1, axis2=2)
    variances = free_coefficients(settings.structure, D) / (hyper.precision(D) + weight[:, :, None])
    return np.asarray(variances[:, :, :, None] * np.eye(D + 1))
