"""Series with gold: where frames of the truth are known, free filters are safe, and scale, sign and delay are known.

Gold enters as one more annotator with the identity for a filter and hardly any noise, held fixed. First the recordings
that hold gold are fitted alone, so that the filters start from what the gold says; then all of them. The truth's
autocorrelation is that of the gold.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.em import EmTrace, not_before, relative_change, run_em
from unisono.maths.series.bands import band_covariance, no_spread, noise_levels, residual_traces
from unisono.maths.series.default import Watch, effective_share
from unisono.maths.series.em import make_step
from unisono.maths.series.estep import infer
from unisono.maths.series.gauge import rescale, shift
from unisono.maths.series.layout import make_layout
from unisono.maths.series.params import Priors, SeriesData, SeriesParams, Structure, identity_params
from unisono.maths.series.recordings import recordings_with, with_recordings


class GoldSettings(NamedTuple):
    W: int = 10  # taps
    tap_sd: float = 1.0  # prior of the total gain of each dimension on each, spread over the taps, around 0
    bias_sd: float = 1.0
    pool: float = 50.0  # prior degrees of freedom of each noise variance, around the pooled one, in effective frames
    gold_variance: float = 1e-4  # of the gold's own error, in variances of the gold
    phi: float | None = None  # None: the lag-1 autocorrelation of the gold
    phi_max: float = 0.9995
    ridge: float = 1.0  # precision of the effects of standardised features
    noise_floor: float = 1e-6
    correlation_frames: int = 100  # frames over which errors may be correlated
    gold_iter: int = (
        60  # steps on the recordings with gold alone; 20 left the filters short where the gold moves little
    )
    max_iter: int = 30
    tol: float = 1e-3  # relative change of the objective that counts as settled


class GoldFit(NamedTuple):
    """In the units of the ratings it was given."""

    mean: np.ndarray  # (sum T, D) fused truth
    sd: np.ndarray  # (sum T, D) of the band
    params: SeriesParams  # of the annotators, without the gold's channel
    noise: np.ndarray  # (K, D) level variance of the noise; NaN without ratings
    extra: np.ndarray  # (D,) what autocorrelated errors add to the variance
    trace: EmTrace  # of the steps on all recordings; converged: the last one changed the objective by less than tol


def fit_with_gold(
    data: SeriesData, gold: np.ndarray, settings: GoldSettings | None = None, *, watch: Watch | None = None
) -> GoldFit:
    """Fuses series of which some frames are known.

    data: standardised; gold: (sum T, D) in the same units, NaN where the truth is not known. While it is estimated, the
    truth has the gold's own mean and standard deviation for units, which the prior of the filters is made for.
    """
    s = GoldSettings() if settings is None else settings
    level, size = np.nanmean(gold, axis=0), np.nanstd(gold, axis=0)
    size = np.where(size > 0, size, 1.0)
    known = (gold - level) / size
    structure = gold_structure(Structure(W=s.W, transform="taps"), data.K)
    priors = _priors(s, effective_share(data))
    params = _start(data, structure, known, s)
    for part, steps in ((with_known(data, known), s.gold_iter), ((data, known), s.max_iter)):
        both = with_gold(*part)
        layout = make_layout(both, structure)
        step, settled = make_step(layout, structure, priors), not_before(steps, relative_change(s.tol))
        params, trace = run_em(step, params, stop_when=settled, max_iter=steps, on_step=watch, keep="next")
    truth, proper = infer(layout, both.X, params, structure), without_gold(params)
    max_lag = max(min(s.correlation_frames, int(data.length.max()) // 3), 1)
    residual = residual_traces(data, proper, truth.mean).value
    noise, _, robust, nominal = noise_levels(residual, proper, max_lag)
    extra = np.maximum(robust - nominal, 0.0)
    cov = band_covariance(truth, data, proper, noise, extra, no_spread(data.D), known=known)
    return GoldFit(
        mean=truth.mean * size + level,
        sd=np.sqrt(np.diagonal(cov, axis1=1, axis2=2)) * size,
        params=shift(rescale(proper, np.diag(size)), level),
        noise=noise,
        extra=extra * size**2,
        trace=trace,
    )


def with_known(data: SeriesData, gold: np.ndarray) -> tuple[SeriesData, np.ndarray]:
    """The recordings that hold gold, and their gold."""
    held = recordings_with(data, ~np.isnan(gold).all(axis=1))
    return with_recordings(data, held), gold[np.repeat(held, data.length)]


def _priors(s: GoldSettings, kappa: float) -> Priors:
    return Priors(
        tap_sd=s.tap_sd / np.sqrt(s.W),
        crosstalk_sd=s.tap_sd / np.sqrt(s.W),
        kernel=np.zeros(s.W),
        bias_sd=s.bias_sd,
        noise_nu=s.pool,
        theta_precision=s.ridge,
        kappa=kappa,
        noise_floor=s.noise_floor,
    )


def _start(data: SeriesData, structure: Structure, known: np.ndarray, s: GoldSettings) -> SeriesParams:
    """Filters of zero, so that the first E-step rests on the gold alone."""
    phi = min(gold_memory(data, known), s.phi_max) if s.phi is None else s.phi
    start = identity_params(data, structure, noise=1.0, phi=phi)
    sigma = (1.0 - phi**2) * np.eye(data.D)
    return gold_params(start._replace(F=np.zeros_like(start.F), sigma=sigma), s.gold_variance)


def gold_memory(data: SeriesData, known: np.ndarray) -> float:
    """Lag-1 autocorrelation of the standardised gold over frames known together; 0 where no two are."""
    same = np.diff(np.repeat(np.arange(len(data.length)), data.length)) == 0
    both = same[:, None] & ~np.isnan(known[1:]) & ~np.isnan(known[:-1])
    now, before = np.where(both, known[1:], 0.0), np.where(both, known[:-1], 0.0)
    square = 0.5 * float(np.sum(now**2 + before**2))
    return float(np.sum(now * before)) / square if square > 0 else 0.0


# ---- gold as one more annotator


def with_gold(data: SeriesData, gold: np.ndarray) -> SeriesData:
    """The data with annotator K, who gives the gold. gold: (sum T, D), NaN where the truth is not known."""  # eq. S23
    first_row = np.concatenate([[0], np.cumsum(data.length)])
    known = [gold[first_row[m] : first_row[m + 1]] for m in range(len(data.length))]
    members = [m for m, part in enumerate(known) if not np.isnan(part).all()]
    return data._replace(
        y=np.concatenate([data.y, *(known[m] for m in members)]),
        item_of=np.concatenate([data.item_of, np.array(members, dtype=data.item_of.dtype)]),
        annotator_of=np.concatenate([data.annotator_of, np.full(len(members), data.K, dtype=data.annotator_of.dtype)]),
        K=data.K + 1,
    )


def gold_structure(structure: Structure, K: int) -> Structure:
    """The structure with annotator K held fixed."""
    return structure._replace(fixed=(*structure.fixed, K))


def gold_params(params: SeriesParams, variance: float) -> SeriesParams:
    """The parameters with one more annotator: the identity at lag 0, no bias, noise of the given variance."""
    _, W, D, _ = params.F.shape
    F = np.zeros((1, W, D, D))
    F[0, 0] = np.eye(D)
    zeros = np.zeros((1, D))
    return params._replace(
        F=np.concatenate([params.F, F]),
        b=np.concatenate([params.b, zeros]),
        N=np.concatenate([params.N, variance * np.eye(D)[None]]),
        rho=np.concatenate([params.rho, zeros]),
        lag=np.concatenate([params.lag, zeros]),
    )


def without_gold(params: SeriesParams) -> SeriesParams:
    """The parameters of the annotators proper."""
    rest = {name: getattr(params, name)[:-1] for name in ("F", "b", "N", "rho", "lag")}
    return params._replace(**rest)
