"""One D = 1 model of traces per dimension, with the joint model's settings."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unisono.fusers.base import OnState
from unisono.fusers.series.data import one_dimension
from unisono.fusers.series.estimated import Estimated, combined
from unisono.fusers.series.joint import Joint
from unisono.fusers.series.progress import Watcher
from unisono.maths.series.params import SeriesData


class Independent(Joint):
    """Each dimension by itself."""

    kind: ClassVar[str] = "series-independent"
    one_by_one = True

    def _estimate(
        self, data: SeriesData, gold: np.ndarray | None, watch: Watcher, on_state: OnState | None
    ) -> Estimated:
        found = combined(
            [
                super(Independent, self)._estimate(
                    one_dimension(data, d), None if gold is None else gold[:, [d]], watch, None
                )
                for d in range(data.D)
            ]
        )
        if on_state is not None:
            on_state(max(found.trace.iterations - 1, 0), self._at(found))
        return found
