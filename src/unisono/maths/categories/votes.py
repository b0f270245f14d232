"""Votes of items, the confusion of every annotator under given class probabilities, and agreement with the others.

Symbols: n answers, M items, K annotators, C classes. Imports NumPy alone.
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

    @property
    def n(self) -> int:
        return len(self.item)

    def only(self, keep: np.ndarray) -> Votes:
        """Some of the answers; items, annotators and classes keep their numbers."""
        return self._replace(item=self.item[keep], annotator=self.annotator[keep], answer=self.answer[keep])


def vote_counts(votes: Votes) -> np.ndarray:
    """(M, C) how often each class was chosen for each item."""
    cell = votes.item.astype(np.int64) * votes.C + votes.answer
    return np.bincount(cell, minlength=votes.M * votes.C).reshape(votes.M, votes.C).astype(np.float64)


def vote_shares(votes: Votes) -> np.ndarray:
    """(M, C) the share of each class among the answers of an item; items without answers get the shares of all."""
    count = vote_counts(votes)
    overall = count.sum(axis=0) / max(votes.n, 1)
    total = count.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, count / np.maximum(total, 1), overall))


def expected_confusion(votes: Votes, p: np.ndarray) -> np.ndarray:
    """(K, C, C) expected number of answers l of annotator k to items of true class c, at [k, c, l], under p (M, C)."""
    found = np.empty((votes.K * votes.C, votes.C))  # by annotator and answer, then true class
    cell = votes.annotator.astype(np.int64) * votes.C + votes.answer
    for c in range(votes.C):
        found[:, c] = np.bincount(cell, weights=p[votes.item, c], minlength=votes.K * votes.C)
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
    right = np.bincount(votes.annotator, weights=p[votes.item, votes.answer], minlength=votes.K)
    given = np.bincount(votes.annotator, minlength=votes.K)
    return np.where(given > 0, right / np.maximum(given, 1), np.nan)


def agreement_with_others(votes: Votes) -> np.ndarray:
    """(K,) how often the annotator chose what most others chose, ties counted by their share; NaN where alone."""
    others = vote_counts(votes)[votes.item]
    others[np.arange(votes.n), votes.answer] -= 1
    most = others.max(axis=1, keepdims=True, initial=0.0)
    winners = (others == most) & (most > 0)
    number = winners.sum(axis=1)
    same = winners[np.arange(votes.n), votes.answer] / np.maximum(number, 1)
    told = number > 0
    agreed = np.bincount(votes.annotator[told], weights=same[told], minlength=votes.K)
    compared = np.bincount(votes.annotator[told], minlength=votes.K)
    return np.where(compared > 0, agreed / np.maximum(compared, 1), np.nan)
