"""Slips and unclear items: how precise every judgement is, beside what its annotator's judgements usually are.

    errors of judgement n of item m by annotator k ~ N(0, N_k / (u_n v_m))                                   eq. B35
    u_n ~ Gamma(nu/2, nu/2),  v_m ~ Gamma(kappa/2, kappa/(2 l_m)),  l_m = (judgements of m / their geometric mean)^power

so that errors are Student's t twice over: of judgements, of which one may be a slip, and of items, some of which are
unclear. q(u_n) and q(v_m) are gammas, whose means weigh the judgements, of d_n answers each:

    u_n = (nu + d_n) / (nu + v_m s_n),   v_m = (kappa + sum d_n) / (kappa/l_m + sum u_n s_n),   s_n = E[r_n' W r_n]

truths, annotators and latent ratings with their variances. To the bound, precisions w of d answers and their errors add

    d/2 log w - 1/2 w s - nu/2 (w - log w - 1) + c(nu, d)                                                    eq. B36
    c = log G((nu + d)/2) - log G(nu/2) - (nu + d)/2 log((nu + d)/2) + nu/2 log(nu/2) + d/2

which is the normal's -1/2 s for infinitely many degrees of freedom. At its maximum over w it is the log density of
Student's t, by which nu, kappa and the power are chosen: items may have few ratings because they are hard.

Where a scale ends, answers about items near the end lie close together, and those in between look like slips. So all
precisions are one where the spread of an item's answers goes with its level: where levels and their squares explain
more than `LEVEL_SHARE` of the variance of log((sum s_n + 1) / (sum d_n + 1)) over items, beyond chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammainc, gammaln

from unisono.maths.items.item_data import ItemData, weighted_sums
from unisono.maths.items.item_estep import posterior, squared_distances
from unisono.maths.items.item_params import ItemParams
from unisono.maths.items.item_priors import CLEAR_ERRORS, LEVEL_SHARE

FREEDOMS = (3.0, 4.0, 6.0, 8.0, 12.0, 18.0, 27.0, 40.0, 80.0, 200.0, np.inf)  # numerical: those that are tried
POWERS = (0.0, 0.5, 1.0, 2.0)  # numerical: of the number of an item's judgements that are tried
LEAST_GAIN = 0.5  # numerical: nats by which tails must be longer than the normal's for weights to be found at all
LEAST_ITEM_FREEDOM = 2.5  # numerical: with two, nothing bounds the variance
SETTLING = 8  # numerical: rounds in which weights under known parameters settle


class Weights(NamedTuple):
    """Precisions of judgements and of items, with what the model of ratings needs of them."""

    judgement: np.ndarray  # (J,) u
    item: np.ndarray  # (M,) v
    tails: np.ndarray  # (3,) degrees of freedom of both, and the power of l_m
    Sy: np.ndarray  # (U, D) weighted sums of ratings ...
    Syy: np.ndarray  # (U, D, D) ... and of their outer products
    log_density: float  # what they add to the bound beside the errors that they weigh

    def of(self, data: ItemData) -> ItemData:
        """The same ratings, weighted."""
        weight = None if data.elsewhere is not None else self.judgement * self.item[data.item_of]
        return data._replace(weight=weight, Sy=self.Sy, Syy=self.Syy)


def equal_weights(data: ItemData) -> Weights:
    """Where everything is as precise as usual."""
    J, M = (0, 0) if data.elsewhere is not None else (len(data.y), data.M)
    return Weights(np.ones(J), np.ones(M), np.array([np.inf, np.inf, 0.0]), data.Sy, data.Syy, 0.0)


class Errors(NamedTuple):
    """Squared errors of a part's judgements under new parameters, as its weights so far have it."""

    data: ItemData
    square: np.ndarray  # (J,)
    answers: np.ndarray  # (J,)
    item: np.ndarray  # (M,) precisions of items so far

    def slips(self) -> np.ndarray:
        """(n,) the bound's part by degrees of freedom of judgements; adds up over parts."""
        return marginals(self.item[self.data.item_of] * self.square, self.answers)

    def judged(self, nu: float) -> Judged:
        """With the precisions of judgements."""
        judgement = precisions(self.item[self.data.item_of] * self.square, self.answers, nu)
        own = log_density(judgement, self.answers, nu)
        sums = (judgement * self.square, self.answers)
        together, number = (np.bincount(self.data.item_of, part, minlength=self.data.M) for part in sums)
        return Judged(self.data, nu, judgement, own, together, number)


class Judged(NamedTuple):
    """The same once judgements have their precisions."""

    data: ItemData
    nu: float
    judgement: np.ndarray  # (J,)
    log_density: float
    square: np.ndarray  # (M,) sums of weighed squared errors
    answers: np.ndarray  # (M,)

    def unclear(self) -> np.ndarray:
        """(p, n) the bound's part by power and by degrees of freedom of items; adds up over parts."""
        usual = [usual_precision(self.data, power) for power in POWERS]
        return np.array(
            [marginals(own * self.square, self.answers) + 0.5 * float(self.answers @ np.log(own)) for own in usual]
        )

    def weights(self, kappa: float, power: float) -> Weights:
        """With the precisions of items."""
        usual = usual_precision(self.data, power)
        item = usual * precisions(usual * self.square, self.answers, kappa)
        own = self.log_density + log_density(item / usual, self.answers, kappa)
        own += 0.5 * float(self.answers @ np.log(usual))
        sums = weighted_sums(self.data, self.judgement * item[self.data.item_of])
        return Weights(self.judgement, item, np.array([self.nu, kappa, power]), *sums, own)


def errors_under(data: ItemData, params: ItemParams, weights: Weights) -> Errors:
    """Of ratings (without weights) by parameters that these weights have led to."""
    return Errors(data, squared_distances(weights.of(data), params)[0], _answers(data), weights.item)


def reweighed(data: ItemData, params: ItemParams, weights: Weights, tails: np.ndarray | None = None) -> Weights:
    """Precisions found anew, of judgements and then of items, with the best degrees of freedom and power or with these.

    `data` are the ratings without weights.                                                              eq. B35
    """
    errors = errors_under(data, params, weights)
    judged = errors.judged(best_freedom(errors.slips()) if tails is None else tails[0])
    return judged.weights(*(best_of_items(judged.unclear()) if tails is None else tails[1:]))


def usual_precision(data: ItemData, power: float) -> np.ndarray:
    """(M,) l_m, which is one where all items have as many judgements."""
    count = np.bincount(data.item_of, minlength=data.M)
    log = np.log(np.maximum(count, 1))
    usual = log[count > 0].mean() if data.usual is None else data.usual
    return np.asarray(np.exp(power * (log - usual)))


def best_freedom(sums: np.ndarray) -> float:
    """The degrees of freedom that errors are most likely under, by `marginals` (n,) of all of them."""
    return FREEDOMS[int(np.argmax(sums))]


def best_of_items(sums: np.ndarray) -> tuple[float, float]:
    """The best degrees of freedom of items, and a power other than 0 where that is clearly better; sums (p, n)."""
    best = int(np.argmax(sums.max(axis=1) - (np.array(POWERS) > 0) * CLEAR_ERRORS**2 / 2))
    return best_freedom(sums[best]), POWERS[best]


def settled(data: ItemData, params: ItemParams) -> Weights | None:
    """Those of ratings under known parameters and degrees of freedom; None where all are one."""
    if params.tails is None or (np.isinf(params.tails[:2]).all() and params.tails[2] == 0):
        return None
    weights = equal_weights(data)
    for _ in range(SETTLING):
        weights = reweighed(data, params, weights, params.tails)
    return weights


def cautious(data: ItemData, params: ItemParams, weights: Weights) -> Weights:
    """The same with 1 / E[1 / v] for items: that not even their precision is known makes intervals wider.

    Of the degrees of freedom behind it, an item's truth takes as many as answers tell of it, tr(I - Sigma^-1 V).
    """
    told = data.D - np.einsum("de,mde->m", np.linalg.inv(params.Sigma), posterior(weights.of(data), params).cov)
    freedom = np.maximum(item_freedom(data, weights) - told, LEAST_ITEM_FREEDOM)
    item = weights.item * (1 - 2 / freedom)
    Sy, Syy = weighted_sums(data, weights.judgement * item[data.item_of])
    return weights._replace(item=item, Sy=Sy, Syy=Syy)


def unclear(data: ItemData, weights: Weights) -> np.ndarray:
    """(M,) probability that errors about an item are larger than about a typical one, P(v < 1)."""
    half = item_freedom(data, weights) / 2
    return np.asarray(gammainc(half, half / weights.item))


def item_freedom(data: ItemData, weights: Weights) -> np.ndarray:
    """(M,) degrees of freedom behind the precisions of items."""
    return np.asarray(weights.tails[1] + np.bincount(data.item_of, _answers(data), minlength=data.M))


class TailSums(NamedTuple):
    """What tells whether tails are long; adds up over parts."""

    slips: np.ndarray  # (n,) marginals of judgements
    unclear: np.ndarray  # (n,) of items
    levels: np.ndarray  # (q + 1, q + 1) products of levels, their squares and log spreads over rated items

    def __add__(self, other: TailSums) -> TailSums:  # type: ignore[override]
        return TailSums(*(a + b for a, b in zip(self, other, strict=True)))


def tail_sums(data: ItemData, params: ItemParams) -> TailSums:
    """Of a part of the ratings under the parameters of normal errors."""
    square, truth = squared_distances(data, params)
    answers = _answers(data)
    together, number = (np.bincount(data.item_of, part, minlength=data.M) for part in (square, answers))
    return TailSums(marginals(square, answers), marginals(together, number), level_sums(together, number, truth))


def long_tails(sums: TailSums) -> bool:
    """Whether judgements slip or items are unclear under the parameters of normal errors, as far as one can tell."""
    gain = max(float(own.max() - own[-1]) for own in (sums.slips, sums.unclear))
    return gain > LEAST_GAIN and explained_by_level(sums.levels) <= LEVEL_SHARE


def level_sums(square: np.ndarray, answers: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """(q + 1, q + 1) products of one, items' truths (M, D) and their squares, and of the log spread of errors."""
    rated = answers > 0
    level = truth[rated]
    spread = np.log((square + 1) / (answers + 1))[rated]
    X = np.column_stack([np.ones(len(level)), level, level**2, spread])
    return np.asarray(X.T @ X)


def explained_by_level(sums: np.ndarray) -> float:
    """Least share of the variance of items' log spread that their truths explain, as far as chance allows.

    The adjusted share varies by chance as chi-squared over n does. All of it, where items are too few to tell.
    """
    n, q = float(sums[0, 0]), len(sums) - 1
    if n <= q:
        return 1.0
    mean = sums[0] / n
    around = sums[1:, 1:] - n * np.outer(mean[1:], mean[1:])
    slope = np.linalg.lstsq(around[:-1, :-1], around[:-1, -1], rcond=None)[0]
    total = around[-1, -1]
    left = max(total - slope @ around[:-1, -1], 0.0)
    share = 1 - (left / (n - q)) / max(float(total / (n - 1)), np.finfo(float).tiny)
    return float(share - CLEAR_ERRORS * np.sqrt(2 * (q - 1)) / n)


def precisions(square: np.ndarray, answers: np.ndarray, freedom: float) -> np.ndarray:
    """Posterior means, from squared errors in units of the noise and how many answers have them."""
    return np.ones_like(square) if np.isinf(freedom) else (freedom + answers) / (freedom + square)


def log_density(w: np.ndarray, answers: np.ndarray, freedom: float) -> float:
    """What precisions add to the bound beside the errors that they weigh.                                 eq. B36"""
    log = np.log(w)
    own = 0.5 * float(answers @ log)
    if np.isinf(freedom):
        return own
    d, times = np.unique(answers, return_counts=True)
    half, both = freedom / 2, (freedom + d) / 2
    constants = gammaln(both) - gammaln(half) - both * np.log(both) + half * np.log(half) + d / 2
    return own - half * float(np.sum(w - log - 1)) + float(times @ constants)


def marginal(square: np.ndarray, answers: np.ndarray, freedom: float) -> float:
    """The bound's part at the best precisions: the log density of errors, but for that of the noise itself."""
    w = precisions(square, answers, freedom)
    return log_density(w, answers, freedom) - 0.5 * float(w @ square)


def marginals(square: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """(n,) the same for all FREEDOMS, the last of which are the normal's."""
    return np.array([marginal(square, answers, freedom) for freedom in FREEDOMS])


def _answers(data: ItemData) -> np.ndarray:
    """(J,)"""
    return np.asarray(data.answered.sum(axis=1)[data.profile_of].astype(float))
