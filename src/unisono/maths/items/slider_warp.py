"""Sliders that annotators bend: the latent rating y* is a monotone function of the rating, the annotator's own.

Given everything else, one dimension after the other, y*_nd has precision W_dd and the center that truth, annotator and
the errors on the other dimensions give it.

    y* = g_k(y),   g_k(y) = low + range * sum_j p_kj I_j(y),   p_kj > 0, sum_j p_kj = 1                      eq. W1
    sum_n [log slope(y_n) - 1/2 (g_k(y_n) - center_n)^2 / sd_n^2] + w sum_j p0_j log(p_kj / p0_j)            eq. W2

I_j rises from 0 to 1 between two knots: g_k is a broken line through the ends of the scale; with p0_j, the segments'
own shares of the range, it is the identity, which w imaginary ratings stand for. The bound is concave in p.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items.item_data import ItemData, profile_sums
from unisono.maths.items.item_params import ItemParams, noise_precision

# A reading of ratings that is not the default (`response="warp"`; eq. W1, W2) has its numbers here.
STRAIGHT_RATINGS = 30.0  # convention: imaginary ratings behind the identity
FEWEST_RATINGS = 100  # convention: ratings of a dimension that it takes to learn an annotator's function
SEGMENTS = 5  # convention: of the broken line, as many with equal shares of the ratings
SEGMENT_HALVINGS = 8  # numerical: of a Newton step that does not climb


class Unbent(NamedTuple):
    """Ratings with the latent ones in their place."""

    y: np.ndarray  # (J, D)
    Sy: np.ndarray  # (U, D)
    Syy: np.ndarray  # (U, D, D)
    log_density: float  # logarithms of the slopes, and of the prior of the shares relative to its highest value
    shares: np.ndarray  # (K, D, J) p of every annotator

    def of(self, data: ItemData) -> ItemData:
        """The data with these ratings."""
        return data._replace(y=self.y, Sy=self.Sy, Syy=self.Syy)


class Sliders(NamedTuple):
    """Ratings of one dimension, in the order of `rows`, with what the rest of the model expects of them."""

    rows: np.ndarray  # (n,) judgements that answer the dimension
    y: np.ndarray  # (n,) as given
    annotator: np.ndarray  # (n,)
    center: np.ndarray  # (n,) expected y*
    sd: np.ndarray  # (n,) around it


class Warp(NamedTuple):
    """Where broken lines may bend; `knots` from one end of the scale to the other, NaN beyond what a dimension has."""

    knots: np.ndarray  # (D, J + 1) standardised; all NaN where ratings are latent ratings themselves

    def bends(self, d: int) -> bool:
        """Whether annotators may bend this dimension."""
        return bool(np.isfinite(self.knots[d]).any())

    def start(self, K: int) -> np.ndarray:
        """(K, D, J) shares of annotators of whom nothing is known: the identity."""
        width = np.diff(self.knots, axis=1)
        return np.tile(width / np.nansum(width, axis=1, keepdims=True), (K, 1, 1))

    def learn(self, d: int, seen: Sliders, shares: np.ndarray) -> np.ndarray:
        """(K, J) shares of dimension d one step nearer to where the bound is highest."""
        line = self._line(d, seen.y)
        found = shares.copy()
        found[:, : line.segments] = _better_shares(shares[:, : line.segments], seen, line)
        return found

    def latent(self, d: int, y: np.ndarray, annotator: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, float]:
        """(n,) latent ratings of dimension d under shares (K, J), and their part of the bound.             eq. W1"""
        line = self._line(d, y)
        p = shares[:, : line.segments]
        log_slope = np.log(p / line.straight)
        prior = float(STRAIGHT_RATINGS * (line.straight * log_slope).sum())
        return line.low + line.reach * np.einsum("nj,nj->n", line.inside, p[annotator]), (
            float(log_slope[annotator, line.segment].sum()) + prior
        )

    def _line(self, d: int, y: np.ndarray) -> _Line:
        knots = self.knots[d][np.isfinite(self.knots[d])]
        inside = np.clip((y[:, None] - knots[:-1]) / np.diff(knots), 0.0, 1.0)
        segment = np.clip(np.searchsorted(knots, y, side="right") - 1, 0, len(knots) - 2)
        reach = float(knots[-1] - knots[0])
        return _Line(float(knots[0]), reach, np.diff(knots) / reach, inside, segment)


class _Line(NamedTuple):
    """Where ratings lie between the knots of a dimension."""

    low: float
    reach: float
    straight: np.ndarray  # (J,) shares of the identity
    inside: np.ndarray  # (n, J) I_j of every rating
    segment: np.ndarray  # (n,) that it lies in

    @property
    def segments(self) -> int:
        return len(self.straight)


class FittedWarp(NamedTuple):
    """A warp with the shares that were learned; the last ones are the newcomer's."""

    warp: Warp
    shares: np.ndarray  # (K, D, J)


def unbend(given: ItemData, fitted: FittedWarp) -> Unbent:
    """The latent ratings of ratings `given` under fixed shares."""
    y, log_density = given.y.copy(), 0.0
    answered, who = given.answered[given.profile_of], given.annotator_of
    for d in filter(fitted.warp.bends, range(given.D)):
        rows = np.flatnonzero(answered[:, d])
        y[rows, d], part = fitted.warp.latent(d, given.y[rows, d], who[rows], fitted.shares[:, d])
        log_density += part
    return Unbent(y, *profile_sums(y, given.profile_of, len(given.annotator)), log_density, fitted.shares)


def relearn(current: ItemData, given: ItemData, fitted: FittedWarp, params: ItemParams, mean: np.ndarray) -> Unbent:
    """One sweep over dimensions: shares where the bound is highest, with the latent ratings of the others as they are.

    `current` has the latent ratings of `given` so far, `mean` (M, D) expected truths.
    """
    warp, shares = fitted.warp, fitted.shares.copy()
    W, _ = noise_precision(params.N, given.annotator, given.answered)
    answered, who = given.answered[given.profile_of], given.annotator_of
    abar = np.hstack([mean[given.item_of], np.ones((len(given.y), 1))])
    expected = np.einsum("ndi,ni->nd", params.B[who], abar)
    error = np.where(answered, current.y - expected, 0.0)
    for d in filter(warp.bends, range(given.D)):
        rows = np.flatnonzero(answered[:, d])
        own = W[given.profile_of[rows], d]
        weight = own[:, d]
        center = expected[rows, d] - (np.einsum("ne,ne->n", own, error[rows]) - weight * error[rows, d]) / weight
        seen = Sliders(rows, given.y[rows, d], who[rows], center, 1 / np.sqrt(weight))
        shares[:, d] = warp.learn(d, seen, shares[:, d])
        error[rows, d] = warp.latent(d, seen.y, seen.annotator, shares[:, d])[0] - expected[rows, d]
    return unbend(given, FittedWarp(warp, shares))


def pooled_knots(y: np.ndarray, low: float, high: float) -> np.ndarray:
    """Knots from `low` to `high` between which about equally many of the ratings y (n,) lie."""
    inner = np.quantile(y, np.arange(1, SEGMENTS) / SEGMENTS)
    inner = np.unique(inner[(inner > low) & (inner < high)])
    return np.concatenate([[low], inner, [high]])


def _better_shares(p: np.ndarray, seen: Sliders, line: _Line) -> np.ndarray:
    """One Newton step of eq. W2 for every annotator with enough ratings, halved until the bound is no lower."""
    K, J = p.shape
    who, weight = seen.annotator, 1 / seen.sd**2
    given = np.bincount(who, minlength=K)
    count = np.zeros((K, J))
    np.add.at(count, (who, line.segment), 1.0)
    count += STRAIGHT_RATINGS * line.straight
    quadratic, linear = np.zeros((K, J, J)), np.zeros((K, J))
    np.add.at(quadratic, who, line.reach**2 * weight[:, None, None] * line.inside[:, :, None] * line.inside[:, None, :])
    np.add.at(linear, who, line.reach * (weight * (seen.center - line.low))[:, None] * line.inside)

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
    for _ in range(SEGMENT_HALVINGS):
        proposal = p + size * step
        good = np.asarray((proposal > 0).all(axis=1))
        good &= objective(np.where(good[:, None], proposal, p)) >= now
        if good.all():
            return proposal
        size = np.where(good[:, None], size, size / 2)
    return np.where(good[:, None], proposal, p)
