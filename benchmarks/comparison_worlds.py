"""Are intervals of differences as wide as they should be? `python -m benchmarks.comparison_worlds [--draws 20]`

Simulated comparisons, alone and beside ratings: the share of true differences inside 90 % intervals, and correlations
of estimates with the truth (mean over dimensions), beside those of Bradley-Terry, of ratings alone, or without what the
world is about. Then answers of which some are random, as Crowd-BT has them: log-loss, over that of the true
probabilities, of a tenth of the answers; left-out rankings by pairs of items and by Plackett and Luce's choices; and
what comparisons that were chosen tell. Tables of docs/comparisons.md.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

import unisono as un
from benchmarks.accuracy_page import commit, note_sources
from benchmarks.comparison_next import NEXT, Row, of_next
from benchmarks.comparison_peers import bradley_terry, crowd_bt
from benchmarks.comparisons import CLIP
from benchmarks.leaderboards import TABLES, shown
from unisono.fusers import Joint
from unisono.fusers.compared_items import Pairwise
from unisono.fusers.comparison_knowledge import without_ratings
from unisono.tables.comparisons import LEFT, RIGHT, TIE, Comparisons

PAIRS = 2000  # differences whose intervals are looked at, of each draw

PRECISIONS = (0.1, 0.2, 0.5, 1.0, 2.0)  # of priors of Plackett and Luce's scores: half over a variance


class Crowd(NamedTuple):
    """What a world draws."""

    table: Comparisons
    truth: np.ndarray  # (M, D), in the unit in which usual annotators have a mean gain of 1
    known: dict[str, Any]  # for `un.fuse`
    beside: Callable[[], np.ndarray]  # other estimates (M, D)


def labels(M: int, K: int, D: int = 1, judges: int = 0) -> tuple[list[str], list[str], list[str]]:
    """Of items, of annotators (judges last), and of dimensions."""
    people = [f"human{k:03d}" for k in range(K - judges)] + [f"gpt-{k:03d}" for k in range(judges)]
    return [f"i{m:03d}" for m in range(M)], people, [f"d{d}" for d in range(D)]


def crowd(
    seed: int,
    N: int = 4000,
    D: int = 1,
    K: int = 30,
    M: int = 100,
    *,
    flipped: float = 0.0,
    ties: bool = True,
    spread: float = 1.0,
    steps: int = 1,
    ratings: int = 0,
) -> Crowd:
    """A tenth of the annotators are spammers; gains 1 +- .3, order effects +- .3; ratings with biases of .5."""
    rng = np.random.default_rng(seed)
    truth = spread * rng.multivariate_normal(np.zeros(D), 0.5 + 0.5 * np.eye(D), M)
    gain, order, kind = rng.normal(1, 0.3, K), rng.normal(0, 0.3, K), np.zeros(K)
    bad = rng.permutation(K)
    kind[bad[: K // 10]], kind[bad[K // 10 : K // 10 + round(flipped * K)]] = 1, 2
    tau = np.exp(rng.normal(np.log(0.4), 0.4, K)) if ties else np.zeros(K)
    unit = 1.0 if ratings else gain[kind == 0].mean()
    gain, truth = gain * np.array([1.0, 0.0, -1.0])[kind.astype(int)] / unit, truth * unit
    i, j, d, k = pairs_of(rng, M, N, D, K)
    delta, u = gain[k] * (truth[i, d] - truth[j, d]) + order[k], rng.random(N)
    left, right = expit(delta - tau[k]), expit(-delta - tau[k])
    answer = np.where(u < left, LEFT, np.where(u < left + right, RIGHT, TIE))
    strength = np.ones(N, dtype=np.int64)
    for s in range(1, steps):  # how probable it is to be beyond the next threshold, being beyond this one
        away = np.where(answer == LEFT, delta, -delta) - tau[k] - 0.8 * (s - 1)
        strength += (strength == s) & (answer != TIE) & (rng.random(N) < expit(away - 0.8) / expit(away))
    names = labels(M, K, D)
    table = Comparisons.from_answers((i, j, k, d, answer, np.arange(N)), names, strength=strength)
    if steps > 1:
        signs = Comparisons.from_answers((i, j, k, d, answer, np.arange(N)), names)
        return Crowd(table, truth, {}, lambda: estimates(un.fuse(comparisons=signs)))
    if not ratings:
        return Crowd(table, truth, {}, lambda: by_dimension(table, D))
    cell, bias = rng.permutation(M * K)[:ratings], rng.normal(0, 0.5, (K, D))
    value = truth[cell // K] + bias[cell % K] + rng.normal(size=(ratings, D))
    own = dict(zip(("items", "annotators", "dimensions"), names, strict=True))
    rated = un.Ratings.from_judgements(value, cell // K, cell % K, scale="none", **own)  # type: ignore[arg-type]

    def alone() -> np.ndarray:
        found, place = Joint().fit(rated).fuse(), {name: m for m, name in enumerate(names[0])}
        mean = np.zeros((M, D))
        mean[[place[item] for item in found.items]] = found.mean
        return mean

    return Crowd(table, truth, {"ratings": rated}, alone)


def pairs_of(rng: np.random.Generator, M: int, N: int, D: int, K: int) -> tuple[np.ndarray, ...]:
    i, d, k = (rng.integers(0, n, N) for n in (M, D, K))
    return i, (i + rng.integers(1, M, N)) % M, d, k


def by_dimension(table: Comparisons, D: int) -> np.ndarray:
    """Bradley-Terry, ties dropped."""
    decided = table.rows(table.answer != TIE)
    return np.stack([bradley_terry(decided.rows(decided.dimension_of == d)) for d in range(D)], axis=1)


def estimates(result: Any) -> np.ndarray:
    return np.asarray(result.fused.mean)


def rankings(seed: int, n: int, whole: bool) -> tuple[Comparisons, np.ndarray, list[np.ndarray]]:
    """150 rankings of n of 60 items, by choosing the best of those left; or of each only the best and the worst."""
    rng, rows, orders = np.random.default_rng(seed), [], []
    truth = rng.normal(size=60)
    for ranking in range(150):
        given = rng.permutation(60)[:n]
        orders.append(given[np.argsort(-truth[given] - rng.gumbel(size=n))])
        told = [(a, b) for a in range(n) for b in range(a + 1, n) if whole or a == 0 or b == n - 1]
        rows += [(orders[-1][a], orders[-1][b], ranking % 10, 0, LEFT, ranking) for a, b in told]
    columns = tuple(np.array(column) for column in zip(*rows, strict=True))
    return Comparisons.from_answers(columns, labels(60, 10), sided=False), truth, orders


def ranked(seed: int, n: int, whole: bool = True) -> Crowd:
    table, truth, _ = rankings(seed, n, whole)
    return Crowd(table, truth[:, None], {}, lambda: estimates(un.fuse(comparisons=apart(table))))


def apart(table: Comparisons) -> Comparisons:
    """Every pair of a ranking as an answer of its own."""
    columns = table.left, table.right, table.annotator_of, table.dimension_of, table.answer, np.arange(table.n)
    return Comparisons.from_answers(columns, (table.items, table.annotators, table.dimensions), sided=False)


def with_judges(seed: int) -> Crowd:
    """Of 20 annotators six judges give four of five answers, and share an error of .8."""
    rng, M, N = np.random.default_rng(seed), 60, 3000
    truth, error = rng.normal(size=M), rng.normal(0, 0.8, M)
    i, j, d, _ = pairs_of(rng, M, N, 1, 1)
    who = np.where(rng.random(N) < 0.2, rng.integers(0, 14, N), rng.integers(14, 20, N))
    delta = truth[i] - truth[j] + np.where(who >= 14, error[i] - error[j], 0.0) + rng.logistic(size=N)
    answer = np.where(np.abs(delta) < 0.4, TIE, np.where(delta > 0, LEFT, RIGHT))
    table = Comparisons.from_answers((i, j, who, d, answer, np.arange(N)), labels(M, 20, judges=6))
    other = lambda: estimates(un.fuse(comparisons=table))  # noqa: E731
    return Crowd(table, truth[:, None], {"kinds": {"judge": "gpt-*"}}, other)


def with_systems(seed: int) -> Crowd:
    rng, M, N = np.random.default_rng(seed), 120, 600
    system = rng.integers(0, 6, M)
    truth = 1.2 * rng.normal(size=6)[system] + 0.6 * rng.normal(size=M)
    i, j, d, k = pairs_of(rng, M, N, 1, 1)
    answer = np.where(truth[i] - truth[j] + rng.logistic(size=N) > 0, LEFT, RIGHT)
    names = labels(M, 1)
    table = Comparisons.from_answers((i, j, k, d, answer, np.arange(N)), names)
    features = un.ItemTable.from_rows(np.eye(6)[system], items=names[0], columns=list("abcdef"), source="systems")
    other = lambda: estimates(un.fuse(comparisons=table))  # noqa: E731
    return Crowd(table, truth[:, None], {"features": features}, other)


WORLDS: dict[str, Callable[[int], Crowd]] = {
    "1,000 comparisons of 100 items by 30 annotators, a tenth spammers": lambda s: crowd(s, 1000),
    "4,000": crowd,
    "4,000, no ties": lambda s: crowd(s, ties=False),
    "4,000, differences 2.5 times as large": lambda s: crowd(s, spread=2.5),
    "4,000, a tenth answers upside down as well": lambda s: crowd(s, flipped=0.1),
    "4,000 by 300 annotators, .05 upside down": lambda s: crowd(s, K=300, flipped=0.05),
    "4,000 on three dimensions": lambda s: crowd(s, D=3),
    "200 ratings (biases of .5, noise as large as the spread), 250 comparisons": lambda s: crowd(s, 250, ratings=200),
    "200, 1,000": lambda s: crowd(s, 1000, ratings=200),
    "200, 4,000": lambda s: crowd(s, 4000, ratings=200),
    "600, 1,000": lambda s: crowd(s, 1000, ratings=600),
    "200, 750, three dimensions": lambda s: crowd(s, 750, 3, ratings=200),
    "200, 3,000, three dimensions": lambda s: crowd(s, 3000, 3, ratings=200),
    "200, 12,000, three dimensions": lambda s: crowd(s, 12000, 3, ratings=200),
}
OTHERS: dict[str, Callable[[int], Crowd]] = {
    "1,500 strengths of -3 to 3 and ties; their signs": lambda s: crowd(s, 1500, steps=3, K=20, M=60),
    **{f"150 rankings of {n} of 60 items; every pair as one": lambda s, n=n: ranked(s, n) for n in (3, 5, 8)},
    **{f"best and worst of {n}; every pair as one": lambda s, n=n: ranked(s, n, False) for n in (3, 5, 8)},
    "six judges who err together give four of five answers; as one kind": with_judges,
    "6 systems as features, 600 comparisons of 120 items; without": with_systems,
}
CHANCE: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "honesty from Beta(10, 1)": lambda rng, K: rng.beta(10, 1, K),
    "half the annotators at .5 to .6, the others at .8 to 1": lambda rng, K: rng.uniform(
        np.resize([0.5, 0.8], K), np.resize([0.6, 1.0], K)
    ),
    ".1 of all answers random": lambda rng, K: np.full(K, 0.95),
    ".3 of all answers random": lambda rng, K: np.full(K, 0.85),
    ".4 of all answers random": lambda rng, K: np.full(K, 0.8),
}


def held(world: Callable[[int], Crowd], draws: int) -> Row:
    """Cover, correlation, and that of the other estimates."""
    inside, r = [], []
    for seed in range(draws):
        drawn, rng = world(seed), np.random.default_rng(seed)
        result: Any = un.fuse(**{"comparisons": drawn.table, **drawn.known})
        M, D = drawn.truth.shape
        i, d = rng.integers(0, M, PAIRS), rng.integers(0, D, PAIRS)
        j, wide = (i + rng.integers(1, M, PAIRS)) % M, result.fuser.posterior_.D
        mean, variance = result.fuser.posterior_.differences(i * wide + d, j * wide + d)
        scale = result.fuser.scaling_.scale[d]
        away = mean * scale - drawn.truth[i, d] + drawn.truth[j, d]
        inside.append(np.abs(away) < 1.645 * np.sqrt(variance) * scale)
        r.append([correlation(x, drawn.truth) for x in (result.fused.mean, drawn.beside())])
    return [draws, float(np.mean(inside)), *np.mean(r, axis=0).tolist()]


def correlation(estimate: np.ndarray, truth: np.ndarray) -> float:
    return float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(estimate.T, truth.T, strict=True)]))


def lost(honest: Callable[[np.random.Generator, int], np.ndarray], spread: float, draws: int) -> Row:
    """Log-loss expected of a tenth of the answers, over that of the true probabilities, each and by both others."""
    found = []
    for seed in range(draws):
        rng, M, K, N = np.random.default_rng(seed), 100, 30, 4000
        truth, eta = rng.normal(0, spread, M), honest(rng, K)
        i, j, d, k = pairs_of(rng, M, N, 1, K)
        clear = eta[k] * expit(truth[i] - truth[j]) + (1 - eta[k]) * expit(truth[j] - truth[i])
        answer = np.where(rng.random(N) < clear, LEFT, RIGHT)
        table = Comparisons.from_answers((i, j, k, d, answer, np.arange(N)), labels(M, K))
        out = rng.random(N) < 0.1
        seen, unseen = table.rows(~out), table.rows(out)
        e, p = eta[unseen.annotator_of], expit(truth[unseen.left] - truth[unseen.right])
        true = e * p + (1 - e) * (1 - p)
        fuser = Pairwise().compare(seen).fit(without_ratings(seen))
        who, *sides = (np.array(names, dtype=object) for names in (table.annotators, table.items, table.items))
        chance = fuser.answer_chances(who[unseen.annotator_of], sides[0][unseen.left], sides[1][unseen.right])[:, 0]
        told = [chance[:, 0], crowd_bt(seen, unseen), crowd_bt(seen, unseen, annotators=False)]
        found.append([divergence(true, np.clip(p, CLIP, 1 - CLIP)) for p in told])
    return [draws, *np.mean(found, axis=0).tolist()]


def divergence(true: np.ndarray, said: np.ndarray) -> float:
    return float((true * np.log(true / said) + (1 - true) * np.log((1 - true) / (1 - said))).mean())


def of_rankings(n: int, draws: int) -> Row:
    """Log likelihood per choice of a fifth of the rankings, by Plackett and Luce with every method's scores."""
    found = []
    for seed in range(draws):
        table, _, orders = rankings(seed, n, True)
        out = np.arange(150) % 5 == seed % 5
        seen = table.rows(~out[table.ranking])
        scores = [estimates(un.fuse(comparisons=x))[:, 0] for x in (seen, apart(seen))]
        given, left_out = ([o for o, left in zip(orders, out, strict=True) if left == side] for side in (False, True))
        if find_spec("choix"):
            scores.append(plackett_luce(given))
        found.append([told_of(score, left_out) for score in scores])
    return [draws, *np.mean(found, axis=0).tolist()]


def plackett_luce(orders: list[np.ndarray]) -> np.ndarray:
    """Scores by choix at the highest posterior, the prior's precision being that which predicts fifths best."""
    import choix

    fifths = [([o for n, o in enumerate(orders) if n % 5 != k], orders[k::5]) for k in range(5)]
    best = max(PRECISIONS, key=lambda prior: sum(told_of(quickly(seen, prior), rest) for seen, rest in fifths))
    return np.asarray(choix.opt_rankings(60, [order.tolist() for order in orders], best))


def quickly(orders: list[np.ndarray], prior: float) -> np.ndarray:
    """The same without choix, for many fits."""
    shown = np.array(orders)

    def cost(score: np.ndarray) -> tuple[float, np.ndarray]:
        odds = np.exp(score[shown])
        left = np.cumsum(odds[:, ::-1], axis=1)[:, ::-1]
        chosen = np.cumsum(1 / left[:, :-1], axis=1)
        pulled = odds * np.column_stack([chosen, chosen[:, -1]])
        pulled[:, :-1] -= 1
        slope = np.bincount(shown.ravel(), pulled.ravel(), 60) + 2 * prior * score
        value = np.log(left[:, :-1]).sum() - score[shown[:, :-1]].sum() + prior * (score @ score)
        return float(value), slope

    return np.asarray(minimize(cost, np.zeros(60), jac=True, method="L-BFGS-B").x)


def told_of(score: np.ndarray, orders: list[np.ndarray]) -> float:
    return float(np.mean([of_choices(score[order]) for order in orders]))


def of_choices(score: np.ndarray) -> float:
    """Of one ranking, its scores best first."""
    return float(np.mean([score[n] - logsumexp(score[n:]) for n in range(len(score) - 1)]))


def tables(draws: int) -> Iterator[tuple[str, Row, Iterator[Row]]]:
    """Name, header and rows of each."""
    yield (
        "worlds",
        ["world", "draws", "cover", "r", "r of Bradley-Terry, or of ratings alone"],
        ([name, *held(world, draws)] for name, world in WORLDS.items()),
    )
    yield (
        "other-worlds",
        ["world; beside it", "draws", "cover", "r", "r beside it"],
        ([name, *held(world, draws)] for name, world in OTHERS.items()),
    )
    yield (
        "random",
        ["4,000 answers by 30, sd of truths", "draws", "unisono", "Crowd-BT", "Bradley-Terry"],
        (
            [f"{name}, {spread:g}", *lost(honest, spread, draws)]
            for name, honest in CHANCE.items()
            for spread in (1.0, 2.5)
        ),
    )
    yield (
        "rankings",
        ["150 rankings, of", "draws", "pairs, weighed", "every pair as one", "Plackett-Luce (choix)"],
        ([n, *of_rankings(n, draws)] for n in (3, 4, 6, 8)),
    )
    yield "next", ["pairs", "draws", "r", "standard error"], (of_next(rule, draws) for rule in NEXT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("parts", nargs="*", help="worlds, other-worlds, random, rankings, next; all of them by default")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, header, rows in tables(asked.draws):
        if asked.parts and name not in asked.parts:
            continue
        lines = [header]
        for row in rows:
            lines.append([shown(cell) for cell in row])
            print(*lines[-1], sep=",", flush=True)
        path = TABLES / f"comparison-{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)
        note_sources(TABLES / "sources.csv", {path.name: ("benchmarks.comparison_worlds", commit())})


if __name__ == "__main__":
    main()
