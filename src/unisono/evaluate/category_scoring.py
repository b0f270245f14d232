"""How fused classes compare with reference classes: accuracy, macro F1, log loss, calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unisono.data.labels import sort_labels
from unisono.maths.categories.scores import accuracy, calibration_error, log_loss, macro_f1


@dataclass(frozen=True)
class CategoryScore:
    """The figures of one dimension of categories; NaN where probabilities are not known."""

    name: str
    n: int  # items in both
    classes: int  # in the reference
    accuracy: float
    macro_f1: float
    log_loss: float  # nats per item
    calibration_error: float  # mean distance of stated probabilities from the share that is right
    not_in_truth: tuple[str, ...]  # classes of the reference that nobody chose

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def score_categories(
    truth: Mapping[str, Mapping[str, str]],
    reference: Mapping[str, Mapping[str, str]],
    probability: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> tuple[CategoryScore, ...]:
    """Scores of every column that both have and that share items: column -> item -> class (-> probability)."""
    shared = [name for name in reference if name in truth and set(truth[name]) & set(reference[name])]
    return tuple(_score(name, truth[name], reference[name], probability.get(name, {})) for name in shared)


def _score(
    name: str, truth: Mapping[str, str], reference: Mapping[str, str], known: Mapping[str, Mapping[str, float]]
) -> CategoryScore:
    items = sort_labels(set(truth) & set(reference))
    classes = sort_labels([*(truth[m] for m in items), *(reference[m] for m in items), *_classes(known)])
    place = {label: c for c, label in enumerate(classes)}
    best = np.array([place[truth[m]] for m in items])
    true = np.array([place[reference[m]] for m in items])
    loss = off = float("nan")
    if all(m in known for m in items):
        p = np.array([[known[m].get(label, 0.0) for label in classes] for m in items])
        loss = log_loss(p, true)
        off = calibration_error(p[np.arange(len(items)), best], best == true)
    chosen = _classes(known) | set(truth.values())
    unseen = tuple(label for label in sort_labels(reference[m] for m in items) if label not in chosen)
    figures = accuracy(best, true), macro_f1(best, true, len(classes)), loss, off
    return CategoryScore(name, len(items), len(set(true.tolist())), *figures, unseen)


def _classes(known: Mapping[str, Mapping[str, float]]) -> set[str]:
    return {label for row in known.values() for label in row}
