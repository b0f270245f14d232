"""Shards of ratings as workers hold them, and counts, ranges and ties of them that add up to those of all ratings.

Rows as they were given, and the same as the item model wants them. A tally says how often every answer was given, in
bounded memory: exact up to very many different answers, beyond that of some. Which answers are kept is decided by a
hash of the answer, so that tallies of parts add up to the tally of the whole.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from unisono.fusers.standardisation import FeatureSpace, Scaling
from unisono.maths.copies.copy_sets import one_voice
from unisono.maths.items.item_data import Cuts, ItemData, Scores, of_dimensions, prepare, profile_keys
from unisono.maths.raters.rater_diagnosis import answer_ranges
from unisono.maths.rating_values import close_pairs
from unisono.scale import executors, shard_folder
from unisono.tables.coverage_and_outliers import Fence, left_aside


class Part(NamedTuple):
    """The rows of some items, sorted by item; annotators are numbered as in all parts."""

    value: np.ndarray  # (J, D) answers, NaN where missing
    item_of: np.ndarray  # (J,) counted from 0 within the part
    annotator_of: np.ndarray  # (J,)
    M: int
    K: int
    first: int  # number of the first item among those of all parts
    features: np.ndarray | None = None  # (M, P)
    known: Known | None = None

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self if isinstance(array, np.ndarray))

    @property
    def X(self) -> np.ndarray:
        """(M, P) features."""
        return np.zeros((self.M, 0)) if self.features is None else self.features

    @property
    def gold(self) -> Known:
        """The known items, of which there may be none."""
        return Known.none(self.value.shape[1]) if self.known is None else self.known


class Known(NamedTuple):
    """Items of a part whose truth is known."""

    item: np.ndarray  # (g,) within the part, in order
    place: np.ndarray  # (g,) among all known items
    value: np.ndarray  # (g, D) NaN where not known

    @staticmethod
    def none(D: int) -> Known:
        return Known(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, D)))


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
    missing: tuple[float, ...] = ()  # answers that stand for none
    silent: int = 0  # so many annotators more who rated nothing in any part
    features: str = ""  # file with those of the items
    known: Known | None = None


def make_part(source: Source) -> Part:
    """The part, with copies as one voice."""
    value, item_of, annotator_of, M = shard_folder.read_part(source.path, source.dimensions)
    if source.missing:
        value = np.where(np.isin(value, source.missing), np.nan, value)
    K = source.K
    if source.voice is not None:
        K = int(source.voice.max()) + 1
        value, item_of, annotator_of = one_voice(value, item_of, annotator_of, source.voice, source.distance)
    if source.fence is not None and source.rule is not None:
        value = np.where(source.fence.crossed(value) & ~source.rule[annotator_of], np.nan, value)
    who = annotator_of.astype(np.int32)
    features = executors.array_at(source.features) if source.features else None
    return Part(value, item_of.astype(np.int32), who, M, K + source.silent, source.first, features, source.known)


class Units(NamedTuple):
    """How a part becomes what the item model works on."""

    scaling: Scaling  # of answers and truths
    cuts: Cuts | None  # beyond these they say no more than that
    space: FeatureSpace  # of features
    usual: float  # mean log of the judgements of an item, over all parts
    dims: tuple[int, ...] | None = None  # these alone; None: all


@dataclass(eq=False)
class ItemShard:
    """A part in standardised units, as sparse rows and profiles, and truths that its last E-steps found."""

    data: ItemData
    keys: np.ndarray  # (U,) of its profiles
    known: ItemData  # the items whose truth is known
    place: np.ndarray  # (g,) of these among all known ones
    item: np.ndarray  # (g,) within the part
    first: int  # number of its first item
    # By E-step; only to save computing them again, which whoever does not have them does.
    means: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        arrays = (*self.data, self.data.scores.Z)
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray)) + self.data.y.nbytes

    def with_known(self, gold: np.ndarray | None) -> ItemData:
        """The data with known truths `gold` (G, D), of all known items."""
        if gold is None:
            return self.data
        whole = np.full((self.data.M, self.data.D), np.nan)
        whole[self.item] = gold[self.place]
        return self.data._replace(gold=whole)


def make_item_shard(source: Source, units: Units) -> ItemShard:
    """The shard of a part."""
    return in_units(make_part(source), units)


def in_units(part: Part, units: Units) -> ItemShard:
    """The part in standardised units."""
    value, space = units.scaling.standardise(part.value), units.space
    empty = Scores(np.zeros((0, len(space.squares))), space.squares, space.directions, space.center)
    Z = empty.of(space.scaling.standardise(part.X)) if len(space.squares) else np.zeros((part.M, 0))
    data = prepare(value, part.item_of, part.annotator_of, empty._replace(Z=Z), part.K)
    data = data._replace(cuts=units.cuts, usual=units.usual)
    own = part.gold
    gold = units.scaling.standardise(own.value)
    chosen = np.isin(part.item_of, own.item)
    place = np.searchsorted(own.item, part.item_of[chosen])
    known = prepare(value[chosen], place, part.annotator_of[chosen], empty._replace(Z=Z[own.item]), part.K)
    known = known._replace(cuts=units.cuts, usual=units.usual, gold=gold)
    if units.dims is not None:
        data, known = of_dimensions(data, units.dims), of_dimensions(known, units.dims)
    return ItemShard(data, profile_keys(data), known, own.place, own.item, part.first)


NAMED = 5  # items of a kind that are named in an alert


class Look(NamedTuple):
    """What a look at some parts shows."""

    judgements: int
    items: int
    numbers: np.ndarray  # (D,)
    given: np.ndarray  # (K,) judgements
    rated: np.ndarray  # (K,) items with a number
    answered: np.ndarray  # (K, D) numbers
    low: np.ndarray  # (K, D) lowest answers
    high: np.ndarray  # (K, D) highest answers
    on_ends: np.ndarray  # (2, D) answers that are the lowest of all, and the highest
    per_item: np.ndarray  # (n,) how many items have 0, 1, 2, ... annotators with a number
    unrated: np.ndarray  # (<= NAMED,) first items without a number, counted over all parts
    single: np.ndarray  # (<= NAMED,) first items with one annotator
    compared: bool  # whether two annotators answered one item on one dimension
    pairs: int  # of judgements of one item
    tied: np.ndarray  # (K,) the first annotator of the group that each is tied to by common items; -1: silent
    judged: np.ndarray  # (n,) how many items have 0, 1, 2, ... judgements
    digest: bytes

    @property
    def usual(self) -> float:
        """Mean logarithm of the judgements of an item."""
        items, number = self.judged[1:], np.arange(1, len(self.judged))
        return float(items @ np.log(number) / max(items.sum(), 1))

    @property
    def span(self) -> np.ndarray:
        """(2, D) the lowest and the highest answer; NaN where there is none."""
        return np.where(self.numbers > 0, _span(self.low, self.high), np.nan)


def look_at(part: Part) -> Look:
    """One look at a part."""
    K, M, D = part.K, part.M, part.value.shape[1]
    seen = ~np.isnan(part.value)
    spoke = seen.any(axis=1)
    raters = np.bincount(part.item_of[spoke], minlength=M)
    judged = np.bincount(part.item_of, minlength=M).astype(np.int64)
    low, high = answer_ranges(part.value, part.annotator_of, K)
    by_dimension = [np.bincount(part.item_of[seen[:, d]], minlength=M) for d in range(D)]
    return Look(
        judgements=len(part.item_of),
        items=M,
        numbers=seen.sum(axis=0),
        given=np.bincount(part.annotator_of, minlength=K),
        rated=np.bincount(part.annotator_of[spoke], minlength=K),
        answered=np.stack([np.bincount(part.annotator_of[seen[:, d]], minlength=K) for d in range(D)], axis=1),
        low=low,
        high=high,
        on_ends=np.stack([(part.value == end).sum(axis=0) for end in _span(low, high)]),
        per_item=np.bincount(raters, minlength=2),
        unrated=part.first + np.flatnonzero(raters == 0)[:NAMED],
        single=part.first + np.flatnonzero(raters == 1)[:NAMED],
        compared=any(bool((counts >= 2).any()) for counts in by_dimension),
        pairs=int((judged * (judged - 1) // 2).sum()),
        tied=_ties(part.item_of[spoke], part.annotator_of[spoke], M, K),
        judged=np.bincount(judged, minlength=2),
        digest=_digest(part),
    )


def joined_looks(one: Look, other: Look) -> Look:
    """What both show."""
    low, high = np.minimum(one.low, other.low), np.maximum(one.high, other.high)
    ends = _span(low, high)
    return Look(
        judgements=one.judgements + other.judgements,
        items=one.items + other.items,
        numbers=one.numbers + other.numbers,
        given=one.given + other.given,
        rated=one.rated + other.rated,
        answered=one.answered + other.answered,
        low=low,
        high=high,
        on_ends=sum(part.on_ends * (_span(part.low, part.high) == ends) for part in (one, other)),
        per_item=_padded_sum(one.per_item, other.per_item),
        unrated=np.concatenate([one.unrated, other.unrated])[:NAMED],
        single=np.concatenate([one.single, other.single])[:NAMED],
        compared=one.compared or other.compared,
        pairs=one.pairs + other.pairs,
        tied=_joined_ties(one.tied, other.tied),
        judged=_padded_sum(one.judged, other.judged),
        digest=hashlib.sha256(one.digest + other.digest).digest(),
    )


def _padded_sum(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    return np.asarray(longer + np.pad(shorter, (0, len(longer) - len(shorter))))


def _span(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(2, D) the lowest and the highest answer of all annotators; infinite where there is none."""
    return np.stack([low.min(axis=0, initial=np.inf), high.max(axis=0, initial=-np.inf)])


def groups_of(tied: np.ndarray) -> list[np.ndarray]:
    """Annotators by group, the largest first; who is silent is in none."""
    members = [np.flatnonzero(tied == first) for first in np.unique(tied[tied >= 0])]
    return sorted(members, key=lambda group: (-len(group), int(group[0])))


def _ties(item_of: np.ndarray, annotator_of: np.ndarray, M: int, K: int) -> np.ndarray:
    ones = np.ones(len(item_of), dtype=np.int8)
    ties = coo_array((ones, (item_of, M + annotator_of.astype(np.int64))), shape=(M + K, M + K))
    _, group = connected_components(ties.tocsr(), directed=False)
    return _named_by_first(group[M:], np.bincount(annotator_of, minlength=K) > 0)


def _joined_ties(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    K = len(one)
    ends = [(np.flatnonzero(tied >= 0), tied[tied >= 0]) for tied in (one, other)]
    a, b = (np.concatenate([end[i] for end in ends]) for i in (0, 1))
    ties = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(K, K))
    _, group = connected_components(ties.tocsr(), directed=False)
    return _named_by_first(group, (one >= 0) | (other >= 0))


def _named_by_first(group: np.ndarray, spoke: np.ndarray) -> np.ndarray:
    _, first, place = np.unique(group, return_index=True, return_inverse=True)
    return np.where(spoke, first[place], -1)


def _digest(part: Part) -> bytes:
    digest = hashlib.sha256()
    for array in (part.item_of, part.annotator_of):
        digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
    for value in (part.value, part.X, part.gold.value):
        canonical = np.where(np.isnan(value), np.nan, value + 0.0)
        digest.update(np.ascontiguousarray(canonical, dtype="<f8").tobytes())
    digest.update(np.ascontiguousarray(part.gold.place, dtype="<i8").tobytes())
    return digest.digest()


MOST_ANSWERS = 1 << 20  # different answers that are counted; a scale with more is continuous
_ODD = np.uint64(0x9E3779B97F4A7C15)  # numerical: an odd number without pattern, for hashing


class Tally(NamedTuple):
    """Of one dimension: different answers in order, their numbers, and of 2^level answers one is kept."""

    value: np.ndarray
    times: np.ndarray
    level: int

    def equal_pairs(self, close: float = 0.0) -> float:
        """Pairs of answers at most `close` apart, both ways round; an unbiased estimate where not all are kept."""
        equal, others = close_pairs(self.value, self.times, close)
        return equal * 2.0**self.level + others * 4.0**self.level

    def inner(self) -> tuple[float, float]:
        """Lowest and highest answer without the outermost."""
        total = np.cumsum(self.times)
        n = int(total[-1]) if len(total) else 0
        aside = left_aside(n)
        if n <= 2 * aside:
            return 0.0, 0.0
        low, high = np.searchsorted(total, [aside, n - 1 - aside], side="right")
        return float(self.value[low]), float(self.value[high])

    def quantiles(self, shares: list[float]) -> np.ndarray:
        """As numpy.percentile has them, from 0 to 1."""
        total = np.cumsum(self.times)
        place = np.asarray(shares) * (total[-1] - 1)
        low, high = (self.value[np.searchsorted(total, at, side="right")] for at in (np.floor(place), np.ceil(place)))
        return np.asarray(low + (place - np.floor(place)) * (high - low))


def tallied(part: Part) -> list[Tally]:
    """One tally per dimension."""
    found = []
    for d in range(part.value.shape[1]):
        column = part.value[:, d] + 0.0  # adding zero turns -0.0 into 0.0
        value, count = np.unique(column[~np.isnan(column)], return_counts=True)
        found.append(_bounded(Tally(value, count, 0)))
    return found


def joined_tallies(one: list[Tally], other: list[Tally]) -> list[Tally]:
    return [_joined(a, b) for a, b in zip(one, other, strict=True)]


def _joined(one: Tally, other: Tally) -> Tally:
    level = max(one.level, other.level)
    one, other = _at(one, level), _at(other, level)
    value, place = np.unique(np.concatenate([one.value, other.value]), return_inverse=True)
    count = np.bincount(place, np.concatenate([one.times, other.times]), minlength=len(value)).astype(np.int64)
    return _bounded(Tally(value, count, level))


def _bounded(tally: Tally) -> Tally:
    while len(tally.value) > MOST_ANSWERS:
        tally = _at(tally, tally.level + 1)
    return tally


def _at(tally: Tally, level: int) -> Tally:
    if level == tally.level:
        return tally
    code = tally.value.view(np.uint64)
    mixed = (code ^ (code >> np.uint64(31))) * _ODD
    kept = (mixed ^ (mixed >> np.uint64(29))) * _ODD >> np.uint64(64 - level) == 0
    return Tally(tally.value[kept], tally.times[kept], level)
