"""What estimation gives, and who hears about it while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unisono.fusers.base import Progress
from unisono.maths.em import Trace
from unisono.maths.global_params import GlobalParams


class Estimate(NamedTuple):
    """What estimation gives in standardised units, whichever way it went."""

    params: GlobalParams
    trace: Trace
    precision: np.ndarray  # (D, q) prior precision of [F_k, b_k]; zero under ml
    noise: np.ndarray  # (D, D) noise of an annotator about whom nothing is known
    theta_var: np.ndarray  # (R,) variances of theta's rows relative to Sigma; zero under ml


OnEstimate = Callable[[int, Estimate], None]  # iteration, the estimate there


def reporter(
    on_step: Progress | None, on_estimate: OnEstimate | None, estimate: Callable[[Any, Trace], Estimate]
) -> Callable[[int, Any, float], None] | None:
    """What the EM loop calls, or nothing at all when nobody listens."""
    if on_step is None and on_estimate is None:
        return None
    objective: list[float] = []

    def report(iteration: int, state: Any, value: float) -> None:
        objective.append(value)
        if on_step is not None:
            on_step(iteration, value)
        if on_estimate is not None:
            on_estimate(iteration, estimate(state, Trace(np.array(objective), "max_iter")))

    return report
