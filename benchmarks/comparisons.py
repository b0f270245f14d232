"""Left-out comparisons beside other methods. `python -m benchmarks.comparisons pairs.csv ... [--draws 3]`

A tenth of the rows, and a tenth of the pairs with all their answers, are left out; log-loss and accuracy are those of
decided answers, `all` is the log-loss of left, tie and right. Peers take no ties (they are dropped, which serves them
best) and their probabilities are kept between .005 and .995: Bradley-Terry and Crowd-BT (Chen et al. 2013) by own code,
choix and evalica where they are installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

import unisono as un
from unisono.evaluate.held_out_comparisons import fold_of
from unisono.fusers.compared_items import Pairwise
from unisono.fusers.rated_and_compared import without_ratings
from unisono.tables.comparisons import LEFT, TIE, Comparisons

RIDGE, CLIP = 0.1, 0.005  # of scores, as in choix; and of peers' probabilities
HONEST = (10.0, 1.0)  # Crowd-BT's prior on how often annotators say what they see
Peer = Callable[[Comparisons, Comparisons], np.ndarray]  # (n,) probabilities of left in the second from the first


def crowd_bt(seen: Comparisons, unseen: Comparisons, annotators: bool = True) -> np.ndarray:
    """Scores of items and honesty of annotators, at the highest posterior; without `annotators` Bradley-Terry."""
    M, K, sign = len(seen.items), len(seen.annotators), np.where(seen.answer == LEFT, 1.0, -1.0)

    def cost(x: np.ndarray) -> tuple[float, np.ndarray]:
        s, logit = x[:M], x[M:]
        eta = expit(logit) if annotators else np.ones(K)
        p, e = expit(sign * (s[seen.left] - s[seen.right])), eta[seen.annotator_of]
        q = np.maximum(e * p + (1 - e) * (1 - p), 1e-12)
        slope = -(2 * e - 1) * p * (1 - p) / q * sign
        at = np.bincount(seen.left, slope, M) - np.bincount(seen.right, slope, M) + RIDGE * s
        honest = np.bincount(seen.annotator_of, -(2 * p - 1) / q, K) * eta * (1 - eta)
        honest -= HONEST[0] * (1 - eta) - HONEST[1] * eta
        prior = HONEST[0] * np.log(expit(logit)) + HONEST[1] * np.log(expit(-logit))
        value = -np.log(q).sum() + RIDGE / 2 * (s @ s) - (prior.sum() if annotators else 0.0)
        return float(value), np.concatenate([at, honest if annotators else np.zeros(K)])

    x = minimize(cost, np.concatenate([np.zeros(M), np.full(K, 2.3)]), jac=True, method="L-BFGS-B").x
    p = expit(x[unseen.left] - x[unseen.right])
    eta = expit(x[M:])[unseen.annotator_of] if annotators else 1.0
    return np.asarray(eta * p + (1 - eta) * (1 - p))


def choix_ilsr(seen: Comparisons, unseen: Comparisons) -> np.ndarray:
    """The package's maximum likelihood with its regularisation."""
    import choix

    won = np.where(seen.answer == LEFT, seen.left, seen.right), np.where(seen.answer == LEFT, seen.right, seen.left)
    x = choix.ilsr_pairwise(len(seen.items), list(zip(*won, strict=True)), alpha=0.01)
    return np.asarray(expit(x[unseen.left] - x[unseen.right]))


def evalica_bt(seen: Comparisons, unseen: Comparisons) -> np.ndarray:
    """The package's Bradley-Terry."""
    import evalica

    winners = [evalica.Winner.X if a == LEFT else evalica.Winner.Y for a in seen.answer]
    found = evalica.bradley_terry(seen.left.tolist(), seen.right.tolist(), winners).scores
    score = found.reindex(range(len(seen.items))).fillna(found.mean()).to_numpy()
    return np.asarray(score[unseen.left] / (score[unseen.left] + score[unseen.right]))


def peers() -> Iterator[tuple[str, Peer]]:
    yield "Bradley-Terry", lambda seen, unseen: crowd_bt(seen, unseen, annotators=False)
    yield "Crowd-BT", crowd_bt
    if importlib.util.find_spec("choix"):
        yield "choix ILSR", choix_ilsr
    if importlib.util.find_spec("evalica"):
        yield "evalica", evalica_bt


def of_side(p: np.ndarray, answer: np.ndarray) -> tuple[float, float]:
    """Log-loss and accuracy of probabilities of left."""
    chosen = np.where(answer == LEFT, p, 1 - p)
    return float(-np.log(np.maximum(chosen, 1e-12)).mean()), float((chosen > 0.5).mean())


def measured(table: Comparisons, whole: str, seed: int) -> Iterator[tuple[str, float, float, float, float]]:
    """By method its log-loss, accuracy, log-loss of all answers and seconds, for one split."""
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
        start = time.perf_counter()
        p = np.clip(peer(seen.rows(seen.answer != TIE), unseen.rows(decided)), CLIP, 1 - CLIP)
        yield name, *of_side(p, unseen.answer[decided]), float("nan"), time.perf_counter() - start


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
