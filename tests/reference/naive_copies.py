"""The chance of an answer (eq. Q9), the counts of pairs and the voice of copies (eq. Q11), answer by answer."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

LEVELS, STEPS = 9, 4


def answer_chance(y, item, who, K):
    """Two lists as `answer_chances` has them, for answers without missing ones."""
    n, values = len(y), sorted(set(y))
    aside = math.ceil(0.005 * len(y)) if len(y) > 2 else 0
    low, high = sorted(y)[aside], sorted(y)[-1 - aside]
    if low == high:
        low, high = min(y), max(y)
    inner = [min(max(v, low), high) for v in y]

    def level(j, less):
        rest = [inner[i] for i in range(n) if item[i] == item[j]]
        if len(rest) <= less:
            return LEVELS
        mean = (sum(rest) - less * inner[j]) / (len(rest) - less)
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


def voices(value, item, who, voice):
    """{(item, voice): answers} as `one_voice` gives them: the commonest, else the nearest member's."""
    rows = list(zip(item, who, value, strict=True))
    D = len(value[0])

    def others_mean(i, v, d):
        rest = [y[d] for j, k, y in rows if j == i and voice[k] != v and not math.isnan(y[d])]
        return sum(rest) / len(rest) if rest else math.nan

    def given(i, v, d):
        return [(k, y[d]) for j, k, y in rows if j == i and voice[k] == v and not math.isnan(y[d])]

    distances = {}
    for v in set(voice):
        terms = {k: [] for k in range(len(voice)) if voice[k] == v}
        for d in range(D):
            own = [(i, k, others_mean(i, v, d), y[d]) for i, k, y in rows if voice[k] == v]
            own = [(i, k, x, y) for i, k, x, y in own if not math.isnan(x + y)]
            if not own:
                continue
            mx, my = (sum(row[c] for row in own) / len(own) for c in (2, 3))
            across = sum((x - mx) ** 2 for _, _, x, _ in own)
            slope = max(sum((x - mx) * (y - my) for _, _, x, y in own) / across, 0.0) if across else 0.0
            away = [(i, k, (y - my - slope * (x - mx)) ** 2) for i, k, x, y in own]
            variance = sum(a for _, _, a in away) / len(away) or 1.0
            for i, k, a in away:
                if len({y for _, y in given(i, v, d)}) > 1:
                    terms[k].append(a / variance)
        distances |= {k: sum(t) / len(t) if t else math.inf for k, t in terms.items()}

    def answer(i, v, d):
        found = given(i, v, d)
        count = Counter(y for _, y in found)
        return min(found, key=lambda one: (-count[one[1]], distances[one[0]], one[0]))[1] if found else math.nan

    keys = sorted({(i, voice[k]) for i, k, _ in rows})
    return {(i, v): [answer(i, v, d) for d in range(D)] for i, v in keys}
