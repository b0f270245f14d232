"""Strategies for a second round of ratings: what a rating would tell, repeated labelling, fewest first, by chance.

    python -m benchmarks.repeated_labelling --studies 40

Every study has a first round of one to four ratings per item; then the items that a strategy ranks first get two more
by annotators drawn at random, as many items for every strategy. Error: of the fused truth, over the truth's sd.
"""

from __future__ import annotations

import argparse
from typing import Any, get_args

import numpy as np

import unisono as un
from unisono.fusers.rating_design import Strategy
from unisono.tables.ratings import Ratings

ITEMS, ANNOTATORS, MORE = 60, 12, 2
STRATEGIES = (*get_args(Strategy), "chance", "no second round")


def study(seed: int) -> dict[str, float]:
    """The error after the second round, by strategy."""
    world = un.simulate_items(
        items=ITEMS, annotators=ANNOTATORS, features=0, transform="near-identity", spread=0.15, bias=0.4, seed=seed
    )
    rng = np.random.default_rng(seed)
    whole, truth = world.ratings, world.truth.value
    order = rng.permuted(np.tile(np.arange(ANNOTATORS), (ITEMS, 1)), axis=1)
    asked = rng.integers(1, 5, size=ITEMS)
    noisy = whole.with_value(whole.value + rng.uniform(0.2, 0.9, ANNOTATORS)[whole.annotator_of, None] * rng.normal(
        size=whole.value.shape))  # fmt: skip
    first = un.fuse(_asked(noisy, order, asked))
    found = {}
    for strategy in STRATEGIES:
        more = np.zeros(ITEMS, dtype=int)
        more[_chosen(strategy, first, rng)] = MORE
        fused = first if not more.any() else un.fuse(_asked(noisy, order, asked + more))
        found[strategy] = float(np.sqrt(np.mean((fused.fused.mean - truth) ** 2 / truth.var(axis=0))))
    return found


def _chosen(strategy: Any, first: un.Fusion, rng: np.random.Generator) -> np.ndarray:
    """Half of the items."""
    if strategy == "no second round":
        return np.zeros(0, dtype=int)
    if strategy == "chance":
        return rng.permutation(ITEMS)[: ITEMS // 2]
    place = {item: m for m, item in enumerate(first.fused.items)}
    ranked = un.next_ratings(first, strategy=strategy).items[: ITEMS // 2]
    return np.array([place[item] for item in ranked])


def _asked(whole: Ratings, order: np.ndarray, number: np.ndarray) -> Ratings:
    """The ratings of each item by the first `number` of its annotators."""
    turn = np.argsort(order, axis=1)[whole.item_of, whole.annotator_of]
    return whole.select_judgements(turn < number[whole.item_of])


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--studies", type=int, default=40)
    rows = [study(seed) for seed in range(ask.parse_args().studies)]
    for strategy in STRATEGIES:
        error = np.array([row[strategy] for row in rows])
        away = error - np.array([row["reduction"] for row in rows])
        se = away.std() / len(rows) ** 0.5
        print(f"{strategy:16} {error.mean():.4f}  to reduction {away.mean():+.4f} +- {se:.4f}")


if __name__ == "__main__":
    main()
