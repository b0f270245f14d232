"""Noise of annotators that depends on the item, after Audhkhasi and Narayanan (2013). One dimension at a time.

    region   z_m ~ pi,   scores of the features x_m given z_m = r ~ N(center_r, diag(width_r))                eq. X1
    truth    a_m ~ N(mu + theta'x_m, s2)
    answer   y_n = a_m + b_k + eta,   eta ~ N(0, v_kr),   r the region of item m                              eq. X2

Their model is one of categories (`class_confusions`), whose regions are those of a Gaussian mixture over features. Of
numbers, variances take the place of confusions; without features regions are told from how far annotators are apart.
Priors: b_k ~ N(0, C), log v_kr with the density of an InverseGamma(nu/2, nu tau_r / 2), theta ~ N(0, s2 / ridge), tau_r
and s2 drawn to what a one-way layout shows, or a region whose answers are all alike would take everything. The E-step
is exact,

    p(z_m = r | y, x) ~ pi_r N(x_m; center_r, width_r) N(y_m; ...),   a_m given z_m normal,                   eq. X3

and the M-step raises log likelihood plus log prior, one block of parameters after the other.                  eq. X4
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from unisono.maths.items.item_params import LOG_2PI
from unisono.maths.published import published_answers
from unisono.maths.published.published_answers import Answers, Places, Spread, Truths

ANSWERS = 8.0  # convention: nu, the answers that a region's usual noise is worth
BIAS_VARIANCE = 0.1  # convention: C, in variances of standardised ratings
RIDGE = 1.0  # convention: items that the predictor's zero is worth
LATENT_ITEMS = 20.0  # convention: items behind s2


class RegionParams(NamedTuple):
    """The model; the last annotator is nobody who was fitted."""

    pi: np.ndarray  # (R,)
    center: np.ndarray  # (R, P)
    width: np.ndarray  # (R, P)
    mu: np.ndarray  # ()
    theta: np.ndarray  # (P,)
    s2: np.ndarray  # ()
    bias: np.ndarray  # (K + 1,)
    noise: np.ndarray  # (K + 1, R)

    @property
    def places(self) -> Places:
        """Where the regions lie."""
        return Places(self.pi, self.center, self.width)


class _Items(NamedTuple):
    """The E-step."""

    share: np.ndarray  # (M, R)
    mean: np.ndarray  # (M, R) truth given the region
    var: np.ndarray  # (M, R)
    log_density: np.ndarray  # (M,) of scores and answers


def starts(answers: Answers, R: int) -> list[RegionParams]:
    """Regions along how far answers to an item lie apart, and along each of the first two feature scores."""
    y, item, _ = answers.single()
    found = published_answers.spread_of(y, item, answers.M)
    squares = published_answers.added((y - found.mean[item]) ** 2, item, answers.M) + found.within
    apart = np.log(squares / np.maximum(found.answers, 1.0))
    return [_start(answers, share) for share in published_answers.region_starts(apart, answers.Z, R)]


def _start(answers: Answers, share: np.ndarray) -> RegionParams:
    y, item, _ = answers.single()
    found = published_answers.spread_of(y, item, answers.M)
    K, P, R = answers.K, answers.Z.shape[1], share.shape[1]
    apart = (y - found.mean[item]) ** 2
    own = np.array([(share[item, r] @ apart + found.within) / (share[item, r].sum() + 1) for r in range(R)])
    noise = np.tile(np.maximum(own, found.within / 10), (K + 1, 1))
    blank = RegionParams(np.full(R, 1 / R), np.zeros((R, P)), np.ones((R, P)), np.array(0.0), np.zeros(P),
                         np.array(found.between), np.zeros(K + 1), noise)  # fmt: skip
    return _regions(answers, share, blank)


def step(answers: Answers, params: RegionParams) -> tuple[RegionParams, float]:
    """One step of EM, and the objective at the parameters it is given.                                      eq. X4"""
    items = _expected(answers, params)
    bound = float(items.log_density.sum()) + _log_prior(answers, params)
    found = _annotators(answers, items, _truth(answers, items, _regions(answers, items.share, params)))
    return found, bound


def learned(answers: Answers, params: RegionParams) -> RegionParams:
    """What a fit keeps of the last state."""
    return params


def _log_prior(answers: Answers, params: RegionParams) -> float:
    bias, v, tau = params.bias[:-1], params.noise[:-1], params.noise[-1]
    usual = _moments(answers)
    noise = ANSWERS / 2 * (np.log(tau / v) - tau / v)
    pooled = ANSWERS / 2 * len(v) * (np.log(tau) - tau / usual.within)
    predictor = (len(params.theta) + LATENT_ITEMS) * np.log(params.s2)
    predictor = predictor + (RIDGE * params.theta @ params.theta + LATENT_ITEMS * usual.between) / params.s2
    regions = params.places.log_prior(answers.Z)
    return float(noise.sum() + pooled.sum() - 0.5 * (bias @ bias) / BIAS_VARIANCE - 0.5 * predictor + regions)


def _moments(answers: Answers) -> Spread:
    """Where priors of variances lie."""
    y, item, _ = answers.single()
    return published_answers.spread_of(y, item, answers.M)


def _expected(answers: Answers, params: RegionParams) -> _Items:
    """Exact posteriors of regions and truths.                                                               eq. X3"""
    y, item, who = answers.single()
    M, s2 = answers.M, float(params.s2)
    weight = 1 / params.noise[who]
    prior = (params.mu + answers.Z @ params.theta)[:, None]
    left = (y - params.bias[who])[:, None] - prior[item]
    precision = 1 / s2 + published_answers.added(weight, item, M)
    linear = published_answers.added(weight * left, item, M)
    density = published_answers.added(LOG_2PI - np.log(weight) + left**2 * weight, item, M)
    density = -0.5 * (density + np.log(precision * s2) - linear**2 / precision)
    density = density + params.places.log_densities(answers.Z)
    total = logsumexp(density, axis=1)
    return _Items(np.exp(density - total[:, None]), prior + linear / precision, 1 / precision, total)


def _regions(answers: Answers, share: np.ndarray, params: RegionParams) -> RegionParams:
    return params._replace(**published_answers.places_of(answers.Z, share)._asdict())


def _truth(answers: Answers, items: _Items, params: RegionParams) -> RegionParams:
    mean, P = (items.share * items.mean).sum(axis=1), answers.Z.shape[1]
    mu = mean.mean()
    theta = np.linalg.solve(answers.Z.T @ answers.Z + RIDGE * np.eye(P), answers.Z.T @ (mean - mu))
    away = (items.mean - (mu + answers.Z @ theta)[:, None]) ** 2 + items.var
    imagined = RIDGE * theta @ theta + LATENT_ITEMS * _moments(answers).between
    s2 = ((items.share * away).sum() + imagined) / (answers.M + P + LATENT_ITEMS)
    return params._replace(mu=np.array(mu), theta=theta, s2=np.array(max(float(s2), published_answers.LEAST_VARIANCE)))


def _annotators(answers: Answers, items: _Items, params: RegionParams) -> RegionParams:
    y, item, who = answers.single()
    K, share = answers.K, items.share[item]
    weight = share / params.noise[who]
    pull = published_answers.added((weight * (y[:, None] - items.mean[item])).sum(axis=1), who, K)
    bias = pull / (published_answers.added(weight.sum(axis=1), who, K) + 1 / BIAS_VARIANCE)
    squares = (y[:, None] - items.mean[item] - bias[who][:, None]) ** 2 + items.var[item]
    usual, count = params.noise[-1], published_answers.added(share, who, K)
    noise = (ANSWERS * usual + published_answers.added(share * squares, who, K)) / (ANSWERS + count)
    noise = np.maximum(noise, published_answers.LEAST_VARIANCE)
    pooled = 2 / ((1 / noise).mean(axis=0) + 1 / _moments(answers).within)
    return params._replace(bias=np.append(bias, 0.0), noise=np.vstack([noise, pooled]))


def rows(params: RegionParams) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(K + 1,) slope, offset and noise of every annotator, averaged over regions."""
    return np.ones(len(params.bias)), params.bias, params.noise @ params.pi


def truths(answers: Answers, params: RegionParams) -> Truths:
    """Posteriors of items, averaged over the regions they may lie in; densities without those of their scores."""
    found = _expected(answers, params)
    mean = (found.share * found.mean).sum(axis=1)
    var = (found.share * (found.var + (found.mean - mean[:, None]) ** 2)).sum(axis=1)
    alone = _expected(answers._replace(y=np.full_like(answers.y, np.nan)), params).log_density
    return Truths(mean[:, None], var[:, None, None], found.log_density - alone)


def noise_at(answers: Answers, params: RegionParams) -> np.ndarray:
    """(M, K + 1) variance of an answer of everybody to every item, given what is known of the item's region."""
    return np.asarray(_expected(answers, params).share @ params.noise.T)
