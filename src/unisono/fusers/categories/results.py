"""What fusing categories gives: class probabilities of items, and how annotators confuse classes. Plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono.data.introduction import Introduction, counted


@dataclass(frozen=True, eq=False)
class FusedChoices:
    """One dimension of categories."""

    name: str
    classes: tuple[str, ...]
    probability: np.ndarray  # (M, C) of every class
    votes: np.ndarray  # (M, C) answers
    answers: np.ndarray  # (K,) answers given
    accuracy: np.ndarray  # (K,) mean probability that an answer is right; NaN without answers
    agreement: np.ndarray  # (K,) how often it is what most others chose; NaN where nobody else answered
    confusion: np.ndarray  # (K, C, C) probability of each answer (last) given the true class
    confused: np.ndarray  # (K, C, C) expected number of answers behind it
    model: str
    why: str | None  # why this model, if another one would have been usual
    temperature: float  # 1: probabilities as the model has them; above: drawn away from certainty

    @property
    def best(self) -> np.ndarray:
        """(M,) the most probable class; of equal ones the first in canonical order."""
        return np.asarray(np.argmax(self.probability, axis=1))

    @property
    def answered(self) -> np.ndarray:
        """(M,) whether an item has an answer."""
        return np.asarray(self.votes.any(axis=1))


@dataclass(frozen=True, eq=False)
class FusedCategories:
    """All dimensions of categories that were fused."""

    items: tuple[str, ...]
    annotators: tuple[str, ...]
    dimensions: tuple[FusedChoices, ...]
    frame_kind: str | None = None

    def __iter__(self) -> Iterator[FusedChoices]:
        return iter(self.dimensions)

    def __getitem__(self, name: str) -> FusedChoices:
        return next(one for one in self.dimensions if one.name == name)

    def __repr__(self) -> str:
        return self.introduction("Fused categories").text()

    def _repr_html_(self) -> str:
        return self.introduction("Fused categories").html()

    def introduction(self, title: str, hint: str = "") -> Introduction:
        """How many classes each dimension has and how sure the most probable ones are."""
        rows = [
            (one.name, str(len(one.classes)), one.model, f"{float(np.median(one.probability.max(axis=1))):.2f}")
            for one in self
        ]
        header = ("dimension", "classes", "model", "typical probability")
        return Introduction.of(f"{title} of {counted(len(self.items), 'item')}", header, rows, hint)

    def truth_columns(self, items: Sequence[str] | None = None) -> dict[str, Any]:
        """For each dimension the most probable class and its probability; null where an item has no answer.

        In the order of `items`, which may be more than those with categories.
        """
        wanted = self.items if items is None else tuple(items)
        place = {item: m for m, item in enumerate(self.items)}
        index = np.array([place.get(item, -1) for item in wanted], dtype=np.int64)
        table: dict[str, Any] = {}
        for one in self:
            known = (index >= 0) & one.answered[index]
            best = one.best[index]
            table[one.name] = [one.classes[c] if k else None for c, k in zip(best, known, strict=True)]
            sure = np.round(one.probability[index, best], 6)
            table[f"{one.name}_probability"] = [float(p) if k else None for p, k in zip(sure, known, strict=True)]
        return table

    def class_columns(self) -> dict[str, Any]:
        """The columns of categories.csv: item, dimension, class, probability, votes; items with answers alone."""
        table: dict[str, list[Any]] = {name: [] for name in ("item", "dimension", "class", "probability", "votes")}
        for one in self:
            rows = np.flatnonzero(one.answered)
            C = len(one.classes)
            table["item"] += [self.items[m] for m in rows for _ in range(C)]
            table["dimension"] += [one.name] * (len(rows) * C)
            table["class"] += list(one.classes) * len(rows)
            table["probability"] += np.round(one.probability[rows], 6).reshape(-1).tolist()
            table["votes"] += one.votes[rows].astype(np.int64).reshape(-1).tolist()
        return table

    def annotator_columns(self) -> dict[str, Any]:
        """One row per annotator and dimension: what annotators.csv says of categories."""
        shown = [one.answers > 0 for one in self]
        return {
            "annotator": [self.annotators[k] for own in shown for k in np.flatnonzero(own)],
            "dimension": [one.name for one, own in zip(self, shown, strict=True) for _ in range(int(own.sum()))],
            "ratings": np.concatenate([one.answers[own] for one, own in zip(self, shown, strict=True)]),
            "accuracy": np.concatenate([one.accuracy[own] for one, own in zip(self, shown, strict=True)]),
            "agreement": np.concatenate([one.agreement[own] for one, own in zip(self, shown, strict=True)]),
        }

    def overall_columns(self, annotators: Sequence[str] | None = None) -> dict[str, Any]:
        """One row per annotator: what annotators_overall.csv says of categories, in the order of `annotators`.

        Means over all answers, whatever the dimension; those to which nobody else answered do not count for agreement.
        """
        place = {name: k for k, name in enumerate(self.annotators)}
        row = np.array([place.get(name, -1) for name in annotators or self.annotators], dtype=np.int64)

        def mean(figures: list[np.ndarray]) -> np.ndarray:
            known = [np.where(np.isnan(own), 0.0, one.answers) for one, own in zip(self, figures, strict=True)]
            total = sum(n * np.nan_to_num(own) for n, own in zip(known, figures, strict=True))
            n = np.sum(known, axis=0)
            return np.where(row >= 0, np.where(n > 0, total / np.maximum(n, 1), np.nan)[row], np.nan)

        return {
            "category_answers": np.where(row >= 0, np.sum([one.answers for one in self], axis=0)[row], 0).astype(
                np.int64
            ),
            "category_accuracy": mean([one.accuracy for one in self]),
            "category_agreement": mean([one.agreement for one in self]),
        }

    def confusion_columns(self) -> dict[str, Any]:
        """The columns of confusion.csv: annotator, dimension, truth, answer, probability, expected answers behind."""
        header = ("annotator", "dimension", "truth", "answer", "probability", "answers")
        table: dict[str, list[Any]] = {name: [] for name in header}
        for one in self:
            C = len(one.classes)
            rows = np.flatnonzero(one.answers > 0)
            table["annotator"] += [self.annotators[k] for k in rows for _ in range(C * C)]
            table["dimension"] += [one.name] * (len(rows) * C * C)
            table["truth"] += [name for name in one.classes for _ in range(C)] * len(rows)
            table["answer"] += list(one.classes) * (C * len(rows))
            table["probability"] += np.round(one.confusion[rows], 6).reshape(-1).tolist()
            table["answers"] += np.round(one.confused[rows], 3).reshape(-1).tolist()
        return table
