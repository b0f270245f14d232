"""Fitting when the truth of some items is known: known truths fix location, scale and direction of the dimensions.

Two ways, and the known items themselves decide between them by cross-validation:
- calibrate: annotators are close to "answers the truth", as in real crowds. They are fitted without the known truths,
  which then set level and scale of each dimension. As observations in EM they made real crowds' estimates worse: what
  an expert calls the truth is not what the crowd agrees on.
- rotate: annotators may mix the dimensions in any way, each in his own or all in the same. The truth is found up to a
  linear map, with loose priors; the map is fitted on the known truths, which says how annotators mix on average, and EM
  goes on from there with the known truths among its observations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from unisono.maths.em import EmTrace
from unisono.maths.items.anchor import moved
from unisono.maths.items.data import ItemData
from unisono.maths.items.estep import posterior
from unisono.maths.items.priors import CLEARLY_BETTER, IMAGINARY_ANSWERS, IMAGINARY_ITEMS
from unisono.maths.items.rescale import NO_SPREAD
from unisono.maths.items.start import bayes_settings, bayes_start
from unisono.maths.items.state import BayesSettings, BayesState

ROTATION_RIDGE = 0.01  # numerical: keeps the map to known truths near the identity where they are few
MIXING_START = 0.2  # numerical: variance of coefficients of annotators who mix dimensions, before it is estimated
GOLD_FOLDS = 5  # numerical: folds of the cross-validation that chooses between calibrating and rotating
FEWEST_GOLD = 3  # numerical: known items below which there is nothing to cross-validate

Climb = Callable[[ItemData, BayesState, BayesSettings], tuple[BayesState, EmTrace]]
Fit = Callable[[ItemData], tuple[BayesState, EmTrace]]

Way = Literal["calibrate", "rotate"]


class GoldFit(NamedTuple):
    """A fit for known truths, and which way it was made."""

    state: BayesState
    trace: EmTrace
    way: Way  # calibrate: without the known truths; rotate: with them as observations
    missed: np.ndarray  # (D,) root mean square error on known truths that were hidden; NaN where that was not tried


def fit_with_gold(data: ItemData, settings: BayesSettings, climb: Climb) -> GoldFit:
    """The better of the two ways."""
    assert data.gold is not None
    blind = data._replace(gold=None)
    state, trace = climb(blind, bayes_start(blind, settings), settings)
    if _known(data.gold).sum() < FEWEST_GOLD:
        return GoldFit(state, trace, "calibrate", np.full(data.D, np.nan))
    rotated = rotating_fit(data, settings, climb)
    errors: dict[Way, np.ndarray] = {
        "calibrate": _calibration_errors(data.gold, posterior(blind, state.params).mean),
        "rotate": _rotation_errors(data, rotated),
    }
    mixing, mixing_trace = rotated(data)
    bounds: dict[Way, float] = {"calibrate": trace.objective[-1], "rotate": mixing_trace.objective[-1]}
    way = _choose(errors, bounds)
    missed = _root_mean_square(errors[way])
    if way == "calibrate":
        return GoldFit(state, trace, way, missed)
    return GoldFit(mixing, mixing_trace, way, missed)


def rotating_fit(data: ItemData, settings: BayesSettings, climb: Climb) -> Fit:
    """A way to fit any choice of known truths that starts from one common fit without them."""
    blind = data._replace(gold=None)
    loose = _loose(blind, settings)
    state, _ = climb(blind, bayes_start(blind, loose), loose)
    found = posterior(blind, state.params).mean
    shares = data.shares()

    def fit(part: ItemData) -> tuple[BayesState, EmTrace]:
        A, c = gold_map(found, part.gold)
        latent = np.diag(np.diagonal(A @ loose.targets.latent @ A.T))
        start = moved(state, A, c)._replace(mean=np.full_like(state.mean, np.nan))
        mixing = np.einsum("k,kde->de", shares, start.params.F)
        targets = loose.targets._replace(latent=latent)
        return climb(part, start, loose._replace(targets=targets, anchored=False, mixing=mixing))

    return fit


def _loose(data: ItemData, settings: BayesSettings) -> BayesSettings:
    """Settings under which annotators may mix the dimensions."""
    priors = settings.priors._replace(
        leak_variance=MIXING_START, gain_variance=MIXING_START, estimated=True, gain_follows_noise=False
    )
    # Ratings of dimensions that annotators mix are correlated whatever the truth is: they say nothing about targets.
    structure = settings.structure._replace(transform="full", noise="scaled")
    return bayes_settings(data, structure, priors, settings.floor, correlated=False)


def level_map(estimate: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale (D,) and offset (D,) that give an estimate (M, D) the variance and the mean of the known truths.  eq. B17

    Drawn to "no change" by imaginary truths that spread like the estimates of all items: few known ones may happen to
    lie close together. Variances are compared, not slopes: a slope would shrink the estimate.
    """
    D = gold.shape[1]
    scale, offset = np.ones(D), np.zeros(D)
    for d in range(D):
        known = ~np.isnan(gold[:, d])
        x, y = estimate[known, d], gold[known, d]
        n, imaginary = len(x), IMAGINARY_ITEMS * float(estimate[:, d].var())
        if not n:
            continue
        if imaginary > NO_SPREAD:
            scale[d] = np.sqrt((n * y.var() + imaginary) / (n * x.var() + imaginary))
        moved = x.mean() + (y.mean() - x.mean()) * n / (n + IMAGINARY_ANSWERS)
        offset[d] = moved - scale[d] * x.mean()
    return scale, offset


def gold_map(found: np.ndarray, gold: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """A (D, D) and c (D,) with gold ~ A a + c, least squares near the identity, from found truths (M, D).  eq. B10"""
    assert gold is not None
    D = found.shape[1]
    A, c = np.eye(D), np.zeros(D)
    for d in range(D):
        known = ~np.isnan(gold[:, d])
        X = np.hstack([found[known], np.ones((known.sum(), 1))])
        away = gold[known, d] - found[known, d]
        row = np.linalg.solve(X.T @ X + ROTATION_RIDGE * np.eye(D + 1), X.T @ away)
        A[d] += row[:D]
        c[d] = row[D]
    return A, c


def _choose(errors: dict[Way, np.ndarray], bounds: dict[Way, float]) -> Way:
    """The way that errors hidden truths clearly less; if that is not clear, the one that explains ratings better."""
    difference = errors["calibrate"] - errors["rotate"]
    difference = difference[~np.isnan(difference)]
    error = float(difference.std()) / np.sqrt(len(difference))
    if abs(difference.mean()) > CLEARLY_BETTER * error:
        return "rotate" if difference.mean() > 0 else "calibrate"
    return "rotate" if bounds["rotate"] > bounds["calibrate"] else "calibrate"


def _calibration_errors(gold: np.ndarray, found: np.ndarray) -> np.ndarray:
    def missed(shown: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        scale, offset = level_map(found, shown)
        return np.asarray(found[hidden] * scale + offset - gold[hidden])

    return _validation_errors(gold, missed)


def _rotation_errors(data: ItemData, fit: Fit) -> np.ndarray:
    gold = data.gold
    assert gold is not None

    def missed(shown: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        part = data._replace(gold=shown)
        state, _ = fit(part)
        return np.asarray((posterior(part, state.params).mean - gold)[hidden])

    return _validation_errors(gold, missed)


def _validation_errors(gold: np.ndarray, missed: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """(n, D) absolute errors on known truths that were hidden from the fit, fold by fold; NaN where not known."""
    items = np.flatnonzero(_known(gold))
    folds = min(GOLD_FOLDS, len(items))
    errors = []
    for fold in range(folds):
        hidden = items[fold::folds]
        shown = gold.copy()
        shown[hidden] = np.nan
        errors.append(np.abs(missed(shown, hidden)))
    return np.concatenate(errors)


def _root_mean_square(errors: np.ndarray) -> np.ndarray:
    """(D,) over items (n, D) with NaN; NaN where there is nothing else."""
    count = (~np.isnan(errors)).sum(axis=0)
    mean = np.nansum(errors**2, axis=0) / np.maximum(count, 1)
    return np.asarray(np.where(count > 0, np.sqrt(mean), np.nan))


def _known(gold: np.ndarray) -> np.ndarray:
    """(M,) items with at least one known truth."""
    return np.asarray(~np.isnan(gold).all(axis=1))
