"""Ratings of items as the model wants them: sparse rows by item, annotators split into profiles, features as scores.

A profile is one annotator together with one pattern of answered dimensions. All judgements of a profile share the same
information matrix F' N^-1 F, so the E-step needs it once per profile, whatever the number of ratings.

Features are turned into orthogonal scores Z = (X - xbar) V, Z'Z = diag(l), once. The least-squares fit of the predictor
a = mu + Theta' x + e is then one division per score; leaving out the directions with l = 0 is exactly the minimum-norm
solution, which is what the paper's (X'X)^-1 has to mean when there are more features than items, and a ridge adds one
number to every l.

    M items, K annotators, D dimensions, J judgements, U profiles
    X (M, P) features, V (P, R) directions, Z (M, R) scores, l (R,) their sums of squares, theta (R, D)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy import sparse

Sum = TypeVar("Sum")


class Scores(NamedTuple):
    """Orthogonal feature scores of the items, and the way from features to scores."""

    Z: np.ndarray  # (M, R) scores
    l: np.ndarray  # (R,) sums of squares of the scores
    V: np.ndarray  # (P, R) directions: Z = (X - center) V
    center: np.ndarray  # (P,) subtracted from the features

    @property
    def M(self) -> int:
        return len(self.Z)

    @property
    def R(self) -> int:
        return int(self.Z.shape[1])

    def mean(self) -> np.ndarray:
        """(R,) over items; where they are elsewhere, every row stands for the mean."""
        if not self.Z.strides[0]:
            return np.asarray(self.Z[0])
        return np.asarray(self.Z.sum(axis=0) / max(self.M, 1))

    def of(self, X: np.ndarray) -> np.ndarray:
        """(M', R) the scores of other items."""
        return np.asarray((X - self.center) @ self.V)


def no_features(M: int) -> Scores:
    """Scores of items that have no features."""
    return Scores(np.zeros((M, 0)), np.zeros(0), np.zeros((0, 0)), np.zeros(0))


def orthogonal_scores(X: np.ndarray, *, intercept: bool, rcond: float = 1e-10) -> Scores:
    """Scores of the features X (M, P); directions with less than `rcond` of the largest sum of squares are left out.

    With an intercept the features are centred, so that mu and Theta do not depend on each other.
    """
    M, P = X.shape
    if P == 0:
        return no_features(M)
    center = X.mean(axis=0) if intercept else np.zeros(P)
    Xc = X - center
    wide = P > M
    l, E = np.linalg.eigh(Xc @ Xc.T if wide else Xc.T @ Xc)
    l, E = _kept(l, E, rcond)
    V = Xc.T @ E / np.sqrt(l) if wide else E
    return Scores(Xc @ V, l, V, center)


def scores_elsewhere(products: np.ndarray, mean: np.ndarray, M: int, *, rcond: float = 1e-10) -> Scores:
    """The same of features with these means (P,) and products around them (P, P), with rows that stand for the mean."""
    l, V = _kept(*np.linalg.eigh(products), rcond)
    return Scores(np.broadcast_to(0.0, (M, len(l))), l, V, mean)


def _kept(l: np.ndarray, E: np.ndarray, rcond: float) -> tuple[np.ndarray, np.ndarray]:
    keep = l > rcond * max(float(l[-1]), np.finfo(float).tiny)
    return l[keep], E[:, keep]


def fit_theta(scores: Scores, Sza: np.ndarray, ridge: float = 0.0) -> np.ndarray:
    """(R, D) coefficients from the cross products Sza = Z' E[a]; `ridge` = 0 is minimum-norm least squares.

    eq. G8
    """
    return np.asarray(Sza / (scores.l + ridge)[:, None])


class Ridge(NamedTuple):
    """A predictor fitted to known truths, with the ridge that maximises its evidence."""

    theta: np.ndarray  # (R, D)
    mu: np.ndarray  # (D,)
    Sigma: np.ndarray  # (D, D) covariance of the residuals
    theta_var: np.ndarray  # (R,) variances of theta's rows relative to Sigma


def empirical_ridge(
    scores: Scores, a: np.ndarray, *, floor: float = 1e-12, max_iter: int = 200, tol: float = 1e-6
) -> Ridge:
    """Ridge regression of truths a (M, D) on centred scores; the ridge is estimated as under `bayes`.  eq. B4"""
    M, D = a.shape
    mu = a.mean(axis=0)
    Sza = scores.Z.T @ (a - mu)
    ridge = float(scores.l.mean()) if scores.R else 1.0
    for _ in range(max_iter):
        theta, theta_var = fit_theta(scores, Sza, ridge), 1 / (scores.l + ridge)
        residual = a - mu - scores.Z @ theta
        Sigma = (residual.T @ residual + ridge * theta.T @ theta) / M + floor * np.eye(D)
        before = ridge
        if scores.R:
            squares = np.trace(np.linalg.solve(Sigma, theta.T @ theta)) + D * theta_var.sum()
            ridge = scores.R * D / float(squares)
        if abs(ridge - before) <= tol * before:
            break
    return Ridge(theta, mu, Sigma, theta_var)


WORD_BITS = 30  # numerical: dimensions of a pattern that are read at once, into integers of 64 bits
KEY_ANNOTATOR = ">u4"  # the annotator in the key of a profile, its highest byte first, so that bytes sort as numbers do


class Bounds(NamedTuple):
    """A lower and an upper bound on every dimension; infinite where there is none."""

    low: np.ndarray  # (D,)
    high: np.ndarray  # (D,)

    def of(self, dims: Sequence[int] | np.ndarray) -> Bounds:
        """Those of some of the dimensions."""
        return Bounds(self.low[list(dims)], self.high[list(dims)])


class Cuts(NamedTuple):
    """Answers that stand for numbers beyond as well; all (D,). Answers that are not on the scale are numbers."""

    low: np.ndarray  # half a step inside the ends, infinite where there is none ...
    high: np.ndarray
    lowest: np.ndarray  # ... and half a step outside
    highest: np.ndarray
    weight: np.ndarray  # how much an answer at an end is read so: from 0, it is a number, to 1

    def of(self, dims: Sequence[int] | np.ndarray) -> Cuts:
        """Those of some of the dimensions."""
        return Cuts(*(part[list(dims)] for part in self))

    def at_end(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(J, D) whether answers are at the lower end, and at the upper one."""
        return (y <= self.low) & (y >= self.lowest), (y >= self.high) & (y <= self.highest)


class Elsewhere(Protocol):
    """Rows of ratings that lie in parts, and what is asked of all of them."""

    def total(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The sum over parts of `function(part, *arguments)`."""

    def of_dimensions(self, dims: Sequence[int] | np.ndarray) -> ItemData:
        """The same ratings on some of the dimensions."""

    def truths(self, params: Any, gold: np.ndarray | None) -> np.ndarray:
        """(G, D) posterior means of the known items, with `gold` (G, D) known."""


class ItemData(NamedTuple):
    """Everything about the ratings that does not change while parameters are estimated."""

    y: np.ndarray  # (J, D) ratings sorted by item, 0 where missing
    item_ptr: np.ndarray  # (M+1,) item m owns judgements item_ptr[m]:item_ptr[m+1]
    profile_of: np.ndarray  # (J,) profile of each judgement
    annotator: np.ndarray  # (U,) annotator of each profile
    answered: np.ndarray  # (U, D) dimensions answered in each profile
    judgements: np.ndarray  # (U,) how many each profile has; one that answers nothing has none
    Sy: np.ndarray  # (U, D) sums of ratings
    Syy: np.ndarray  # (U, D, D) sums of their outer products
    scores: Scores  # features of the items as orthogonal scores
    K: int
    gold: np.ndarray | None = None  # (M, D) truths that are known, NaN elsewhere
    cuts: Cuts | None = None  # answers beyond say no more than that; None: every answer is a number
    weight: np.ndarray | None = None  # (J,) precision of each judgement beside its annotator's, in Sy and Syy; None: 1
    usual: float | None = None  # mean log of items' judgements among all parts of the ratings; None: these are all
    elsewhere: Elsewhere | None = None  # who has the rows; gold then has those of known items alone

    @property
    def M(self) -> int:
        return len(self.item_ptr) - 1

    @property
    def D(self) -> int:
        return int(self.y.shape[1])

    def total(self, function: Callable[..., Sum], *arguments: Any) -> Sum:
        """`function(data, *arguments)`, which adds up over items, for all of them wherever they are."""
        if self.elsewhere is None:
            return function(self, *arguments)
        found: Sum = self.elsewhere.total(function, *arguments)
        return found

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

    def weights(self) -> np.ndarray:
        """(U,) sums of the judgements' weights."""
        if self.weight is None:
            return self.judgements
        total = np.bincount(self.profile_of, self.weight, minlength=len(self.annotator))
        return np.asarray(total * (self.judgements > 0))

    def shares(self) -> np.ndarray:
        """(K,) share of all judgements that each annotator gave."""
        return np.asarray(self.by_annotator(self.judgements) / max(self.judgements.sum(), 1))

    @property
    def per_item(self) -> float:
        """Judgements that an item has on average, at least one."""
        return max(float(self.judgements.sum()) / max(self.M, 1), 1.0)

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
    observed = ~np.isnan(value)
    annotator, answered, profile_of = distinct_profiles(annotator_of, observed)
    y = np.where(observed, value, 0.0)
    U = len(annotator)
    Sy, Syy = profile_sums(y, profile_of, U)
    per_item = np.bincount(item_of, minlength=scores.M)
    return ItemData(
        y=y,
        item_ptr=np.concatenate([[0], np.cumsum(per_item)]).astype(index_type(len(y))),
        profile_of=profile_of,
        annotator=annotator,
        answered=answered,
        judgements=np.bincount(profile_of, minlength=U) * answered.any(axis=1).astype(np.float64),
        Sy=Sy,
        Syy=Syy,
        scores=scores,
        K=K,
    )


def of_dimensions(data: ItemData, dims: Sequence[int] | np.ndarray) -> ItemData:
    """The same ratings on some of the dimensions."""
    index = np.asarray(dims)
    if data.elsewhere is not None:
        there = data.elsewhere.of_dimensions(index)
        return there._replace(gold=None if data.gold is None else data.gold[:, index])
    part = prepare(data.value[:, index], data.item_of, data.annotator_of, data.scores, data.K)
    cuts = None if data.cuts is None else data.cuts.of(index)
    return part._replace(gold=None if data.gold is None else data.gold[:, index], cuts=cuts)


def rows_elsewhere(
    keys: np.ndarray, judgements: np.ndarray, Sy: np.ndarray, Syy: np.ndarray, scores: Scores, K: int
) -> ItemData:
    """What an M-step needs of ratings whose rows lie elsewhere: sums of their profiles, and how many rows there are.

    `keys` (U,) of the profiles as `profile_keys` has them. Rows are NaN and take no memory.
    """
    J, D = int(judgements.sum()), Sy.shape[1]
    annotator, answered = _read_keys(keys, D)
    return ItemData(
        y=np.broadcast_to(np.nan, (J, D)),
        item_ptr=np.broadcast_to(np.int64(-1), (scores.M + 1,)),
        profile_of=np.broadcast_to(np.int32(-1), (J,)),
        annotator=annotator,
        answered=answered,
        judgements=judgements,
        Sy=Sy,
        Syy=Syy,
        scores=scores,
        K=K,
    )


def distinct_profiles(annotator_of: np.ndarray, answered: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Profiles of judgements by annotators (J,) on dimensions (J, D): their annotators (U,), their dimensions (U, D),
    and the profile of each judgement (J,).

    They stand in order of annotators. Patterns are numbered as they occur, WORD_BITS dimensions at a time: however many
    dimensions and annotators there are, no number comes near 2^63.
    """
    J, D = answered.shape
    pattern, patterns = np.zeros(J, dtype=np.int64), 1
    for start in () if answered.all() else range(0, D, WORD_BITS)[::-1]:
        word = answered[:, start : start + WORD_BITS]
        bits = word.astype(np.int64) @ (1 << np.arange(word.shape[1], dtype=np.int64))
        pattern = _places(pattern << word.shape[1] | bits, patterns << word.shape[1])
        patterns = int(pattern.max(initial=0)) + 1
    annotators = int(annotator_of.max(initial=-1)) + 1
    profile_of = _places(annotator_of.astype(np.int64) * patterns + pattern, annotators * patterns)
    first = np.zeros(int(profile_of.max(initial=-1)) + 1, dtype=np.intp)
    first[profile_of[::-1]] = np.arange(J)[::-1]
    return annotator_of[first].astype(np.int32), answered[first], profile_of.astype(index_type(J))


def index_type(largest: int) -> type[np.signedinteger]:
    """The smaller type of integers that counts so far; sparse products are faster with the smaller one."""
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def profile_keys(data: ItemData) -> np.ndarray:
    """(U,) annotator and pattern of answered dimensions of every profile as so many bytes: the same in every shard.

    Bytes sort as profiles do: by annotator, then by pattern.
    """
    who = data.annotator.astype(KEY_ANNOTATOR)[:, None].view(np.uint8)
    key = np.ascontiguousarray(np.hstack([who, np.packbits(data.answered[:, ::-1], axis=1)]))
    return key.view(f"V{key.shape[1]}")[:, 0]


def _read_keys(keys: np.ndarray, D: int) -> tuple[np.ndarray, np.ndarray]:
    """Annotators (U,) and answered dimensions (U, D) of keys (U,)."""
    key = np.ascontiguousarray(keys).view(np.uint8).reshape(len(keys), -1)
    who, bits = np.split(key, [np.dtype(KEY_ANNOTATOR).itemsize], axis=1)
    answered = np.unpackbits(bits, axis=1, count=D)[:, ::-1].astype(bool)
    return np.ascontiguousarray(who).view(KEY_ANNOTATOR)[:, 0].astype(np.int32), answered


def profile_sums(y: np.ndarray, profile_of: np.ndarray, U: int) -> tuple[np.ndarray, np.ndarray]:
    """Sums of ratings (U, D) and of their outer products (U, D, D) by profile."""
    J, D = y.shape
    to_profile = sparse.csc_array((np.ones(J), profile_of, np.arange(J + 1)), shape=(U, J))
    pairs = np.stack([to_profile @ (y * y[:, [d]]) for d in range(D)], axis=1) if D else np.zeros((U, 0, 0))
    return np.asarray(to_profile @ y), pairs


def weighted_sums(data: ItemData, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same sums of ratings with weights (J,)."""
    U = len(data.annotator)
    Sy, _ = profile_sums(data.y * weight[:, None], data.profile_of, U)
    return Sy, profile_sums(data.y * np.sqrt(weight)[:, None], data.profile_of, U)[1]


def _places(code: np.ndarray, limit: int) -> np.ndarray:
    """(J,) the place of each code below `limit` among those that occur, in order; by counting where that is cheaper."""
    if limit > 8 * max(len(code), 1024):
        return np.unique(code, return_inverse=True)[1].reshape(-1)
    present = np.bincount(code, minlength=limit) > 0
    return np.asarray((np.cumsum(present) - 1)[code])
