"""Leaderboards beside other methods: `python -m benchmarks.leaderboard_peers [--draws 200]`.

Worlds are those of `benchmarks.leaderboards`, and comparisons of outputs that differ by prompt by people with
favourites. Packages are used where they are installed: statsmodels (MixedLM: prompts and people as variance components,
differences one by one), ppi-python (prediction-powered means, each system by itself), evalica (strengths). What the
others do is written out here: rank sets from means of prompts and their covariance (csranks), strengths with a sandwich
covariance (arena-rank), the alternative annotator test as a verdict of its own.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit

from benchmarks.accuracy_page import commit, note_sources
from benchmarks.leaderboards import (
    EQUAL6,
    JUDGES,
    LEVEL,
    SYSTEMS,
    TABLES,
    WORLDS,
    Drawn,
    judged,
    paired_means,
    powered,
    scores,
    table,
)
from unisono.evaluate.comparison_leaderboard import measure_compared
from unisono.evaluate.system_leaderboard import measure_leaderboard
from unisono.maths.groups.judge_tests import alternative_test, beside_people, verdict
from unisono.maths.systems.compared_strengths import Answers, pulls, strengths
from unisono.tables.comparisons import Comparisons

PAIRS = np.triu_indices(6, 1)
APART = np.linspace(-0.6, 0.6, 6)
Clear = Callable[[Drawn], np.ndarray]


def ours(drawn: Drawn) -> np.ndarray:
    return measure_leaderboard(table(*drawn)).said.clear[0]


def t_tests(drawn: Drawn) -> np.ndarray:
    m = paired_means(*drawn[:3])
    d = m[:, PAIRS[0]] - m[:, PAIRS[1]]
    return np.abs(d.mean(axis=0)) > stats.t.ppf(0.95, len(m) - 1) * d.std(axis=0, ddof=1) / np.sqrt(len(m))


def rank_sets(drawn: Drawn) -> np.ndarray:
    """Simultaneous intervals of all differences from the covariance of means of prompts, as csranks has them."""
    m = paired_means(*drawn[:3])
    Z = np.random.default_rng(0).multivariate_normal(np.zeros(6), np.cov(m.T) / len(m), 5000)
    d = m[:, PAIRS[0]] - m[:, PAIRS[1]]
    se = d.std(axis=0, ddof=1) / np.sqrt(len(m))
    c = np.quantile((np.abs(Z[:, PAIRS[0]] - Z[:, PAIRS[1]]) / se).max(axis=1), LEVEL)
    return np.abs(d.mean(axis=0)) > c * se


def mixed_lm(drawn: Drawn) -> np.ndarray:
    """statsmodels' MixedLM with prompts and people as crossed variance components."""
    import statsmodels.formula.api as smf

    frame = pd.DataFrame(dict(zip(("y", "s", "p", "k"), drawn, strict=True))).assign(all=1)
    parts = {"p": "0 + C(p)", "k": "0 + C(k)"}
    fit = smf.mixedlm("y ~ 0 + C(s)", frame, groups="all", vc_formula=parts, re_formula="0").fit()
    mean, cov = fit.fe_params.to_numpy(), fit.cov_params().to_numpy()[:6, :6]
    each = np.eye(6)[PAIRS[0]] - np.eye(6)[PAIRS[1]]
    return np.abs(each @ mean) > stats.norm.ppf(0.95) * np.sqrt(np.einsum("qs,st,qt->q", each, cov, each))


def of_scores(draws: int) -> Iterator[list[object]]:
    """wrong anywhere among equal systems, without and with favourites; power among systems apart; seconds."""
    methods: dict[str, tuple[Clear, int]] = {
        "unisono": (ours, draws),
        "paired t-tests": (t_tests, draws),
        "rank sets of means (csranks)": (rank_sets, draws),
        "statsmodels MixedLM": (mixed_lm, max(draws // 4, 2)),
    }
    favourites = WORLDS["6 equal, favourites"][1]
    for name, (clear, n) in methods.items():
        began = time.process_time()
        equal = [clear(scores(np.random.default_rng(i), EQUAL6)).any() for i in range(n)]
        taste = [clear(scores(np.random.default_rng(i), EQUAL6, **favourites)).any() for i in range(n)]  # type: ignore[arg-type]
        power = [clear(scores(np.random.default_rng(i), APART)).mean() for i in range(n)]
        each = (time.process_time() - began) / (3 * n)
        yield [
            "scores: wrong, wrong with favourites, power",
            name,
            n,
            *map(float, map(np.mean, (equal, taste, power))),
            each,
        ]


def votes(seed: int, means: np.ndarray) -> tuple[Comparisons, list[str]]:
    """Half of all pairs on 60 prompts by two of eight people; outputs differ by .8, tastes by .4 logits."""
    rng, S = np.random.default_rng(seed), len(means)
    h, f = rng.normal(0, 0.8, (60, S)), rng.normal(0, 0.4, (8, S))
    rows = []
    for p in range(60):
        for a, b in zip(*PAIRS, strict=True):
            for k in rng.choice(8, 2, replace=False) if rng.random() < 0.5 else ():
                l, r = (a, b) if rng.random() < 0.5 else (b, a)
                d = means[l] + h[p, l] + f[k, l] - means[r] - h[p, r] - f[k, r]
                rows.append((l, r, k, 0, 0 if rng.random() < expit(d) else 2, p))
    columns = np.array(rows).T
    labels = [f"s{s}" for s in range(S)], [f"h{k}" for k in range(8)], ["better"]
    found = Comparisons.from_answers((*columns[:5], np.arange(len(rows))), labels)
    return found, [str(p) for p in columns[5]]


def ours_compared(pairs: Comparisons, asked: list[str]) -> tuple[np.ndarray, np.ndarray]:
    found = measure_compared(pairs, prompt_of=asked)
    return found.said.clear[0], found.boards[0].means.mean


def sandwich(pairs: Comparisons, asked: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Strengths with the sandwich covariance of single answers, differences one by one, as arena-rank has them."""
    answers = Answers(pairs.left, pairs.right, (2 - pairs.answer) / 2, 6, True)
    found = strengths(answers)
    psi = pulls(answers, found.surprise, np.arange(pairs.n)) @ found.inverse
    d = found.a[PAIRS[0]] - found.a[PAIRS[1]]
    se = np.sqrt(((psi[:, PAIRS[0]] - psi[:, PAIRS[1]]) ** 2).sum(axis=0))
    return np.abs(d) > stats.norm.ppf(0.95) * se, found.a


def strengths_alone(pairs: Comparisons, asked: list[str]) -> tuple[np.ndarray, np.ndarray]:
    import evalica

    said = [(evalica.Winner.X, evalica.Winner.Draw, evalica.Winner.Y)[a] for a in pairs.answer]
    names = np.array(pairs.items)
    found = evalica.bradley_terry(names[pairs.left].tolist(), names[pairs.right].tolist(), said).scores
    a = np.log(found[list(pairs.items)].to_numpy())
    return np.zeros(len(PAIRS[0]), dtype=bool), a - a.mean()


def of_comparisons(draws: int) -> Iterator[list[object]]:
    """wrong anywhere among equal systems, power and error of strengths among systems apart; seconds."""
    methods = {"unisono": ours_compared, "sandwich, one by one (arena-rank)": sandwich}
    if find_spec("evalica"):
        methods["evalica"] = strengths_alone
    for name, method in methods.items():
        began = time.process_time()
        equal = [method(*votes(i, EQUAL6)) for i in range(draws)]
        apart = [method(*votes(i, 2 * APART)) for i in range(draws)]
        each = (time.process_time() - began) / (2 * draws)
        rank = np.mean([stats.kendalltau(a, APART).statistic for _, a in apart])
        wrong = np.mean([clear.any() for clear, _ in equal]) if name != "evalica" else float("nan")
        power = np.mean([clear.mean() for clear, _ in apart]) if name != "evalica" else float("nan")
        yield [
            "comparisons: wrong, tau of the order, power",
            name,
            draws,
            float(wrong),
            float(rank),
            float(power),
            each,
        ]


def prediction_powered(kind: str, draws: int) -> tuple[float, float]:
    """Cover and error of differences by ppi-python."""
    import ppi_py

    inside, errors = [], []
    a, b = np.triu_indices(3, 1)
    for seed in range(draws):
        drawn = judged(np.random.default_rng(seed), *JUDGES[kind], 30)
        ratings, mean, half = drawn.ratings, [], []
        person = np.array(ratings.kinds)[ratings.annotator_of] == "human"
        judge = np.bincount(ratings.item_of[~person], ratings.value[~person, 0], ratings.M) / 5
        labelled = np.zeros(ratings.M, dtype=bool)
        labelled[ratings.item_of[person]] = True
        label = np.bincount(ratings.item_of[person], ratings.value[person, 0], ratings.M)
        for s in range(3):
            own, rest = (drawn.system == s) & labelled, (drawn.system == s) & ~labelled
            low, high = (float(end[0]) for end in ppi_py.ppi_mean_ci(label[own], judge[own], judge[rest], alpha=0.1))
            mean.append((low + high) / 2)
            half.append((high - low) / 2)
        m, h = np.array(mean), np.array(half)
        inside.append(np.abs(m[a] - m[b] - SYSTEMS[a] + SYSTEMS[b]) <= np.hypot(h[a], h[b]))
        errors.append(np.mean((m - m.mean() - SYSTEMS + SYSTEMS.mean()) ** 2))
    return float(np.mean(inside)), float(np.sqrt(np.mean(errors)))


def of_judges(draws: int) -> Iterator[list[object]]:
    """Cover of 90 % intervals of differences and error of means, 30 labels of each system."""
    for kind in JUDGES:
        cover, error = powered(JUDGES[kind], 30, draws)[:2]
        yield [f"{kind} judges: cover, error", "unisono", draws, cover, error, "", ""]
        if find_spec("ppi_py"):
            yield [f"{kind} judges: cover, error", "ppi-python", draws, *prediction_powered(kind, draws), "", ""]


def of_replacement(draws: int) -> Iterator[list[object]]:
    """Share of tables in which a judge may replace a person: one like people, almost always 5, always 5."""
    said: dict[str, list[list[bool]]] = {"unisono": [], "alt-test": []}
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        truth = rng.normal(5.2, 0.5, 200)
        people = np.clip(np.round(truth[:, None] + rng.normal(0, 0.4, (200, 3))), 1, 5)
        like = np.clip(np.round(truth + rng.normal(0, 0.4, 200)), 1, 5)
        almost = np.where(rng.random(200) < 0.96, 5.0, rng.integers(1, 5, 200))
        for judge in (like, almost, np.full(200, 5.0)):
            test = alternative_test(judge, people)
            said["alt-test"].append([test.passes])
            said["unisono"].append([verdict(beside_people(judge, people), test).startswith("may replace")])
    for name, found in said.items():
        yield [
            "may replace a person: one like people, almost always 5, always 5",
            name,
            draws,
            *np.reshape(found, (draws, 3)).mean(axis=0).tolist(),
            "",
        ]


HEADER = ["of", "method", "draws", "first", "second", "third", "seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    draws = parser.parse_args().draws
    warnings.simplefilter("ignore")
    rows = []
    for part in (of_scores, of_comparisons, of_judges, of_replacement):
        for row in part(draws):
            rows.append(
                [
                    f"{x:.3f}".replace("0.", ".", 1) if isinstance(x, float) and x == x else x if x == x else ""
                    for x in row
                ]
            )
            print(*rows[-1], sep=",", flush=True)
    path = TABLES / "leaderboards-peers.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])
    note_sources(TABLES / "sources.csv", {path.name: ("benchmarks.leaderboard_peers", commit())})


if __name__ == "__main__":
    main()
