"""Delays by the exact likelihood: a search that leaves EM's traps, and how sure each delay is.

EM moves a delay only against a truth that already leans on it, so it stops a frame or two short. Here one delay at a
time is tried beside its neighbours and judged by log p(y) itself, everything else held; the objective can only rise.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, islice

import numpy as np

from unisono.maths.series.delay_trials import DelayTrials
from unisono.maths.series.layout import Layout
from unisono.maths.series.params import Priors, SeriesParams, Structure
from unisono.maths.series.rows import candidate_lags


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
    rows = {(q.annotator, d) for q in layout.channels.channel for d in q.dims}
    return sorted(row for row in rows if row[0] not in structure.fixed)
