"""Dynamic probabilistic CCA for traces, without and with time warping (Nicolaou, Pavlovic and Pantic 2014).

The state space and its EM are in `maths.series.shared_dynamics`; how annotators relate to the shared course, in
`course_traces`. A fit and a fused recording warp alike: from the traces as they are, given what is known of annotators.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar

import numpy as np

from unisono.fusers.baseline_traces import NOTES
from unisono.fusers.course_traces import REACH_SECONDS, CourseFuser, Courses
from unisono.fusers.fuser import Given
from unisono.fusers.fuser_settings import ITERATIONS, TOLERANCE, Number
from unisono.maths.em_loop import EmTrace, relative_change, run_em
from unisono.maths.series import shared_dynamics as dynamics
from unisono.maths.series.trace_data import SeriesData

WARP_EVERY = 5  # numerical: iterations of EM between warps
WARPS = 3  # numerical: of a recording, at most, once annotators are known


class SharedDynamics(CourseFuser):
    """Dynamic probabilistic CCA (Nicolaou, Pavlovic and Pantic 2014): annotators share one course beside their own.

    A linear Gaussian state space of all dimensions together, by EM; features drive what is shared.
    """

    kind: ClassVar[str] = "dpcca"
    numbers: ClassVar[Mapping[str, Number]] = {"tol": TOLERANCE, "max_iter": ITERATIONS}
    reach: ClassVar[float] = 0.0  # seconds that traces are warped at most

    def __init__(self, *, tol: float = 1e-4, max_iter: int = 100) -> None:
        self.tol = tol
        self.max_iter = max_iter

    def _learn(self, data: SeriesData, given: Given) -> tuple[dict[str, np.ndarray], EmTrace]:
        origin, reach = dynamics.recordings(data), round(self.reach * self.rate_)
        rated = np.isin(np.arange(data.K), np.concatenate([part.who for part in origin]))
        State = tuple[dynamics.SharedDynamics, list[dynamics.Recording], int]

        def step(state: State) -> tuple[State, float]:
            params, parts, i = state
            following, loglik = dynamics.em_step(parts, params)
            if reach and i % WARP_EVERY == WARP_EVERY - 1:
                both = zip(parts, origin, strict=True)
                parts = [dynamics.warped_onto_shared(part, own, following, reach) for part, own in both]
            return (following, parts, i + 1), loglik

        def watch(iteration: int, state: State, loglik: float) -> None:
            if given.on_step is not None:
                given.on_step(iteration, loglik)
            if given.on_state is not None:
                other = copy(self)
                other.learnt_ = dynamics.everybody(state[0], rated)._asdict()
                other.trace_ = EmTrace(np.array([loglik]), "max_iter")
                other._settle()
                given.on_state(iteration, other)

        start = dynamics.starting_point(origin, data.K, data.D, data.P), origin, 0
        found, trace = run_em(step, start, stop_when=relative_change(self.tol), max_iter=self.max_iter, on_step=watch)
        return dynamics.everybody(found[0], rated)._asdict(), trace

    def _courses(self, data: SeriesData) -> Courses:
        params, reach = dynamics.SharedDynamics(**self.learnt_), round(self.reach * self.rate_)
        newcomer, means, covs = len(params.W) - 1, [], []
        for part in dynamics.recordings(data):
            part = origin = part._replace(who=np.minimum(part.who, newcomer))
            for _ in range(WARPS):
                before, part = part, dynamics.warped_onto_shared(part, origin, params, reach)
                if part is before:
                    break
            mean, cov = dynamics.shown_course(part, params)
            rated = (~np.isnan(part.y)).any(axis=(0, 1))
            means.append(np.where(rated, mean, np.nan))
            covs.append(cov)
        return Courses(np.concatenate(means), np.concatenate(covs))

    def _unit_of_error(self, residual: np.ndarray, found: Courses) -> np.ndarray:
        return np.ones(residual.shape[1])  # posterior variances are in the ratings' units


class WarpedDynamics(SharedDynamics):
    """The same with time warping: every trace is warped onto what is shared, by at most 1.5 seconds."""

    kind: ClassVar[str] = "dpctw"
    reach = REACH_SECONDS

    def notes(self) -> dict[str, Any]:
        return NOTES | {"delay_convention": "aligned"}
