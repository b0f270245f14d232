"""What published models of items are given, and what they say of a truth: plain arrays, dimensions of one fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.grouped_sums import segment_sum

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
