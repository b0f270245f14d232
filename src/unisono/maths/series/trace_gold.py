"""Series with gold, frames whose truth is known: free filters where cross-validation favours them, else calibration.

Where frames of the truth are known, free filters are safe, and scale, sign and delay are known. Gold enters as one more
annotator with the identity for a filter and hardly any noise, held fixed. First the recordings that hold gold are
fitted alone, so that the filters start from what the gold says; then all of them. The truth's autocorrelation is that
of the gold. Otherwise a truth that was fused without gold is brought to the spread, level and delay of the gold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from unisono.maths import gold_slope, metrics
from unisono.maths.em_loop import EmTrace, not_before, relative_change, run_em
from unisono.maths.series import error_bands, trace_data, trace_em, trace_estep, trace_layout
from unisono.maths.series.delay_search import independent_share, masked_correlation
from unisono.maths.series.trace_data import Priors, SeriesData, SeriesParams, Structure
from unisono.maths.series.trace_em_fit import Watch, effective_share


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
        layout = trace_layout.make_layout(both, structure)
        step, settled = trace_em.make_step(layout, structure, priors), not_before(steps, relative_change(s.tol))
        params, trace = run_em(step, params, stop_when=settled, max_iter=steps, on_step=watch, keep="next")
    truth, proper = trace_estep.infer(layout, both.X, params, structure), without_gold(params)
    max_lag = max(min(s.correlation_frames, int(data.length.max()) // 3), 1)
    residual = error_bands.residual_traces(data, proper, truth.mean)
    noise, _, robust, nominal = error_bands.noise_levels(residual, proper, max_lag)
    extra = np.maximum(robust - nominal, 0.0)
    cov = error_bands.band_covariance(truth, data, proper, noise, extra, error_bands.no_spread(data.D), known=known)
    return GoldFit(
        mean=truth.mean * size + level,
        sd=np.sqrt(np.diagonal(cov, axis1=1, axis2=2)) * size,
        params=trace_em.shift(trace_em.rescale(proper, np.diag(size)), level),
        noise=noise,
        extra=extra * size**2,
        trace=trace,
    )


def with_known(data: SeriesData, gold: np.ndarray) -> tuple[SeriesData, np.ndarray]:
    """The recordings that hold gold, and their gold."""
    held = trace_data.recordings_with(data, ~np.isnan(gold).all(axis=1))
    return trace_data.with_recordings(data, held), gold[np.repeat(held, data.length)]


def _priors(s: GoldSettings, kappa: float) -> Priors:
    return Priors(
        filter_sd=s.tap_sd / np.sqrt(s.W),
        bias_sd=s.bias_sd,
        noise_nu=s.pool,
        theta_precision=s.ridge,
        kappa=kappa,
        noise_floor=s.noise_floor,
    )


def _start(data: SeriesData, structure: Structure, known: np.ndarray, s: GoldSettings) -> SeriesParams:
    """Filters of zero, so that the first E-step rests on the gold alone."""
    phi = min(gold_memory(data, known), s.phi_max) if s.phi is None else s.phi
    start = trace_data.identity_params(data, structure, noise=1.0, phi=phi)
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


MOST_TAPS, MOST_SECONDS = 20, 3.0  # choice: of a free filter
FRAMES_PER_TAP = 8  # choice: known frames for every unknown of a filter row, at least
CLEARLY = 0.87  # choice: of the other's squared errors
LEAST_TRAINING = 5  # convention: answers that a half of a trace needs to be trained on
RIDGE = 0.1  # choice: of the mean square of the lagged truths: neighbouring ones are nearly the same
IMAGINARY_FRAMES = 1.0  # choice: independent known frames by which a calibrated truth keeps its scale and its level


def choose_taps(data: SeriesData, gold: np.ndarray, rate: float) -> int:
    """As many taps as the gold has frames for, up to 20 or 3 s, whichever is more; 0 for no free filters.

    Free filters have to predict held-out ratings from gold clearly better than one gain and one delay do. All
    annotators who rated known frames are evidence about that, so the choice has less variance than one by the fused
    truth. More taps than needed cost little; their number is not chosen, since that choice would be mostly noise.
    """
    part, known = with_known(data, gold)
    if constant_dimensions(known):
        return 0
    W = min(max(MOST_TAPS, round(MOST_SECONDS * rate) + 1), most_taps(known), int(data.length.max()) // 2)
    if not W:
        return 0
    free = delayed = 0.0
    for answers, lagged in _rated_with_past(part, known, W):
        of_free, of_delay = _held_out_errors(answers, lagged)
        free, delayed = free + of_free, delayed + of_delay
    return W if free < CLEARLY * delayed else 0


def constant_dimensions(gold: np.ndarray) -> list[int]:
    """Dimensions whose known frames (n, D) are all equal: no filter can be learned from them."""
    spread = np.nanmax(gold, axis=0) - np.nanmin(gold, axis=0)
    return [int(d) for d in np.flatnonzero(spread == 0)]


def most_taps(gold: np.ndarray) -> int:
    """How many taps the known frames (n, D) have evidence for."""
    return int((~np.isnan(gold)).sum(axis=0).min() // (FRAMES_PER_TAP * gold.shape[1]))


def delay_by_gold(mean: np.ndarray, gold: np.ndarray, length: np.ndarray, max_lag: int) -> int:
    """Frames that a fused truth lies behind the gold; 0 unless another delay agrees clearly better and has neighbours.

    mean, gold: (sum T, D), NaN where gold is not known. The correlation of all dimensions and recordings decides.
    """
    agreement = _agreement(mean, gold, length, max_lag)
    best = int(np.nanargmax(agreement))
    # Of a delay that nothing is known of nothing is said.
    here = agreement[max_lag] if np.isfinite(agreement[max_lag]) else -1.0
    clearly = 1 - agreement[best] < CLEARLY * (1 - here)
    return best - max_lag if clearly and 0 < best < 2 * max_lag else 0


def gold_slopes(mean: np.ndarray, gold: np.ndarray, length: np.ndarray, max_lag: int) -> tuple[gold_slope.Slope, ...]:
    """Of the gold on a truth fused without it, for every dimension, at the delay at which they go together best.

    Against each other rather than together where that is clearly more: gold may be upside down. mean, gold: (sum T, D).
    """
    agreement = _agreement(mean, gold, length, max_lag)
    up, down = int(np.nanargmax(agreement)), int(np.nanargmin(agreement))
    lag = (down if 1 + agreement[down] < CLEARLY * (1 - agreement[up]) else up) - max_lag
    there = _moved(mean, length, lag)
    return tuple(frame_slope(there[:, d], gold[:, d]) for d in range(gold.shape[1]))


def frame_slope(mean: np.ndarray, gold: np.ndarray) -> gold_slope.Slope:
    """The same of one dimension (n,); neighbouring frames tell much the same, so few of them count."""
    plain = gold_slope.slope_on(mean, gold)
    if not np.isfinite(plain.correlation):
        return plain
    seen = ~np.isnan(gold) & ~np.isnan(mean)
    n = _effective_frames(gold[seen] - plain.value * mean[seen])
    return gold_slope.slope_of(plain.known, plain.correlation, plain.spread, n)


def _agreement(mean: np.ndarray, gold: np.ndarray, length: np.ndarray, max_lag: int) -> np.ndarray:
    """(2 max_lag + 1,) correlation of truth and gold over dimensions and recordings, by delay; NaN where unknown."""
    weighted, frames = np.zeros(2 * max_lag + 1), np.zeros(2 * max_lag + 1)
    end = np.cumsum(length)
    for first, last in zip(end - length, end, strict=True):
        for d in range(gold.shape[1]):
            if (~np.isnan(gold[first:last, d])).sum() > 2 * max_lag:
                r, n = masked_correlation(mean[first:last, d], gold[first:last, d], min(max_lag, int(last - first) - 1))
                middle = (len(r) - 1) // 2
                weighted[max_lag - middle : max_lag + middle + 1] += n * r
                frames[max_lag - middle : max_lag + middle + 1] += n
    if not frames.any():
        return np.where(np.arange(2 * max_lag + 1) == max_lag, 0.0, np.nan)
    return np.where(frames > 0, weighted / np.maximum(frames, 1), np.nan)


def _moved(mean: np.ndarray, length: np.ndarray, lag: int) -> np.ndarray:
    """(sum T, D) truths `lag` frames later, recording by recording; NaN beyond their ends."""
    moved, end = np.full_like(mean, np.nan), np.cumsum(length)
    for first, last in zip(end - length, end, strict=True):
        there = slice(max(first + lag, first), min(last + lag, last))
        moved[there.start - lag : there.stop - lag] = mean[there]
    return moved


def calibration(mean: np.ndarray, gold: np.ndarray, everywhere: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(D,) factor and (D,) offset that bring a truth to the spread and level of the gold.                eq. S34

    Both are drawn to 1 and 0: known frames next to each other tell much the same, so few of them count as independent,
    and gold that disagrees with the truth says little about its scale. The ratio of spreads, not a regression: a
    regression shrinks whatever it is not sure of, and each known piece by another factor. Gold that is upside down, or
    in another unit, counts alone (B31): it is refused before, unless it is to be obeyed.

    mean, gold: (n, D), NaN where gold is not known; everywhere: (sum T, D) the whole truth, whose spread counts.
    """
    factor, offset = np.ones(gold.shape[1]), np.zeros(gold.shape[1])
    for d in range(gold.shape[1]):
        known = ~np.isnan(gold[:, d])
        usual = float(everywhere[:, d].var())
        if not known.any() or usual == 0:
            continue
        found = frame_slope(mean[known, d], gold[known, d])
        turn, unchanged = -1.0 if found.upside_down else 1.0, 0.0 if found.refuted else IMAGINARY_FRAMES
        m, g = turn * mean[known, d], gold[known, d]
        r = metrics.pearson(m, g)
        slope = r * g.std() / m.std() if r > 0 else 0.0
        n = _effective_frames(g - slope * m)
        if r > 0:
            few = unchanged / r**4
            factor[d] = np.sqrt((n * g.var() + few * usual) / (n * m.var() + few * usual))
        middle = m.mean() + (g.mean() - m.mean()) * n / (n + unchanged)
        offset[d] = middle - factor[d] * m.mean()
        factor[d] *= turn
    return factor, offset


def _effective_frames(left: np.ndarray) -> float:
    """Effective number of independent frames in the mean of these residuals."""
    away = left - left.mean()
    return max(len(left) * independent_share(float(away[1:] @ away[:-1]), float(away @ away)), 1.0)


def _rated_with_past(data: SeriesData, gold: np.ndarray, W: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For every trace: its answers (n, D) where the last W frames are known, and those frames (n, W, D)."""
    begin = np.cumsum(data.length) - data.length
    row = 0
    for m in data.item_of:
        T = int(data.length[m])
        trace, truth = data.y[row : row + T], gold[begin[m] : begin[m] + T]
        row += T
        if T < W:
            continue
        # windows[t, d, w] is the truth w frames before the last one of the window.
        windows = np.lib.stride_tricks.sliding_window_view(truth, W, axis=0)[:, :, ::-1]
        whole = ~np.isnan(windows).any(axis=(1, 2))
        yield trace[W - 1 :][whole], windows[whole].transpose(0, 2, 1)


def _held_out_errors(answers: np.ndarray, lagged: np.ndarray) -> tuple[float, float]:
    """Squared errors of a trace's answers on quarters set aside, by free filters and by one gain and delay.

    In variances of the answers, added up over dimensions; each half predicts the other.
    """
    n, W, D = lagged.shape
    even = (4 * np.arange(n)) // max(n, 1) % 2 == 0
    free = delayed = 0.0
    for d in range(D):
        seen = ~np.isnan(answers[:, d])
        spread = float(np.nanvar(answers[:, d])) if seen.any() else 0.0
        for train, test in ((seen & even, seen & ~even), (seen & ~even, seen & even)):
            if spread == 0 or train.sum() < LEAST_TRAINING or not test.any():
                continue
            y, target = answers[train, d], answers[test, d]
            everything = lagged.reshape(n, W * D)
            free += float(np.sum((target - _ridge_prediction(everything[train], y, everything[test])) ** 2)) / spread
            one_lag = [lagged[:, [w], d] for w in range(W)]
            fits = [float(np.sum((y - _ridge_prediction(x[train], y, x[train])) ** 2)) for x in one_lag]
            best = one_lag[int(np.argmin(fits))]
            delayed += float(np.sum((target - _ridge_prediction(best[train], y, best[test])) ** 2)) / spread
    return free, delayed


def _ridge_prediction(X: np.ndarray, y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Regression of y on the columns of X with a mild ridge, at other rows."""
    middle, level = X.mean(axis=0), y.mean()
    away = X - middle
    gram = away.T @ away
    ridge = RIDGE * max(float(np.trace(gram)) / len(gram), np.finfo(float).tiny)
    return np.asarray(level + (at - middle) @ np.linalg.solve(gram + ridge * np.eye(len(gram)), away.T @ (y - level)))
