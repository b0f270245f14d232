"""One EM loop that knows no model: it repeats a step, watches an objective and says why it stopped.

A step maps a state to the next state and the objective AT the state it was given, because the E-step that a step
begins with is what evaluates that state. The loop therefore returns the last state whose objective it has seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

State = TypeVar("State")
Stop = Literal["converged", "max_iter", "none"]


class EmTrace(NamedTuple):
    """The objective at every state seen, and why the loop ended. Stopped and converged are different words."""

    objective: np.ndarray  # (I,)
    stop: Stop

    @property
    def iterations(self) -> int:
        return len(self.objective)

    @property
    def converged(self) -> bool:
        return self.stop != "max_iter"


def relative_change(tol: float) -> Callable[[list[float], Any, Any], bool]:
    """Stop when the objective moved by less than `tol` of its own size; the paper's rule (1e-5 for items)."""

    def rule(objective: list[float], before: Any, after: Any) -> bool:
        if len(objective) < 2:
            return False
        change = abs(objective[-1] - objective[-2])
        return bool(change <= tol * max(abs(objective[-2]), np.finfo(float).tiny))

    return rule


def run_em(
    step: Callable[[State], tuple[State, float]],
    start: State,
    *,
    stop_when: Callable[[list[float], State, State], bool],
    max_iter: int,
    on_step: Callable[[int, State, float], None] | None = None,
) -> tuple[State, EmTrace]:
    """Repeats `step` from `start` until `stop_when` holds or `max_iter` states have been evaluated."""
    state = start
    objective: list[float] = []
    for iteration in range(max_iter):
        following, value = step(state)
        objective.append(value)
        if on_step is not None:
            on_step(iteration, state, value)
        if stop_when(objective, state, following):
            return state, EmTrace(np.array(objective), "converged")
        if iteration + 1 < max_iter:
            state = following
    return state, EmTrace(np.array(objective), "max_iter")
