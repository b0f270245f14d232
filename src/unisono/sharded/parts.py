"""Shards of ratings as workers hold them: rows as they were given, and the same as the item model wants them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from unisono.data.wild import Fence
from unisono.io.shards import read_part
from unisono.maths.copies.voices import one_voice
from unisono.maths.items.data import Cuts, ItemData, prepare, profile_keys
from unisono.maths.items.predictor import no_features


class Part(NamedTuple):
    """The rows of some items, sorted by item; annotators are numbered as in all parts."""

    value: np.ndarray  # (J, D) answers, NaN where missing
    item_of: np.ndarray  # (J,) counted from 0 within the part
    annotator_of: np.ndarray  # (J,)
    M: int
    K: int
    first: int  # number of the first item among those of all parts

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (self.value, self.item_of, self.annotator_of))


class Source(NamedTuple):
    """Where a part lies, and how its annotators count: all that it takes to make it again."""

    path: str
    dimensions: tuple[str, ...]
    K: int
    first: int
    voice: np.ndarray | None = None  # (K,) place of everybody's voice among the voices; None: everybody is one
    distance: np.ndarray | None = None  # (K,) whose answer counts where members of a voice differ
    fence: Fence | None = None  # answers beyond are missing ...
    rule: np.ndarray | None = None  # (K, D) ... but of voices who answer there as a rule
    silent: int = 0  # so many annotators more who rated nothing in any part


def make_part(source: Source) -> Part:
    """The part, with copies as one voice."""
    value, item_of, annotator_of, M = read_part(source.path, source.dimensions)
    K = source.K
    if source.voice is not None:
        K = int(source.voice.max()) + 1
        value, item_of, annotator_of = one_voice(value, item_of, annotator_of, source.voice, source.distance)
    if source.fence is not None and source.rule is not None:
        value = np.where(source.fence.crossed(value) & ~source.rule[annotator_of], np.nan, value)
    return Part(value, item_of.astype(np.int32), annotator_of.astype(np.int32), M, K + source.silent, source.first)


@dataclass(eq=False)
class ItemShard:
    """A part in standardised units, as sparse rows and profiles, and truths that its last E-steps found."""

    data: ItemData
    keys: np.ndarray  # (U,) of its profiles
    # By E-step; only to save computing them again, which whoever does not have them does.
    means: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.data if isinstance(array, np.ndarray)) + self.data.y.nbytes


def make_item_shard(source: Source, loc: np.ndarray, scale: np.ndarray, cuts: Cuts | None) -> ItemShard:
    """The shard of a part: ratings minus `loc` (D,) over `scale` (D,); beyond the `cuts` they say no more than that."""
    part = make_part(source)
    value = (part.value - loc) / scale
    data = prepare(value, part.item_of, part.annotator_of, no_features(part.M), part.K)
    return ItemShard(data._replace(cuts=cuts), profile_keys(data))


def of_part(part: Any, name: str) -> Any:
    """One attribute of a shard, for small questions."""
    return getattr(part, name)
