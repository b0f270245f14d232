"""Answers that are categories, words without order: votes, confusion matrices, and tempered class probabilities.

Models of annotators take their errors for independent. Where an item misleads several annotators at once, their answers
are counted as more evidence than they are, and probabilities come out too close to 0 and 1. Tempered probabilities are

    p_T(c)  proportional to  p(c)^(1/T)                     (eq. K1)

and an answer that was held out is expected to be l with probability sum_c p_T(c) theta_k(l | c) (eq. K2). The
temperature with the highest likelihood of the answers held out is taken; T = 1 leaves probabilities as they are.

Symbols: n answers, M items, K annotators, C classes; p probability of a class, theta confusion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Votes(NamedTuple):
    """Answers end to end, codes without holes."""

    item: np.ndarray  # (n,) 0..M-1
    annotator: np.ndarray  # (n,) 0..K-1
    answer: np.ndarray  # (n,) 0..C-1
    M: int
    K: int
    C: int
    counts: np.ndarray | None = None  # (n,) what each answer counts for; None: one each

    @property
    def weight(self) -> np.ndarray:
        """(n,) what each answer counts for: less than one where several classes were named at once."""
        return np.ones(self.n) if self.counts is None else self.counts

    @property
    def n(self) -> int:
        return len(self.item)

    def only(self, keep: np.ndarray) -> Votes:
        """Some of the answers; items, annotators and classes keep their numbers."""
        counts = None if self.counts is None else self.counts[keep]
        own = self.item[keep], self.annotator[keep], self.answer[keep]
        return Votes(*own, self.M, self.K, self.C, counts)


def vote_counts(votes: Votes) -> np.ndarray:
    """(M, C) how often each class was chosen for each item; of several classes named at once, their weights."""
    cell = votes.item.astype(np.int64) * votes.C + votes.answer
    return np.bincount(cell, votes.counts, minlength=votes.M * votes.C).reshape(votes.M, votes.C).astype(np.float64)


def vote_shares(votes: Votes) -> np.ndarray:
    """(M, C) the share of each class among the answers of an item; items without answers get the shares of all."""
    count = vote_counts(votes)
    overall = count.sum(axis=0) / max(float(count.sum()), 1e-300)
    total = count.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, count / np.maximum(total, 1), overall))


def expected_confusion(votes: Votes, p: np.ndarray) -> np.ndarray:
    """(K, C, C) expected number of answers l of annotator k to items of true class c, at [k, c, l], under p (M, C)."""
    found = np.empty((votes.K * votes.C, votes.C))  # by annotator and answer, then true class
    cell = votes.annotator.astype(np.int64) * votes.C + votes.answer
    for c in range(votes.C):
        found[:, c] = np.bincount(cell, weights=votes.weight * p[votes.item, c], minlength=votes.K * votes.C)
    return np.ascontiguousarray(found.reshape(votes.K, votes.C, votes.C).transpose(0, 2, 1))


def pooled_confusion(count: np.ndarray) -> np.ndarray:
    """(C, C) answers given the true class, of all annotators together; one answer is spread evenly over each row."""
    pooled = count.sum(axis=0) + 1 / count.shape[2]
    return np.asarray(pooled / pooled.sum(axis=1, keepdims=True))


def confusion(count: np.ndarray, strength: float) -> np.ndarray:
    """(K, C, C) answers given the true class; each annotator's are completed by `strength` answers of the crowd."""
    weighed = count + strength * pooled_confusion(count)
    return np.asarray(weighed / weighed.sum(axis=2, keepdims=True))


def expected_accuracy(votes: Votes, p: np.ndarray) -> np.ndarray:
    """(K,) mean probability that an answer of the annotator is the true class; NaN without answers."""
    right = np.bincount(votes.annotator, weights=votes.weight * p[votes.item, votes.answer], minlength=votes.K)
    given = np.bincount(votes.annotator, votes.weight, minlength=votes.K)
    return np.where(given > 0, right / np.where(given > 0, given, 1.0), np.nan)


def agreement_with_others(votes: Votes) -> np.ndarray:
    """(K,) how often the annotator chose what most others chose, ties counted by their share; NaN where alone."""
    others = vote_counts(votes)[votes.item] - _own_counts(votes)
    most = others.max(axis=1, keepdims=True, initial=0.0)
    winners = np.isclose(others, most, rtol=0, atol=SAME_COUNT) & (most > SAME_COUNT)
    number = winners.sum(axis=1)
    same = winners[np.arange(votes.n), votes.answer] / np.maximum(number, 1)
    told = number > 0
    agreed = np.bincount(votes.annotator[told], weights=same[told], minlength=votes.K)
    compared = np.bincount(votes.annotator[told], minlength=votes.K)
    return np.where(compared > 0, agreed / np.maximum(compared, 1), np.nan)


def _own_counts(votes: Votes) -> np.ndarray:
    """(n, C) what the annotator of each answer chose for its item, with all classes that were named at once."""
    _, pair = np.unique(votes.item.astype(np.int64) * votes.K + votes.annotator, return_inverse=True)
    cell = pair * votes.C + votes.answer
    own = np.bincount(cell, votes.weight, minlength=(int(pair.max(initial=-1)) + 1) * votes.C)
    return np.asarray(own.reshape(-1, votes.C)[pair])


SAME_COUNT = 1e-9  # numerical: counts that are equal but for rounding
TEMPERATURES = np.array([1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0])
CROWD_ANSWERS = 10.0  # choice: answers of the crowd that complete what is known of one annotator's confusion
LEAST_HELD_OUT = 20  # choice: answers below which a temperature would follow chance
FLOOR = 1e-6  # choice: a model that is certain is never taken at its word: one answer in a million


def temper(p: np.ndarray, temperature: float) -> np.ndarray:
    """(M, C) probabilities at a temperature; above 1 they move away from certainty, the order of classes stays."""
    if temperature == 1.0:
        return p
    log = np.log(np.maximum(p, FLOOR)) / temperature
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def hold_out(votes: Votes, rng: np.random.Generator) -> np.ndarray:
    """(n,) true for one answer, drawn at random, of every item that has three or more: two at least are left."""
    order = rng.permutation(votes.n)
    _, first = np.unique(votes.item[order], return_index=True)
    held = np.zeros(votes.n, dtype=bool)
    held[order[first]] = True
    return np.asarray(held & (np.bincount(votes.item, minlength=votes.M)[votes.item] >= 3))


def held_out_likelihood(p: np.ndarray, seen: Votes, unseen: Votes, temperatures: np.ndarray) -> np.ndarray:
    """(len(temperatures),) mean log probability of answers that p (M, C), fitted to `seen` alone, has not seen."""
    theta = confusion(expected_confusion(seen, p), CROWD_ANSWERS)
    answered = theta[unseen.annotator, :, unseen.answer]  # (n, C) probability of the answer, by true class
    expected = [np.sum(temper(p, T)[unseen.item] * answered, axis=1) for T in temperatures]
    return np.array([np.log(np.maximum(e, FLOOR)).mean() for e in expected])


def best_temperature(p: np.ndarray, seen: Votes, unseen: Votes) -> float:
    """The temperature that suits answers held out best; 1 where they are too few to tell."""
    if unseen.n < LEAST_HELD_OUT:
        return 1.0
    return float(TEMPERATURES[int(np.argmax(held_out_likelihood(p, seen, unseen, TEMPERATURES)))])
