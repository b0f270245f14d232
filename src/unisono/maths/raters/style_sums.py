"""Sums of answers and of the truths that the others give, by annotator: all that styles need of the ratings.

Both are minus their means over the annotator's items. Sums of parts of the ratings can be joined.

    K annotators, D dimensions, J judgements
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

BLOCK_ROWS = 1 << 17  # numerical: keeps memory small, and what is worked on in the cache


class Sums(NamedTuple):
    """Centred sums over the answers of each annotator on each dimension d; e and f are dimensions of the truth."""

    n: np.ndarray  # (K, D) answers
    yy: np.ndarray  # (K, D)
    xx: np.ndarray  # (K, D, e, f)
    xy: np.ndarray  # (K, D, e)
    y: np.ndarray  # (K, D) mean answer
    x: np.ndarray  # (K, D, e) mean truth over these answers


def centred_sums(answers: np.ndarray, truth: np.ndarray, of: np.ndarray, K: int) -> Sums:
    """Sums of answers (J, D), NaN where they do not count, and truths (J, D), by annotator `of` (J,)."""
    D = answers.shape[1]
    n, yy, y = np.zeros((K, D)), np.zeros((K, D)), np.zeros((K, D))
    xx, xy, x = np.zeros((K, D, D, D)), np.zeros((K, D, D)), np.zeros((K, D, D))
    known = ~np.isnan(answers)
    if known.all():
        return _complete_sums(answers, truth, of, K)
    for d in range(D):
        # Where the same rows count as on the dimension before, the truths behind them are the same too.
        again = d > 0 and np.array_equal(known[:, d], known[:, d - 1])
        if again:
            n[:, d], x[:, d], xx[:, d] = n[:, d - 1], x[:, d - 1], xx[:, d - 1]
        else:
            rows = np.flatnonzero(known[:, d])
            who = of[rows]
            total = _adding(who, K)
            n[:, d] = np.bincount(who, minlength=K)
            safe = np.maximum(n[:, d], 1)
            x[:, d] = total @ truth[rows] / safe[:, None]
            others = truth[rows] - x[who, d]
            for e in range(D):
                xx[:, d, e, e:] = total @ (others[:, e:] * others[:, [e]])
                xx[:, d, e + 1 :, e] = xx[:, d, e, e + 1 :]
        y[:, d] = total @ answers[rows, d] / safe
        own = answers[rows, d] - y[who, d]
        yy[:, d] = total @ (own * own)
        xy[:, d] = total @ (others * own[:, None])
    return Sums(n, yy, xx, xy, y, x)


def _complete_sums(answers: np.ndarray, truth: np.ndarray, of: np.ndarray, K: int) -> Sums:
    """The same where nothing is missing: truths and answers side by side, and one product for every truth."""
    D = answers.shape[1]
    n = np.bincount(of, minlength=K).astype(np.float64)
    blocks = [slice(start, start + BLOCK_ROWS) for start in range(0, len(of), BLOCK_ROWS)]
    mean, yy = np.zeros((K, 2 * D)), np.zeros((K, D))
    for rows in blocks:
        mean += _adding(of[rows], K) @ np.hstack([truth[rows], answers[rows]])
    mean /= np.maximum(n, 1)[:, None]
    products = [np.zeros((K, 2 * D - e)) for e in range(D)]
    for rows in blocks:
        total = _adding(of[rows], K)
        both = np.hstack([truth[rows], answers[rows]]) - mean[of[rows]]
        for e in range(D):
            products[e] += total @ (both[:, e:] * both[:, [e]])
        yy += total @ both[:, D:] ** 2
    xx, xy = np.empty((K, D, D)), np.empty((K, D, D))
    for e in range(D):
        xx[:, e, e:] = xx[:, e:, e] = products[e][:, : D - e]
        xy[:, :, e] = products[e][:, D - e :]
    by_dimension = np.ones((1, D, 1))
    return Sums(
        np.repeat(n[:, None], D, axis=1),
        yy,
        by_dimension[..., None] * xx[:, None],
        xy,
        mean[:, D:],
        by_dimension * mean[:, None, :D],
    )


def _adding(of: np.ndarray, K: int) -> sparse.csc_array:
    """(K, J) adds up the rows of every annotator."""
    return sparse.csc_array((np.ones(len(of)), of, np.arange(len(of) + 1)), shape=(K, len(of)))


def joined_sums(one: Sums, other: Sums) -> Sums:
    """Centred sums over the answers of both."""
    n = one.n + other.n
    share = other.n / np.maximum(n, 1)
    weight = one.n * share
    y, x = other.y - one.y, other.x - one.x
    return Sums(
        n,
        one.yy + other.yy + weight * y**2,
        one.xx + other.xx + weight[:, :, None, None] * x[:, :, :, None] * x[:, :, None, :],
        one.xy + other.xy + weight[:, :, None] * x * y[:, :, None],
        one.y + share * y,
        one.x + share[:, :, None] * x,
    )
