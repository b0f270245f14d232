"""Truths of the parts: each is fused where it lies, by the fitted model, and written as one file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from unisono.fusers import Fit, Fused, Joint, revive
from unisono.scale.shard_folder import item_labels
from unisono.scale.shard_parts import Known, Part, Source, Units, in_units, make_part
from unisono.tables import Ratings, Scale

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


def truth_frame(
    shard: LabelledPart, fit: Fit, units: Units, labels: Labels, decimals: list[int] | None
) -> pl.DataFrame:
    """The truth of a part: item, then estimate, sd and the ends of the interval of every dimension.

    decimals: how many each dimension is rounded to; None: as many as there are.
    """
    fused = fused_part(shard.part, _ratings(shard.part, item_labels(shard.path), labels), fit, units)
    return pl.DataFrame(fused.columns() if decimals is None else fused.rounded_columns(decimals))


def fused_part(part: Part, ratings: Ratings, fit: Fit, units: Units) -> Fused:
    """The truths of a part of what a model was fitted to."""
    shard = in_units(part, units)
    known = shard.known.gold if len(shard.place) else None
    data = shard.data
    if known is not None:
        gold = np.full((data.M, data.D), np.nan)
        gold[shard.item] = known
        data = data._replace(gold=gold)
    fuser = revive(fit)
    assert isinstance(fuser, Joint)
    return fuser.of_items(ratings, data).fuse()


SomeRows = tuple[Part, list[str]]  # and the names of the items


def some_rows(shard: LabelledPart, one_in: int) -> SomeRows:
    """The ratings of about one in so many items, chosen without pattern."""
    part = shard.part
    keep = scattered(part.first + np.arange(part.M)) % np.uint64(one_in) == 0
    rows, place = keep[part.item_of], np.cumsum(keep) - 1
    names = [item for item, kept in zip(item_labels(shard.path), keep.tolist(), strict=True) if kept]
    own = keep[part.gold.item]
    known = Known(place[part.gold.item[own]], part.gold.place[own], part.gold.value[own])
    value, item_of, who = part.value[rows], place[part.item_of[rows]], part.annotator_of[rows]
    return Part(value, item_of, who, int(keep.sum()), part.K, 0, part.X[keep], known), names


def gathered_sample(pieces: Iterable[SomeRows], labels: Labels) -> tuple[Part, Ratings]:
    """The ratings of the chosen items of all parts."""
    parts: list[Part] = []
    items: list[str] = []
    for part, names in pieces:
        known = part.gold._replace(item=part.gold.item + len(items))
        parts.append(part._replace(item_of=part.item_of + len(items), known=known))
        items += names
    known = Known(*(np.concatenate(own) for own in zip(*(part.gold for part in parts), strict=True)))
    value, item_of, who, X = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("value", "item_of", "annotator_of", "X")
    )
    whole = Part(value, item_of, who, len(items), parts[0].K, 0, X, known)
    return whole, _ratings(whole, items, labels)


def _ratings(part: Part, items: list[str], labels: Labels) -> Ratings:
    return Ratings.from_judgements(
        part.value,
        part.item_of,
        part.annotator_of,
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
