"""One D = 1 model of traces per dimension, with the joint model's settings."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unisono.fusers.base import OnState
from unisono.fusers.items.independent import sum_of_traces
from unisono.fusers.series.base import DimensionModel, Estimated
from unisono.fusers.series.data import one_dimension
from unisono.fusers.series.joint import SeriesJoint
from unisono.fusers.series.progress import Watcher
from unisono.maths.series.params import SeriesData


class SeriesIndependent(SeriesJoint):
    """Each dimension by itself."""

    kind: ClassVar[str] = "series-independent"
    one_by_one = True

    def _estimate(
        self, data: SeriesData, gold: np.ndarray | None, watch: Watcher, on_state: OnState | None
    ) -> Estimated:
        found = together(
            [
                super(SeriesIndependent, self)._estimate(
                    one_dimension(data, d), None if gold is None else gold[:, [d]], watch, None
                )
                for d in range(data.D)
            ]
        )
        if on_state is not None:
            on_state(max(found.trace.iterations - 1, 0), self._at(found))
        return found


def together(found: list[Estimated]) -> Estimated:
    """Estimates of one dimension each as one estimate."""
    parts = tuple(DimensionModel((d,), one.parts[0].model) for d, one in enumerate(found))
    truths = [one.truth for one in found if one.truth is not None]
    truth = None
    if truths:
        mean = np.concatenate([own for own, _ in truths], axis=1)
        cov = np.zeros((len(mean), len(found), len(found)))
        for d, (_, own) in enumerate(truths):
            cov[:, d, d] = own[:, 0, 0]
        truth = (mean, cov)
    return Estimated(parts, sum_of_traces([one.trace for one in found]), truth, gold=any(one.gold for one in found))
