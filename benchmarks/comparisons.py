"""Left-out comparisons beside other methods. `python -m benchmarks.comparisons pairs.csv ... [--draws 3]`

A tenth of the rows, and a tenth of the pairs with all their answers, are left out; log-loss and accuracy are those of
decided answers, `all` is the log-loss of left, tie and right. Peers take no ties (they are dropped, which serves them
best; evalica's Newman and arena-rank have them) and probabilities are kept between .005 and .995. `make bench` has
them on a simulated table of 4,000 comparisons, and the time and memory of large ones.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

import unisono as un
from benchmarks.comparison_peers import peers
from benchmarks.measure import cost_of
from unisono.evaluate.held_out_comparisons import fold_of
from unisono.fusers.compared_items import Pairwise
from unisono.fusers.comparison_knowledge import without_ratings
from unisono.paper.simulation import simulate_comparisons
from unisono.tables.comparisons import LEFT, TIE, Comparisons

CLIP = 0.005  # of peers' probabilities
WITH_TIES = ("evalica Newman", "arena-rank")
SLOW = ("choix EP", "choix MM", "ASAP", "crowd-kit")  # methods that take minutes beyond so many comparisons
MOST_FOR_SLOW = 5000
Figures = tuple[str, float, float, float, float]  # method, log-loss, accuracy, log-loss of all answers, seconds


def of_side(p: np.ndarray, answer: np.ndarray) -> tuple[float, float]:
    """Log-loss and accuracy of probabilities of left."""
    chosen = np.where(answer == LEFT, p, 1 - p)
    return float(-np.log(np.maximum(chosen, 1e-12)).mean()), float((chosen > 0.5).mean())


def measured(table: Comparisons, whole: str, seed: int) -> Iterator[Figures]:
    """One split."""
    out = fold_of(table, 10, seed, whole) == 0  # type: ignore[arg-type]
    seen, unseen = table.rows(~out), table.rows(out)
    decided = unseen.answer != TIE
    start = time.perf_counter()
    labels = [np.array(names, dtype=object) for names in (table.annotators, table.items)]
    fuser = Pairwise().compare(seen).fit(without_ratings(seen))
    sides = (labels[1][side] for side in (unseen.left, unseen.right))
    chance = fuser.answer_chances(labels[0][unseen.annotator_of], *sides)[:, 0]
    taken = time.perf_counter() - start
    every = -np.log(np.maximum(chance[np.arange(unseen.n), unseen.answer], 1e-12)).mean()
    p = chance[:, 0] / (chance[:, 0] + chance[:, 2])
    yield "unisono", *of_side(p[decided], unseen.answer[decided]), float(every), taken
    for name, peer in peers():
        if name in SLOW and table.n > MOST_FOR_SLOW:
            continue
        start = time.perf_counter()
        given = seen if name in WITH_TIES else seen.rows(seen.answer != TIE)
        p = np.clip(peer(given, unseen.rows(decided)), CLIP, 1 - CLIP)
        yield name, *of_side(p, unseen.answer[decided]), float("nan"), time.perf_counter() - start


def run(draws: int = 3) -> dict[str, list[float]]:
    """For `make bench`: log-loss, accuracy and seconds of every method, of a tenth of the rows of simulated tables."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for seed in range(draws):
        for name, loss, right, _, seconds in measured(simulate_comparisons(seed=seed).comparisons, "rows", seed):
            found.setdefault(f"{name} log-loss, accuracy, s", []).append((loss, right, seconds))
    large = {f"{n:,} comparisons of {n // 20:,} items: s, MB": grown(n) for n in (100_000, 1_000_000)}
    return {name: np.mean(rows, axis=0).tolist() for name, rows in found.items()} | large


def grown(n: int) -> list[float]:
    """Processor time and memory of the fit of a large table."""
    table = simulate_comparisons(items=n // 20, annotators=n // 100, comparisons=n, spammers=n // 1000).comparisons
    cost = cost_of([lambda: Pairwise().compare(table).fit(without_ratings(table))], rounds=1)
    return [cost.cpu, cost.megabytes]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--draws", type=int, default=3)
    asked = parser.parse_args()
    for path in asked.tables:
        table = un.read_comparisons(path)
        for whole in ("rows", "pairs"):
            found: dict[str, list[tuple[float, ...]]] = {}
            for seed in range(asked.draws):
                for name, *figures in measured(table, whole, seed):
                    found.setdefault(name, []).append(tuple(figures))
            for name, rows in found.items():
                loss, right, every, seconds = np.mean(rows, axis=0)
                said = f"log-loss {loss:.4f}  accuracy {right:.3f}  all {every:.4f}  {seconds:.1f} s"
                print(f"{path} {whole:5} {name:14} {said}", flush=True)


if __name__ == "__main__":
    main()
