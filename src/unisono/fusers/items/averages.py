"""What people do today: mean, median, z-score mean, EWE, and the weighted mean with bias removed."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unisono.fusers.items.averaging import NEAR_ZERO, Adjustment, Baseline, as_they_are
from unisono.maths.grouped import grouped_correlation, segment_sum
from unisono.maths.items.averages import Average, median, weighted_mean


class Mean(Baseline):
    """The plain mean of the ratings."""

    kind: ClassVar[str] = "mean"

    def _adjust(self, z: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, M: int, K: int) -> Adjustment:
        return as_they_are(K, z.shape[1])


class Median(Mean):
    """The median of the ratings."""

    kind: ClassVar[str] = "median"

    def _average(self, z: np.ndarray, weight: np.ndarray, item_of: np.ndarray, M: int) -> Average:
        return median(z, item_of, M)


class ZScoreMean(Baseline):
    """The mean after giving every annotator the same mean and spread; who never varies says nothing."""

    kind: ClassVar[str] = "zscore-mean"

    def _adjust(self, z: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, M: int, K: int) -> Adjustment:
        seen = ~np.isnan(z)
        n = np.maximum(segment_sum(seen.astype(float), annotator_of, K), 1)
        mean = segment_sum(np.where(seen, z, 0.0), annotator_of, K) / n
        squares = segment_sum(np.where(seen, z - mean[annotator_of], 0.0) ** 2, annotator_of, K)
        sd = np.sqrt(squares / n)
        varies = sd > NEAR_ZERO
        factor = np.where(varies, 1 / np.where(varies, sd, 1.0), 0.0)
        return Adjustment(mean, factor, varies.astype(float), np.zeros(z.shape[1]))


class EvaluatorWeighted(Baseline):
    """EWE: annotators weigh as much as their answers correlate with the mean of the others; never less than nothing."""

    kind: ClassVar[str] = "ewe"

    def _adjust(self, z: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, M: int, K: int) -> Adjustment:
        left_out = weighted_mean(z, np.ones_like(z), item_of, M).left_out
        weight = np.nan_to_num(grouped_correlation(z, left_out, annotator_of, K), nan=0.0)
        return as_they_are(K, z.shape[1])._replace(weight=np.maximum(weight, 0.0))


class WeightedMean(Baseline):
    """Bias removed, then weights of one over the annotator's noise variance; repeated until it settles."""

    kind: ClassVar[str] = "weighted-mean"

    def _adjust(self, z: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, M: int, K: int) -> Adjustment:
        how = as_they_are(K, z.shape[1])
        n = segment_sum((~np.isnan(z)).astype(float), annotator_of, K)
        for _ in range(50):
            truth = weighted_mean(z - how.offset[annotator_of], how.weight[annotator_of], item_of, M).mean
            residual = np.nan_to_num(z - truth[item_of])
            offset = segment_sum(residual, annotator_of, K) / np.maximum(n, 1)
            offset -= (n * offset).sum(axis=0) / np.maximum(n.sum(axis=0), 1)
            squares = segment_sum(np.where(np.isnan(z), 0.0, residual - offset[annotator_of]) ** 2, annotator_of, K)
            # Ten imaginary answers with the pooled variance: nobody becomes certain by a few lucky hits.
            pooled = squares.sum(axis=0) / np.maximum(n.sum(axis=0), 1)
            weight = (n + 10) / np.maximum(squares + 10 * pooled, NEAR_ZERO)
            change = np.max(np.abs(offset - how.offset), initial=0.0)
            how = how._replace(offset=offset, weight=weight)
            if change < 1e-6:
                break
        return how
