"""Sliders read through a monotone function of every annotator who has given many ratings.

    y* = g_k(y),   g_k(y) = low + range * sum_j p_kj I_j(y),   p_kj > 0, sum_j p_kj = 1                      eq. W1

I_j rises from 0 to 1 between two knots, straight: g_k is a broken line through the ends of the scale, and with p0_j,
the segments' own shares of the range, it is the identity. Its slope in segment j is p_kj / p0_j. Given the rest of the
model the bound is a concave function of p_k:

    sum_n [log slope(y_n) - 1/2 (g_k(y_n) - center_n)^2 / sd_n^2] + w sum_j p0_j log(p_kj / p0_j)            eq. W2

with w imaginary ratings for the identity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items.readings import Numbers, Read

STRAIGHT_RATINGS = 30.0  # of `response="warp"`: imaginary ratings behind the identity
FEWEST_RATINGS = 100  # of `response="warp"`: ratings of a dimension that it takes to learn an annotator's function
SEGMENTS = 5  # of `response="warp"`: as many with equal shares of the ratings
HALVINGS = 8  # numerical: of a Newton step that does not climb


class Warp(NamedTuple):
    """The reading of sliders; `knots` from one end of the scale to the other, NaN beyond what a dimension has."""

    knots: np.ndarray  # (D, J + 1) standardised; all NaN where ratings are numbers

    @property
    def exact(self) -> bool:
        return True

    def reads(self, d: int) -> bool:
        return bool(np.isfinite(self.knots[d]).any())

    def start(self, K: int) -> np.ndarray:
        width = np.diff(self.knots, axis=1)
        return np.tile(width / np.nansum(width, axis=1, keepdims=True), (K, 1, 1))

    def read(self, d: int, numbers: Numbers, shape: np.ndarray, *, learn: bool) -> Read:
        """Segments where the bound is highest, and ratings on the broken line.                             eq. W1"""
        knots = self.knots[d][np.isfinite(self.knots[d])]
        J = len(knots) - 1
        straight = np.diff(knots) / (knots[-1] - knots[0])
        inside = np.clip((numbers.y[:, None] - knots[:-1]) / np.diff(knots), 0.0, 1.0)  # (n, J) I_j
        segment = np.clip(np.searchsorted(knots, numbers.y, side="right") - 1, 0, J - 1)
        p = shape[:, :J]
        if learn:
            p = _climb(p, numbers, inside, segment, knots, straight)
        mean = knots[0] + (knots[-1] - knots[0]) * np.einsum("nj,nj->n", inside, p[numbers.annotator])
        found = shape.copy()
        found[:, :J] = p
        log_slope = np.log(p / straight)
        return Read(
            mean,
            np.zeros(len(mean)),
            found,
            float(log_slope[numbers.annotator, segment].sum()),
            float(STRAIGHT_RATINGS * (straight * log_slope).sum()),
        )


def pooled_knots(y: np.ndarray, low: float, high: float) -> np.ndarray:
    """Knots from `low` to `high` between which about equally many of the ratings y (n,) lie."""
    inner = np.quantile(y, np.arange(1, SEGMENTS) / SEGMENTS)
    inner = np.unique(inner[(inner > low) & (inner < high)])
    return np.concatenate([[low], inner, [high]])


def _climb(
    p: np.ndarray,
    numbers: Numbers,
    inside: np.ndarray,
    segment: np.ndarray,
    knots: np.ndarray,
    straight: np.ndarray,
) -> np.ndarray:
    """One Newton step of eq. W2 for every annotator with enough ratings, halved until the bound is no lower."""
    K, J = p.shape
    reach, who, weight = knots[-1] - knots[0], numbers.annotator, 1 / numbers.sd**2
    given = np.bincount(who, minlength=K)
    count = np.zeros((K, J))
    np.add.at(count, (who, segment), 1.0)
    count += STRAIGHT_RATINGS * straight
    quadratic, linear = np.zeros((K, J, J)), np.zeros((K, J))
    np.add.at(quadratic, who, reach**2 * weight[:, None, None] * inside[:, :, None] * inside[:, None, :])
    np.add.at(linear, who, reach * (weight * (numbers.center - knots[0]))[:, None] * inside)

    def objective(p: np.ndarray) -> np.ndarray:
        square = np.einsum("kj,kji,ki->k", p, quadratic, p, optimize=True)
        return np.asarray((linear * p).sum(axis=1) - 0.5 * square + (count * np.log(p)).sum(axis=1))

    # Newton's step inside the plane of vectors that sum to one.
    system = np.zeros((K, J + 1, J + 1))
    system[:, :J, :J] = quadratic + (count / p**2)[:, :, None] * np.eye(J)
    system[:, :J, J] = system[:, J, :J] = 1.0
    slope = linear - np.einsum("kji,ki->kj", quadratic, p) + count / p
    step = np.linalg.solve(system, np.hstack([slope, np.zeros((K, 1))])[:, :, None])[:, :J, 0]
    step[given < FEWEST_RATINGS] = 0.0
    now, size = objective(p), np.ones((K, 1))
    for _ in range(HALVINGS):
        proposal = p + size * step
        good = np.asarray((proposal > 0).all(axis=1))
        good &= objective(np.where(good[:, None], proposal, p)) >= now
        if good.all():
            return proposal
        size = np.where(good[:, None], size, size / 2)
    return np.where(good[:, None], proposal, p)
