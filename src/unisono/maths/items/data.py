"""Ratings of items as the item model wants them: sparse rows by item, and annotators split into profiles.

A profile is one annotator together with one pattern of answered dimensions. All judgements of a profile share the same
information matrix F' N^-1 F, so the E-step needs it once per profile, whatever the number of ratings.

    M items, K annotators, D dimensions, J judgements, U profiles, R feature scores
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from unisono.maths.items.predictor import Scores, no_features


class Bounds(NamedTuple):
    """A lower and an upper bound on every dimension; infinite where there is none."""

    low: np.ndarray  # (D,)
    high: np.ndarray  # (D,)


class ItemData(NamedTuple):
    """Everything about the ratings that does not change while parameters are estimated."""

    y: np.ndarray  # (J, D) ratings sorted by item, 0 where missing
    item_ptr: np.ndarray  # (M+1,) item m owns judgements item_ptr[m]:item_ptr[m+1]
    profile_of: np.ndarray  # (J,) profile of each judgement
    annotator: np.ndarray  # (U,) annotator of each profile
    answered: np.ndarray  # (U, D) dimensions answered in each profile
    judgements: np.ndarray  # (U,) how many each profile has
    Sy: np.ndarray  # (U, D) sums of ratings
    Syy: np.ndarray  # (U, D, D) sums of their outer products
    scores: Scores  # features of the items as orthogonal scores
    K: int
    gold: np.ndarray | None = None  # (M, D) truths that are known, NaN elsewhere
    cuts: Bounds | None = None  # answers beyond say no more than that; None: every answer is a number

    @property
    def M(self) -> int:
        return len(self.item_ptr) - 1

    @property
    def D(self) -> int:
        return int(self.y.shape[1])

    @property
    def item_of(self) -> np.ndarray:
        """(J,) item of each judgement."""
        return np.repeat(np.arange(self.M), np.diff(self.item_ptr))

    @property
    def annotator_of(self) -> np.ndarray:
        """(J,) annotator of each judgement."""
        return np.asarray(self.annotator[self.profile_of])

    @property
    def value(self) -> np.ndarray:
        """(J, D) ratings as `prepare` was given them, NaN where missing."""
        return np.where(self.answered[self.profile_of], self.y, np.nan)

    def by_annotator(self, per_profile: np.ndarray) -> np.ndarray:
        """(K, ...) sums over the profiles of each annotator."""
        if np.array_equal(self.annotator, np.arange(self.K)):  # everybody has one pattern of answers, as is usual
            return per_profile.astype(np.float64)
        flat = per_profile.reshape(len(self.annotator), -1)
        return np.asarray(self._annotator_sum() @ flat).reshape(self.K, *per_profile.shape[1:])

    def shares(self) -> np.ndarray:
        """(K,) share of all judgements that each annotator gave."""
        return np.asarray(self.by_annotator(self.judgements) / max(len(self.y), 1))

    @property
    def per_item(self) -> float:
        """Judgements that an item has on average, at least one."""
        return max(len(self.y) / max(self.M, 1), 1.0)

    def answers(self) -> np.ndarray:
        """(K, D) numbers given by each annotator on each dimension."""
        return self.by_annotator(self.judgements[:, None] * self.answered)

    def _annotator_sum(self) -> sparse.csc_array:
        U = len(self.annotator)
        return sparse.csc_array((np.ones(U), self.annotator, np.arange(U + 1)), shape=(self.K, U))


def answer_patterns(answered: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every pattern of answered (U, D): the dimensions that it has, and the profiles that have it."""
    if answered.all():
        yield np.arange(answered.shape[1]), np.arange(len(answered))
        return
    patterns, pattern_of = np.unique(answered, axis=0, return_inverse=True)
    for p, mask in enumerate(patterns):
        yield np.flatnonzero(mask), np.flatnonzero(pattern_of.reshape(-1) == p)


def prepare(value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, scores: Scores, K: int) -> ItemData:
    """From ratings with NaN (J, D), sorted by item, to sparse rows and profiles. M is the number of score rows."""
    D = value.shape[1]
    observed = ~np.isnan(value)
    pattern = observed @ (1 << np.arange(D, dtype=np.int64))
    code = annotator_of.astype(np.int64) * (1 << D) + pattern
    profiles, profile_of = _distinct(code, K << D)
    y = np.where(observed, value, 0.0)
    U = len(profiles)
    Sy, Syy = profile_sums(y, profile_of, U)
    return ItemData(
        y=y,
        item_ptr=np.concatenate([[0], np.cumsum(np.bincount(item_of, minlength=scores.M))]).astype(np.int32),
        profile_of=profile_of,
        annotator=(profiles >> D).astype(np.int32),
        answered=(profiles[:, None] >> np.arange(D) & 1).astype(bool),
        judgements=np.bincount(profile_of, minlength=U).astype(np.float64),
        Sy=Sy,
        Syy=Syy,
        scores=scores,
        K=K,
    )


def rows_elsewhere(
    codes: np.ndarray, judgements: np.ndarray, Sy: np.ndarray, Syy: np.ndarray, M: int, K: int
) -> ItemData:
    """What an M-step needs of ratings whose rows lie elsewhere: sums of their profiles, and how many rows there are.

    `codes` (U,) of the profiles as `profile_codes` has them. Rows are NaN and take no memory.
    """
    J, D = int(judgements.sum()), Sy.shape[1]
    return ItemData(
        y=np.broadcast_to(np.nan, (J, D)),
        item_ptr=np.broadcast_to(np.int64(-1), (M + 1,)),
        profile_of=np.broadcast_to(np.int32(-1), (J,)),
        annotator=(codes >> D).astype(np.int32),
        answered=(codes[:, None] >> np.arange(D) & 1).astype(bool),
        judgements=judgements,
        Sy=Sy,
        Syy=Syy,
        scores=no_features(M),
        K=K,
    )


def profile_codes(data: ItemData) -> np.ndarray:
    """(U,) annotator and pattern of answered dimensions of every profile as one number: the same in every shard."""
    return np.asarray((data.annotator.astype(np.int64) << data.D) + data.answered @ (1 << np.arange(data.D)))


def profile_sums(y: np.ndarray, profile_of: np.ndarray, U: int) -> tuple[np.ndarray, np.ndarray]:
    """Sums of ratings (U, D) and of their outer products (U, D, D) by profile."""
    J, D = y.shape
    to_profile = sparse.csc_array((np.ones(J), profile_of, np.arange(J + 1)), shape=(U, J))
    pairs = np.stack([to_profile @ (y * y[:, [d]]) for d in range(D)], axis=1) if D else np.zeros((U, 0, 0))
    return np.asarray(to_profile @ y), pairs


def _distinct(code: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct codes in order, and the place of each code among them; by counting where that is cheaper."""
    if limit > 8 * max(len(code), 1024):
        distinct, place = np.unique(code, return_inverse=True)
        return distinct, place.reshape(-1).astype(np.int32)
    present = np.bincount(code, minlength=limit) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1).astype(np.int32)[code]
