"""Known truths (gold) of some items: they fix location, scale and direction of the dimensions.

Annotators are always fitted without the known truths first. Two ways lead on from there, and known truths that were
hidden decide between them, dimension by dimension:
- calibrate: annotators are close to "answers the truth", as in real crowds. The known truths set level and scale of
  their dimension. As observations in EM they made real crowds' estimates worse: what an expert calls the truth is not
  what the crowd agrees on.
- rotate: annotators may mix the dimensions in any way, each in his own or all in the same. The truth of the dimensions
  that enough is known of is found up to a linear map, with loose priors; the map is fitted on the known truths, which
  says how annotators mix on average, and EM goes on from there with the known truths among its observations.

What a way is worth is what it explains of the variance of hidden known truths, beside a line through the estimates of
the same dimension and beside their mean:

    e_md = (other_md^2 - turned_md^2) / mean_m constant_md^2,  over items: mean of e_md over d, and its error    eq. B32

other: of line and mean the one that explains more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unisono.maths.em_loop import EmTrace
from unisono.maths.items.bayes_bound import BayesSettings, BayesState, moved
from unisono.maths.items.bayes_start import bayes_settings, bayes_start
from unisono.maths.items.item_data import ItemData, of_dimensions
from unisono.maths.items.item_estep import posterior
from unisono.maths.items.item_estimates import NO_SPREAD
from unisono.maths.items.item_params import ItemParams
from unisono.maths.items.item_priors import CLEARLY_BETTER, IMAGINARY_ANSWERS, IMAGINARY_ITEMS, MIXING_EVIDENCE

ROTATION_RIDGE = 0.01  # numerical: keeps the map to known truths near the identity where they are few
MIXING_START = 0.2  # numerical: variance of coefficients of annotators who mix dimensions, before it is estimated
GOLD_FOLDS = 5  # numerical: folds of the cross-validation that chooses between calibrating and rotating
SAME_RANK = 1e-6  # numerical: of the spread of known truths, below which a dimension is made of others

Climb = Callable[[ItemData, BayesState, BayesSettings], tuple[BayesState, EmTrace]]
Fit = Callable[[ItemData], tuple[BayesState, EmTrace]]


class Turned(NamedTuple):
    """A fit with known truths among its observations, of the dimensions that enough is known of."""

    dims: np.ndarray  # (s,) which of all dimensions it has
    better: np.ndarray  # (s,) bool, of which it explains hidden truths better than a fit without them
    data: ItemData
    state: BayesState
    trace: EmTrace
    missed: np.ndarray  # (s,) root mean square error on known truths that were hidden


class HiddenErrors(NamedTuple):
    """Errors (n, s) on known truths that were hidden, NaN where there are none."""

    constant: np.ndarray  # of the mean of the others
    line: np.ndarray  # of a line through the estimates without known truths
    turned: np.ndarray  # of the fit with the others among its observations


def turned_by_gold(
    data: ItemData, blind: BayesState, bound: float, settings: BayesSettings, climb: Climb
) -> Turned | None:
    """A fit with the known truths inside, if it explains hidden ones better; `blind` is the one without them."""
    assert data.gold is not None
    dims = turnable(data.gold)
    if len(dims) < 2:  # nothing to mix
        return None
    part = data if len(dims) == data.D else of_dimensions(data, dims)
    settings = _plain(settings, dims)
    unknown = part._replace(gold=None)
    if len(dims) < data.D:
        bound = climb(unknown, bayes_start(unknown, settings), settings)[1].objective[-1]
    fit, loose_bound = turning_fit(part, settings, climb)
    errors = _hidden_errors(part, blind.mean[:, dims], fit)
    better = better_turned(errors, loose_bound - bound)
    if not better.any():
        return None
    state, trace = fit(part)
    return Turned(dims, better, part, state, trace, np.sqrt(np.nanmean(errors.turned**2, axis=0)))


def turnable(gold: np.ndarray) -> np.ndarray:
    """(s,) the dimensions whose known truths (M, D) have full rank together and are enough for a map onto them."""
    spread = np.array([np.ptp(seen) if len(seen := column[~np.isnan(column)]) else 0.0 for column in gold.T])
    dims = np.flatnonzero(spread > 0)
    while len(dims) > 1:
        together = gold[~np.isnan(gold[:, dims]).any(axis=1)][:, dims]
        n, known = len(together), (~np.isnan(gold[:, dims])).sum(axis=0)
        # A fold hides some, and the others have to tell more than the unknowns of a row of the map.
        enough = n - int(np.ceil(n / GOLD_FOLDS)) > len(dims) + 1
        drop = _made_of_others(together / spread[dims]) if enough else known == known.min()
        if not drop.any():
            return dims
        dims = dims[~drop]
    return dims[:0]


def _made_of_others(known: np.ndarray) -> np.ndarray:
    """(s,) bool, whether a column of (n, s) is a linear combination of those before it and a constant."""
    left = known - known.mean(axis=0)
    found = np.zeros(left.shape[1], dtype=bool)
    for d in range(left.shape[1]):
        size = float(np.linalg.norm(left[:, d]))
        found[d] = size <= SAME_RANK * np.sqrt(len(left))
        if not found[d]:
            own = left[:, d] / size
            left = left - own[:, None] * (own @ left)
    return found


def better_turned(errors: HiddenErrors, evidence: float) -> np.ndarray:
    """(s,) whether to turn: hidden truths are explained clearly better, or better where ratings are mixed too.

    Mixing is a matter of all dimensions, so that is decided for all together; of each it has to explain more than the
    better of a line and a constant, and more than a constant by a standard error. `evidence`: how much better mixing
    explains the ratings, in nats.
    """
    line, turned, constant = errors.line**2, errors.turned**2, errors.constant**2
    if not np.isfinite(turned[~np.isnan(constant)]).all():
        return np.zeros(turned.shape[1], dtype=bool)
    guessed = np.nanmean(constant, axis=0)
    other = np.where(np.nanmean(line, axis=0) < guessed, line, constant)
    explained = (other - turned) / np.maximum(guessed, NO_SPREAD)  # eq. B32
    mean, error = _mean_and_error(np.nanmean(explained, axis=1)[:, None])
    least = 0.0 if evidence > MIXING_EVIDENCE else CLEARLY_BETTER
    if not (mean > least * error).all():
        return np.zeros(turned.shape[1], dtype=bool)
    gain, own_error = _mean_and_error(constant - turned)
    return np.asarray((np.nanmean(explained, axis=0) > 0) & (gain > own_error))


def _mean_and_error(sample: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(s,) means of columns (n, s) with NaN, and their standard errors."""
    n = (~np.isnan(sample)).sum(axis=0)
    return np.nanmean(sample, axis=0), np.nanstd(sample, axis=0, ddof=1) / np.sqrt(n)


def turning_fit(data: ItemData, settings: BayesSettings, climb: Climb) -> tuple[Fit, float]:
    """A way to fit any choice of known truths that starts from one common fit without them, and the bound of that."""
    blind = data._replace(gold=None)
    loose = _loose(blind, settings)
    state, trace = climb(blind, bayes_start(blind, loose), loose)
    found = _truths(blind, state.params)
    shares = data.shares()

    def fit(part: ItemData) -> tuple[BayesState, EmTrace]:
        A, c = gold_map(found, part.gold)
        latent = np.diag(np.diagonal(A @ loose.targets.latent @ A.T))
        start = moved(state, A, c)._replace(mean=np.full_like(state.mean, np.nan))
        mixing = np.einsum("k,kde->de", shares, start.params.F)
        targets = loose.targets._replace(latent=latent)
        return climb(part, start, loose._replace(targets=targets, anchored=False, mixing=mixing))

    return fit, float(trace.objective[-1])


def _plain(settings: BayesSettings, dims: np.ndarray) -> BayesSettings:
    """Settings of some of the dimensions, whose ratings are read as numbers."""
    corner = np.ix_(dims, dims)
    whole = settings.targets
    targets = whole._replace(
        latent=whole.latent[corner],
        noise=whole.noise[corner],
        bias=whole.bias[corner],
        offset=None if whole.offset is None else whole.offset[:, dims],
    )
    classes = None if settings.classes is None else settings.classes[:, dims]
    return settings._replace(floor=settings.floor[dims], targets=targets, classes=classes, earlier=None)


def _loose(data: ItemData, settings: BayesSettings) -> BayesSettings:
    """Settings under which annotators may mix the dimensions."""
    priors = settings.priors._replace(
        leak_variance=MIXING_START, gain_variance=MIXING_START, estimated=True, gain_follows_noise=False
    )
    # Ratings of dimensions that annotators mix are correlated whatever the truth is: they say nothing about targets.
    structure = settings.structure._replace(transform="full", noise="scaled")
    return bayes_settings(data, structure, priors, settings.floor, correlated=False)


def level_map(
    estimate: np.ndarray,
    gold: np.ndarray,
    variance: np.ndarray | None = None,
    direction: np.ndarray | None = None,
    obeyed: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Scale (D,) and offset (D,) that give an estimate (n, D) the variance and the mean of the known truths.  eq. B17

    Drawn to "no change" by imaginary truths that spread like the estimates of all items, with `variance` (D,) where
    these are not all: few known ones may happen to lie close together. Variances are compared, not slopes: a slope
    would shrink the estimate. Known truths that are all equal say nothing about the scale. Where they are to be
    `obeyed` (D,) though they refute "no change", they alone count, and the `direction` (D,) that they have, 1 or -1.
    """
    D = gold.shape[1]
    variance = estimate.var(axis=0) if variance is None else variance
    scale, offset = np.ones(D), np.zeros(D)
    for d in range(D):
        known = ~np.isnan(gold[:, d])
        x, y = estimate[known, d], gold[known, d]
        n, alone = len(x), obeyed is not None and bool(obeyed[d])
        if not n:
            continue
        imaginary = 0.0 if alone else IMAGINARY_ITEMS * float(variance[d])
        if n * x.var() + imaginary > NO_SPREAD and np.ptp(y) > 0:
            scale[d] = np.sqrt((n * y.var() + imaginary) / (n * x.var() + imaginary))
        middle = x.mean() + (y.mean() - x.mean()) * n / (n + IMAGINARY_ANSWERS * (not alone))
        if alone and direction is not None:
            scale[d] *= direction[d]
        offset[d] = middle - scale[d] * x.mean()
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


def _truths(data: ItemData, params: ItemParams) -> np.ndarray:
    """(n, D) posterior means of the items of which `data.gold` has rows."""
    return posterior(data, params).mean if data.elsewhere is None else data.elsewhere.truths(params, data.gold)


def _hidden_errors(data: ItemData, found: np.ndarray, fit: Fit) -> HiddenErrors:
    """Of every way, fold by fold; `found` (M, s) are the truths without known ones."""
    gold = data.gold
    assert gold is not None
    items = np.flatnonzero(~np.isnan(gold).all(axis=1))
    folds = min(GOLD_FOLDS, len(items))
    errors = []
    for fold in range(folds):
        hidden = items[fold::folds]
        shown = gold.copy()
        shown[hidden] = np.nan
        part = data._replace(gold=shown)
        turned = _truths(part, fit(part)[0].params)[hidden]
        foretold = np.nanmean(shown, axis=0), _line(found, shown)[hidden], turned
        errors.append([way - gold[hidden] for way in foretold])
    return HiddenErrors(*(np.concatenate(way) for way in zip(*errors, strict=True)))


def _line(found: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """(M, s) the least squares line of the known truths that are shown (M, s) through the estimates (M, s)."""
    line = np.empty_like(found)
    for d in range(found.shape[1]):
        known = ~np.isnan(shown[:, d])
        x, y = found[known, d], shown[known, d]
        spread = float(x.var())
        slope = float(np.mean((x - x.mean()) * (y - y.mean()))) / spread if spread > NO_SPREAD else 0.0
        line[:, d] = y.mean() + slope * (found[:, d] - x.mean())
    return line
