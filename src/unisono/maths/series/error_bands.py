"""Bands under autocorrelated errors: robust (sandwich) variances of an estimate that takes the noise as white.

Errors of real traces last for seconds, and the posterior variances of a model with white noise are then far too small.
Here the error of the same estimate is computed under the autocorrelation of the residuals, which goes through the
estimate's transfer function, frequency by frequency.
    Lambda = P^-1 + sum_k H_k* N_k^-1 H_k,   Gamma_k = Lambda^-1 H_k* N_k^-1
    error spectrum = Lambda^-1 P^-1 Lambda^-1 + sum_k Gamma_k S_k Gamma_k*                          # eq. S26
The annotators are also a sample of those who might have rated: their average scale, zero and delay, which define the
truth's, are uncertain, and that widens the band too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from unisono.maths.series.trace_data import SeriesData, SeriesParams, recordings_of
from unisono.maths.series.trace_estep import Truth

GRID = 2048  # numerical: frequencies of the spectral integrals
SHIFTS = np.polynomial.hermite_e.hermegauss(9)  # delays in standard deviations, and their weights
ROUNDS = 5  # numerical: of the fixed point between the noise level and the error of the estimate


class Spread(NamedTuple):
    """How far annotators differ: what their average, the truth's convention, may be off by (variance of the mean)."""

    gain: np.ndarray  # (D,)
    bias: np.ndarray  # (D,)
    lag: np.ndarray  # (D,) in frames^2


def no_spread(D: int) -> Spread:
    """A truth whose scale, zero and delay are known."""
    return Spread(*(np.zeros(D) for _ in Spread._fields))


def residual_traces(data: SeriesData, params: SeriesParams, mean: np.ndarray) -> list[np.ndarray]:
    """(K, T_m, D) of each recording: ratings less b + F a, the fused truth; before the first frame it is held.

    mean: (sum T, D); NaN where ratings are missing.
    """
    first = np.concatenate([[0], np.cumsum(data.length)])
    W, values = params.F.shape[1], []
    for m, y in enumerate(recordings_of(data)):
        a = mean[first[m] : first[m + 1]]
        padded = np.concatenate([np.repeat(a[:1], W - 1, axis=0), a])
        view = np.lib.stride_tricks.sliding_window_view(padded, W, axis=0)[:, :, ::-1]  # (T, D, W), lag 0 first
        seen = np.einsum("kwdp,tpw->ktd", params.F, view - params.mu[None, :, None], optimize=True)
        level = params.b + np.einsum("kwdp,p->kd", params.F, params.mu)
        values.append(y - level[:, None] - seen)
    return values


def autocorrelation(residual: list[np.ndarray], variance: np.ndarray, max_lag: int) -> np.ndarray:
    """(D, max_lag + 1) pooled autocorrelation of the residuals, tapered (Parzen). variance: (K, D) their scale."""
    D = variance.shape[1]
    product, count = np.zeros((D, max_lag + 1)), np.zeros((D, max_lag + 1))
    for trace in residual:
        n = scipy.fft.next_fast_len(trace.shape[1] + max_lag + 1, real=True)
        seen = ~np.isnan(trace)
        scaled = np.where(seen, trace, 0.0) / np.sqrt(variance)[:, None]
        product += _lagged(scaled, n, max_lag)
        count += _lagged(seen.astype(float), n, max_lag)
    raw = product / np.maximum(np.round(count), 1.0)
    u = np.arange(max_lag + 1) / (max_lag + 1)
    taper = np.where(u <= 0.5, 1.0 - 6.0 * u**2 * (1.0 - u), 2.0 * (1.0 - u) ** 3)
    return np.asarray(raw / raw[:, :1] * taper)


def spectrum(correlation: np.ndarray) -> np.ndarray:
    """(GRID, D) spectral density of a unit-variance noise at the grid's frequencies, mean 1."""
    tau = np.arange(1, correlation.shape[1])
    density = 1.0 + 2.0 * np.cos(np.outer(frequencies(), tau)) @ correlation[:, 1:].T
    return np.asarray(np.maximum(density, 0.0))


def frequencies() -> np.ndarray:
    """(GRID,) midpoints of 0..pi."""
    return np.asarray((np.arange(GRID) + 0.5) * np.pi / GRID)


def error_variance(params: SeriesParams, noise: np.ndarray, density: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(D,) robust error variance of the estimate, and the nominal one of white noise, both inside a recording.

    noise: (K, D) level variances; density: (GRID, D) shape of the noise spectrum. What has no noise variance (nan) is
    left out.
    """  # eq. S26
    W, D = params.F.shape[1], len(params.mu)
    omega = frequencies()
    turn = np.exp(-1j * np.outer(omega, np.arange(W)))  # (GRID, W)
    prior = np.abs(1.0 - params.phi * np.exp(-1j * omega))[:, None, None] ** 2 * np.linalg.inv(params.sigma)
    total, pieces = prior.astype(complex), []
    for k in np.flatnonzero(~np.isnan(noise).all(axis=1)).tolist():
        rated = np.flatnonzero(~np.isnan(noise[k]))  # who rates one dimension alone says nothing of the others
        H = np.tensordot(turn, params.F[k], axes=1)[:, rated]  # (GRID, n, D)
        gain = np.conj(np.swapaxes(H, 1, 2)) @ np.linalg.inv(params.N[k][np.ix_(rated, rated)])
        total = total + gain @ H
        pieces.append((gain, noise[k, rated] * density[:, rated]))
    nominal = np.linalg.inv(total)
    inner = prior.astype(complex)
    for gain, level in pieces:
        inner = inner + (gain * level[:, None, :]) @ np.conj(np.swapaxes(gain, 1, 2))
    robust = nominal @ inner @ nominal
    diagonal = np.arange(D)
    return robust[:, diagonal, diagonal].real.mean(axis=0), nominal[:, diagonal, diagonal].real.mean(axis=0)


def noise_levels(
    residual: list[np.ndarray], params: SeriesParams, max_lag: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Noise variances (K, D) corrected for the fit, autocorrelation, robust and nominal error variances.

    A residual is the noise less the error of an estimate that the noise itself went into: its variance falls short by
    about the error's variance, which is found by a fixed point.
    """  # eq. S27
    count = sum((~np.isnan(trace)).sum(axis=1) for trace in residual)
    square = sum(np.nansum(trace**2, axis=1) for trace in residual)
    raw = np.where(np.asarray(count) > 0, square / np.maximum(count, 1), np.nan)
    correlation = autocorrelation(residual, np.where(np.isnan(raw), 1.0, np.maximum(raw, 1e-300)), max_lag)
    density, noise = spectrum(correlation), raw
    for _ in range(ROUNDS):
        robust, nominal = error_variance(params, noise, density)
        noise = raw + robust
    return noise, correlation, robust, nominal


def band_covariance(
    found: Truth,
    data: SeriesData,
    params: SeriesParams,
    noise: np.ndarray,
    extra: np.ndarray,
    spread: Spread,
    *,
    mean: np.ndarray | None = None,
    known: np.ndarray | None = None,
) -> np.ndarray:
    """(sum T, D, D) posterior covariances of the truth, their diagonals widened to the variances of the band.

    noise: (K, D) levels, NaN without ratings; extra: (D,) what autocorrelated errors add inside a recording; mean:
    (sum T, D) the series the band is around, where it is not the posterior mean; known: (sum T, D) gold, NaN where the
    truth is not known: at known frames errors of the ratings add nothing.
    """  # eq. S28
    mean = found.mean if mean is None else mean
    loss = coverage_loss(data, noise)
    if known is not None:
        loss = np.where(np.isnan(known), loss, 0.0)
    away = mean - (params.mu + data.X @ params.theta)
    convention = spread.gain * away**2 + spread.bias + spread.lag * slope(mean, data.length) ** 2
    cov, d = found.cov.copy(), np.arange(data.D)
    cov[:, d, d] = cov[:, d, d] + extra * loss + convention
    return cov


def slope(mean: np.ndarray, length: np.ndarray) -> np.ndarray:
    """(sum T, D) change per frame, recording by recording."""
    slope, end = np.zeros_like(mean), np.cumsum(length)
    for lo, hi in zip((end - length).tolist(), end.tolist(), strict=True):
        if hi - lo > 1:
            slope[lo:hi] = np.gradient(mean[lo:hi], axis=0)
    return slope


def shift_variance(mean: np.ndarray, length: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """(sum T, D) what a common delay that is unknown by `sd` (D,) frames does: E (a[t + delta] - a[t])^2.

    Where the truth is a straight line this is sd^2 times the slope squared; beside a step there is no slope, and a
    delay matters all the same. Before the first frame and after the last the truth is held.
    """  # eq. S49
    out, end = np.zeros_like(mean), np.cumsum(length)
    for lo, hi in zip((end - length).tolist(), end.tolist(), strict=True):
        frame = np.arange(hi - lo)
        for d in np.flatnonzero(sd > 0).tolist():
            own = mean[lo:hi, d]
            for node, weight in zip(*SHIFTS, strict=True):
                out[lo:hi, d] += weight / SHIFTS[1].sum() * (np.interp(frame + sd[d] * node, frame, own) - own) ** 2
    return out


def coverage_loss(data: SeriesData, noise: np.ndarray) -> np.ndarray:
    """(sum T, D) precision of all annotators together over that of those who rated the frame; 1 where nobody did."""
    weight = np.where(np.isnan(noise), 0.0, 1.0 / np.where(np.isnan(noise), 1.0, noise))
    parts = [np.einsum("ktd,kd->td", (~np.isnan(trace)).astype(float), weight) for trace in recordings_of(data)]
    here = np.concatenate(parts)
    return np.where(here > 0, weight.sum(axis=0) / np.where(here > 0, here, 1.0), 1.0)


def _lagged(x: np.ndarray, n: int, max_lag: int) -> np.ndarray:
    """(D, max_lag + 1) sum over annotators and frames of x[t] x[t + tau]. x: (K, T, D)."""
    power = np.abs(scipy.fft.rfft(x, n, axis=1)) ** 2
    return np.asarray(scipy.fft.irfft(power.sum(axis=0), n, axis=0)[: max_lag + 1].T)


class KnownFrames(NamedTuple):
    """What is known of n frames of a fused trace, on one dimension."""

    estimate: np.ndarray  # (n,)
    course: np.ndarray  # (n,) error variance of the course
    level: np.ndarray  # (n,) of the level of the recording
    stretch: np.ndarray  # (n,) frames of one stretch have one error of the course
    recording: np.ndarray  # (n,)


def trace_correlations(
    known: KnownFrames, doubt: tuple[float, float], draws: int, rng: np.random.Generator
) -> np.ndarray:
    """(B,) squared correlations of a fused trace with truths that its errors leave open; NaN if it does not move.

    doubt: standard deviation of the logarithm of the error variances of courses, and of levels. What all annotators do
    alike is not in it: a unit and an origin do not matter here, and a delay they share is a convention.
    """  # eq. S57
    e = known.estimate - known.estimate.mean()
    if len(e) < 2 or not e.any():
        return np.full(draws, np.nan)
    course, level = (np.exp(sd * rng.standard_normal((draws, 1)) - 0.5 * sd**2) for sd in doubt)
    error = np.sqrt(course * known.course) * _one_each(known.stretch, draws, rng)
    error += np.sqrt(level * known.level) * _one_each(known.recording, draws, rng)
    truth = e + error
    truth -= truth.mean(axis=1, keepdims=True)
    return np.asarray((truth @ e) ** 2 / (e @ e) / np.einsum("bn,bn->b", truth, truth))


def _one_each(of: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """(B, n) standard normal numbers, the same where `of` (n,) is."""
    which = np.unique(of, return_inverse=True)[1]
    return rng.standard_normal((draws, int(which.max()) + 1))[:, which]
