"""M-step of the series model, expected log density and log prior: the pieces of one EM iteration put together.

Order: every annotator's rows given noise, then rho, then the noise, then the truth's own parameters. Each is a
conditional maximum, so the expected log density plus log prior never falls.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.series.channels import whiten
from unisono.maths.series.dynamics import deviations, log_theta_prior, update_dynamics
from unisono.maths.series.layout import Layout
from unisono.maths.series.moments import Moments
from unisono.maths.series.noise import log_noise_prior, residuals, update_diagonal, update_full, update_rho
from unisono.maths.series.params import Priors, SeriesParams, Structure
from unisono.maths.series.rows import best_row, log_row_prior, row_models, row_system


def maximise(
    layout: Layout, moments: Moments, params: SeriesParams, structure: Structure, priors: Priors
) -> SeriesParams:
    """New parameters from the moments."""
    params = update_rows(layout, moments, params, structure, priors)
    params = update_noise(layout, moments, params, structure, priors)
    return params._replace(**update_dynamics(moments, layout.features, params, structure, priors)._asdict())


def update_rows(
    layout: Layout, moments: Moments, params: SeriesParams, structure: Structure, priors: Priors
) -> SeriesParams:
    """Filters, biases and delays, annotator by annotator and dimension by dimension."""
    F, b, lag = params.F.copy(), params.b.copy(), params.lag.copy()
    params = params._replace(F=F, b=b, lag=lag)  # rows already updated are seen by those after them
    models = [row_models(structure, priors, d, layout.D) for d in range(layout.D)]
    rated = {(q.annotator, d) for q in layout.channels.channel for d in q.dims}
    for k, d in sorted(rated):
        if k in structure.fixed:
            continue
        A, g = row_system(moments, layout.channels, params, structure, k, d)
        fit = best_row(A, g, models[d], priors.kappa)
        F[k, :, d], b[k, d], lag[k, d] = fit.x[:-1].reshape(structure.W, layout.D), fit.x[-1], fit.lag
    return params


def update_noise(
    layout: Layout, moments: Moments, params: SeriesParams, structure: Structure, priors: Priors
) -> SeriesParams:
    """Autocorrelation, then covariance of the noise."""
    if structure.noise == "full":
        return params._replace(N=update_full(moments, layout.channels, params, structure, priors))
    found = residuals(moments, layout.channels, params, structure)
    if structure.autocorrelation != "none":
        params = params._replace(rho=update_rho(found, params, structure))
    square = found.quadratic(params.rho)
    return params._replace(N=update_diagonal(square, found.n, params, structure, priors))


def log_prior(params: SeriesParams, structure: Structure, priors: Priors) -> float:
    """Log prior as the M-step weighs it: annotators' part over kappa, up to a constant."""
    annotators = log_row_prior(params, structure, priors) + log_noise_prior(params, structure, priors)
    return annotators / priors.kappa + log_theta_prior(params, priors)


def expected_log_density(layout: Layout, moments: Moments, params: SeriesParams, structure: Structure) -> float:
    """E log p(y, a): what the M-step climbs; with moments of a point, log p(y, a) itself."""  # eq. S20
    return _ratings_part(layout, moments, params, structure) + _truth_part(layout, moments, params)


def _ratings_part(layout: Layout, moments: Moments, params: SeriesParams, structure: Structure) -> float:
    channels = layout.channels
    white = whiten(channels, params, structure)
    x = np.concatenate([white.G.reshape(len(white.G), -1), white.beta[:, None]], axis=1)  # (Q, Z)
    crossed = x @ (white.mix.T @ moments.c).T
    predicted = np.einsum("iy,iyz,jz->ij", x, moments.S[channels.row_channel], x, optimize=True)
    square = white.mix.T @ moments.yy @ white.mix - crossed - crossed.T + predicted
    sizes = np.bincount(channels.row_channel, minlength=len(channels.channel))
    constant = moments.n @ (white.log_noise + sizes * np.log(2.0 * np.pi))
    return float(-0.5 * (np.sum(white.weight * square) + constant))


def _truth_part(layout: Layout, moments: Moments, params: SeriesParams) -> float:
    D = len(params.mu)
    around = deviations(moments, layout.features, params.mu, params.theta).quasi(params.phi)
    return float(
        -0.5 * np.trace(np.linalg.solve(params.sigma, around))
        - 0.5 * moments.frames * (np.linalg.slogdet(params.sigma)[1] + D * np.log(2.0 * np.pi))
        + 0.5 * moments.recordings * D * np.log1p(-(params.phi**2))
    )
