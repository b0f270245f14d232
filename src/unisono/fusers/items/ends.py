"""Which answers are at an end of the scale, and what that says; how a fit keeps it."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.data.scale import Scale
from unisono.fusers.scaling import Scaling
from unisono.maths.items.classes import weight_of_gain
from unisono.maths.items.ends import EndAnswers, Typical
from unisono.maths.items.params import ItemParams

MOST_LEVELS = 12  # different answers up to which they are kinds, and not numbers
FEWEST_INSIDE = 3  # kinds that it takes: of two, all answers are at an end, and nothing says how far beyond they lie
FEWEST_EACH = 2  # answers of each kind, on average: the few answers of a small table are all different


def answer_step(levels: np.ndarray, answers: int) -> float:
    """The distance between neighbouring answers, from the different ones among so many; NaN where they are numbers."""
    few = FEWEST_INSIDE <= len(levels) <= MOST_LEVELS and answers >= FEWEST_EACH * len(levels)
    return float(np.diff(levels).min()) if few else np.nan


def answer_steps(value: np.ndarray) -> np.ndarray:
    """(D,) of the columns of answers (J, D), NaN where missing."""
    seen = [column[~np.isnan(column)] for column in value.T]
    return np.array([answer_step(np.unique(column), len(column)) for column in seen])


def earlier_steps(ends: EndAnswers | None, scaling: Scaling) -> np.ndarray:
    """(D,) of an earlier fit: a batch is read as those before it."""
    if ends is None:
        return np.full(len(scaling.scale), np.nan)
    return np.asarray(np.where(ends.read, ends.step, np.nan) * scaling.scale)


def find_ends(step: np.ndarray, scale: Scale, scaling: Scaling) -> EndAnswers | None:
    """The ends of a scale whose answers lie `step` (D,) apart, in the user's units; None where all are numbers."""
    step = step / scaling.scale
    low, high = scaling.standardise(scale.low), scaling.standardise(scale.high)
    few = np.isfinite(step)
    found = EndAnswers(np.where(few, low, -np.inf), np.where(few, high, np.inf), np.where(few, step, 0.0))
    return found if found.any else None


def typical_annotators(
    ends: EndAnswers | None, params: ItemParams, observed: np.ndarray | bool = False
) -> Typical | None:
    """How competent annotators answer on such a scale: spammers would have it that nobody reaches its ends.

    Where known truths were `observed` (D,), truths are on their scale, whatever annotators make of it.
    """
    if ends is None:
        return None
    assert params.cov is not None
    D = len(ends.low)
    gain, noise = (np.diagonal(part[:-1], axis1=1, axis2=2) for part in (params.F, params.N))
    weight = weight_of_gain(gain)
    total = weight.sum(axis=0)
    own = np.where(total > 0, (weight * noise).sum(axis=0) / np.where(total > 0, total, 1.0), np.diagonal(params.N[-1]))
    spread = own + params.cov[-1, :, -1, -1]
    return Typical(ends, np.where(observed, np.inf, spread), np.ones(D), np.zeros(D))


def ends_note(typical: Typical | None) -> dict[str, Any]:
    """What the summary says of dimensions on which answers at an end stand for numbers beyond as well."""
    if typical is None:
        return {}
    return {"response": {"kind": "ends", "dimensions": int(typical.ends.read.sum())}}


def ends_arrays(typical: Typical | None) -> dict[str, np.ndarray]:
    """The ends of the scale as they are saved."""
    if typical is None:
        return {}
    parts = typical.ends._asdict() | {name: part for name, part in typical._asdict().items() if name != "ends"}
    return {f"end_{name}": np.asarray(part) for name, part in parts.items()}


def restore_ends(arrays: dict[str, np.ndarray]) -> Typical | None:
    """The ends of the scale of a saved fit; those of older versions began at the end itself."""
    if "end_low" not in arrays:
        return None
    low, high, spread = (arrays[f"end_{name}"] for name in ("low", "high", "spread"))
    ends = EndAnswers(low, high, arrays.get("end_step", np.zeros_like(spread)))
    scale, offset = arrays.get("end_scale", np.ones_like(spread)), arrays.get("end_offset", np.zeros_like(spread))
    return Typical(ends, spread, scale, offset)
