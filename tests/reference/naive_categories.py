"""Categories answer by answer, in loops: the oracle of `maths.category_votes` and of agreement on categories."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def confusion_counts(item, annotator, answer, p, K):
    """(K, C, C) expected answers l to items of class c."""
    C = p.shape[1]
    found = np.zeros((K, C, C))
    for m, k, label in zip(item, annotator, answer, strict=True):
        for c in range(C):
            found[k, c, label] += p[m, c]
    return found


def agreement_with_others(item, annotator, answer, K):
    """(K,) how often an annotator chose what most others chose, ties counted by their share."""
    found = np.full(K, np.nan)
    for k in range(K):
        shares = []
        for m, who, label in zip(item, annotator, answer, strict=True):
            if who != k:
                continue
            others = [a for i, w, a in zip(item, annotator, answer, strict=True) if i == m and w != k]
            if others:
                most = max(others.count(a) for a in others)
                winners = {a for a in others if others.count(a) == most}
                shares.append((label in winners) / len(winners))
        if shares:
            found[k] = np.mean(shares)
    return found


def tempered(p, temperature, floor):
    found = np.maximum(p, floor) ** (1 / temperature)
    return found / found.sum(axis=1, keepdims=True)


def held_out_likelihood(p, seen, unseen, temperature, crowd, floor):
    """Mean log probability of unseen answers; `seen` and `unseen` are lists of (item, annotator, answer)."""
    C = p.shape[1]
    pooled = np.full((C, C), 1 / C)
    own = {}
    for m, k, label in seen:
        own.setdefault(k, np.zeros((C, C)))
        for c in range(C):
            pooled[c, label] += p[m, c]
            own[k][c, label] += p[m, c]
    pooled /= pooled.sum(axis=1, keepdims=True)
    q = tempered(p, temperature, floor)
    logs = []
    for m, k, label in unseen:
        theta = own.get(k, np.zeros((C, C))) + crowd * pooled
        theta /= theta.sum(axis=1, keepdims=True)
        logs.append(np.log(sum(q[m, c] * theta[c, label] for c in range(C))))
    return np.mean(logs)


def gwet_ac1(votes):
    """AC1 by pairs of answers."""
    C = sum(votes.sum(axis=0) > 0)
    equal, shares = [], []
    for row in votes:
        answers = [c for c, n in enumerate(row) for _ in range(int(n))]
        pairs = list(combinations(answers, 2))
        if pairs:
            equal.append(np.mean([a == b for a, b in pairs]))
        if answers:
            shares.append(row / len(answers))
    pi = np.mean(shares, axis=0)
    by_chance = np.sum(pi * (1 - pi)) / (C - 1)
    return (np.mean(equal) - by_chance) / (1 - by_chance)
