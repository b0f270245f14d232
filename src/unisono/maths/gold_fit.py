"""Fitting when the truth of some items is known: known truths fix location, scale and direction of the dimensions.

Two ways, and the known items themselves decide between them by cross-validation:
- near: annotators stay close to "answers the truth", as in real crowds; known truths calibrate.
- far: annotators may mix the dimensions in any way. The truth is first found up to a linear map, with loose priors and
  without the known items; the map is then fitted on these; EM goes on from there with them inside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unisono.maths.bayes_start import bayes_settings, bayes_start, unrelated
from unisono.maths.bayes_state import UNGUARDED, BayesSettings, BayesState, Priors
from unisono.maths.em import Trace
from unisono.maths.gauge import change_of_truth
from unisono.maths.global_data import GlobalData
from unisono.maths.global_estep import posterior

Climb = Callable[[GlobalData, BayesState, BayesSettings], tuple[BayesState, Trace]]
Fit = Callable[[GlobalData], tuple[BayesState, Trace]]

NEAR_LEAK = 50.0  # prior precisions of annotators close to the identity ...
FAR_GAIN = FAR_LEAK = 5.0  # ... and of annotators who mix dimensions
MAP_RIDGE = 0.01  # keeps the map near the identity where fewer truths are known than it has coefficients
FOLDS = 5
FEWEST = 3  # known items below which there is nothing to cross-validate


class GoldFit(NamedTuple):
    """A fit with known truths inside, and which way it was made."""

    state: BayesState
    trace: Trace
    way: str  # near or far
    errors: dict[str, float]  # cross-validated mean absolute error on known truths, standardised units


def fit_with_gold(data: GlobalData, settings: BayesSettings, climb: Climb) -> GoldFit:
    """The better of the two ways, on all known truths."""
    ways: dict[str, Fit] = {
        "near": lambda part: near(part, settings, climb),
        "far": far_from(data, settings, climb),
    }
    if _known(data).sum() < FEWEST:
        return GoldFit(*ways["near"](data), "near", {})
    misses = {name: validation_misses(data, fit) for name, fit in ways.items()}
    fits = {name: fit(data) for name, fit in ways.items()}
    way = _choose(misses, {name: trace.objective[-1] for name, (_, trace) in fits.items()})
    return GoldFit(*fits[way], way, {name: float(miss.mean()) for name, miss in misses.items()})


def _choose(misses: dict[str, np.ndarray], bounds: dict[str, float]) -> str:
    """The way that misses hidden truths less; if they are within a standard error, the one that explains ratings."""
    difference = misses["near"] - misses["far"]
    error = float(difference.std()) / np.sqrt(len(difference))
    if abs(difference.mean()) > error:
        return "far" if difference.mean() > 0 else "near"
    return "far" if bounds["far"] > bounds["near"] else "near"


def with_fixed(priors: Priors, *, leak: float, gain: float | None = None) -> Priors:
    """Priors whose leakage, and gain if given, have a fixed precision instead of an estimated one."""
    priors = priors._replace(leak=leak, leak_limits=(leak, leak))
    return priors if gain is None else priors._replace(gain=gain, gain_limits=(gain, gain))


def near(data: GlobalData, settings: BayesSettings, climb: Climb) -> tuple[BayesState, Trace]:
    """Annotators close to the identity, coordinates held by the known truths."""
    priors = with_fixed(settings.priors, leak=NEAR_LEAK)
    held = settings._replace(priors=priors, guards=settings.guards._replace(recentred=False))
    return climb(data, bayes_start(data, held), held)


def far_from(data: GlobalData, settings: BayesSettings, climb: Climb) -> Fit:
    """A way to fit any choice of known truths that starts from one common fit without them."""
    # Ratings of dimensions that annotators mix are correlated whatever the truth is: they say nothing about targets.
    priors = unrelated(with_fixed(settings.priors, leak=FAR_LEAK, gain=FAR_GAIN))
    structure = settings.structure._replace(noise="scaled")
    blind = data._replace(gold=None)
    loose = bayes_settings(blind, structure, priors, settings.floor, UNGUARDED._replace(recentred=True))
    state, _ = climb(blind, bayes_start(blind, loose), loose)
    found = posterior(blind, state.params).mean

    def fit(part: GlobalData) -> tuple[BayesState, Trace]:
        A, c = gold_map(found, part.gold)
        latent = np.diag(np.diagonal(A @ loose.targets.latent @ A.T))
        start = state._replace(params=change_of_truth(state.params, A, c), mean=np.full_like(state.mean, np.nan))
        return climb(part, start, loose._replace(targets=loose.targets._replace(latent=latent), guards=UNGUARDED))

    return fit


def gold_map(found: np.ndarray, gold: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """A (D, D) and c (D,) with gold ~ A a + c, least squares near the identity, from found truths (M, D).  eq. B10"""
    assert gold is not None
    D = found.shape[1]
    A, c = np.eye(D), np.zeros(D)
    for d in range(D):
        known = ~np.isnan(gold[:, d])
        X = np.hstack([found[known], np.ones((known.sum(), 1))])
        away = gold[known, d] - found[known, d]
        row = np.linalg.solve(X.T @ X + MAP_RIDGE * np.eye(D + 1), X.T @ away)
        A[d] += row[:D]
        c[d] = row[D]
    return A, c


def validation_misses(data: GlobalData, fit: Fit) -> np.ndarray:
    """Absolute errors on known truths that were hidden from the fit, fold by fold, in a fixed order."""
    assert data.gold is not None
    items = np.flatnonzero(_known(data))
    folds = min(FOLDS, len(items))
    misses = []
    for fold in range(folds):
        hidden = items[fold::folds]
        gold = data.gold.copy()
        gold[hidden] = np.nan
        part = data._replace(gold=gold)
        state, _ = fit(part)
        misses.append(np.abs(posterior(part, state.params).mean - data.gold)[hidden].ravel())
    known = np.concatenate(misses)
    return np.asarray(known[~np.isnan(known)])


def _known(data: GlobalData) -> np.ndarray:
    """(M,) items with at least one known truth."""
    assert data.gold is not None
    return np.asarray(~np.isnan(data.gold).all(axis=1))
