"""Calibration of the posteriors, and agreement of annotators, from one sweep over the shards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.engines.protocol import Executor, Shard
from unisono.engines.sums import pairwise_sum
from unisono.fusers.items.calibration import Calibration, variance_without_signal
from unisono.maths.grouped import correlation_of_sums
from unisono.maths.items.ends import Typical
from unisono.maths.items.estep import completed_posterior
from unisono.maths.items.params import ItemParams
from unisono.maths.items.predictive import left_out, residual_freedom
from unisono.maths.items.rescale import TruthMoments, panel_rescaling_from
from unisono.maths.raters.signal import SharedSignal
from unisono.maths.raters.style_sums import Sums, centred_sums, joined_sums
from unisono.sharded.crowd import Crowd, Moments, joined_moments, moments_of
from unisono.sharded.parts import ItemShard


class Sweep(NamedTuple):
    """What the shards show under fitted parameters."""

    errors: float  # squared errors of left-out answers over the variance claimed for them, summed
    numbers: int
    truths: Moments  # of posterior means over items
    expected: Moments  # of what typical annotators answer
    variance: np.ndarray  # (D,) sum of posterior variances
    answers: Sums  # of annotators, against the truths of the others


def sweep(executor: Executor, shards: list[Shard], params: ItemParams, typical: Typical | None) -> Sweep:
    """One sweep over all shards; `typical` annotators on a scale that ends."""
    found: Sweep = pairwise_sum(executor.map(_sweep, shards, params, typical), _joined)
    return found


def calibrated(
    found: Sweep,
    crowd: Crowd,
    params: ItemParams,
    signal: SharedSignal,
    span: np.ndarray,
    panel: float,
    *,
    continued: bool = False,
) -> Calibration:
    """Scale and honesty of the posterior; `span` (D,) of the standardised answers, `continued` from an earlier fit."""
    freedom = residual_freedom(crowd.data)
    n = np.maximum(found.truths.n, 1)
    expected, truths = found.expected, found.truths
    moments = TruthMoments(
        expected.mean, np.sqrt(expected.squares / n), np.sqrt(truths.squares / n), found.variance / n
    )
    return Calibration(
        max(found.errors / found.numbers if found.numbers else 1.0, 1.0),  # intervals are never narrowed
        freedom,
        panel_rescaling_from(crowd.data, params, moments, crowd.means, panel, continued=continued),
        variance_without_signal(span, freedom),
        signal.probability,
    )


def agreement_of(answers: Sums) -> np.ndarray:
    """(K, D) correlation of an annotator's answers with the truth fused from the others."""
    own = np.einsum("kddd->kd", answers.xx)
    return correlation_of_sums(answers.n, answers.yy, own, np.einsum("kdd->kd", answers.xy))


def _sweep(shard: ItemShard, params: ItemParams, typical: Typical | None) -> Sweep:
    data = shard.data
    found, read = completed_posterior(data, params)
    others = left_out(read, params, data.y, None if typical is None else typical.ends)
    variance = np.diagonal(found.cov, axis1=1, axis2=2)
    return Sweep(
        others.ratio * others.numbers,
        others.numbers,
        moments_of(found.mean),
        moments_of(found.mean if typical is None else typical.answer(found.mean, variance)),
        np.einsum("mdd->d", found.cov),
        centred_sums(data.value, others.mean, data.annotator_of, data.K),
    )


def _joined(one: Sweep, other: Sweep) -> Sweep:
    return Sweep(
        one.errors + other.errors,
        one.numbers + other.numbers,
        joined_moments(one.truths, other.truths),
        joined_moments(one.expected, other.expected),
        one.variance + other.variance,
        joined_sums(one.answers, other.answers),
    )
