"""How much of their error groups share: several expectations are tried, and labels choose among them.

Few labels leave the shared error near where it was expected, which is too wide for groups that share nothing and too
narrow for groups that share most. So EM is run for several expectations, and the labels, each foretold without
itself, say which of them to keep. With a', P, lev, e and nu as in `labels`, ybar a label and 1/Q its noise:

    score = sum over labelled items of log t_nu((ybar - a') / (1 - w lev);  P^-1 (1 + lev) (1 + e / nu) + 1/Q)   eq. J24
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from unisono.maths.em import EmTrace
from unisono.maths.groups.data import GroupData
from unisono.maths.groups.fit import GroupState, fit_groups
from unisono.maths.groups.labels import Learned, Unlabelled, learn_from_labels, without_labels
from unisono.maths.groups.mstep import GroupSettings
from unisono.maths.groups.params import GroupParams
from unisono.maths.groups.priors import COMPARED_AT
from unisono.maths.groups.start import Assembled


class Chosen(NamedTuple):
    """A fit, and where it started."""

    start: Assembled
    state: GroupState
    trace: EmTrace


def fit_best(
    starts: Iterable[Assembled],
    *,
    tol: float,
    max_iter: int,
    on_step: Callable[[Assembled, int, GroupState, float], None],
) -> Chosen:
    """Of the fits from several starts, in an order of expectations, the one whose labels are foretold best.

    The search ends with the first that is worse than the one before: scores rise to one best share, and fall. Fits are
    compared when their truths move by less than COMPARED_AT times `tol`, and the best goes on from there.
    """
    best: tuple[float, Assembled, GroupState] | None = None
    starts = list(starts)
    if not starts:
        raise ValueError("Nothing to start from.")
    for start in starts if len(starts) > 1 else ():
        state, _ = fit_groups(
            *_started(start), tol=COMPARED_AT * tol, max_iter=max_iter, on_step=partial(on_step, start)
        )
        learned = learn_from_labels(start.data, state.params, start.settings)
        score = 0.0 if learned is None else label_score(start.data, state.params, learned)
        if best is not None and score <= best[0]:
            break
        best = score, start, state
    start = starts[0] if best is None else best[1]._replace(state=best[2])
    state, trace = fit_groups(*_started(start), tol=tol, max_iter=max_iter, on_step=partial(on_step, start))
    return Chosen(start, state, trace)


def _started(start: Assembled) -> tuple[GroupData, GroupState, GroupSettings]:
    return start.data, start.state, start.settings


def label_score(data: GroupData, params: GroupParams, learned: Learned) -> float:
    """Log density of all labels, each foretold without itself; the higher, the better.                 eq. J24"""
    found = without_labels(data, params)
    leverage = learned.leverage(found.mean - params.mu)
    seen = np.isfinite(found.label)
    total = 0.0
    for pattern in np.unique(seen[seen.any(axis=1)], axis=0):
        at = np.flatnonzero((seen == pattern).all(axis=1))
        total += _log_density(found, leverage, learned, at, np.flatnonzero(pattern))
    return total


def _log_density(found: Unlabelled, leverage: np.ndarray, learned: Learned, at: np.ndarray, dims: np.ndarray) -> float:
    """Of the labels of items `at`, which were labelled on the dimensions `dims`: a multivariate Student t."""
    inside, nu, n = np.ix_(at, dims), learned.freedom, len(dims)
    missed = (found.label - found.mean)[inside] / (1 - found.weight * leverage)[at, None]
    wider = (1 + leverage[at]) * (1 + learned.spent / nu)
    spread = found.cov[np.ix_(at, dims, dims)] * wider[:, None, None]
    spread[:, np.arange(n), np.arange(n)] += found.label_noise[inside]
    away = np.einsum("mi,mi->m", missed, np.linalg.solve(spread, missed[:, :, None])[:, :, 0])
    constant = gammaln((nu + n) / 2) - gammaln(nu / 2) - n / 2 * np.log(nu * np.pi)
    each = constant - 0.5 * np.linalg.slogdet(spread)[1] - (nu + n) / 2 * np.log1p(away / nu)
    return float(each.sum())
