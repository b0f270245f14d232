"""Comparisons answer by answer: probabilities, the lower bound, the coupled truths, one class of annotators."""

from __future__ import annotations

import math

import numpy as np


def logistic(x):
    return 1 / (1 + math.exp(-x))


def answer_chance(answer, delta, tau):
    """Of left (0), tie (1), right (2), as Rao and Kupper have it."""
    left, right = logistic(delta - tau), logistic(-delta - tau)
    return (left, (math.exp(2 * tau) - 1) * left * right, right)[answer]


def joint_normal(data, base, weight, shift):
    """Mean (U,) and covariance (U, U) of the truths, densely."""
    P = np.zeros((data.U, data.U))
    for m in range(data.M):
        at = slice(m * data.D, (m + 1) * data.D)
        P[at, at] += base[m]
    for w, u, v in zip(weight, data.low, data.high, strict=True):
        e = np.zeros(data.U)
        e[u], e[v] = 1, -1
        P += w * np.outer(e, e)
    return np.linalg.solve(P, shift.ravel()), np.linalg.inv(P)


def ends_of(answer, step, t):
    """Signs and thresholds of the logistic factors of an answer, and what is between two ends; `step` of a side."""
    if answer == 1:
        return [(1, t[0]), (-1, t[0])], math.log(1 - math.exp(-2 * t[0]))
    sign = 1 if answer == 0 else -1
    if step == len(t) - 1:
        return [(sign, -t[step])], 0.0
    return [(sign, -t[step]), (-sign, t[step + 1])], math.log(1 - math.exp(t[step] - t[step + 1]))


def expected_bound(data, state):
    """What the quadratic bounds say of all answers at their best, one factor after another; some are at random."""
    whole = 0.0
    for n in range(data.N):
        total = 0.0
        k, dim = data.who[n], data.left[n] % data.D
        unit, tau = state.hyper.unit[dim], state.crowd.tau[k]
        d = unit * (state.truths.mean.ravel()[data.left[n]] - state.truths.mean.ravel()[data.right[n]])
        v = unit**2 * state.truths.apart[data.pair[n]]
        t = [tau * m for m in state.hyper.steps]
        ends, between = ends_of(data.answer[n], int(data.step[n]), t)
        total += between
        for sign, end in ends:
            first = second = 0.0
            for q, (g, o), C in zip(state.crowd.prob[k], state.crowd.at[k], state.crowd.cov[k], strict=True):
                mean = g * d + o
                square = (g * g + C[0, 0]) * (d * d + v) + 2 * (g * o + C[0, 1]) * d + o * o + C[1, 1]
                first += q * (sign * mean + end)
                second += q * (square + 2 * sign * end * mean + end**2)
            xi = math.sqrt(second)
            total += math.log(logistic(xi)) + (first - xi) / 2
        r, share = state.slips[n], logistic(state.crowd.slip[k])
        total = (1 - r) * (total + math.log(1 - share) - math.log(1 - r))
        whole += data.weight[n] * (total + r * (data.random[n] + math.log(share) - math.log(r)))
    return whole


def posterior_of_annotator(d, variance, W, b, prior_mean, prior_variance):
    """Mean (2,) and covariance (2, 2) of gain and order effect in one class, for sites -W delta^2 / 2 + b delta."""
    P, h = np.diag(1 / np.array(prior_variance)), np.array(prior_mean) / np.array(prior_variance)
    for di, vi, wi, bi in zip(d, variance, W, b, strict=True):
        P = P + wi * np.array([[di * di + vi, di], [di, 1]])
        h = h + bi * np.array([di, 1])
    return np.linalg.solve(P, h), np.linalg.inv(P)
