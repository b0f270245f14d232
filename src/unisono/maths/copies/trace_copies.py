"""Duplicates among traces: pairs who draw alike what nobody else draws.

Two good annotators agree because both follow the truth; what the others' mean does not explain of their traces is their
own, and correlates little. Of copies it is the same. Frames follow from one another, so that a trace counts for a small
number of independent frames, and one with a few steps for no more than those; traces that do not move are no evidence.

What recordings show of pairs is summed in each and added up, so that recordings may lie anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from unisono.maths.copies.copy_sets import NAMED_FROM, joined_sets

COPIED = 0.003  # choice: prior probability of a pair; the same as of ratings in kind: rare
COPY_Z, COPY_SD = 3.0, 0.7  # choice: Fisher's z of a copy: correlations from .9 to .9999
LEAST_SPREAD = 0.3  # choice: of z among honest pairs: friends of one school of thought are no copies
LEAST_CROWD = 3  # convention: of a recording: of two it cannot be said what is theirs alone
MOST_Z = 5.0  # numerical: of equal traces it would be infinite
LEAST_FRAMES = 4.0  # choice: independent ones; Fisher's z of fewer has no variance


class TraceCopies(NamedTuple):
    voice: np.ndarray  # (K,) the first annotator of everybody's set
    probability: np.ndarray  # (K,) of being one opinion with somebody else
    frames: np.ndarray  # (K,) rated by both of the two most alike
    alike: np.ndarray  # (K,) correlation of what others do not explain, in that pair
    usual: float  # median of that correlation over all pairs


class PairSums(NamedTuple):
    """Of the n moving traces of one recording and dimension, two at a time; none of fewer than LEAST_CROWD."""

    who: np.ndarray  # (n,) annotators
    products: np.ndarray  # (6, n, n) of the two, of each with the mean of the others, of that mean, of each alone
    frames: np.ndarray  # (n, n) rated by both
    independent: np.ndarray  # (n, n) of these


def find_trace_copies(recordings: Sequence[Sequence[PairSums]], K: int) -> TraceCopies:
    """Sets of copies. recordings: what those of each dimension show."""  # eq. Q12
    log_odds, alike, usual = np.zeros((K, K)), np.full((K, K), np.nan), []
    frames = np.zeros((K, K))
    for own in recordings:
        r, n, count = private_correlation(own, K)
        log_ratio, middle = copy_evidence(r, count)
        log_odds += log_ratio
        alike, frames = np.fmin(alike, r), np.maximum(frames, n)
        usual.append(middle)
    told = (frames > 0) & ~np.isnan(alike)
    log_odds = np.where(told, log_odds + np.log(COPIED / (1.0 - COPIED)), -np.inf)
    probability = 1.0 / (1.0 + np.exp(np.clip(-log_odds, -700.0, 700.0)))
    best = np.argmax(probability, axis=1) if K else np.zeros(0, dtype=np.int64)
    who = np.arange(K)
    pairs = np.argwhere(np.triu(probability >= NAMED_FROM, 1))
    return TraceCopies(
        voice=joined_sets(pairs, K),
        probability=probability[who, best],
        frames=frames[who, best],
        alike=alike[who, best],
        usual=float(np.mean(usual)) if usual else 0.0,
    )


def pair_sums(
    course: np.ndarray, seen: np.ndarray, who: np.ndarray, sd: np.ndarray, most_independent: float
) -> PairSums:
    """Of the traces of one recording that move, less their means, 0 where nothing is rated (n, T).

    sd: (K,) of the moving traces of each annotator, see `moving_sd`; most_independent: largest share of such frames.
    """
    if len(who) < LEAST_CROWD:
        return PairSums(who[:0], np.zeros((6, 0, 0)), np.zeros((0, 0)), np.zeros((0, 0)))
    Y, given = course / sd[who][:, None], seen.astype(float)
    P, others = Y @ Y.T, len(who) - 2
    own, all_of = np.diagonal(P), P.sum(axis=1)
    left = (all_of - own)[:, None] - P  # with the sum of the others
    rest = P.sum() - 2.0 * (all_of[:, None] + all_of) + own[:, None] + own + 2.0 * P  # of that sum with itself
    ones = np.ones_like(P)
    products = (P, left / others, left.T / others, rest / others**2, own[:, None] * ones, own * ones)
    share = np.minimum(independent_share(own_course(Y)), most_independent)
    together = given @ given.T
    return PairSums(who, np.stack(products), together, together * np.minimum.outer(share, share))


def moving_sd(who: np.ndarray, square: np.ndarray, rated: np.ndarray, K: int) -> np.ndarray:
    """(K,) standard deviation of the moving traces of each annotator, 1 of who has none.

    square, rated: sums of squares and numbers of ratings of such traces, and whose they are.
    """
    count = np.bincount(who, rated, minlength=K)
    return np.where(count > 0, np.sqrt(np.bincount(who, square, minlength=K) / np.maximum(count, 1.0)), 1.0)


def private_correlation(recordings: Sequence[PairSums], K: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(K, K) correlation of two annotators' traces given the mean of the others', the frames of recordings where both
    moved, and how many of these are independent: in both traces, and no more than the given share.
    """
    sums, n, count = np.zeros((6, K, K)), np.zeros((K, K)), np.zeros((K, K))
    for one in recordings:
        block = np.ix_(one.who, one.who)
        for out, value in zip(sums, one.products, strict=True):
            out[block] += value
        n[block] += one.frames
        count[block] += one.independent
    both, left, right, rest, mine, yours = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (both - left * right / rest) / np.sqrt((mine - left**2 / rest) * (yours - right**2 / rest))
    r[np.arange(K), np.arange(K)] = np.nan
    return np.where(np.isfinite(r), np.clip(r, -1.0, 1.0), np.nan), n, count


def own_course(Y: np.ndarray) -> np.ndarray:
    """(J, T) what the mean of all the others does not explain of each course Y (J, T) of a recording."""
    others = Y.sum(axis=0) - Y
    square = np.einsum("jt,jt->j", others, others)
    slope = np.einsum("jt,jt->j", Y, others) / np.where(square > 0, square, 1.0)
    return np.asarray(Y - slope[:, None] * others)


def independent_share(course: np.ndarray) -> np.ndarray:
    """(J,) share of the frames of courses (J, T) that are independent: 1 / (1 + 2 sum of squared autocorrelations).

    Over all lags, since a trace that stays where it jumped to lasts as long as the recording. Of so many lags chance
    alone makes the sum about twice as large, which errs on the side of the accused.
    """
    T = course.shape[1]
    size = scipy.fft.next_fast_len(2 * T, real=True)
    product = scipy.fft.irfft(np.abs(scipy.fft.rfft(course, size)) ** 2, size)[:, :T]
    square = product[:, :1]
    rho = product[:, 1:] / np.where(square > 0, square, 1.0)
    return np.where(square[:, 0] > 0, 1.0 / (1.0 + 2.0 * np.sum(rho**2, axis=1)), 0.0)


def copy_evidence(r: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, float]:
    """(K, K) log ratio of p(z | copy) and p(z | honest), z Fisher's transform of r; and the r of the median pair."""
    z = np.clip(np.arctanh(np.clip(r, -np.tanh(MOST_Z), np.tanh(MOST_Z))), -MOST_Z, MOST_Z)
    pairs = z[np.triu_indices(len(z), 1)]
    pairs = pairs[~np.isnan(pairs)]
    if not len(pairs):
        return np.zeros_like(z), 0.0
    middle = float(np.median(pairs))
    spread = max(1.4826 * float(np.median(np.abs(pairs - middle))), LEAST_SPREAD)
    noise = 1.0 / np.maximum(n - 3.0, LEAST_FRAMES - 3.0)
    honest, copy = spread**2 + noise, COPY_SD**2 + noise
    ratio = 0.5 * ((z - middle) ** 2 / honest + np.log(honest) - (z - COPY_Z) ** 2 / copy - np.log(copy))
    beyond = z > COPY_Z  # closer than a usual copy is no evidence against one
    ratio = np.where(beyond, 0.5 * ((z - middle) ** 2 / honest + np.log(honest) - np.log(copy)), ratio)
    # Who agrees less than usual is no copy either: the honest spread is that of people, not of strangers.
    return np.where(np.isnan(z) | (z < middle), -np.inf, ratio), float(np.tanh(middle))


def one_trace(
    value: np.ndarray, item_of: np.ndarray, voice_of: np.ndarray, length: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Traces by voices, sorted by item and voice: the mean of those of one voice, frame by frame."""
    size = length[item_of]
    first = np.cumsum(size) - size
    order = np.lexsort((voice_of, item_of))
    groups = np.split(order, np.flatnonzero(np.diff(item_of[order]) | np.diff(voice_of[order])) + 1)
    values = []
    for group in groups:
        traces = np.stack([value[first[j] : first[j] + size[j]] for j in group])
        known = ~np.isnan(traces)
        n = known.sum(axis=0)
        total = np.where(known, traces, 0.0).sum(axis=0)
        values.append(np.where(n > 0, total / np.maximum(n, 1), np.nan))
    heads = [group[0] for group in groups]
    return np.concatenate(values), item_of[heads], voice_of[heads]
