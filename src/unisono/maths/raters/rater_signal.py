"""Signal that annotators share, and sums of answers against the truth that the others give: no model is fitted.

Answers y (J, D) lose their annotator's mean. Two different annotators of one item then share its truth and nothing
else, so the mean product of such pairs is the variance of what they share; its part of all variance is an intraclass
correlation:

    share = sum_m [(sum_n y)^2 - sum_n y^2] / sum_m n_m (n_m - 1)  /  mean of y^2                    eq. Q1

If they share nothing, the sign of every answer is as good as the other one, and the sum has mean 0 and variance

    2 sum_m [(sum_n y^2)^2 - sum_n y^4] M / (M - 1)                                                  eq. Q13

over the M items with two answers or more; the last factor is what taking means off costs, exactly so where everybody
answers everything. A standard error at the share that was found would be no test of whether there is any: an item on
which all agree most makes it larger. Nothing is fitted, so nothing can be fooled by a fit.

`sums_against` has the centred sums, by annotator, of answers and of the truths that the others give: all that response
styles need of the ratings. Sums of parts of the ratings can be joined.

    K annotators, D dimensions, J judgements, M items
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from unisono.maths.grouped_sums import rows_by_group, segment_sum
from unisono.maths.items.item_priors import CLEAR_ERRORS, IMAGINARY_ITEMS, LEAST_SHARE, SIGNAL_BELIEF


class SharedSignal(NamedTuple):
    """Per dimension (D,): NaN share where no item has two answers by people who answered twice."""

    share: np.ndarray  # of an answer's variance that annotators have in common; about 0 for pure noise
    error: np.ndarray  # its standard deviation where they have nothing in common; infinite with less than two items

    @property
    def told(self) -> np.ndarray:
        """(D,) whether answers say anything about it."""
        return np.asarray(np.isfinite(self.share) & np.isfinite(self.error))

    @property
    def clear(self) -> np.ndarray:
        """(D,) whether the share is larger than chance would have it, by more than CLEAR_ERRORS of its deviations."""
        return np.asarray(np.nan_to_num(self.share, nan=0.0) > CLEAR_ERRORS * self.error)

    @property
    def probability(self) -> np.ndarray:
        """(D,) that annotators share anything: share 0 against any share from 0 to 1.                   eq. Q2"""
        known = self.told & (self.error > 0)
        share = np.where(known, np.clip(self.share, -1.0, 1.0), 0.0)
        error = np.where(known, self.error, 1.0)
        inside = ndtr((1 - share) / error) - ndtr(-share / error)
        # N(share; s, error) averaged over s in (0, 1), over N(share; 0, error).
        log_factor = np.log(error * np.sqrt(2 * np.pi)) + 0.5 * (share / error) ** 2
        log_odds = np.log(SIGNAL_BELIEF / (1 - SIGNAL_BELIEF)) + log_factor + np.log(np.maximum(inside, 1e-300))
        return np.where(known, np.exp(-np.logaddexp(0.0, -log_odds)), SIGNAL_BELIEF)


def shared_signal(value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray) -> SharedSignal:
    """The share of variance that annotators have in common, per dimension of value (J, D), NaN where missing."""
    M, K = (int(of.max(initial=-1)) + 1 for of in (item_of, annotator_of))
    y, seen = without_annotator_means(value, annotator_of, annotator_means(value, annotator_of, K))
    return signal_from(signal_sums(y, seen, item_of, M))


class AnnotatorMeans(NamedTuple):
    """Mean answers, and how many they are of; (K, D) each."""

    n: np.ndarray
    mean: np.ndarray


class SignalSums(NamedTuple):
    """Sums over the answers to items, (D,) each; they add up over items."""

    products: np.ndarray  # of two different answers, both ways round
    chance: np.ndarray  # variance of these if every answer might as well have the other sign
    pairs: np.ndarray  # how many of these there are
    items: np.ndarray  # with two answers or more
    squares: np.ndarray
    n: np.ndarray  # answers


def signal_sums(y: np.ndarray, seen: np.ndarray, item_of: np.ndarray, M: int) -> SignalSums:
    """From answers (J, D) without their annotators' means."""
    n, square = segment_sum(seen.astype(float), item_of, M), y**2
    squares, fourth = segment_sum(square, item_of, M), segment_sum(square**2, item_of, M)
    products, chance = segment_sum(y, item_of, M) ** 2 - squares, 2 * np.maximum(squares**2 - fourth, 0.0)
    return SignalSums(*(part.sum(axis=0) for part in (products, chance, n * (n - 1), n > 1, squares, n)))


def signal_from(sums: SignalSums) -> SharedSignal:
    """Share and what chance makes of it, from sums over all items.                                    eq. Q1, Q13"""
    known = (sums.pairs > 0) & (sums.squares > 0)
    unit = np.where(known, sums.pairs * sums.squares, 1.0) / np.maximum(sums.n, 1)  # mean squares, times pairs
    means_taken = sums.items / np.maximum(sums.items - 1, 1)
    error = np.sqrt(np.where(known, sums.chance, 1.0) * means_taken) / unit
    # One item says nothing of its own chance, not even where the two signs happen to cancel.
    return SharedSignal(
        np.where(known, sums.products / unit, np.nan), np.where(known & (sums.items > 1), error, np.inf)
    )


def signal_correlation(value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray) -> np.ndarray:
    """(D, D) correlation of what annotators share on different dimensions, from pairs of annotators alike; it is pulled
    to zero by a few imaginary items and positive definite whatever the ratings are."""
    M, K = (int(of.max(initial=-1)) + 1 for of in (item_of, annotator_of))
    y, seen = without_annotator_means(value, annotator_of, annotator_means(value, annotator_of, K))
    return correlation_from(dimension_products(y, seen, item_of, M))


class DimensionProducts(NamedTuple):
    """Sums over items of products of answers on two dimensions by different annotators."""

    products: np.ndarray  # (D, D)
    pairs: np.ndarray  # (D, D) how many there are
    squares: np.ndarray  # (D,) of single answers
    n: np.ndarray  # (D,) answers
    items: int


def dimension_products(y: np.ndarray, seen: np.ndarray, item_of: np.ndarray, M: int) -> DimensionProducts:
    """From answers (J, D) without their annotators' means."""
    both = seen.astype(float)
    total, n = segment_sum(y, item_of, M), segment_sum(both, item_of, M)
    products, pairs = total.T @ total - y.T @ y, n.T @ n - both.T @ both
    return DimensionProducts(products, pairs, (y**2).sum(axis=0), n.sum(axis=0), M)


def correlation_from(sums: DimensionProducts) -> np.ndarray:
    """(D, D) the correlation from sums over all items."""
    shared, M = sums.products / np.maximum(sums.pairs, 1), sums.items
    sd = np.sqrt(np.maximum(np.diagonal(shared), LEAST_SHARE * sums.squares / np.maximum(sums.n, 1)))
    sd = np.where(sd > 0, sd, 1.0)
    correlation = np.clip(shared / np.outer(sd, sd), -1.0, 1.0) * M / (M + IMAGINARY_ITEMS)
    values, vectors = np.linalg.eigh(correlation * (1 - np.eye(len(sd))) + np.eye(len(sd)))
    positive = (vectors * np.maximum(values, LEAST_SHARE)) @ vectors.T
    root = np.sqrt(np.diagonal(positive))
    return np.asarray(positive / np.outer(root, root))


def annotator_means(value: np.ndarray, of: np.ndarray, K: int) -> AnnotatorMeans:
    """Mean answers of every annotator `of` (J,), from answers (J, D) with NaN."""
    seen = ~np.isnan(value)
    n = segment_sum(seen.astype(float), of, K)
    return AnnotatorMeans(n, segment_sum(np.where(seen, value, 0.0), of, K) / np.maximum(n, 1))


def without_annotator_means(value: np.ndarray, of: np.ndarray, means: AnnotatorMeans) -> tuple[np.ndarray, np.ndarray]:
    """Answers (J, D) minus their annotator's mean, 0 where missing, and which count; who answered once cannot.

    Taking the mean off takes 1/n of the variance along, which the factor gives back.
    """
    n, mean = means
    of, factor = of.astype(np.intp), np.where(n > 1, np.sqrt(n / np.maximum(n - 1, 1)), np.nan)
    y = np.empty(value.shape, order="F")  # answers of one dimension next to each other
    for d in range(value.shape[1]):
        y[:, d] = factor[:, d][of] * (value[:, d] - mean[:, d][of])
    counted = ~np.isnan(y)
    y[~counted] = 0.0
    return y, counted


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
    order = rows_by_group(of)
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
