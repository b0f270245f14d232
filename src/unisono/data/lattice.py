"""The step that people answer in: how far neighbouring answers lie apart on a scale, and how coarse that is.

Answers in m equal steps from the lowest to the highest are told by the mean cosine of their phases, over answers that
are at no end,

    R_m = sum_i cos(2 pi m u_i) / (n inside + share n),   u = (y - low) / (high - low)                       eq. B25

which is 1 where all lie on the lattice and about 0 where none does. It hardly moves with a disturbance that is small
against the step, with a typing error or with one annotator who answers in between. Of all numbers of steps the one is
taken whose description is shortest: an answer on the lattice says log m, one beside it says as much as a number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Scales of 2 to 10 steps gain by it, sliders of 100 lose; in between nothing is on record (docs/decisions/0005).
COARSE_STEPS = 10.0  # steps from end to end up to which answers are kinds ...
FINE_STEPS = 20  # ... and from which on they are numbers; in between they are both, along the logarithm
ON_LATTICE = (0.5, 0.75)  # convention: mean cosine of answers that are no kinds yet, and that are nothing else
NUMBER_KINDS = 1000.0  # convention: what a number that is no kind might as well have been: three digits
LEAST_INSIDE = 0.02  # convention: share of all answers, imagined between the ends: where none is there, none is beyond
MOST_VALUES = 1 << 14  # numerical: different answers that are looked at; of more, one in so many, evenly in order


class Lattice(NamedTuple):
    """How far neighbouring answers lie apart, and how much that makes them kinds instead of numbers."""

    step: float  # NaN where nothing lies between the ends
    weight: float  # from 0, numbers, to 1, kinds


NUMBERS = Lattice(np.nan, 0.0)


def answer_lattice(value: np.ndarray, times: np.ndarray, low: float, high: float) -> Lattice:
    """Of different answers (n,) in order, given so many `times` (n,), on a scale from `low` to `high`.

    An end that there is not is where the last answer is.                                                   eq. B25
    """
    if not len(value):
        return NUMBERS
    low, high = (end if np.isfinite(end) else float(own) for end, own in ((low, value[0]), (high, value[-1])))
    if not high > low:
        return NUMBERS
    every = -(-len(value) // MOST_VALUES)
    place, weight = (value[::every] - low) / (high - low), times[::every].astype(float)
    agreement = _agreement(place, weight)
    steps = np.arange(1, FINE_STEPS + 1)
    best = int(np.argmax(agreement - np.log(steps) / np.log(NUMBER_KINDS)))
    little, all_ = ON_LATTICE
    kinds = np.clip((agreement[best] - little) / (all_ - little), 0.0, 1.0)
    coarse = np.clip(np.log(FINE_STEPS / steps[best]) / np.log(FINE_STEPS / COARSE_STEPS), 0.0, 1.0)
    return Lattice((high - low) / float(steps[best]), float(kinds * coarse))


def _agreement(place: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(FINE_STEPS,) R_m of answers at `place`, 0 at the lower end and 1 at the upper; of one step there is nothing."""
    edge = 0.5 / FINE_STEPS
    inside = (place > edge) & (place < 1 - edge)
    total = times[inside].sum() + LEAST_INSIDE * times[(place >= -edge) & (place <= 1 + edge)].sum()
    found = np.zeros(FINE_STEPS)
    if not inside.any():
        return found
    cosine, own = np.cos(2 * np.pi * place[inside]), times[inside]
    before, current = np.ones_like(cosine), cosine
    for m in range(2, FINE_STEPS + 1):  # Chebyshev's polynomials: cos m x from cos x
        before, current = current, 2 * cosine * current - before
        found[m - 1] = own @ current
    return np.asarray(found / total)
