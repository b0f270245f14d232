"""Annotators of four types who answer numbers, after Kara, Genc, Aran and Akarun (2015); one dimension at a time.

    truth    a_m ~ N(0, s2)
    answer   y_n = slope_t a_m + b_k + eta,   eta ~ N(0, 1 / lambda_k),   t the type of annotator k            eq. T1
    type     t_k ~ pi,   lambda_k ~ Gamma(alpha, beta),   b_k ~ N(0, kappa_t / lambda_k)

    competent   slope 1, no offset          biased    slope 1 and an offset
    adversary   slope -1, no offset         spammer   slope 0 and an offset: answers that have nothing to do with items

The paper's annotators have the same four failings, one model for each set of them, and Gibbs-like updates; here they
are classes of one mixture. Given q(a), type, offset and precision of an annotator have an exact normal-gamma posterior,
so that q(a) q(t, b, lambda) is all that is approximated, and every step raises the bound

    sum_k log sum_t pi_t Z_kt  -  sum_m KL(q(a_m) || p(a_m))  +  log p(pi),                                    eq. T2

    log Z_kt = 1/2 log(kappa^-1 / (kappa^-1 + n)) + log Gamma(alpha + n/2) - log Gamma(alpha)
               + alpha log beta - (alpha + n/2) log(beta + R_kt / 2) - n/2 log 2 pi,                           eq. T3

R_kt the expected squares of what slope and offset leave of the annotator's n answers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from unisono.maths.items.item_params import LOG_2PI
from unisono.maths.published.published_answers import LEAST_VARIANCE, Answers, Truths, added, spread_of

TYPES = ("competent", "biased", "adversary", "spammer")
SLOPE = np.array([1.0, 1.0, -1.0, 0.0])
OFFSET = np.array([False, True, False, True])
EXPECTED = np.array([0.45, 0.45, 0.05, 0.05])  # convention: shares of types before any answer is seen
IMAGINARY = 10.0  # convention: annotators whose types are imagined to be known
SHAPE = 4.0  # convention: alpha, as eight answers tell of an annotator's noise
SPAMMER_OFFSET = 1.0  # convention: kappa of spammers, whose level is as uncertain as one answer of theirs
LEAST_OFFSET = 1e-3  # numerical: floor of kappa


class TypeParams(NamedTuple):
    """What is known of annotators; the last one is nobody who was fitted."""

    share: np.ndarray  # (K + 1, T) probability of every type
    precision: np.ndarray  # (K + 1, T) E[lambda] given the type
    offset: np.ndarray  # (K + 1, T) E[b] given the type
    offset_var: np.ndarray  # (K + 1, T) variance of b given type and lambda, times lambda
    variance: np.ndarray  # (K + 1, T) E[1 / lambda] given the type
    spread: np.ndarray  # () variance s2 of the truth


class TypeState(NamedTuple):
    """One point of the climb: q(a) and the population of annotators."""

    mean: np.ndarray  # (M,)
    var: np.ndarray  # (M,)
    pi: np.ndarray  # (T,)
    rate: float  # beta
    kappa: float  # of biased annotators
    spread: float  # s2


def starts(answers: Answers) -> list[TypeState]:
    """Means of the items, drawn to zero by what one answer is worth."""
    y, item, _ = answers.single()
    found = spread_of(y, item, answers.M)
    var = 1 / (1 / found.between + found.answers / found.within)
    mean = var * found.answers / found.within * found.mean
    return [TypeState(mean, var, EXPECTED, SHAPE * found.within, 0.25, found.between)]


def step(answers: Answers, state: TypeState) -> tuple[TypeState, float]:
    """One step of the climb, and the bound at the state it is given.                                      eq. T2"""
    known, log_evidence, squares = _annotators(answers, state)
    prior = IMAGINARY * (EXPECTED @ np.log(state.pi))
    divergence = 0.5 * ((state.mean**2 + state.var) / state.spread - 1 + np.log(state.spread / state.var))
    bound = float(logsumexp(log_evidence, axis=1).sum() + prior - divergence.sum())
    mean, var = truth(answers, known)
    share, K = known.share[:-1], answers.K
    pi = (share.sum(axis=0) + IMAGINARY * EXPECTED) / (K + IMAGINARY)
    rate = SHAPE * K / max(float((share * known.precision[:-1]).sum()), np.finfo(float).tiny)
    biased = share[:, 1]
    kappa = max(float((biased * squares[:, 1]).sum() / max(biased.sum(), np.finfo(float).tiny)), LEAST_OFFSET)
    spread = max(float(np.mean(mean**2 + var)), LEAST_VARIANCE)
    return TypeState(mean, var, pi, max(rate, LEAST_VARIANCE), kappa, spread), bound


def learned(answers: Answers, state: TypeState) -> TypeParams:
    """What the climb found, with the newcomer."""
    return _annotators(answers, state)[0]


def _annotators(answers: Answers, state: TypeState) -> tuple[TypeParams, np.ndarray, np.ndarray]:
    """Exact posteriors given q(a); log(pi_t Z_kt) (K, T) and E[lambda b^2] (K, T).                        eq. T3"""
    y, item, who = answers.single()
    K, a, v = answers.K, state.mean[item], state.var[item]
    n, Sy, Syy, Sa, Saa, Say = (added(x, who, K)[:, None] for x in (1 + 0 * y, y, y * y, a, a * a + v, a * y))
    kappa = np.where(OFFSET, np.where(SLOPE == 0, SPAMMER_OFFSET, state.kappa), 1.0)
    tie = np.where(OFFSET, 1 / kappa + n, np.inf)
    left, squares = Sy - SLOPE * Sa, Syy - 2 * SLOPE * Say + SLOPE**2 * Saa
    offset = left / tie
    shape, rate = SHAPE + n / 2, state.rate + 0.5 * np.maximum(squares - left * offset, 0.0)
    log_z = np.where(OFFSET, -0.5 * np.log(np.where(OFFSET, kappa * tie, 1.0)), 0.0) - 0.5 * n * LOG_2PI
    log_z = log_z + gammaln(shape) - gammaln(SHAPE) + SHAPE * np.log(state.rate) - shape * np.log(rate)
    log_evidence = np.log(state.pi) + log_z
    share = np.exp(log_evidence - logsumexp(log_evidence, axis=1, keepdims=True))
    precision, offset_var = shape / rate, np.broadcast_to(1 / tie, share.shape)
    lone = np.where(OFFSET, kappa, 0.0)
    prior = state.pi, np.full(4, SHAPE / state.rate), np.zeros(4), lone, np.full(4, state.rate / (SHAPE - 1))
    found = share, precision, offset, offset_var, rate / (shape - 1)
    known = [np.vstack([own, new]) for own, new in zip(found, prior, strict=True)] + [np.array(state.spread)]
    return TypeParams(*known), log_evidence, offset**2 * precision + offset_var


def truth(answers: Answers, known: TypeParams) -> tuple[np.ndarray, np.ndarray]:
    """(M,) means and variances of q(a): every answer tells slope (y - b) with its expected precision.      eq. T4"""
    y, item, who = answers.single()
    weight = known.share * known.precision
    own, by_slope = (weight * SLOPE**2).sum(axis=1), (weight * SLOPE).sum(axis=1)
    away = (weight * SLOPE * known.offset).sum(axis=1)
    var = 1 / (1 / float(known.spread) + added(own[who], item, answers.M))
    return var * added(by_slope[who] * y - away[who], item, answers.M), var


def rows(known: TypeParams) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(K + 1,) slope, offset and noise variance of every annotator, averaged over types: moments of an answer."""
    slope, offset = (known.share * SLOPE).sum(axis=1), (known.share * known.offset).sum(axis=1)
    away = (known.share * known.offset**2).sum(axis=1) - offset**2
    turned = ((known.share * SLOPE**2).sum(axis=1) - slope**2) * float(known.spread)
    noise = (known.share * known.variance * (1 + known.offset_var)).sum(axis=1)
    return slope, offset, noise + away + turned


def truths(answers: Answers, known: TypeParams) -> Truths:
    """Posteriors of items; densities of their answers by the moments of `rows`."""
    mean, var = truth(answers, known)
    y, item, who = answers.single()
    slope, offset, noise = rows(known)
    left, w = y - offset[who], 1 / noise[who]
    linear = added(slope[who] * w * left, item, answers.M)
    precision = 1 / float(known.spread) + added(slope[who] ** 2 * w, item, answers.M)
    constant = added(LOG_2PI + np.log(noise[who]) + left**2 * w, item, answers.M)
    density = -0.5 * (constant + np.log(precision * float(known.spread)) - linear**2 / precision)
    return Truths(mean[:, None], var[:, None, None], density)
