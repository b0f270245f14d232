"""Is what leaderboards say right as often as they say? `python -m benchmarks.leaderboards [--draws 500] [WORLD ...]`

Simulated scores of systems: 40 prompts, 8 people (leniency sd .5), 3 of them on every prompt, system by prompt and
noise .6. Of every world: how often any pair of equal systems is called different (or the wrong one better), all true
ranks lie inside their ranges, the share of true differences that is clear, the error of means; beside it paired t-tests
one by one and Tukey's range on means of prompts. Then judges: coverage of 90 % intervals of differences, and error over
that of labels alone.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from scipy import stats

import unisono as un
from benchmarks.accuracy_page import commit, note_sources
from unisono.evaluate.system_leaderboard import measure_leaderboard
from unisono.maths.systems.system_statements import Means, half_widths
from unisono.tables.reading.scores_of_systems import SystemScores

LEVEL = 0.9
TABLES = Path(__file__).parent.parent / "docs" / "tables"
Drawn = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # scores, systems, prompts, annotators


def scores(
    rng: np.random.Generator,
    means: np.ndarray,
    prompts: int = 40,
    favourites: float = 0.0,
    people: int = 8,
    each: int = 3,
    own: str = "",
    spread: float = 0.0,
    gains: float = 0.0,
) -> Drawn:
    """Scores in one world; `own`: other people for every output, or systems by people of their own."""
    S = len(means)
    b, f = rng.normal(0, 0.5, people), rng.normal(0, favourites, (people, S)) if favourites else np.zeros((people, S))
    p, s, j = (x.ravel() for x in np.meshgrid(np.arange(prompts), np.arange(S), np.arange(each), indexing="ij"))
    if own == "outputs":
        k = np.argsort(rng.random((prompts * S, people)), axis=1)[p * S + s, j]
    elif own == "mostly":  # a person of the system's own, and now and then another
        k = np.where((j == 0) | (rng.random(len(p)) < 0.7), s % people, rng.integers(0, people, len(p)))
    else:
        k = np.argsort(rng.random((prompts, people)), axis=1)[p, j]
    h = rng.normal(0, 0.6, (prompts, S)) * np.linspace(1 - spread, 1 + spread, S)
    gain = rng.normal(1, gains, people) if gains else np.ones(people)
    y = gain[k] * (means[s] + rng.normal(0, 0.5, prompts)[p] + h[p, s]) + b[k] + f[k, s] + rng.normal(0, 0.6, len(p))
    once = np.unique(np.stack([p, s, k]), axis=1, return_index=True)[1]
    return y[once], s[once], p[once], k[once]


def table(y: np.ndarray, s: np.ndarray, p: np.ndarray, k: np.ndarray, kinds: list[str] | None = None) -> SystemScores:
    """As what leaderboards are made of."""
    S = int(s.max()) + 1
    outputs, item = np.unique(p * S + s, return_inverse=True)
    ratings = un.Ratings.from_judgements(
        y[:, None],
        item.reshape(-1),
        k,
        items=[f"i{m}" for m in outputs],
        annotators=[f"h{n}" for n in range(int(k.max()) + 1)],
        dimensions=["quality"],
        scale="none",
        kinds=kinds,
    )
    return SystemScores(ratings, tuple(f"s{n}" for n in range(S)), outputs % S, outputs // S, True)


def paired_means(y: np.ndarray, s: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(P, S) mean score of every system on every prompt."""
    S, P = int(s.max()) + 1, int(p.max()) + 1
    total, n = np.zeros((P, S)), np.zeros((P, S))
    np.add.at(total, (p, s), y)
    np.add.at(n, (p, s), 1)
    return total / n


def one_by_one(m: np.ndarray) -> np.ndarray:
    """(pairs,) clear at the level by paired t-tests."""
    a, b = np.triu_indices(m.shape[1], 1)
    d = m[:, a] - m[:, b]
    return np.abs(d.mean(axis=0)) > stats.t.ppf(0.95, len(m) - 1) * d.std(axis=0, ddof=1) / np.sqrt(len(m))


def tukey(m: np.ndarray) -> np.ndarray:
    """(pairs,) clear by Tukey's studentised range."""
    P, S = m.shape
    a, b = np.triu_indices(S, 1)
    rest = m - m.mean(axis=1, keepdims=True) - m.mean(axis=0) + m.mean()
    freedom = (P - 1) * (S - 1)
    sd = np.sqrt((rest**2).sum() / freedom / P)
    reach = _range(S, freedom) * sd
    gap = m.mean(axis=0)
    return np.abs(gap[a] - gap[b]) > reach


@cache
def _range(S: int, freedom: int) -> float:
    return float(stats.studentized_range.ppf(LEVEL, S, freedom))


EQUAL6, EQUAL18 = np.zeros(6), np.zeros(18)
WORLDS: dict[str, tuple[np.ndarray, dict[str, object]]] = {
    "6 equal": (EQUAL6, {}),
    "18 equal": (EQUAL18, {"prompts": 25}),
    "6 equal, favourites": (EQUAL6, {"favourites": 0.25}),
    "6 equal, three people, favourites": (EQUAL6, {"favourites": 0.25, "people": 3}),
    "6 equal, ten prompts": (EQUAL6, {"prompts": 10}),
    "6 equal, other people for every output": (EQUAL6, {"own": "outputs", "each": 2}),
    "6 equal, unequal spreads": (EQUAL6, {"spread": 0.8}),
    "6 apart": (np.linspace(-0.6, 0.6, 6), {}),
    "6 apart, gains differ": (np.linspace(-0.6, 0.6, 6), {"gains": 0.3}),
    "18 apart": (np.linspace(-0.8, 0.8, 18), {"prompts": 25}),
    "confounded people": (np.linspace(-0.6, 0.6, 6), {"own": "mostly"}),
}


def held(means: np.ndarray, world: dict[str, object], draws: int) -> list[object]:
    """What of one world is printed."""
    a, b = np.triu_indices(len(means), 1)
    true = means[a] - means[b]
    found: list[list[float]] = []
    first = np.array([1 + (means > m).sum() for m in means])
    last = np.array([len(means) - (means < m).sum() for m in means])
    for seed in range(draws):
        drawn = scores(np.random.default_rng(seed), means, **world)  # type: ignore[arg-type]
        board = measure_leaderboard(table(*drawn), seed=seed)
        said, mean = board.said, board.boards[0].means
        wrong = said.clear[0] & (np.sign(said.difference[0]) != np.sign(true))
        ranks = (said.rank_low[0] <= first).all() and (said.rank_high[0] >= last).all()
        cover = np.mean(np.abs(said.difference[0] - true) <= single(mean, a, b, seed))
        m = paired_means(*drawn[:3])
        apart = true != 0
        powers = [
            np.mean(clear[apart]) if apart.any() else np.nan for clear in (said.clear[0], one_by_one(m), tukey(m))
        ]
        loose = [np.any(clear & ~apart) for clear in (one_by_one(m), tukey(m))]
        away = [x - x.mean() - means + means.mean() for x in (mean.mean, m.mean(axis=0), _known(drawn, len(means)))]
        found.append([wrong.any(), *loose, ranks, cover, *powers, *(np.mean(x**2) for x in away)])
    mean_of = np.mean(np.array(found, dtype=float), axis=0)
    mean_of[-3:] = np.sqrt(mean_of[-3:])
    return [*mean_of]


def single(found: Means, a: np.ndarray, b: np.ndarray, seed: int) -> np.ndarray:
    """Half widths of single intervals of the differences of systems a and b."""
    each = np.eye(len(found.mean))
    return half_widths(found, each[a] - each[b], LEVEL, np.random.default_rng(seed))


def _known(drawn: Drawn, S: int) -> np.ndarray:
    """Means by generalised least squares with the true variances of leniency, cells and noise: the oracle."""
    y, s, p, k = drawn
    V = 0.25 * (p[:, None] == p) + 0.36 * ((p * S + s)[:, None] == p * S + s) + 0.25 * (k[:, None] == k)
    V[np.diag_indices(len(y))] += 0.36
    X = np.eye(S)[s]
    W = np.linalg.solve(V, X)
    return np.asarray(np.linalg.solve(X.T @ W, W.T @ y))


JUDGES = {
    "good": (0.8, 0.0, 0.0),
    "useless": (0.0, 0.0, 0.0),
    "biased": (0.8, 1.0, 0.0),
    "system-biased": (0.8, 0.0, 1.5),
}


def judged(
    rng: np.random.Generator, gain: float, bias: float, unfair: float, labels: int, favourites: float = 0.0
) -> SystemScores:
    """Three systems on 120 prompts; five judges score all, one of three people so many outputs of each system."""
    S, P, J = 3, 120, 5
    p, s = (x.ravel() for x in np.meshgrid(np.arange(P), np.arange(S), indexing="ij"))
    truth = SYSTEMS[s] + rng.normal(0, 0.6, P)[p] + rng.normal(0, 0.8, len(p))
    view = gain * truth + bias + unfair * (s == 1) + rng.normal(0, 0.5, len(p))
    given = np.concatenate([rng.permutation(P)[:labels] * S + n for n in range(S)])
    who = rng.integers(0, 3, len(given))
    people = truth[given] + rng.normal(0, 0.3, 3)[who] + rng.normal(0, 0.6, len(given))
    by = [view + rng.normal(0, 0.3) + rng.normal(0, 0.7, len(p)) for _ in range(J)]
    people = people + favourites * rng.normal(size=(3, S))[who, s[given]]
    y = np.concatenate([people, *by])
    item = np.concatenate([given, *[np.arange(len(p))] * J])
    k = np.concatenate([who, *(np.full(len(p), 3 + j) for j in range(J))])
    return table(y, s[item], p[item], k, ["human"] * 3 + ["judge"] * J)


SYSTEMS = np.array([0.0, 0.3, -0.2])


def powered(world: tuple[float, float, float], labels: int, draws: int, favourites: float = 0.0) -> list[object]:
    """Coverage of 90 % intervals of differences, and the error over that of labels alone."""
    a, b = np.triu_indices(3, 1)
    inside, errors = [], []
    for seed in range(draws):
        drawn = judged(np.random.default_rng(seed), *world, labels, favourites)
        own = drawn.ratings.select_judgements(np.array(drawn.ratings.kinds)[drawn.ratings.annotator_of] == "human")
        alone = measure_leaderboard(SystemScores(own, *vars_of(drawn)), seed=seed).boards[0].means
        both = measure_leaderboard(drawn, seed=seed).boards[0].means
        gap = both.mean[a] - both.mean[b]
        inside.append(np.abs(gap - SYSTEMS[a] + SYSTEMS[b]) <= single(both, a, b, seed))
        errors.append([np.mean((x.mean - x.mean.mean() - SYSTEMS + SYSTEMS.mean()) ** 2) for x in (both, alone)])
    both_error, alone_error = np.sqrt(np.mean(errors, axis=0))
    return [float(np.mean(inside)), float(both_error), float(alone_error), float(both_error / alone_error)]


def vars_of(drawn: SystemScores) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, bool]:
    return drawn.systems, drawn.system, drawn.prompt, drawn.paired


BOARD = ["world", "draws", "wrong", "wrong, t-tests", "wrong, Tukey", "ranks", "cover", "power", "power, t-tests"]
BOARD += ["power, Tukey", "error", "error of means", "error, variances known"]
JUDGED = ["judges, labels of each system", "draws", "cover", "error", "error of labels alone", "ratio"]
PANELS = {f"{name}, {labels}": (judge, labels, 0.0) for name, judge in JUDGES.items() for labels in (10, 30, 100)}
PANELS |= {f"good, {labels}, favourites": (JUDGES["good"], labels, 0.25) for labels in (10, 30, 100)}


def rows(wanted: list[str], draws: int) -> Iterator[list[object]]:
    for name, (means, world) in WORLDS.items():
        if not wanted or name in wanted:
            yield [name, draws, *held(means, world, draws)]
    for name, (judge, labels, favourites) in PANELS.items():
        if not wanted or name in wanted:
            yield [name, draws, *powered(judge, labels, draws, favourites)]


def shown(cell: object) -> object:
    """As tables show it."""
    if not isinstance(cell, float):
        return cell
    return "" if np.isnan(cell) else f"{cell:.3f}".replace("0.", ".", 1)


def write_tables(parts: list[Path]) -> None:
    """The tables of docs/leaderboards.md from what runs at one commit printed; worlds that no run had are left out.

    A table of which there is nothing stays as it is.
    """
    lines = [line for part in parts for line in csv.reader(part.read_text(encoding="utf-8").splitlines())]
    measured = {line[1] for line in lines if line[0] == "commit"}
    if len(measured) != 1:
        raise SystemExit(f"These parts were measured at {len(measured)} commits: {', '.join(sorted(measured))}.")
    found = {line[0]: line for line in lines}
    sources = {}
    for name, header, order in (("worlds", BOARD, WORLDS), ("judges", JUDGED, PANELS)):
        if not any(row in found for row in order):
            continue
        path = TABLES / f"leaderboards-{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *(found[row] for row in order if row in found)])
        sources[path.name] = ("benchmarks.leaderboards", *measured)
    note_sources(TABLES / "sources.csv", sources)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument(
        "--tables", type=Path, nargs="+", metavar="PART", help="write tables of what was printed before"
    )
    parser.add_argument("worlds", nargs="*")
    asked = parser.parse_args()
    if asked.tables:
        write_tables(asked.tables)
        return
    warnings.simplefilter("ignore")
    write = csv.writer(sys.stdout, lineterminator="\n").writerow
    write(["commit", commit()])
    for row in rows(asked.worlds, asked.draws):
        write([shown(cell) for cell in row])
        sys.stdout.flush()


if __name__ == "__main__":
    main()
