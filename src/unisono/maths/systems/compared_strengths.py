"""Strengths of systems from comparisons, and the errors that answers about one prompt, or of one annotator, share.

With y = 1, 1/2, 0 for left, tie, right, and an effect o of the left side where there are sides (Bradley-Terry):

    E y = p = expit(a_left - a_right + o),   a = argmax sum y log p + (1 - y) log(1 - p) - LOOSE |a|^2 / 2
    C = phi H^-1,  H = sum p (1 - p) x x',  x = e_left - e_right,  phi = sum (y - p)^2 / sum p (1 - p)      eq. L10

Everybody counts alike, since the average annotator is asked about: one who has other favourites is no worse for that.
Outputs differ by prompt, and annotators have favourites, so that answers of a group c (a prompt, an annotator) share
errors. With its information H_c and its pull psi_c = H^-1 sum (y - p) x,

    E sum psi_c psi_c' = C + theta_c U_c + theta_other U_both,   U_c = H^-1 (sum H_c^2) H^-1                eq. L11

the traces of both sums give the variances theta, as in eq. L5, with degrees of freedom by Satterthwaite.

    n answers, S systems
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls
from scipy.special import expit

from unisono.maths.systems.mixed_model import Chance
from unisono.maths.systems.score_design import ANNOTATORS, codes
from unisono.maths.systems.system_priors import LOOSE
from unisono.maths.systems.system_statements import Means, Sources

STEPS, SETTLED = 100, 1e-9  # numerical: of Newton's method
GROUPS = 2_000  # numerical: whose information is in memory at once
TINY = np.finfo(float).tiny


class Answers(NamedTuple):
    """Comparisons of systems."""

    left: np.ndarray  # (n,)
    right: np.ndarray  # (n,)
    y: np.ndarray  # (n,) 1, 1/2 or 0
    S: int
    sided: bool  # whether left is a side, which may be preferred


class Strengths(NamedTuple):
    """Estimates at the maximum."""

    a: np.ndarray  # (S,) with mean 0
    inverse: np.ndarray  # (S, S) H^-1 among contrasts
    surprise: np.ndarray  # (n,) y - p
    weight: np.ndarray  # (n,) p (1 - p)

    @property
    def dispersion(self) -> float:
        """phi: ties vary less than wins and losses."""
        return float(np.sum(self.surprise**2) / max(self.weight.sum(), TINY))


def strengths(answers: Answers) -> Strengths:
    """By Newton's method.                                                                              eq. L10"""
    S, n = answers.S, len(answers.y)
    at, X = np.arange(n), np.zeros((n, S + 1))
    X[at, answers.left], X[at, answers.right], X[:, S] = 1.0, -1.0, float(answers.sided)
    ridge, found = np.append(np.full(S, LOOSE), 1.0 if not answers.sided else LOOSE), np.zeros(S + 1)
    for _ in range(STEPS):
        p = expit(X @ found)
        H = (X * (p * (1 - p))[:, None]).T @ X + np.diag(ridge)
        step = np.linalg.solve(H, X.T @ (answers.y - p) - ridge * found)
        found = found + np.clip(step, -2, 2)
        if np.abs(step).max() < SETTLED:
            break
    p = expit(X @ found)
    centre = np.eye(S) - 1 / S
    inverse = centre @ np.linalg.inv((X * (p * (1 - p))[:, None]).T @ X + np.diag(ridge))[:S, :S] @ centre
    return Strengths(found[:S] - found[:S].mean(), inverse, answers.y - p, p * (1 - p))


def compared_means(
    answers: Answers, groups: Mapping[str, np.ndarray], fixed: Sequence[str] = ()
) -> tuple[Means, dict[str, float]]:
    """Strengths with the covariance of their errors; `groups` (n,) share errors, but for those in `fixed`.  eq. L11"""
    found = strengths(answers)
    C, each = found.inverse, [codes(group) for group in groups.values()]
    own = found.dispersion * C
    U = [C @ squares(answers, found.weight, group) @ C for group in each]
    both = C @ squares(answers, found.weight, codes(*each)) @ C if len(each) > 1 else np.zeros_like(C)
    sizes = np.array([int(group.max()) + 1 for group in each])
    seen = [(pulls(answers, found.surprise, group) @ C) ** 2 for group in each]
    total = np.array([one.sum() * n / max(n - 1, 1) for one, n in zip(seen, sizes, strict=True)])
    A = np.full((len(each), len(each)), np.trace(both))
    np.fill_diagonal(A, [np.trace(one) for one in U])
    alone = float(np.trace(own))
    shown = sizes > 1
    theta = np.zeros(len(each))
    if shown.any():
        theta[shown] = nnls(A[np.ix_(shown, shown)], (total - alone)[shown])[0]
    freedom = np.array([_freedom(one) for one in seen]) * (answers.S - 1) * shown
    random = np.array([name not in fixed for name in groups])
    floor = np.maximum(A @ theta + alone - np.diagonal(A) * theta, TINY) / np.maximum(np.diagonal(A), TINY)
    chance = Chance(
        np.append(1.0, theta * random),
        np.append(0.0, freedom * random),
        np.append(1.0, np.where(random, theta + floor, 0.0)),
        np.append(0.0, np.where(random, floor, 0.0)),
    )
    people = np.array([False, *(name == ANNOTATORS for name in groups)])
    part = np.stack([own, *U])
    covs = chance.theta[:, None, None] * part
    means = Means(found.a, covs.sum(axis=0), covs[people].sum(axis=0), (Sources(part, people, chance),))
    return means, dict(zip(groups, theta.tolist(), strict=True))


def pulls(answers: Answers, surprise: np.ndarray, group: np.ndarray) -> np.ndarray:
    """(groups, S) what the answers of every group pull strengths apart by, beyond what was expected."""
    total = np.zeros((int(group.max()) + 1, answers.S))
    np.add.at(total, (group, answers.left), surprise)
    np.add.at(total, (group, answers.right), -surprise)
    return total


def squares(answers: Answers, weight: np.ndarray, group: np.ndarray) -> np.ndarray:
    """(S, S) sum over groups of the square of the information of their answers."""
    total, order = np.zeros((answers.S, answers.S)), np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(GROUPS, int(group.max()) + 1, GROUPS))
    for part in np.split(order, ends):
        at = codes(group[part])
        l, r, w = answers.left[part], answers.right[part], weight[part]
        H = np.zeros((int(at.max()) + 1, answers.S, answers.S))
        for a, b, sign in ((l, l, 1), (r, r, 1), (l, r, -1), (r, l, -1)):
            np.add.at(H, (at, a, b), sign * w)
        total += np.einsum("gst,gtu->su", H, H)
    return total


def _freedom(seen: np.ndarray) -> float:
    """How many groups of one size their squared pulls (groups, S) are worth, less one."""
    size = seen.sum(axis=1)
    return max(float(size.sum() ** 2 / max(float(size @ size), TINY)) - 1, 0.0)
