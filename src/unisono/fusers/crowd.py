"""What is known of a crowd before any model: the shared signal, the diagnosis of annotators, and duplicate annotators.

Ratings never change, so what is found about them is computed once and kept for as long as they are. Annotators whose
answers agree more than chance allows (duplicates, here called copies) are found before any model, so that every model
can merge them into one annotator; the tables of results have everybody's row again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from unisono.fusers.fusion_results import Annotators
from unisono.fusers.trace_data import in_own_units, parts_of
from unisono.maths import rating_values, structure_words
from unisono.maths.copies.copy_sets import Opinions, find_opinions, one_voice
from unisono.maths.copies.trace_copies import PairSums, find_trace_copies, moving_sd, one_trace, pair_sums
from unisono.maths.items.annotator_levels import standardised
from unisono.maths.raters.rater_diagnosis import Diagnosis, diagnose
from unisono.maths.raters.rater_signal import SharedSignal, shared_signal
from unisono.maths.series.trace_frames import independent_frames
from unisono.maths.series.trace_parts import Part, Parts, outlines, two_scales
from unisono.maths.series.trace_priors import EVIDENCE, FLAT
from unisono.scale.executors import Executor
from unisono.tables.coverage_and_outliers import coverage
from unisono.tables.ratings import Ratings

Found = TypeVar("Found")
Further = ParamSpec("Further")


def once_for_ratings(
    find: Callable[Concatenate[Ratings, Further], Found],
) -> Callable[Concatenate[Ratings, Further], Found]:
    """What is found is kept for as long as the ratings are; it may hold no reference to them."""
    kept: WeakKeyDictionary[Ratings, Found] = WeakKeyDictionary()

    @functools.wraps(find)
    def found(ratings: Ratings, /, *more: Further.args, **named: Further.kwargs) -> Found:
        if ratings not in kept:
            kept[ratings] = find(ratings, *more, **named)
        return kept[ratings]

    return found


def crowd_signal(ratings: Ratings) -> SharedSignal | None:
    """The share of variance that annotators have in common; None for traces, whose frames are no independent items."""
    return None if ratings.is_series else item_signal(ratings)


@once_for_ratings
def item_signal(ratings: Ratings) -> SharedSignal:
    """The same for ratings of items."""
    value = standardised(ratings.value, ratings.annotator_of, ratings.K)
    return shared_signal(value, ratings.item_of, ratings.annotator_of)


@once_for_ratings
def crowd_diagnosis(ratings: Ratings) -> Diagnosis:
    """Probabilities of spammers and styles, of annotators of items."""
    return diagnose(ratings.value, ratings.item_of, ratings.annotator_of, ratings.K, item_signal(ratings))


@dataclass(frozen=True)
class CopySet:
    """Annotators who look like one opinion, and how much the two most alike of them agree."""

    annotators: tuple[str, ...]
    probability: float
    answers: int  # that both of the two gave
    equal: float  # share of them that are the same; of traces: correlation of what others do not explain
    by_chance: float  # share that would be the same by chance; of traces: that correlation in the median pair
    traces: bool = False


@dataclass(frozen=True, eq=False)
class Copies:
    """What was found about copies; arrays are in the order of the ratings' annotators."""

    sets: tuple[CopySet, ...]
    voice: np.ndarray  # (K,) the first annotator of everybody's set
    probability: np.ndarray  # (K,) of being one opinion with somebody else


@once_for_ratings
def crowd_copies(ratings: Ratings, executor: Executor | None = None) -> Copies:
    """Sets of annotators whose answers agree more than chance allows: to items, or in what traces do not share.

    executor: who looks at the frames of traces, where they have not been looked at yet.
    """
    if ratings.is_series:
        return _trace_copies(ratings, executor)
    answers = rating_values.same_answers(ratings.value)
    return named_copies(find_opinions(answers, ratings.item_of, ratings.annotator_of, ratings.K), ratings.annotators)


def one_voice_each(ratings: Ratings) -> Ratings:
    """The ratings with every set of copies as one annotator, called like its first, who gives the answer that
    most of them gave, else that of the member who stands nearest to others.

    If nobody could be compared any more, the ratings as they are: somebody has to be the other opinion.
    """
    if not crowd_copies(ratings).sets:
        return ratings
    merged = _merged(ratings)
    return ratings if merged is None else merged


def count_copies(ratings: Ratings, how: structure_words.Counting) -> Ratings:
    """The ratings as a fit is to see them: "merge" has a set of copies as one opinion, "keep" has everybody."""
    structure_words.require_word("copies", how, structure_words.COPY_WORDS)
    return one_voice_each(ratings) if how == "merge" else ratings


@once_for_ratings
def _merged(ratings: Ratings) -> Ratings | None:
    """None where nobody could be compared any more."""
    kept, place = np.unique(crowd_copies(ratings).voice, return_inverse=True)
    if ratings.is_series:
        voices = place[ratings.annotator_of]
        value, item_of, voice_of = one_trace(ratings.value, ratings.item_of, voices, ratings.length)
    else:
        value, item_of, voice_of = one_voice(ratings.value, ratings.item_of, ratings.annotator_of, place)
    merged = replace(
        ratings,
        value=value,
        item_of=item_of,
        annotator_of=voice_of.astype(np.int32),
        annotators=tuple(ratings.annotators[k] for k in kept),
        kinds=None if ratings.kinds is None else tuple(ratings.kinds[k] for k in kept),
    )
    return merged if (coverage(merged).raters >= 2).any() else None


def described_one_by_one(voices: Annotators, ratings: Ratings, how: structure_words.Counting) -> Annotators:
    """A row for every annotator of the ratings: copies have the figures of the voice they are part of."""
    copies = crowd_copies(ratings)
    merged = how == "merge" and one_voice_each(ratings) is not ratings
    given = np.bincount(ratings.annotator_of, minlength=ratings.K)
    kinds = None if voices.kind is None else ratings.kinds
    return everybody_described(voices, copies, ratings.annotators, given, merged=merged, kinds=kinds)


def everybody_described(
    voices: Annotators,
    copies: Copies,
    annotators: tuple[str, ...],
    given: np.ndarray,
    *,
    merged: bool,
    kinds: tuple[str, ...] | None = None,
) -> Annotators:
    """The same for annotators with these names and `given` (K,) judgements each."""
    K = len(voices.annotators)
    place = {label: row for row, label in enumerate(voices.annotators)}
    row = np.array([place[annotators[k]] for k in (copies.voice if merged else range(len(annotators)))])

    def spread(found: Any) -> Any:
        return found[row] if isinstance(found, np.ndarray) and len(found) == K else found

    values = {one.name: spread(getattr(voices, one.name)) for one in fields(voices)}
    if voices.diagnosis is not None:
        values["diagnosis"] = Diagnosis(*map(spread, voices.diagnosis))
    if voices.tracing is not None:
        values["tracing"] = {kind: spread(found) for kind, found in voices.tracing.items()}
    if voices.ends is not None:
        values["ends"] = {name: (spread(low), spread(high)) for name, (low, high) in voices.ends.items()}
    values["annotators"] = annotators
    values["ratings"] = given
    values["kind"] = kinds
    values |= {"copy": copies.probability, "voice": copies.voice}
    return Annotators(**values)


def named_copies(found: Opinions, names: tuple[str, ...]) -> Copies:
    """What was found about annotators with these names."""

    def shown(best: int) -> dict[str, Any]:
        equal, by_chance = (round(float(share[best]), 3) for share in (found.equal, found.expected))
        return {"answers": int(found.shared[best]), "equal": equal, "by_chance": by_chance}

    return _in_sets(names, found.voice, found.probability, found.probability + 1e-9 * found.shared, shown)


def _in_sets(
    names: tuple[str, ...],
    voice: np.ndarray,
    probability: np.ndarray,
    alike: np.ndarray,
    shown: Callable[[int], dict[str, Any]],
) -> Copies:
    """Annotators by their voice; of each set is `shown` what the member says who is most `alike` (K,) to another."""
    sets = []
    for first in np.unique(voice[voice != np.arange(len(names))]):
        members = np.flatnonzero(voice == first)
        # Never certain: what a model says with probability one it says under its assumptions.
        sure = min(round(float(probability[members].min()), 3), 0.999)
        best = int(members[np.argmax(alike[members])])
        sets.append(CopySet(tuple(names[k] for k in members), sure, **shown(best)))
    return Copies(tuple(sets), voice, np.minimum(probability, 0.999))


def _trace_copies(ratings: Ratings, executor: Executor | None) -> Copies:
    K = ratings.K
    assert ratings.clock is not None
    data = in_own_units(ratings)
    rated = [d for d in range(ratings.D) if not np.isnan(data.y[:, d]).all()]
    if len(rated) < ratings.D:
        data = data._replace(y=data.y[:, rated])
    parts = parts_of(data, executor)
    scales = two_scales(parts, K, len(rated))
    share = np.array(independent_frames(parts, scales, ratings.clock.rate, int(data.length.max()))) / EVIDENCE
    found = find_trace_copies(pairs_of_traces(parts, FLAT * np.array([one.unit for one in scales]), share, K), K)

    def shown(best: int) -> dict[str, Any]:
        equal, by_chance = round(float(found.alike[best]), 3), round(found.usual, 3)
        return {"answers": int(found.frames[best]), "equal": equal, "by_chance": by_chance, "traces": True}

    return _in_sets(ratings.annotators, found.voice, found.probability, found.alike, shown)


def pairs_of_traces(parts: Parts, least_sd: np.ndarray, share: np.ndarray, K: int) -> list[list[PairSums]]:
    """What every recording of each dimension shows of pairs. least_sd: (D,) of moving traces; share: (D,) largest share
    of independent frames."""
    outline = [one for part in parts.map(outlines) for one in part]
    sd = []
    for d, least in enumerate(least_sd.tolist()):
        who, _, rated, square, _ = (np.concatenate(own) for own in zip(*(one[d] for one in outline), strict=True))
        moves = square > rated * least**2
        sd.append(moving_sd(who[moves], square[moves], rated[moves], K))
    found = parts.map(_pairs_of_part, tuple(sd), least_sd, share)
    return [[one for part in found for one in part[d]] for d in range(len(least_sd))]


def _pairs_of_part(
    part: Part, sd: tuple[np.ndarray, ...], least_sd: np.ndarray, share: np.ndarray
) -> list[list[PairSums]]:
    found: list[list[PairSums]] = [[] for _ in sd]
    for dims, outline in zip(part.courses, part.outlines, strict=True):
        for d, (own, seen) in enumerate(zip(dims, outline, strict=True)):
            moves = seen.square > seen.given * least_sd[d] ** 2
            rows = slice(None) if moves.all() else moves  # no copy of all traces
            found[d].append(pair_sums(own.value[rows], own.seen[rows], own.who[rows], sd[d], float(share[d])))
    return found


__all__ = ["SharedSignal", "crowd_diagnosis", "crowd_signal", "item_signal"]
