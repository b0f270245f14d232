"""Ratings: who answered what on which item, one immutable container for ratings of items and for traces.

A judgement is one annotator on one item: T_m frames (T_m = 1 for ratings of items) of D numbers. The numbers of all
judgements lie end to end in `value`, NaN where missing; pointers by item and by annotator work like those of a CSR
matrix. Judgements are sorted by item, then annotator, so that the order of rows in a file never reaches the arithmetic.

Counts: M items, K annotators, D dimensions, J judgements, S = sum over judgements of T_m.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from unisono.errors import DataError
from unisono.tables.answer_scale import Scale, ScaleWords, said_scale, scale_by_dimension, span
from unisono.tables.item_table import Clock, Reading
from unisono.tables.labels import Introduced, Introduction, counted, digest_of, listed
from unisono.tables.scale_inference import for_origins, infer_scale


@dataclass(frozen=True, eq=False, repr=False)
class Ratings(Introduced):
    """Validated ratings. Build them with `Ratings.from_judgements`, or read them with `unisono.read_ratings`.

    Examples
    --------
    >>> import unisono as un
    >>> ratings = un.load_dataset("squality")
    >>> ratings.dimensions, len(ratings.annotators), ratings.value.shape
    (('correctness', 'selection', 'overall'), 4, (900, 3))
    """

    value: np.ndarray  # (S, D) answers, NaN where missing
    item_of: np.ndarray  # (J,) item of each judgement
    annotator_of: np.ndarray  # (J,) annotator of each judgement
    length: np.ndarray  # (M,) frames per item
    items: tuple[str, ...]
    annotators: tuple[str, ...]
    dimensions: tuple[str, ...]
    scale: Scale  # where answers end, by dimension: given, or inferred
    clock: Clock | None = None  # None: ratings of items
    source: str = "ratings"
    frame_kind: str | None = None  # the library of the data frame they came in, for results of the same kind
    reading: Reading | None = None  # how a table became these ratings; None: they were made otherwise
    kinds: tuple[str, ...] | None = None  # (K,) what each annotator is (human, judge, ...); None: nobody said

    @classmethod
    def from_judgements(
        cls,
        value: np.ndarray,
        item_of: np.ndarray,
        annotator_of: np.ndarray,
        *,
        items: Sequence[str],
        annotators: Sequence[str],
        dimensions: Sequence[str],
        scale: Scale | ScaleWords = None,
        length: np.ndarray | None = None,
        clock: Clock | None = None,
        source: str = "ratings",
        frame_kind: str | None = None,
        reading: Reading | None = None,
        kinds: Sequence[str] | None = None,
    ) -> Ratings:
        """Sorts judgements by item and annotator, checks that they fit together, and freezes the arrays.

        `value` holds the frames of one judgement after the other, in the order of `item_of` and `annotator_of`.
        `scale` is (low, high), "none", a mapping from dimensions to these, or a `Scale`; what is not said of a
        dimension is inferred from its answers.
        """
        item_of = _numbers(item_of, items, "items", source)
        annotator_of = _numbers(annotator_of, annotators, "annotators", source)
        lengths = np.ones(len(items), dtype=np.int64) if length is None else np.asarray(length, dtype=np.int64)
        value = np.asarray(value, dtype=np.float64)
        if value.ndim != 2 or value.shape[1] != len(dimensions):
            raise DataError(f"{source}: ratings have shape {value.shape} but there are {len(dimensions)} dimensions.")
        if int(lengths[item_of].sum()) != len(value):
            raise DataError(f"{source}: {len(value)} frames of ratings do not match the lengths of the items rated.")
        if not _is_sorted(item_of, annotator_of):
            order = np.lexsort((annotator_of, item_of))
            value = _reorder_frames(value, lengths[item_of], order)
            item_of, annotator_of = item_of[order], annotator_of[order]
        _refuse_duplicates(item_of, annotator_of, items, annotators, source)
        _refuse_infinities(value, dimensions, source)
        for array in (value, item_of, annotator_of, lengths):
            array.setflags(write=False)
        labels = tuple(items), tuple(annotators), tuple(dimensions)
        if kinds is not None and len(kinds) != len(annotators):
            raise DataError(f"{source}: {len(kinds)} kinds for {len(annotators)} annotators. Give one kind each.")
        whose = np.repeat(annotator_of, lengths[item_of])
        of = None if kinds is None else tuple(kinds)
        known = scale if isinstance(scale, Scale) else _scale_of(value, whose, dimensions, scale)
        made = cls(value, item_of, annotator_of, lengths, *labels, known, clock, source, frame_kind, reading, of)
        if any(known.given):
            made._refuse_outside()
        return made

    def with_scale(self, scale: ScaleWords) -> Ratings:
        """The same ratings on a scale given in words as for `from_judgements`; None leaves it as it is."""
        if scale is None:
            return self
        said = scale_by_dimension(said_scale(scale), self.dimensions)
        ends = tuple(said.get(d, own) for d, own in enumerate(self.scale))
        return self._rebuilt(scale=Scale(ends, tuple(d in said or own for d, own in enumerate(self.scale.given))))

    def with_annotators(self, annotators: Sequence[str]) -> Ratings:
        """The same judgements with more annotators to know of, those who judged first and in the same order."""
        # Of those who did not judge nobody knows the kind.
        return replace(self, annotators=tuple(annotators), kinds=None)

    def _introduction(self) -> Introduction:
        what = counted(self.J, "trace" if self.is_series else "judgement")
        things = counted(self.M, "recording" if self.is_series else "item")
        title = f"Ratings from {self.source}: {what} of {things} by {counted(self.K, 'annotator')}"
        if self.clock is not None:
            title += f", {self.length.sum() / self.clock.rate:,.0f} s at {self.clock.rate:g} Hz"
        rows = [_described(name, self.value[:, d]) for d, name in enumerate(self.dimensions)]
        return Introduction.of(title, ("dimension", "numbers", "lowest", "mean", "highest"), rows)

    @property
    def M(self) -> int:
        return len(self.items)

    @property
    def K(self) -> int:
        return len(self.annotators)

    @property
    def D(self) -> int:
        return len(self.dimensions)

    @property
    def J(self) -> int:
        return len(self.item_of)

    @property
    def is_series(self) -> bool:
        return self.clock is not None

    @cached_property
    def truth_scale(self) -> Scale:
        """The scale of the truth: that of the answers, wide enough for annotators with an origin of their own."""
        return for_origins(self.scale, self.value, np.repeat(self.annotator_of, self.length[self.item_of]))

    @cached_property
    def offset(self) -> np.ndarray:
        """(J+1,) judgement j owns value[offset[j]:offset[j+1]]."""
        return np.concatenate([[0], np.cumsum(self.length[self.item_of])])

    @cached_property
    def item_ptr(self) -> np.ndarray:
        """(M+1,) item m owns judgements item_ptr[m]:item_ptr[m+1]."""
        return np.searchsorted(self.item_of, np.arange(self.M + 1))

    @cached_property
    def data_hash(self) -> str:
        """SHA-256 of labels and numbers: equal ratings have equal hashes, whatever file they came from."""
        # Adding zero turns -0.0 into 0.0; one NaN stands for all.
        canonical = np.where(np.isnan(self.value), np.nan, self.value + 0.0)
        columns = [column.astype("<i8").tobytes() for column in (self.length, self.item_of, self.annotator_of)]
        columns.append(canonical.astype("<f8").tobytes())
        if self.kinds is not None:
            columns.append("\x1f".join(self.kinds).encode() + b"\x1e")
        if self.clock is not None:
            columns.append(np.array([self.clock.rate, *self.clock.start], dtype="<f8").tobytes())
        return digest_of((self.items, self.annotators, self.dimensions), columns)

    def judgement(self, j: int) -> np.ndarray:
        """(T_m, D) the numbers of judgement j."""
        return self.value[self.offset[j] : self.offset[j + 1]]

    def select_items(self, items: Iterable[str] | np.ndarray) -> Ratings:
        """Some of the items, by label or index, in the given order. Annotators keep their places."""
        index = self._indices(items, self.items, "item")
        place = np.full(self.M, -1, dtype=np.int64)
        place[index] = np.arange(len(index))
        keep = place[self.item_of] >= 0
        return self._rebuilt(
            value=self.value[np.repeat(keep, self.length[self.item_of])],
            item_of=place[self.item_of[keep]],
            annotator_of=self.annotator_of[keep],
            items=[self.items[i] for i in index],
            length=self.length[index],
            clock=None if self.clock is None else self.clock.select(index),
        )

    def select_judgements(self, keep: np.ndarray) -> Ratings:
        """The judgements where `keep` (J,) is true; items and annotators keep their places."""
        return self._rebuilt(
            value=self.value[np.repeat(keep, self.length[self.item_of])],
            item_of=self.item_of[keep],
            annotator_of=self.annotator_of[keep],
        )

    def select_dimensions(self, dimensions: Iterable[str] | np.ndarray) -> Ratings:
        """Some of the dimensions, by label or index, in the given order."""
        index = self._indices(dimensions, self.dimensions, "dimension")
        return self._rebuilt(
            value=np.ascontiguousarray(self.value[:, index]),
            dimensions=[self.dimensions[i] for i in index],
            scale=self.scale.select(index),
        )

    def with_value(self, value: np.ndarray) -> Ratings:
        """The same judgements with other numbers, for example with some set to NaN.

        The scale stays where numbers were only taken away, or where it was given and they keep to it.
        """
        value = np.asarray(value, dtype=np.float64)
        if value.shape != self.value.shape or bool((np.isnan(value) | (value == self.value)).all()):
            return self._rebuilt(value=value)
        kept = np.array(self.scale.given) & ~self.scale.leaves(value).any(axis=0)
        anew = infer_scale(value, np.repeat(self.annotator_of, self.length[self.item_of]))
        ends = tuple(old if keep else new for old, new, keep in zip(self.scale, anew, kept, strict=True))
        return self._rebuilt(value=value, scale=Scale(ends, tuple(kept.tolist())))

    def with_dimensions(self, dimensions: Sequence[str]) -> Ratings:
        """The same ratings with other names for their dimensions."""
        return self._rebuilt(dimensions=dimensions)

    def _rebuilt(self, **changes: Any) -> Ratings:
        same = {field.name: getattr(self, field.name) for field in fields(self)}
        return Ratings.from_judgements(**(same | changes))

    def _refuse_outside(self) -> None:
        """Answers outside a scale that the user gave are a contradiction."""
        outside = np.argwhere(self.scale.leaves(self.value) & np.array(self.scale.given))
        if len(outside):
            row, d = outside[0]
            j = int(np.searchsorted(self.offset, row, side="right")) - 1
            who, item = self.annotators[self.annotator_of[j]], self.items[self.item_of[j]]
            raise DataError(
                f"{self.source}: {self.dimensions[d]} is {self.value[row, d]:g} by annotator '{who}' on '{item}', "
                f"outside the scale {span(self.scale[d])}. Correct the answer, or give another scale."
            )

    def _indices(self, wanted: Iterable[str] | np.ndarray, labels: tuple[str, ...], what: str) -> np.ndarray:
        if isinstance(wanted, np.ndarray) and wanted.dtype != object and wanted.dtype.kind in "iub":
            return np.flatnonzero(wanted) if wanted.dtype.kind == "b" else wanted.astype(np.int64)
        place = {label: i for i, label in enumerate(labels)}
        names = [str(name) for name in wanted]
        unknown = [name for name in names if name not in place]
        if unknown:
            raise DataError(f"{self.source} has no {what} {listed(unknown)}.")
        return np.array([place[name] for name in names], dtype=np.int64)


def _scale_of(value: np.ndarray, whose: np.ndarray, dimensions: Sequence[str], words: ScaleWords) -> Scale:
    """What the user says, and for the rest what the answers show."""
    said, seen = scale_by_dimension(said_scale(words), dimensions), infer_scale(value, whose)
    return Scale(
        tuple(said.get(d, own) for d, own in enumerate(seen)), tuple(d in said for d in range(len(dimensions)))
    )


def _described(name: str, value: np.ndarray) -> tuple[str, ...]:
    """A dimension, how many numbers it has, and where they lie."""
    known = value[~np.isnan(value)]
    where = (f"{float(x):.4g}" for x in (known.min(), known.mean(), known.max())) if len(known) else ("",) * 3
    return (name, f"{len(known):,}", *where)


def _numbers(of: Any, labels: Sequence[str], what: str, source: str) -> np.ndarray:
    """Numbers of labels as small integers; others would count from the end, or wrap around."""
    numbers = np.asarray(of)
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(labels):
        wrong = numbers.min() if numbers.min() < 0 else numbers.max()
        raise DataError(f"{source}: there are {len(labels):,} {what}, numbered from 0, but a judgement has {wrong}.")
    return numbers.astype(np.int32)


def _is_sorted(item_of: np.ndarray, annotator_of: np.ndarray) -> bool:
    step = np.diff(item_of)
    return bool(np.all((step > 0) | ((step == 0) & (np.diff(annotator_of) >= 0))))


def _reorder_frames(value: np.ndarray, frames: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The blocks of `value` (one per judgement, `frames` rows each) in another order."""
    if len(value) == len(frames) and np.all(frames == 1):
        return np.asarray(value[order])
    first = np.cumsum(frames) - frames
    within = np.arange(len(value)) - np.repeat(np.cumsum(frames[order]) - frames[order], frames[order])
    return np.asarray(value[np.repeat(first[order], frames[order]) + within])


def _refuse_duplicates(
    item_of: np.ndarray, annotator_of: np.ndarray, items: Sequence[str], annotators: Sequence[str], source: str
) -> None:
    twice = np.flatnonzero((np.diff(item_of) == 0) & (np.diff(annotator_of) == 0))
    if len(twice):
        j = twice[0]
        raise DataError(
            f"{source}: annotator '{annotators[annotator_of[j]]}' rated item '{items[item_of[j]]}' more than once. "
            "Keep one rating, or give the repetitions different item names."
        )


def _refuse_infinities(value: np.ndarray, dimensions: Sequence[str], source: str) -> None:
    infinite = np.argwhere(np.isinf(value))
    if len(infinite):
        row, column = infinite[0]
        raise DataError(f"{source}: {dimensions[column]} is {value[row, column]}. Use NaN where a rating is missing.")


@dataclass(frozen=True, eq=False)
class RatingNumbers:
    """Covariates of ratings, by item and annotator."""

    names: tuple[str, ...]
    of_pair: Mapping[tuple[str, str], int]  # (item, annotator) -> row
    value: np.ndarray  # (rows, P)
    source: str = "ratings"

    def of(self, ratings: Ratings) -> np.ndarray:
        """(J, P) the numbers of every judgement, all of which must be known and finite."""
        labels = zip(ratings.item_of.tolist(), ratings.annotator_of.tolist(), strict=True)
        rows = [self.of_pair.get((ratings.items[m], ratings.annotators[k]), -1) for m, k in labels]
        found = np.where(np.array(rows)[:, None] < 0, np.nan, self.value[rows])
        missing = np.argwhere(~np.isfinite(found))
        if len(missing):
            j, p = missing[0]
            who, item = ratings.annotators[ratings.annotator_of[j]], ratings.items[ratings.item_of[j]]
            raise DataError(
                f"{self.source}: {self.names[p]} is not known for the rating of '{item}' by '{who}'. "
                "Fill it in, or leave it out."
            )
        return found
