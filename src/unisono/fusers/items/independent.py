"""One D = 1 model per dimension: the paper's baseline.

Fitted one by one and kept as one model whose matrices are diagonal, so that fusing, predicting and describing are those
of the joint model.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unisono.fusers.items.estimate import Estimate, Run, sum_of_traces
from unisono.fusers.items.joint import Joint
from unisono.fusers.items.prepared import Prepared
from unisono.maths.items.data import ItemData, of_dimensions
from unisono.maths.items.params import ItemParams
from unisono.maths.raters.diagnosis import Diagnosis, diagnose


class Independent(Joint):
    """The joint model's settings, applied to each dimension by itself."""

    kind: ClassVar[str] = "independent"
    one_by_one = True

    def _estimate(self, given: Prepared, run: Run) -> Estimate:
        data = given.data
        seen: list[list[Estimate]] = [[] for _ in range(data.D)]
        parts = []
        for d, own in enumerate(seen):
            keep = None if run.on_estimate is None else lambda _, estimate, own=own: own.append(estimate)
            part = given._replace(data=of_dimensions(data, [d]), ends=given.ends.of([d]))
            parts.append(super()._estimate(part, run._replace(on_estimate=keep)))
        if run.on_estimate is not None:
            # The dimensions went one after the other; told as if they had gone side by side.
            for i in range(max(map(len, seen))):
                run.on_estimate(i, _combine([states[min(i, len(states) - 1)] for states in seen]))
        return _combine(parts)

    def _diagnosis(self, data: ItemData) -> Diagnosis:
        return diagnose(data.value, data.item_of, data.annotator_of, data.K)


def _combine(parts: list[Estimate]) -> Estimate:
    return Estimate(
        params=_side_by_side([part.params for part in parts]),
        trace=sum_of_traces([part.trace for part in parts]),
        theta_var=np.mean([part.theta_var for part in parts], axis=0),
    )


def _side_by_side(parts: list[ItemParams]) -> ItemParams:
    """Models of one dimension each as one model with diagonal matrices."""
    D, K = len(parts), len(parts[0].B)
    B = np.zeros((K, D, D + 1))
    N, Sigma = np.zeros((K, D, D)), np.zeros((D, D))
    cov = None if parts[0].cov is None else np.zeros((K, D, D + 1, D + 1))
    for d, part in enumerate(parts):
        own = np.array([d, D])
        B[:, d, own] = part.B[:, 0]
        N[:, d, d], Sigma[d, d] = part.N[:, 0, 0], part.Sigma[0, 0]
        if cov is not None and part.cov is not None:
            cov[:, d, own[:, None], own] = part.cov[:, 0]
    theta = np.hstack([part.theta for part in parts])
    return ItemParams(B, N, theta, np.concatenate([part.mu for part in parts]), Sigma, cov)
