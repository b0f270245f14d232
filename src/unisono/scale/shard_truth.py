"""Truths of the parts: each is fused where it lies, by the fitted model, and written as one file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from unisono.fusers import Fit, revive
from unisono.scale.shard_folder import item_labels
from unisono.scale.shard_parts import Part, Source, make_part
from unisono.tables.answer_scale import Scale
from unisono.tables.ratings import Ratings

SAMPLE_ODD = np.uint64(0x9E3779B97F4A7C15)  # numerical: an odd number without pattern, for choosing items


class Labels(NamedTuple):
    """Names that a part knows as numbers."""

    annotators: tuple[str, ...]
    dimensions: tuple[str, ...]
    scale: Scale


class LabelledPart(NamedTuple):
    """A part that knows where its names are."""

    part: Part
    path: str

    @property
    def nbytes(self) -> int:
        return self.part.nbytes


def make_labelled(source: Source) -> LabelledPart:
    """The part with copies as one voice, as a fit saw it."""
    return LabelledPart(make_part(source), source.path)


def truth_frame(shard: LabelledPart, fit: Fit, labels: Labels, decimals: list[int] | None) -> pl.DataFrame:
    """The truth of a part: item, then estimate, sd and the ends of the interval of every dimension.

    decimals: how many each dimension is rounded to; None: as many as there are.
    """
    part = shard.part
    fused = revive(fit).fuse(_ratings(part.value, part.item_of, part.annotator_of, item_labels(shard.path), labels))
    return pl.DataFrame(fused.columns() if decimals is None else fused.rounded_columns(decimals))


SomeRows = tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]  # value, item, annotator, names of the items


def some_rows(shard: LabelledPart, one_in: int) -> SomeRows:
    """The ratings of about one in so many items, chosen without pattern."""
    part = shard.part
    keep = scattered(part.first + np.arange(part.M)) % np.uint64(one_in) == 0
    rows, place = keep[part.item_of], np.cumsum(keep) - 1
    names = [item for item, kept in zip(item_labels(shard.path), keep.tolist(), strict=True) if kept]
    return part.value[rows], place[part.item_of[rows]], part.annotator_of[rows], names


def gathered_sample(pieces: Iterable[SomeRows], labels: Labels) -> Ratings:
    """The ratings of the chosen items of all parts."""
    value, item_of, annotator_of = [], [], []
    items: list[str] = []
    for own_value, own_item, own_annotator, names in pieces:
        value.append(own_value)
        item_of.append(own_item + len(items))
        annotator_of.append(own_annotator)
        items += names
    return _ratings(np.concatenate(value), np.concatenate(item_of), np.concatenate(annotator_of), items, labels)


def _ratings(
    value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, items: list[str], labels: Labels
) -> Ratings:
    return Ratings.from_judgements(
        value,
        item_of,
        annotator_of,
        items=items,
        annotators=labels.annotators,
        dimensions=labels.dimensions,
        scale=labels.scale,
        source="shards",
    )


def scattered(number: np.ndarray) -> np.ndarray:
    """Numbers without pattern, the same for the same number."""
    code = number.astype(np.uint64)
    mixed = (code ^ (code >> np.uint64(31))) * SAMPLE_ODD
    return np.asarray((mixed ^ (mixed >> np.uint64(29))) * SAMPLE_ODD)
