"""One EM loop that knows no model: it repeats a step, watches an objective and says why it stopped.

A step maps a state to the next state and the objective AT the state it was given, because the E-step that a step
begins with is what evaluates that state. The loop therefore returns the last state whose objective it has seen, unless
it is asked for the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

State = TypeVar("State")
Stop = Literal["converged", "max_iter", "none"]
StopRule = Callable[[list[float], Any, Any], bool]  # objective so far, the state it was last seen at, the next state
OnStep = Callable[[int, State, float], None]  # iteration, state, its objective
ROUNDING = 1e-9  # numerical: of the objective's size: sums of many terms are no more exact


class EmTrace(NamedTuple):
    """The objective at every state seen, and why the loop ended. Stopped and converged are different words."""

    objective: np.ndarray  # (I,)
    stop: Stop

    @property
    def iterations(self) -> int:
        return len(self.objective)

    @property
    def converged(self) -> bool:
        """Whether the stopping rule was met; `falls` says whether the objective rose all the way there."""
        return self.stop != "max_iter"

    @property
    def falls(self) -> np.ndarray:
        """(F,) iterations, counted from 1, whose objective is lower than that of the one before, beyond rounding."""
        rounding = ROUNDING * np.max(np.abs(self.objective), initial=0.0)
        return np.flatnonzero(np.diff(self.objective) < -rounding) + 2

    @property
    def largest_fall(self) -> float:
        """By how much the objective fell at most from one iteration to the next; 0 if it never did."""
        return float(np.max(-np.diff(self.objective)[self.falls - 2], initial=0.0))

    def path(self) -> dict[str, Any]:
        """What the objective did, as plain values: for summary.json and fit.json. None where there is no objective."""
        if not self.iterations:
            return {"first": None, "last": None, "falls": 0, "largest_fall": 0.0, "largest_fall_at": None}
        fell = len(self.falls) > 0
        return {
            "first": float(self.objective[0]),
            "last": float(self.objective[-1]),
            "falls": len(self.falls),
            "largest_fall": self.largest_fall,
            "largest_fall_at": int(np.argmin(np.diff(self.objective))) + 2 if fell else None,
        }


def relative_change(tol: float) -> StopRule:
    """Stop when the objective moved by less than `tol` of its own size; the paper's rule (1e-5 for items)."""

    def rule(objective: list[float], before: Any, after: Any) -> bool:
        if len(objective) < 2:
            return False
        change = abs(objective[-1] - objective[-2])
        return bool(change <= tol * max(abs(objective[-2]), np.finfo(float).tiny))

    return rule


def not_before(steps: int, rule: StopRule) -> StopRule:
    """The same rule from iteration `steps` on; with `steps = max_iter` it stops nothing and only says what settled."""

    def later(objective: list[float], before: Any, after: Any) -> bool:
        return len(objective) >= steps and rule(objective, before, after)

    return later


def never(objective: list[float], before: Any, after: Any) -> bool:
    """No stop rule: all of `max_iter` iterations are made."""
    return False


def run_em(
    step: Callable[[State], tuple[State, float]],
    start: State,
    *,
    stop_when: StopRule,
    max_iter: int,
    on_step: OnStep[State] | None = None,
    keep: Literal["seen", "next"] = "seen",
    seen: Sequence[float] = (),
) -> tuple[State, EmTrace]:
    """Repeats `step` from `start` until `stop_when` holds or `max_iter` states have been evaluated.

    keep: the state to return: the last whose objective was seen, or the one the last step led to ("next").
    seen: objectives of the iterations that an interrupted run made before it came to `start`.
    """
    state = start
    objective = list(seen)
    for iteration in range(len(objective), max_iter):
        following, value = step(state)
        objective.append(value)
        if on_step is not None:
            on_step(iteration, state, value)
        if stop_when(objective, state, following):
            return following if keep == "next" else state, EmTrace(np.array(objective), "converged")
        if keep == "next" or iteration + 1 < max_iter:
            state = following
    return state, EmTrace(np.array(objective), "max_iter")
