"""Which answers are at an end of the scale, and what that says; how a fit keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono.data.lattice import NUMBERS, Lattice, answer_lattice
from unisono.data.scale import Ends, Scale
from unisono.fusers.scaling import Scaling
from unisono.maths.items.classes import weight_of_gain
from unisono.maths.items.ends import EndAnswers, Typical
from unisono.maths.items.params import ItemParams


def answer_kinds(value: np.ndarray, scale: Scale) -> list[Lattice]:
    """How the answers (J, D) of every dimension lie on its scale, NaN where missing."""
    seen = (np.unique(column[~np.isnan(column)], return_counts=True) for column in value.T)
    return [kinds_on(*own, ends) for own, ends in zip(seen, scale, strict=True)]


def kinds_on(value: np.ndarray, times: np.ndarray, ends: Ends | None) -> Lattice:
    """The same of one dimension, from its different answers (n,) in order and how often each was given (n,)."""
    return NUMBERS if ends is None else answer_lattice(value, times, *ends)


def earlier_kinds(ends: EndAnswers | None, scaling: Scaling) -> list[Lattice]:
    """Those of an earlier fit: a batch is read as those before it."""
    if ends is None:
        return [NUMBERS] * len(scaling.scale)
    weight = np.where(ends.read, ends.weight, 0.0)
    return [Lattice(float(step), float(own)) for step, own in zip(ends.step * scaling.scale, weight, strict=True)]


def find_ends(kinds: Sequence[Lattice], scale: Scale, scaling: Scaling) -> EndAnswers | None:
    """The ends of a scale on which answers, in the user's units, are so much `kinds`; None where all are numbers."""
    weight = np.array([own.weight for own in kinds])
    step = np.where(weight > 0, [own.step for own in kinds], 0.0) / scaling.scale
    low, high = scaling.standardise(scale.low), scaling.standardise(scale.high)
    found = EndAnswers(np.where(weight > 0, low, -np.inf), np.where(weight > 0, high, np.inf), step, weight)
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
    step, weight = arrays.get("end_step", np.zeros_like(spread)), arrays.get("end_weight", np.ones_like(spread))
    ends = EndAnswers(low, high, step, weight)
    scale, offset = arrays.get("end_scale", np.ones_like(spread)), arrays.get("end_offset", np.zeros_like(spread))
    return Typical(ends, spread, scale, offset)
