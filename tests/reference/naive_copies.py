"""The chance of an answer (eq. Q9) and the counts of pairs, one answer after the other."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

LEVELS, STEPS = 9, 4


def answer_chance(y, item, who, K):
    """Two lists as `answer_chances` has them, for answers without missing ones."""
    n, values = len(y), sorted(set(y))
    low, high = min(y), max(y)

    def level(j, less):
        rest = [y[i] for i in range(n) if item[i] == item[j]]
        if len(rest) <= less:
            return LEVELS
        mean = (sum(rest) - less * y[j]) / (len(rest) - less)
        return min(max(math.floor((mean - low) / (high - low) * (LEVELS - 1) + 0.5 + 1e-9), 0), LEVELS - 1)

    own_level = [level(j, 1) for j in range(n)]

    def parts(j, at, less):
        inside = 1 if at == own_level[j] else 0

        def share(rows, without, usual):
            same = sum(y[i] == y[j] for i in rows)
            return (max(same - without, 0) + usual) / (max(len(rows) - without, 0) + 1)

        usual = share([i for i in range(n) if own_level[i] == at], inside, 1 / len(values))
        return (
            share([i for i in range(n) if item[i] == item[j]], less, usual),
            share([i for i in range(n) if who[i] == who[j] and own_level[i] == at], inside, usual),
            share([i for i in range(n) if who[i] == who[j]], 1, usual),
        )

    alone = [parts(j, own_level[j], 1) for j in range(n)]
    weight = [(1 / 3,) * 3] * K
    for _ in range(STEPS):
        total = [[1.0, 1.0, 1.0] for _ in range(K)]
        for j in range(n):
            mixed = [w * p for w, p in zip(weight[who[j]], alone[j], strict=True)]
            for c in range(3):
                total[who[j]][c] += mixed[c] / sum(mixed)
        weight = [tuple(t / sum(each) for t in each) for each in total]

    def mixture(j, found):
        return sum(w * p for w, p in zip(weight[who[j]], found, strict=True))

    two = [parts(j, level(j, 2), 2) for j in range(n)]
    two = [max(mixture(j, found), found[2]) for j, found in enumerate(two)]
    return np.array(two), np.array([mixture(j, alone[j]) for j in range(n)])


def meetings(item, who):
    """How many items every two annotators share."""
    return Counter(
        (min(who[i], who[j]), max(who[i], who[j]))
        for i in range(len(item))
        for j in range(i + 1, len(item))
        if item[i] == item[j]
    )
