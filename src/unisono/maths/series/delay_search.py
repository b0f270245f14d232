"""Delays under EM: a first guess by cross-correlation, then a search by the exact likelihood, and intervals.

Cross-correlation, iterated: annotator k on dimension d is moved against the mean of the others, moved already, until
nothing changes. Missing frames are left out pair by pair. A positive lag means that the annotator is late. That is also
what a lag-aligned mean needs.

EM moves a delay only against a truth that already leans on it, so it stops a frame or two short. Here one delay at a
time is tried beside its neighbours and judged by log p(y) itself, everything else held; the objective can only rise.
The search looks at every delay five times at most. What does not depend on that delay is kept: the likelihood of
recordings that the annotator did not rate, and, in a chain with white noise around a constant level, the terms that all
other rows add to the normal equations of the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, islice
from typing import NamedTuple

import numpy as np
import scipy

from unisono.maths.linalg.block_tridiagonal import Chain, factor_chain, solve_chain
from unisono.maths.linalg.causal_filters import adjoint_filter
from unisono.maths.series.filter_rows import candidate_lags
from unisono.maths.series.trace_data import Priors, SeriesData, SeriesParams, Structure, lag_kernel, recordings_of
from unisono.maths.series.trace_estep import data_precision, group_posterior, has_level, one_thread, residuals
from unisono.maths.series.trace_layout import Group, Layout, Whitened, whiten

LEAST_OVERLAP = 10  # convention: frames that two traces must share before their correlation counts
MAX_CORRELATION = 0.9999  # numerical: correlation of neighbouring frames
FLAT = 1e-12  # numerical: variance below this share of the sum of squares is rounding: the trace is constant


def independent_share(cross: float, square: float) -> float:
    """(1 - rho) / (1 + rho), rho = cross / square the correlation of neighbouring frames, never below none."""
    rho = min(max(cross / square, 0.0), MAX_CORRELATION) if square > 0 else 0.0
    return (1.0 - rho) / (1.0 + rho)


def relative_lags(data: SeriesData, max_lag: int, *, rounds: int = 10) -> np.ndarray:
    """(K, D) int, delays in frames around a median of 0, each within +-max_lag."""
    traces = recordings_of(data)
    lag = np.zeros((data.K, data.D), dtype=np.int64)
    for _ in range(rounds):
        before = lag.copy()
        for d in range(data.D):
            centred = [_centred(trace[:, :, d]) for trace in traces]
            for k in range(data.K):
                lag[k, d] = _best_lag(centred, lag[:, d], k, max_lag)
            lag[:, d] -= int(np.round(np.median(lag[:, d])))
        if np.array_equal(lag, before):
            break
    return np.clip(lag, -max_lag, max_lag)


def advanced(x: np.ndarray, lag: int) -> np.ndarray:
    """A trace moved `lag` frames towards the past; NaN where nothing is left. x: (T,)."""
    out = np.full(len(x), np.nan)
    if abs(lag) < len(x):
        out[max(-lag, 0) : len(x) - max(lag, 0)] = x[max(lag, 0) : len(x) - max(-lag, 0)]
    return out


def masked_correlation(x: np.ndarray, y: np.ndarray, max_lag: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlation of x[t + l] with y[t] and the frames both have, for l = -max_lag..max_lag, each (2 max_lag + 1,)."""
    n = scipy.fft.next_fast_len(len(x) + max_lag + 1, real=True)
    mx, my = ~np.isnan(x), ~np.isnan(y)
    zx, zy = np.where(mx, x, 0.0), np.where(my, y, 0.0)
    left = scipy.fft.rfft(np.stack([mx, zx, zx**2]).astype(float), n)
    right = np.conj(scipy.fft.rfft(np.stack([my, zy, zy**2]).astype(float), n))
    pick = np.r_[n - max_lag : n, 0 : max_lag + 1] if max_lag else np.array([0])

    def lagged(i: int, j: int) -> np.ndarray:
        return np.asarray(scipy.fft.irfft(left[i] * right[j], n))[pick]

    count = np.round(lagged(0, 0))
    size = np.maximum(count, 1.0)
    sx, sy = lagged(1, 0), lagged(0, 1)
    cov = lagged(1, 1) - sx * sy / size
    vx, vy = lagged(2, 0) - sx**2 / size, lagged(0, 2) - sy**2 / size
    flat = (vx <= FLAT * np.sum(zx**2)) | (vy <= FLAT * np.sum(zy**2))
    return np.where(flat, 0.0, cov / np.sqrt(np.where(flat, 1.0, vx * vy))), count


def _centred(trace: np.ndarray) -> np.ndarray:
    """Traces less their own mean; NaN stays. trace: (K, T)."""
    seen = ~np.isnan(trace)
    mean = np.where(seen, trace, 0.0).sum(axis=1, keepdims=True) / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    return np.asarray(trace - mean)


def _best_lag(traces: list[np.ndarray], lag: np.ndarray, k: int, max_lag: int) -> int:
    total = np.zeros(2 * max_lag + 1)
    for trace in traces:
        others = [advanced(trace[j], int(lag[j])) for j in range(len(lag)) if j != k and not np.isnan(trace[j]).all()]
        if others and not np.isnan(trace[k]).all():
            stack = np.stack(others)
            seen = ~np.isnan(stack)
            total += _score(trace[k], _mean(stack, seen), max_lag)
    # Of equal scores the smallest delay wins; without any evidence that is none.
    order = np.argsort(np.abs(np.arange(-max_lag, max_lag + 1)), kind="stable")
    return int(order[np.argmax(total[order])] - max_lag)


def _score(x: np.ndarray, y: np.ndarray, max_lag: int) -> np.ndarray:
    """Correlations weighted by the frames they rest on."""
    r, count = masked_correlation(x, y, max_lag)
    return np.where(count >= LEAST_OVERLAP, r * count, 0.0)


def _mean(stack: np.ndarray, seen: np.ndarray) -> np.ndarray:
    count = seen.sum(axis=0)
    total = np.where(seen, stack, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def refine_lags(
    layout: Layout,
    params: SeriesParams,
    structure: Structure,
    priors: Priors,
    *,
    sweeps: int = 5,
    on_delay: Callable[[int, int], None] | None = None,
) -> SeriesParams:
    """Moves one delay at a time to the neighbouring candidate while log p(y) + log prior rises.

    Ends when every delay has been looked at since the last one moved. `on_delay(done, total)` after each look: `total`
    is where the search would end if nothing moved any more.
    """  # eq. S24
    lags, weight = _grid(structure, priors)
    rows = _rows(layout, structure)
    trials = DelayTrials(layout, params, structure)
    settled = 0  # rows in a row that stay where they are
    for looks, (k, d) in enumerate(islice(cycle(rows), sweeps * len(rows)), start=1):
        first = here = int(np.argmin(np.abs(lags - trials.here.params.lag[k, d])))
        for direction in (1, -1):
            while here == first or (here - first) * direction > 0:  # back over the start there is nothing new
                there = here + direction
                if not 0 <= there < len(lags):
                    break
                trial = trials.at(k, d, float(lags[there]))
                if trial.value + weight[there] <= trials.here.value + weight[here]:
                    break
                trials.accept(trial)
                here = there
        settled = settled + 1 if here == first else 1
        if on_delay is not None:
            on_delay(looks, min(looks - settled + len(rows), sweeps * len(rows)))
        if settled >= len(rows):
            break
    return trials.here.params


def lag_profile(
    trials: DelayTrials, structure: Structure, priors: Priors, k: int, d: int, *, drop: float = 7.0
) -> tuple[np.ndarray, np.ndarray]:
    """Candidates around a delay and log p(y) + log prior / kappa at each, all else held.

    Goes to either side in steps that double, until kappa times the profile has fallen by `drop`; between the candidates
    tried it is taken to be straight, so that a slow delay at a high rate costs little.
    """
    lags, weight = _grid(structure, priors)
    here = int(np.argmin(np.abs(lags - trials.here.params.lag[k, d])))
    value = {here: trials.here.value + weight[here]}
    for direction in (1, -1):
        step, i = 1, here
        while True:
            i = int(np.clip(i + direction * step, 0, len(lags) - 1))
            if i in value:
                break
            value[i] = trials.at(k, d, float(lags[i])).value + weight[i]
            if priors.kappa * (max(value.values()) - value[i]) > drop:
                break
            step *= 2
    seen = np.array(sorted(value))
    near = np.arange(seen[0], seen[-1] + 1)
    return lags[near], np.interp(near, seen, [value[i] for i in seen.tolist()])


def lag_interval(lags: np.ndarray, profile: np.ndarray, kappa: float, level: float) -> tuple[float, float]:
    """Central interval of the posterior over the candidates; kappa tempers it, since frames are not independent."""
    weight = np.exp(kappa * (profile - profile.max()))
    cumulative = np.cumsum(weight) / weight.sum()
    tail = 0.5 * (1.0 - level)
    low, high = np.searchsorted(cumulative, [tail, 1.0 - tail])
    return float(lags[low]), float(lags[min(high, len(lags) - 1)])


def _grid(structure: Structure, priors: Priors) -> tuple[np.ndarray, np.ndarray]:
    lags = candidate_lags(structure, priors)
    return lags, (np.zeros(len(lags)) if priors.log_lag is None else priors.log_lag) / priors.kappa


def _rows(layout: Layout, structure: Structure) -> list[tuple[int, int]]:
    rows = {(q.annotator, q.dim) for q in layout.channels.channel}
    return sorted(row for row in rows if row[0] not in structure.fixed)


# ---- likelihoods at other delays


class Terms(NamedTuple):
    """What rows, and the prior, add to the normal equations of the truth in one group."""

    h: np.ndarray  # (R, L, D) right-hand side
    A: np.ndarray  # (L, D, D) precision of each frame
    B: np.ndarray  # (L, D, D) of a frame with the one before it

    def plus(self, other: Terms, sign: float = 1.0) -> Terms:
        return Terms(*(mine + sign * yours for mine, yours in zip(self, other, strict=True)))

    def score(self) -> float:
        """The part of log p(y) that depends on them."""  # eq. S7
        chain = factor_chain(self.A, self.B)
        return float(0.5 * np.sum(self.h * solve_chain(chain, self.h)) - 0.5 * len(self.h) * chain.logdet)


class Additive(NamedTuple):
    """A group in which every row has terms of its own."""

    group: Group
    weighted: np.ndarray  # (R, L, Q_g) residuals times N^-1
    seen: np.ndarray  # (L, Q_g) bool
    precision: np.ndarray  # (Q_g,) 1 / noise variance

    def of_row(self, q: int, G: np.ndarray) -> Terms:
        """The terms of one row with the filter G (n, D)."""
        filters, S = G[None], self.group.S
        A, B = data_precision(self.seen[:, [q]], np.sqrt(self.precision[q]) * filters, S)
        return Terms(adjoint_filter(self.weighted[:, :, [q]], filters, S), A, B)


class Trial(NamedTuple):
    """Parameters and their log-likelihood."""

    params: SeriesParams
    loglik: list[float]  # log p(y) by group
    terms: dict[int, Terms]  # of the groups that are additive
    score: dict[int, float]  # of these terms

    @property
    def value(self) -> float:
        """log p(y)"""
        return sum(self.loglik)


class DelayTrials:
    """Log-likelihoods at other delays of one row; `here` is the current state, `accept` moves it."""

    def __init__(self, layout: Layout, params: SeriesParams, structure: Structure) -> None:
        self._layout, self._structure = layout, structure
        self._additive: dict[int, Additive] = {}  # by group
        self._without: dict[int, Terms] = {}  # by group, without the row that was asked about last
        self._row = (-1, -1)
        self.here = Trial(params, [], {}, {})
        whitened = whiten(layout.channels, params, structure)
        with one_thread():
            for g, group in enumerate(layout.groups):
                posterior = group_posterior(layout, group, params, whitened, structure)
                self.here.loglik.append(posterior.loglik)
                white = not structure.autocorrelated
                if isinstance(posterior.factor, Chain) and white and has_level(group, layout.n):
                    self._keep(g, group, whitened, posterior.factor)

    def _keep(self, g: int, group: Group, whitened: Whitened, chain: Chain) -> None:
        level = np.broadcast_to(self.here.params.mu, (len(group.recording), group.L, self._layout.D))
        _, weighted = residuals(group, whitened, level)
        precision = whitened.weight[group.channel]
        self._additive[g] = Additive(group, weighted, group.seen[:, group.masks.of], precision)
        terms = Terms(adjoint_filter(weighted, whitened.G[group.channel], group.S), chain.A, chain.B)
        self.here.terms[g], self.here.score[g] = terms, terms.score()

    def at(self, k: int, d: int, lag: float) -> Trial:
        """Annotator k with another delay on dimension d."""
        if self._row != (k, d):
            self._row, self._without = (k, d), {}
        trial = Trial(with_lag(self.here.params, k, d, lag), list(self.here.loglik), {}, {})
        with one_thread():
            for g, group in enumerate(self._layout.groups):
                place = self._place(group, k, d)
                if place is not None and g in self._additive:
                    trial.terms[g] = terms = self._moved(g, place, trial.params.F[k, :, d], k, d)
                    trial.score[g] = terms.score()
                    trial.loglik[g] += trial.score[g] - self.here.score[g]
                elif place is not None:
                    whitened = whiten(self._layout.channels, trial.params, self._structure)
                    posterior = group_posterior(self._layout, group, trial.params, whitened, self._structure)
                    trial.loglik[g] = posterior.loglik
        return trial

    def accept(self, trial: Trial) -> None:
        """Stands where the trial was made."""
        self.here = trial._replace(terms=self.here.terms | trial.terms, score=self.here.score | trial.score)

    def _moved(self, g: int, place: int, G: np.ndarray, k: int, d: int) -> Terms:
        """All terms of a group with another filter of one row."""
        if g not in self._without:
            now = self._additive[g].of_row(place, self.here.params.F[k, :, d])
            self._without[g] = self.here.terms[g].plus(now, -1.0)
        return self._without[g].plus(self._additive[g].of_row(place, G))

    def _place(self, group: Group, k: int, d: int) -> int | None:
        """Where in the group a row of annotator k on dimension d stands."""
        channel = self._layout.channels.channel
        found = [i for i, c in enumerate(group.channel.tolist()) if channel[c][:2] == (k, d)]
        return found[0] if found else None


def with_lag(params: SeriesParams, k: int, d: int, lag: float) -> SeriesParams:
    """The parameters with one row's gains moved to another delay."""
    F, lags = params.F.copy(), params.lag.copy()
    F[k, :, d] = np.outer(lag_kernel(lag, F.shape[1]), params.F[k, :, d].sum(axis=0))
    lags[k, d] = lag
    return params._replace(F=F, lag=lags)
