"""The most probable leakage, with noise and biases as they are once it is known: steps that never lower the objective.

EM over all dimensions together, the truth integrated out. Given what is expected of the truth, leakage and bias of a
row are a regression, under the linear constraint that leakages into a dimension sum to 0; then noise, and what errors
of levels have in common, go to where the expected log density is greater. If nobody leaks, omega2 says so and draws
everybody to 0.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series import priors
from unisono.maths.series.leakage import (
    Leakage,
    Said,
    bias_squares,
    design,
    level_system,
    noises,
    objective,
    of_rows,
    squares,
    unit,
)

STEPS = 50  # of EM at most
SETTLED = 1e-3  # change of a leakage or bias, in standard deviations, or of a log noise variance, that is none
LONGEST_STEP = 1.0  # of a log variance
HALVINGS = 5  # of a step of a log variance, until it rises
ROUNDING = 1e-13  # share of a cost that sums may be off by; without it chance may refuse the last step


class Moments(NamedTuple):
    """Expected sums of products of the truth of all dimensions and, of levels, 1, with themselves and what rows say."""

    courses: np.ndarray  # (K D, D, D)
    said: np.ndarray  # (K D, D)
    levels: np.ndarray  # (K D, D + 1, D + 1)
    level_said: np.ndarray  # (K D, D + 1)


def leakages(data: Said, now: Leakage) -> tuple[Leakage, list[float]]:
    """The most probable leakage, and the objective on the way. now: where nobody leaks."""  # eq. S53
    now = now._replace(known=_leaking(data, now, _expected(data, now))[2])
    values = [objective(data, now)]
    for _ in range(STEPS):
        before, now = now, _step(data, now)
        values.append(objective(data, now))
        if _moved(data, before, now) < SETTLED:
            break
    return now, values


def _moved(data: Said, before: Leakage, after: Leakage) -> float:
    sd = np.sqrt(of_rows(data, data.A))
    changes = (
        (after.share - before.share) / unit(data),
        (after.bias - before.bias) / sd,
        after.beta - before.beta,
        np.log(after.eta / before.eta),
    )
    return max(float(np.abs(change).max()) for change in changes)


def _step(data: Said, now: Leakage) -> Leakage:
    found = _expected(data, now)
    share, bias, _ = _leaking(data, now, found)
    now = now._replace(share=share, bias=bias)
    square, count = squares(data, now)
    biases, people = bias_squares(data, now)
    now = now._replace(variance=square / count, tau2=biases / people)
    return _with_noise(data, now, found)


def _expected(data: Said, now: Leakage) -> Moments:
    n, D = now.share.shape
    G, (noise, level_noise) = design(data, now), noises(data, now)
    courses, said = np.zeros((n, D, D)), np.zeros((n, D))
    for one in data.strata:
        g = G[one.who] / noise[one.who, None]
        V = np.linalg.inv(data.expected[0] + G[one.who].T @ g)
        m = one.rows @ g @ V
        courses[one.who] += m.T @ m + one.frames * V
        said[one.who] += one.rows.T @ m
    P, h = level_system(data, G, now.bias, level_noise)
    V = np.linalg.inv(P)
    L = np.concatenate([np.einsum("mde,me->md", V, h), np.ones((data.recordings, 1))], axis=1)
    second = L[:, :, None] * L[:, None]
    second[:, :D, :D] += V
    levels, level_said = np.zeros((n, D + 1, D + 1)), np.zeros((n, D + 1))
    np.add.at(levels, data.of, second[data.recording])
    np.add.at(level_said, data.of, L[data.recording] * data.level[:, None])
    return Moments(courses, said, levels, level_said)


def _leaking(data: Said, now: Leakage, found: Moments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leakage (K D, D) and biases (K D,) that are expected to be most probable; variances (K D, D) of leakage there."""
    n, D = now.share.shape
    K, units, (noise, level_noise) = n // D, unit(data), noises(data, now)
    H, h = found.levels / level_noise[:, None, None], found.level_said / level_noise[:, None]
    H[:, :D, :D] += data.kappa / noise[:, None, None] * found.courses
    h[:, :D] += data.kappa / noise[:, None] * found.said
    H[:, D, D] += data.row.bias_weight / of_rows(data, now.tau2)
    share, bias, known = np.zeros((n, D)), np.zeros(n), np.zeros((n, D))
    for d in range(D):
        rows, others = d * K + np.flatnonzero(data.row.moving[d * K : (d + 1) * K]), np.delete(np.arange(D), d)
        still = d * K + np.flatnonzero(~data.row.moving[d * K : (d + 1) * K])
        bias[still] = (h[still, D] - data.row.gain[still] * H[still, D, d]) / H[still, D, D]
        if not len(rows):
            continue
        asked, c = np.append(others, D), np.arange(D - 1)  # leakages, then the bias
        left = h[np.ix_(rows, asked)] - data.row.gain[rows, None] * H[rows][:, asked, d]
        precision = H[np.ix_(rows, asked, asked)]
        precision[:, c, c] += 1.0 / (now.variance * units[np.ix_(rows, others)] ** 2)
        C = np.linalg.inv(precision)
        free = np.einsum("kde,ke->kd", C, left)
        own = 1.0 / data.row.scale[rows]  # in their own scale leakages sum to 0: what all have in common is truth
        common = np.linalg.solve(np.einsum("k,kde->de", own**2, C[:, :-1, :-1]), own @ free[:, :-1])
        best = free - C[:, :, :-1] @ common * own[:, None]
        share[np.ix_(rows, others)], bias[rows] = best[:, :-1], best[:, -1]
        known[np.ix_(rows, others)] = np.diagonal(C, axis1=1, axis2=2)[:, :-1]
    return share, bias, known


# ---- noise


def _with_noise(data: Said, now: Leakage, found: Moments) -> Leakage:
    """Log noise variances of rows, then what errors of levels have in common."""
    D, u, moving = len(data.A), data.row.unsigned, data.row.moving
    G = design(data, now)
    left = _left(data.square, G, found.courses, found.said)
    level_square = np.bincount(data.of, data.level**2, minlength=len(u))
    level_left = _left(level_square, np.column_stack([G, now.bias]), found.levels, found.level_said)
    given, levels, AB = data.kappa * data.frames, found.levels[:, D, D], of_rows(data, data.AB)
    own = Variances(
        given=np.stack([given, levels], axis=1),
        square=np.stack([data.kappa * left, level_left], axis=1),
        factor=np.stack([np.ones(len(u)), of_rows(data, now.eta)], axis=1),
        more=np.stack([u * of_rows(data, data.A), u * AB], axis=1),
        mean=data.row.expected,
        precision=data.row.precision,
    )
    beta = np.where(moving, greater(own, now.beta, np.where(moving, data.row.least, -np.inf)), now.beta)
    imagined = np.full((D, 1), priors.PRIOR_LEVELS)
    level = Variances(
        given=np.column_stack([levels.reshape(D, -1), imagined]),
        square=np.column_stack([level_left.reshape(D, -1), imagined]),
        factor=np.column_stack([np.exp(beta).reshape(D, -1), np.ones(D)]),
        more=np.column_stack([(u * AB).reshape(D, -1), np.zeros(D)]),
        mean=np.zeros(D),
        precision=np.zeros(D),
    )
    bounds = np.log([priors.LEAST_LEVEL_ERROR, priors.MOST_LEVEL_ERROR])
    eta = np.exp(greater(level, np.log(now.eta), bounds[0], bounds[1]))
    return now._replace(beta=beta, eta=eta)


def _left(square: np.ndarray, follows: np.ndarray, second: np.ndarray, said: np.ndarray) -> np.ndarray:
    """(n,) expected squares of what rows say, less what they follow."""
    followed = np.einsum("nd,nde,ne->n", follows, second, follows)
    return np.asarray(np.maximum(square - 2.0 * np.sum(follows * said, axis=1) + followed, 0.0))


class Variances(NamedTuple):
    """n log variances t, each of which makes several variances exp(t) factor + more."""

    given: np.ndarray  # (n, m) how many errors of each variance there are
    square: np.ndarray  # (n, m) their squares
    factor: np.ndarray  # (n, m)
    more: np.ndarray  # (n, m)
    mean: np.ndarray  # (n,) of a normal prior
    precision: np.ndarray  # (n,)

    def cost(self, t: np.ndarray) -> np.ndarray:
        """(n,) minus twice the log density."""
        v = np.exp(t)[:, None] * self.factor + self.more
        return np.asarray(
            np.sum(self.given * np.log(v) + self.square / v, axis=1) + self.precision * (t - self.mean) ** 2
        )

    def step(self, t: np.ndarray) -> np.ndarray:
        """(n,) of Fisher's scoring."""
        own = np.exp(t)[:, None] * self.factor
        v = own + self.more
        slope = np.sum((self.given - self.square / v) * own / v, axis=1) + 2.0 * self.precision * (t - self.mean)
        curve = np.sum(self.given * (own / v) ** 2, axis=1) + 2.0 * self.precision
        step = -slope / np.where(curve > 0, curve, 1.0)
        return np.asarray(np.clip(step, -LONGEST_STEP, LONGEST_STEP))


def greater(of: Variances, t: np.ndarray, least: np.ndarray | float, most: float = np.inf) -> np.ndarray:
    """(n,) log variances that are no less probable than t, by a step towards the most probable ones."""
    before, step = of.cost(t), of.step(t)
    found, todo = t.copy(), np.ones(len(t), bool)
    for _ in range(HALVINGS):
        there = np.clip(t + step, least, most)
        better = todo & (of.cost(there) <= before + ROUNDING * np.abs(before))
        found[better], todo[better] = there[better], False
        step = 0.5 * step
    return found
