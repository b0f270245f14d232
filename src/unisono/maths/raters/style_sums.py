"""Sums of answers and of the truths that the others give, by annotator: all that styles need of the ratings.

Both are minus their means over the annotator's items. Sums of parts of the ratings can be joined.

    K annotators, D dimensions, J judgements
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

BLOCK_ROWS = 1 << 17  # numerical: keeps memory small, and what is worked on in the cache
MANY_DIMENSIONS = 16  # numerical: from here on matrix products win


class Sums(NamedTuple):
    """Centred sums over the answers of each annotator on each dimension d; e and f are dimensions of the truth."""

    n: np.ndarray  # (K, D) answers
    yy: np.ndarray  # (K, D)
    xx: np.ndarray  # (K, D, e, f)
    xy: np.ndarray  # (K, D, e)
    y: np.ndarray  # (K, D) mean answer
    x: np.ndarray  # (K, D, e) mean truth over these answers


class HeldAnswers(NamedTuple):
    """Answers that are held against truths, and what is known of them whatever the truths are."""

    of: np.ndarray  # (J,) annotators
    y: np.ndarray  # (D, J) answers minus their annotator's mean, 0 where they do not count
    patterns: list[tuple[np.ndarray, np.ndarray | None]]  # dimensions on which the same answers count, and which (J,)
    n: np.ndarray  # (D, K)
    mean: np.ndarray  # (D, K)
    yy: np.ndarray  # (D, K)


def held_answers(answers: np.ndarray, of: np.ndarray, K: int) -> HeldAnswers:
    """Of answers (J, D), NaN where they do not count, by annotators `of` (J,)."""
    of, y = of.astype(np.intp), np.array(answers.T, order="C")
    known = ~np.isnan(y)
    if known.all():
        n = np.bincount(of, minlength=K).astype(np.float64)
        n = np.tile(n, (len(y), 1))
        patterns: list[tuple[np.ndarray, np.ndarray | None]] = [(np.arange(len(y)), None)]
    else:
        n = np.stack([np.bincount(of, seen, minlength=K) for seen in known])
        kept, pattern_of = np.unique(known, axis=0, return_inverse=True)
        patterns = [(np.flatnonzero(pattern_of.reshape(-1) == p), seen) for p, seen in enumerate(kept)]
    mean, yy = np.zeros((2, *n.shape))
    for d, own in enumerate(y):
        own[~known[d]] = 0.0
        mean[d] = np.bincount(of, own, minlength=K) / np.maximum(n[d], 1)
        own -= mean[d][of]
        own[~known[d]] = 0.0
        yy[d] = np.bincount(of, own * own, minlength=K)
    return HeldAnswers(of, y, patterns, n, mean, yy)


def sums_against(held: HeldAnswers, truths: Iterable[tuple[slice, np.ndarray]]) -> Sums:
    """Sums of the answers and of truths (D, j), which come with the slices of judgements that they belong to.

    Answers are centred, so that truths need not be for the sums of their products.
    """
    (D, K), dims = held.n.shape, range(len(held.n))
    x, xx, xy = np.zeros((D, D, K)), np.zeros((D, D, D, K)), np.zeros((D, D, K))
    add = _add_products if D < MANY_DIMENSIONS else _add_by_annotator
    for judgements, truth in truths:
        add(held, judgements, truth, x, xx, xy)
    x /= np.maximum(held.n, 1)[:, None]
    for e in dims:
        for f in range(e, D):
            xx[:, e, f] -= held.n * x[:, e] * x[:, f]
            xx[:, f, e] = xx[:, e, f]
    by_annotator = (np.ascontiguousarray(np.moveaxis(part, -1, 0)) for part in (held.n, held.yy, xx, xy, held.mean, x))
    return Sums(*by_annotator)


def _add_products(
    held: HeldAnswers, judgements: slice, truth: np.ndarray, x: np.ndarray, xx: np.ndarray, xy: np.ndarray
) -> None:
    """Adds the sums over these judgements, one product of two dimensions at a time; of xx the upper triangles."""
    of, y, (D, K) = held.of[judgements], held.y[:, judgements], held.n.shape
    for own, counts in held.patterns:
        counted = truth if counts is None else truth * counts[judgements]
        for e in range(D):
            x[own, e] += np.bincount(of, counted[e], minlength=K)
            for f in range(e, D):
                xx[own, e, f] += np.bincount(of, counted[e] * truth[f], minlength=K)
    for d in range(D):
        for e in range(D):
            xy[d, e] += np.bincount(of, truth[e] * y[d], minlength=K)


def _add_by_annotator(
    held: HeldAnswers, judgements: slice, truth: np.ndarray, x: np.ndarray, xx: np.ndarray, xy: np.ndarray
) -> None:
    """The same by matrix products, one annotator at a time."""
    of, y = held.of[judgements], held.y[:, judgements]
    order = np.argsort(of, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(of[order])) + 1) if len(order) else ():
        k, own_truth = of[rows[0]], truth[:, rows]
        xy[:, :, k] += y[:, rows] @ own_truth.T
        for own, counts in held.patterns:
            counted = own_truth if counts is None else own_truth * counts[judgements][rows]
            x[own, :, k] += counted.sum(axis=1)
            xx[own, :, :, k] += counted @ own_truth.T


def centred_sums(answers: np.ndarray, truth: np.ndarray, of: np.ndarray, K: int) -> Sums:
    """Sums of answers (J, D), NaN where they do not count, and truths (J, D), by annotator `of` (J,)."""
    blocks = (slice(start, start + BLOCK_ROWS) for start in range(0, len(of), BLOCK_ROWS))
    return sums_against(held_answers(answers, of, K), ((rows, np.ascontiguousarray(truth[rows].T)) for rows in blocks))


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
