"""What comparisons that were chosen tell, beside as many at random; for `benchmarks.comparison_worlds`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.special import entr, expit, ndtr

from benchmarks.comparison_peers import bradley_terry, won
from unisono.fusers.compared_items import Pairwise
from unisono.fusers.comparison_knowledge import without_ratings
from unisono.fusers.pair_design import next_pairs
from unisono.tables.comparisons import LEFT, RIGHT, Comparisons

ITEMS, BATCHES = 60, 17  # batches of pairs without an item twice
Row = list[Any]


def of_next(rule: str, draws: int) -> Row:
    """Correlation after 510 comparisons of 60 items, 17 times 30 pairs without an item twice; by Bradley-Terry."""
    r = []
    for seed in range(draws):
        rng, truth, rows = (
            np.random.default_rng(seed),
            np.random.default_rng(seed).normal(0, 1.5, ITEMS),
            np.zeros((0, 2), int),
        )
        answer = np.zeros(0, dtype=np.int64)
        for _ in range(BATCHES):
            more = NEXT[rule](_answered(rows, answer), rng) if len(rows) else rng.permutation(ITEMS).reshape(-1, 2)
            clear = expit(truth[more[:, 0]] - truth[more[:, 1]])
            answer = np.append(answer, np.where(rng.random(len(more)) < clear, LEFT, RIGHT))
            rows = np.concatenate([rows, more])
        r.append(np.corrcoef(bradley_terry(_answered(rows, answer)), truth)[0, 1])
    return [rule, draws, float(np.mean(r)), float(np.std(r, ddof=1) / np.sqrt(draws))]


def _answered(rows: np.ndarray, answer: np.ndarray) -> Comparisons:
    none = np.zeros(len(rows), dtype=np.int64)
    return Comparisons.from_answers(
        (*rows.T, none, none, answer, np.arange(len(rows))), ([f"i{m:03d}" for m in range(ITEMS)], ["k"], ["d"])
    )


def ours(table: Comparisons, _: np.random.Generator) -> np.ndarray:
    found = next_pairs(Pairwise().compare(table).fit(without_ratings(table)), ITEMS // 2)
    return np.array([[int(item[1:]) for item in side] for side in (found.left, found.right)]).T


def asap(table: Comparisons, _: np.random.Generator) -> np.ndarray:
    """What answers are expected to tell, by expectation propagation of a probit model (Mikhailiuk et al. 2020)."""
    import choix

    mean, cov = choix.ep_pairwise(ITEMS, won(table), alpha=1.0, model="probit")
    i, j = np.triu_indices(ITEMS, 1)
    d, v = mean[i] - mean[j], cov[i, i] + cov[j, j] - 2 * cov[i, j]
    points, weights = np.polynomial.hermite_e.hermegauss(9)
    p = np.clip(ndtr(d[:, None] + np.sqrt(v)[:, None] * points), 1e-12, 1 - 1e-12)
    weights = weights / weights.sum()
    once = p @ weights
    gain = entr(once) + entr(1 - once) - (entr(p) + entr(1 - p)) @ weights
    return disjoint(i, j, gain)


def disjoint(i: np.ndarray, j: np.ndarray, gain: np.ndarray) -> np.ndarray:
    free, chosen = np.ones(ITEMS, dtype=bool), []
    for n in np.argsort(-gain):
        if free[i[n]] and free[j[n]]:
            free[[i[n], j[n]]] = False
            chosen.append((i[n], j[n]))
    return np.array(chosen)


NEXT: dict[str, Callable[[Comparisons, np.random.Generator], np.ndarray]] = {
    "at random": lambda _, rng: rng.permutation(ITEMS).reshape(-1, 2),
    "unisono next": ours,
}
if find_spec("choix"):
    NEXT["ASAP"] = asap
