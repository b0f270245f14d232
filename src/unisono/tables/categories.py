"""Categories: who chose which class for which item, one immutable container beside `Ratings`.

    categories.items, categories.annotators
    topic = categories["topic"]            # Choices: topic.classes, topic.item_of, topic.annotator_of, topic.answer

Answers are sorted by item, then annotator, so that the order of rows in a file never reaches the arithmetic; missing
answers are not stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unisono.errors import DataError
from unisono.tables.item_table import Reading
from unisono.tables.labels import Introduced, Introduction, counted, did_you_mean, digest_of, listed


@dataclass(frozen=True, eq=False)
class Choices:
    """The answers on one dimension, end to end."""

    name: str
    classes: tuple[str, ...]  # in canonical order
    item_of: np.ndarray  # (n,) item of each answer
    annotator_of: np.ndarray  # (n,) annotator of each answer
    answer: np.ndarray  # (n,) class of each answer
    weight: np.ndarray | None = None  # (n,) what an answer counts for, where several classes were named at once

    @property
    def n(self) -> int:
        return len(self.answer)

    @property
    def single(self) -> Choices:
        """The answers that name one class."""
        if self.weight is None:
            return self
        at = self.weight == 1
        return Choices(self.name, self.classes, self.item_of[at], self.annotator_of[at], self.answer[at])

    def most_frequent(self, most: int = 4) -> list[str]:
        """The classes that were chosen most, the first ones first."""
        count = np.bincount(self.answer, minlength=len(self.classes))
        return [self.classes[c] for c in np.argsort(-count, kind="stable")[:most]]


@dataclass(frozen=True, eq=False, repr=False)
class Categories(Introduced):
    """Answers on one or more dimensions of categories by the same annotators on the same items."""

    items: tuple[str, ...]
    annotators: tuple[str, ...]
    dimensions: tuple[Choices, ...]
    source: str = "ratings"
    frame_kind: str | None = None  # the library of the data frame they came in, for results of the same kind
    reading: Reading | None = None  # how a table became these answers; None: they were made otherwise
    recognised: bool = False  # nobody said that these are categories: their words look like it

    @classmethod
    def from_answers(
        cls, answers: Mapping[str, tuple[Any, ...]], *, items: Sequence[str], annotators: Sequence[str], **about: Any
    ) -> Categories:
        """For every dimension its classes and, for each answer, the item, the annotator and the class, as codes.

        A fifth array, if there is one, is what answers count for.

        Raises DataError where a dimension has fewer than two classes, or where no item has two answers.
        """
        found = []
        for name, (classes, item_of, annotator_of, answer, *weight) in answers.items():
            order = np.lexsort((answer, annotator_of, item_of))
            columns: list[np.ndarray] = [
                np.asarray(code, dtype=np.int32)[order] for code in (item_of, annotator_of, answer)
            ]
            columns += [np.asarray(own, dtype=np.float64)[order] for own in weight]
            for column in columns:
                column.setflags(write=False)
            found.append(Choices(name, tuple(classes), *columns))
        made = cls(tuple(items), tuple(annotators), tuple(found), **about)
        for one in made:
            _require_choice(one, made.source)
        return made

    def __iter__(self) -> Iterator[Choices]:
        return iter(self.dimensions)

    def __getitem__(self, name: str) -> Choices:
        return self.select_dimensions([name]).dimensions[0]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.dimensions)

    def select_dimensions(self, names: Sequence[str]) -> Categories:
        """Some of the dimensions, in the given order."""
        for name in names:
            if name not in self.names:
                hint = did_you_mean(name, self.names)
                raise DataError(f"{self.source} has no categories '{name}'; it has {listed(self.names)}.{hint}")
        by_name = {one.name: one for one in self.dimensions}
        return replace(self, dimensions=tuple(by_name[name] for name in names))

    @property
    def data_hash(self) -> str:
        """SHA-256 of labels and answers: equal answers have equal hashes, whatever file they came from."""
        labels = self.items, self.annotators, self.names, *(one.classes for one in self)
        columns: list[bytes] = []
        for one in self:
            columns += [column.astype("<i8").tobytes() for column in (one.item_of, one.annotator_of, one.answer)]
            columns += [] if one.weight is None else [one.weight.astype("<f8").tobytes()]
        return digest_of(labels, columns)

    def _introduction(self) -> Introduction:
        who = f"{counted(len(self.items), 'item')} by {counted(len(self.annotators), 'annotator')}"
        rows = [(one.name, f"{one.n:,}", str(len(one.classes)), ", ".join(one.most_frequent())) for one in self]
        header = ("dimension", "answers", "classes", "most frequent")
        return Introduction.of(f"Categories from {self.source}: {who}", header, rows)


def _require_choice(one: Choices, source: str) -> None:
    if not one.n:
        raise DataError(f"{source}: nobody answered '{one.name}'; every cell is empty.")
    if len(one.classes) < 2:
        raise DataError(
            f"{source}: everybody who answered chose '{one.classes[0]}' for '{one.name}', so there is nothing to fuse. "
            f"Leave it out of the categories, or look whether '{one.name}' is the right column."
        )
    pairs = np.unique(np.stack([one.item_of, one.annotator_of]), axis=1)
    if len(np.unique(one.annotator_of)) < 2 or not np.any(np.diff(pairs[0]) == 0):
        raise DataError(
            f"{source}: no item has answers to '{one.name}' by two annotators, so they cannot be compared. "
            "Look whether the item and annotator columns are the right ones."
        )
