"""Comparisons left out: how well the model predicts them, and what telling annotators apart adds.

Rows of a table, and with them the pairs of one ranking, are left out together, or all answers about a pair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.fusers import compared_items, comparison_knowledge
from unisono.tables.comparisons import LEFT, RIGHT, TIE, Comparisons

LEAST = 1e-12  # numerical: of a probability whose logarithm is taken
Whole = Literal["rows", "pairs"]


class Predicted(NamedTuple):
    """One way of predicting all left-out answers."""

    name: str
    log_loss: float  # of the chosen side among decided answers
    log_loss_all: float  # of left, tie and right
    accuracy: float  # of decided answers


@dataclass(frozen=True)
class ComparisonsLeftOut:
    """What `unisono compare --comparisons` prints."""

    source: str
    comparisons: int
    folds: int
    seed: int
    whole: Whole
    rows: tuple[Predicted, ...]
    gain: float  # log-loss of decided answers that telling annotators apart saves
    gain_se: float  # its standard error, answers of an annotator taken together

    @property
    def answer(self) -> str:
        """In words."""
        if abs(self.gain) <= 2 * self.gain_se:
            return f"Telling annotators apart makes no clear difference ({self.gain:+.4f} +- {self.gain_se:.4f})."
        how = "better" if self.gain > 0 else "worse"
        return f"Telling annotators apart predicts {how} (log-loss {self.gain:+.4f} +- {self.gain_se:.4f})."

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        plain = {name: getattr(self, name) for name in ("source", "comparisons", "folds", "seed", "whole", "answer")}
        return plain | {"rows": [row._asdict() for row in self.rows], "gain": self.gain, "gain_se": self.gain_se}

    def __str__(self) -> str:
        head = f"{self.source}: {self.comparisons:,} comparisons, {self.folds} folds, seed {self.seed}, by {self.whole}"
        lines = [
            f"  {row.name}: log-loss {row.log_loss:.4f} of decided answers, {row.log_loss_all:.4f} of all, "
            f"accuracy {row.accuracy:.3f}"
            for row in self.rows
        ]
        return "\n".join([head, *lines, self.answer])

    __repr__ = __str__


def compare_left_out(
    compared: Comparisons, *, folds: int = 5, seed: int = 0, whole: Whole = "rows"
) -> ComparisonsLeftOut:
    """Predicts every comparison from those of the other folds, with annotators told apart and alike."""
    fold = fold_of(compared, folds, seed, whole)
    alike = replace(compared, annotators=("all",), annotator_of=np.zeros_like(compared.annotator_of))
    chance = [_predicted(table, fold) for table in (compared, alike)]
    loss = [_decided_loss(found, compared.answer) for found in chance]
    names = "annotators told apart", "all annotators alike"
    rows = tuple(_row(name, found, compared.answer) for name, found in zip(names, chance, strict=True))
    gain, error = _clustered(loss[1] - loss[0], compared.annotator_of[compared.answer != TIE])
    return ComparisonsLeftOut(compared.source, compared.n, folds, seed, whole, rows, gain, error)


def fold_of(compared: Comparisons, folds: int, seed: int, whole: Whole) -> np.ndarray:
    """(N,) the fold in which each answer is left out."""
    pair = np.minimum(compared.left, compared.right) * len(compared.items) + np.maximum(compared.left, compared.right)
    _, group = np.unique(compared.ranking if whole == "rows" else pair, return_inverse=True)
    if (count := int(group.max()) + 1) < folds:
        raise DataError(f"{compared.source} has {count} {whole}, which cannot be divided into {folds} folds.")
    # A stream of its own: sides may have been drawn with the plain seed.
    return np.asarray((np.random.default_rng([seed, folds]).permutation(count) % folds)[group])


def _predicted(table: Comparisons, fold: np.ndarray) -> np.ndarray:
    """(N, 3) probabilities of each answer from the other folds."""
    chance = np.empty((table.n, 3))
    labels = [np.array(names, dtype=object) for names in (table.annotators, table.items)]
    for out in range(int(fold.max()) + 1):
        held, seen = fold == out, table.rows(fold != out)
        fuser = compared_items.Pairwise().compare(seen).fit(comparison_knowledge.without_ratings(seen))
        sides = (labels[1][side[held]] for side in (table.left, table.right))
        found = fuser.answer_chances(labels[0][table.annotator_of[held]], *sides)
        chance[held] = np.take_along_axis(found, table.dimension_of[held][:, None, None], axis=1)[:, 0]
    return chance


def _decided_loss(chance: np.ndarray, answer: np.ndarray) -> np.ndarray:
    decided = answer != TIE
    chosen = chance[decided, answer[decided]]
    total = chance[decided, LEFT] + chance[decided, RIGHT]
    return np.asarray(-np.log(np.maximum(chosen / np.maximum(total, LEAST), LEAST)))


def _row(name: str, chance: np.ndarray, answer: np.ndarray) -> Predicted:
    decided = answer != TIE
    right = (chance[decided, LEFT] > chance[decided, RIGHT]) == (answer[decided] == LEFT)
    every = -np.log(np.maximum(chance[np.arange(len(answer)), answer], LEAST))
    loss = _decided_loss(chance, answer)
    return Predicted(name, float(loss.mean()), float(every.mean()), float(right.mean()))


def _clustered(difference: np.ndarray, who: np.ndarray) -> tuple[float, float]:
    """The mean of a difference, and its standard error with annotators as clusters."""
    mean, n = float(difference.mean()), len(difference)
    sums = np.bincount(who, difference - mean)
    clusters = int((np.bincount(who) > 0).sum())
    return mean, float(np.sqrt((sums**2).sum() * clusters / max(clusters - 1, 1)) / n)
