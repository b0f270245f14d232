"""What the chapters on traces share: units per fold, races from folds, and parts of claims by the paper's t-test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from unisono.maths.significance import paired_t
from unisono.reproduce.engine.claims import ALPHA, BOTH, SIMILAR, ClaimPart, Direction, Lead
from unisono.reproduce.engine.experiment import Numbers, Unit
from unisono.reproduce.engine.protocol import INDEPENDENT, JOINT, METRIC_NAMES, PROTOCOL, collected, compared
from unisono.reproduce.engine.series_protocol import gathered

OVER_FOLDS = "paired t-test over test folds, p < .05 in every part"


def fold_units(
    group: str, work: Callable[..., Numbers], settings: Numbers, folds: int, models: Sequence[str]
) -> list[Unit]:
    """One unit for each model and fold; `work` gets `model` and `fold` beside its settings."""
    return [
        Unit(f"{group}_{model}_fold{fold}", work, settings | {"model": model, "fold": fold})
        for model in models
        for fold in range(folds)
    ]


def races_of(group: str, results: Mapping[str, Numbers], models: Sequence[str] = PROTOCOL) -> list[Numbers]:
    """The races of all data sets whose units' keys begin with `group`, one per data set."""
    by_set: dict[str, dict[str, list[Numbers]]] = {}
    for key, result in results.items():
        name, model, _ = key.rsplit("_", 2)
        if name.startswith(group):
            by_set.setdefault(name, {}).setdefault(model, []).append(result)
    return [gathered({model: found[model] for model in models if model in found}) for found in by_set.values()]


def over_folds(found: Sequence[Numbers], dimension: str, metric: str, direction: Direction) -> ClaimPart:
    """Joint against independent by the t-test over the folds of all data sets; similar also has to look similar."""
    tests = compared(found, JOINT, INDEPENDENT, dimension, metric)
    tested = paired_t(np.concatenate([np.array(test["by_fold"]) for test in tests]))
    joint, other = (float(np.mean(collected(found, model, dimension, metric))) for model in (JOINT, INDEPENDENT))
    shown = f"{joint:.3f} against {other:.3f} (mean over folds {tested.mean:+.3f}, p = {tested.p:.2g})"
    sure = tested.p < ALPHA
    holds = {
        "higher": sure and tested.mean > 0,
        "lower": sure and tested.mean < 0,
        "similar": not sure and abs(joint - other) < SIMILAR,
    }
    return ClaimPart(f"{METRIC_NAMES[metric]} of {dimension}", shown, bool(holds[direction]), Lead(*BOTH, tested.mean))
