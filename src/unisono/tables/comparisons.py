"""Comparisons: who said of which two items that the left or the right one has more, or neither.

    comparisons.items, comparisons.annotators, comparisons.dimensions
    comparisons.left, comparisons.right, comparisons.annotator_of, comparisons.dimension_of, comparisons.answer

One immutable container beside `Ratings` and `Categories`. Answers are sorted, so that the order of rows in a file never
reaches the arithmetic; missing answers are not stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unisono.errors import DataError
from unisono.tables.labels import Introduced, Introduction, counted, digest_of, listed

SIDES = ("left", "tie", "right")
LEFT, TIE, RIGHT = range(3)
ALL_LEFT = 20  # decided answers, every one of them left, that are no chance


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(Introduced):
    """Answers on one or more dimensions about pairs of the same items by the same annotators."""

    items: tuple[str, ...]
    annotators: tuple[str, ...]
    dimensions: tuple[str, ...]
    left: np.ndarray  # (N,) items
    right: np.ndarray  # (N,)
    annotator_of: np.ndarray  # (N,)
    dimension_of: np.ndarray  # (N,)
    answer: np.ndarray  # (N,) LEFT, TIE or RIGHT
    ranking: np.ndarray  # (N,) the ranking or the row each came from: to be left out together
    strength: np.ndarray  # (N,) of decided answers, 1 to S
    sided: bool = True  # whether left and right were sides, so that they may have an effect
    source: str = "comparisons"
    layout: str = "sides"  # the shape of the table they were read from
    notes: tuple[str, ...] = ()  # how it was read, in sentences
    frame_kind: str | None = None  # the library of the data frame they came in
    whole_items: bool = False  # ids of items were whole numbers
    whole_annotators: bool = False

    @classmethod
    def from_answers(
        cls,
        columns: tuple[np.ndarray, ...],
        labels: tuple[Sequence[str], Sequence[str], Sequence[str]],
        *,
        sided: bool = True,
        strength: np.ndarray | None = None,
        **about: Any,
    ) -> Comparisons:
        """`columns` (N,): left, right, annotator, dimension, answer, ranking; `labels`: items, annotators, dimensions.

        `strength` (N,) are whole numbers from 1 where answers have more than a direction. Where every decided answer is
        left, sides were not drawn, and have no effect.
        """
        strong = np.ones(len(columns[0]), dtype=np.int64) if strength is None else strength
        order, (items, people, names) = np.lexsort((strong, *columns[::-1])), (tuple(one) for one in labels)
        left, right, who, dim, answer, ranking, strong = (np.asarray(column)[order] for column in (*columns, strong))
        found = cls(items, people, names, left, right, who, dim, answer, ranking, strong, sided, **about)
        if not len(answer):
            raise DataError(f"{found.source}: nobody answered any comparison; every cell is empty.")
        decided = answer[answer != TIE]
        if sided and len(decided) >= ALL_LEFT and len(np.unique(decided)) == 1:
            side = SIDES[int(decided[0])]
            note = f"Every decided answer is '{side}': sides were not drawn, so that no order effect is estimated."
            return replace(found, sided=False, notes=(*found.notes, note))
        return found

    @property
    def n(self) -> int:
        return len(self.answer)

    def rows(self, keep: np.ndarray) -> Comparisons:
        """Some of the answers, of the same items and annotators."""
        names = ("left", "right", "annotator_of", "dimension_of", "answer", "ranking", "strength")
        return replace(self, **{name: getattr(self, name)[keep] for name in names})

    @property
    def graded(self) -> bool:
        """Whether decided answers have several strengths."""
        return bool((self.strength > 1).any())

    @property
    def data_hash(self) -> str:
        """SHA-256 of labels and answers, whatever the order of rows was."""
        graded = (self.strength,) if self.graded else ()
        columns = self.left, self.right, self.annotator_of, self.dimension_of, self.answer, *graded
        labels = self.items, self.annotators, self.dimensions
        return digest_of(labels, (column.astype("<i8").tobytes() for column in columns))

    def _introduction(self) -> Introduction:
        who = f"{counted(len(self.items), 'item')} by {counted(len(self.annotators), 'annotator')}"
        return Introduction.of(
            f"Comparisons from {self.source}: {who}", ("dimension", "comparisons", *SIDES), self.counts()
        )

    def columns(self) -> dict[str, list[str]]:
        """One row per answer, as a table that can be read again."""
        return {
            "annotator": [self.annotators[k] for k in self.annotator_of],
            "left": [self.items[m] for m in self.left],
            "right": [self.items[m] for m in self.right],
            "dimension": [self.dimensions[d] for d in self.dimension_of],
        } | self._answers()

    def _answers(self) -> dict[str, list[str]]:
        if not self.graded:
            return {"answer": [SIDES[a] for a in self.answer]}
        return {"strength": [str(s) for s in (self.answer - TIE) * self.strength]}

    def counts(self) -> list[tuple[str, ...]]:
        """By dimension its name, comparisons, and shares of left, tie and right, as text."""
        found = []
        for d, name in enumerate(self.dimensions):
            n = np.bincount(self.answer[self.dimension_of == d], minlength=3)
            found.append((name, f"{n.sum():,}", *(f"{share:.2f}" for share in n / max(n.sum(), 1))))
        return found

    def lines(self) -> list[str]:
        """How the table was read, and what is in it, in sentences."""
        several = len(self.dimensions) > 1
        said = f"Read {self.source} as {self.layout}: {counted(self.n, 'comparison')} of "
        said += f"{counted(len(self.items), 'item')} by {counted(len(self.annotators), 'annotator')}, "
        said += f"dimension{'s' if several else ''} {listed(self.dimensions)}."
        return [said, *(f"  {note}" for note in self.notes)]


def place_of(labels: Sequence[str]) -> Mapping[str, int]:
    """Where each label stands."""
    return {label: index for index, label in enumerate(labels)}
