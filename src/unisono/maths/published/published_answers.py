"""What published models of items are given, and what they say of a truth: plain arrays, dimensions of one fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.grouped_sums import segment_sum
from unisono.maths.items.item_params import LOG_2PI

ITEMS = 2.0  # convention: items imagined in every region
LEAST_WIDTH = 0.05  # convention: of a region, in variances of a feature score
LEAST_VARIANCE = 1e-6  # numerical: floor of every variance, in those of standardised ratings


class Answers(NamedTuple):
    """Ratings with what identifies them, in standardised units."""

    y: np.ndarray  # (J, D) NaN where missing
    item: np.ndarray  # (J,)
    annotator: np.ndarray  # (J,) 0..K-1; K: nobody of those who were fitted
    M: int
    K: int
    Z: np.ndarray  # (M, P) feature scores of the items, centred

    def of(self, dims: list[int]) -> Answers:
        """Those on some of the dimensions."""
        return self._replace(y=self.y[:, dims])

    def single(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values, items and annotators of the answers there are on the only dimension."""
        seen = ~np.isnan(self.y[:, 0])
        return self.y[seen, 0], self.item[seen], self.annotator[seen]


class Truths(NamedTuple):
    """Posteriors of the items, and what each item's answers add to the log likelihood."""

    mean: np.ndarray  # (M, D)
    cov: np.ndarray  # (M, D, D)
    log_density: np.ndarray  # (M,)


class Spread(NamedTuple):
    """What one dimension's answers show without any model."""

    mean: np.ndarray  # (M,) of an item's answers; 0 without
    answers: np.ndarray  # (M,) how many
    within: float  # variance of answers within items
    between: float  # variance of the truths


def added(values: np.ndarray, of: np.ndarray, size: int) -> np.ndarray:
    """(size,) sums of values (n,) by `of` (n,), or (size, c) of their rows (n, c)."""
    return np.bincount(of, values, minlength=size) if values.ndim == 1 else segment_sum(values, of, size)


def spread_of(y: np.ndarray, item: np.ndarray, M: int) -> Spread:
    """By moments, as of a one-way layout; at least a tenth of the answers' variance is ascribed to either side."""
    count = np.bincount(item, minlength=M).astype(float)
    mean = added(y, item, M) / np.maximum(count, 1)
    freedom = max(len(y) - (count > 0).sum(), 1)
    total = max(float(y.var()) if len(y) else 1.0, LEAST_VARIANCE)
    within = min(max(float(((y - mean[item]) ** 2).sum() / freedom), total / 10), 9 * total / 10)
    return Spread(mean, count, within, total - within)


class Places(NamedTuple):
    """Regions of items: a mixture of normals over feature scores."""

    pi: np.ndarray  # (R,)
    center: np.ndarray  # (R, P)
    width: np.ndarray  # (R, P)

    def log_densities(self, Z: np.ndarray) -> np.ndarray:
        """(M, R) of scores Z (M, P) in every region, its share among them.                                eq. X1"""
        away = (Z[:, None] - self.center) ** 2 / self.width
        return np.asarray(np.log(self.pi) - 0.5 * (away + np.log(self.width) + LOG_2PI).sum(axis=2))

    def log_prior(self, Z: np.ndarray) -> float:
        """Of a region's imaginary items, which lie around the middle as all items do."""
        away = (np.log(self.width) + (self.center**2 + _unit(Z)) / self.width).sum()
        return float(ITEMS * np.log(self.pi).sum() - 0.5 * ITEMS * away)


def _unit(Z: np.ndarray) -> np.ndarray:
    """(P,) variances of the scores."""
    return np.asarray(np.maximum(Z.var(axis=0), LEAST_VARIANCE))


def places_of(Z: np.ndarray, share: np.ndarray) -> Places:
    """Where regions lie whose items have these shares (M, R) in them."""
    size = share.sum(axis=0) + ITEMS
    center = share.T @ Z / size[:, None]
    away = np.einsum("mr,mrp->rp", share, (Z[:, None] - center) ** 2)
    width = np.maximum((away + ITEMS * (center**2 + _unit(Z))) / size[:, None], LEAST_WIDTH * _unit(Z))
    return Places(size / size.sum(), center, width)


def region_starts(apart: np.ndarray, Z: np.ndarray, R: int) -> list[np.ndarray]:
    """Shares (M, R) along how far annotators are apart on an item (M,), and along the two widest feature scores."""
    return [_shares(line, R) for line in [apart, *Z.T[np.argsort(-Z.var(axis=0))[:2]]]]


def _shares(line: np.ndarray, R: int) -> np.ndarray:
    """(M, R) soft membership by distance from R quantiles."""
    at = np.quantile(line, (np.arange(R) + 0.5) / R)
    weight = np.exp(-0.5 * ((line[:, None] - at) / max(float(line.std()), 1e-9)) ** 2 * R)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))
