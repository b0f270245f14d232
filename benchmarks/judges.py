"""People and judges: how close do few labels and many judges come to what people would say?

    python -m benchmarks.judges DIR [--draws 5] [--labels 10] [--only NAME,...] [--shuffled] [--out FILE.json]
    python -m benchmarks.judges simulate [--draws 20]
    python -m benchmarks.judges time

On every set of `judges_sets`: people on 10 % of the items (30 at least), two each; judges on all. Scored on the others,
against the mean of all people, whose own noise is taken out:

    r      Pearson with that mean as it is
    error  root mean squared error to the truth over the truth's sd; 1 is knowing only the mean
    cover  share of targets inside the 90 % interval, widened by the target's own noise

`mean`: the plain mean of everybody; `alike`: the joint model without kinds; `two stages`: judges fused, their truth as
features of the people's; `labels`: the mean of the labels, whatever the item; `groups`: what `fuse` does with kinds.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.stats import norm

import unisono as un
from benchmarks.judges_sets import READERS, Draw, draw_labels
from unisono.fusers import Fused
from unisono.maths.items.item_estimates import half_width

LEVEL = 0.90
LEAST_SIGNAL = 0.1  # of a target's variance: less is not believed to be all that is truth


class Estimate(NamedTuple):
    """Of the items to be found."""

    mean: np.ndarray  # (m, D)
    half: np.ndarray  # (m, D) half the width of the interval


def of_items(fused: Fused, items: tuple[str, ...]) -> Estimate:
    place = {item: m for m, item in enumerate(fused.items)}
    at = [place[item] for item in items]
    return Estimate(fused.mean[at], (half_width(LEVEL, fused.freedom) * fused.sd)[at])


def rated(table: pl.DataFrame, draw: Draw) -> un.Ratings:
    """The ratings of a part of the draw; a dimension that is constant there is one all the same."""
    return un.read_ratings(table, dims=list(draw.dimensions))


def groups(draw: Draw) -> Estimate:
    return of_items(un.fuse(rated(draw.shown, draw)).fused, draw.items)


def alike(draw: Draw) -> Estimate:
    return of_items(un.fuse(rated(draw.shown.drop("kind"), draw), model="joint").fused, draw.items)


def two_stages(draw: Draw) -> Estimate:
    judges = draw.shown.filter(pl.col("kind") != "human").drop("kind")
    people = draw.shown.filter(pl.col("kind") == "human").drop("kind")
    first = un.fuse(rated(judges, draw), model="joint", estimate="posterior").fused
    features = un.ItemTable.from_rows(first.mean, items=first.items, columns=[f"judges_{d}" for d in first.dimensions])
    second = un.fuse(rated(people, draw), model="joint", estimate="posterior", features=features)
    return of_items(second.fuser.predict(features), draw.items)


def plain_mean(draw: Draw) -> Estimate:
    each = pl.col(draw.dimensions)
    table = draw.shown.group_by("item").agg(each.mean(), each.count().name.suffix("__n"), each.var().name.suffix("__v"))
    table = pl.DataFrame({"item": draw.items}).join(table, on="item", how="left")
    n = table.select([f"{d}__n" for d in draw.dimensions]).to_numpy()
    v = table.select([f"{d}__v" for d in draw.dimensions]).to_numpy()
    pooled = np.nansum(v * (n - 1), axis=0) / np.sum(n - 1, axis=0)
    half = norm.ppf(0.5 + LEVEL / 2) * np.sqrt(pooled / n)
    return Estimate(table.select(draw.dimensions).to_numpy(), half)


def labels_alone(draw: Draw) -> Estimate:
    people = draw.shown.filter(pl.col("kind") == "human").select(draw.dimensions).to_numpy()
    size = len(draw.items), 1
    half = norm.ppf(0.5 + LEVEL / 2) * np.nanstd(people, axis=0)
    return Estimate(np.tile(np.nanmean(people, axis=0), size), np.tile(half, size))


METHODS: dict[str, Callable[[Draw], Estimate]] = {
    "mean": plain_mean,
    "alike": alike,
    "two stages": two_stages,
    "labels": labels_alone,
    "groups": groups,
}


def scored(found: Estimate, draw: Draw) -> tuple[float, float, float]:
    """r, error and cover, means over dimensions."""
    reach, rows = norm.ppf(0.5 + LEVEL / 2), []
    for d in range(len(draw.dimensions)):
        known = ~np.isnan(draw.target[:, d])
        y, m, half, noise = (part[known, d] for part in (draw.target, found.mean, found.half, draw.noise))
        total = y.var(ddof=1)
        signal = max(total - noise.mean(), LEAST_SIGNAL * total)
        missed = max(np.mean((m - y) ** 2) - noise.mean(), 0.0)
        r = float(np.corrcoef(m, y)[0, 1]) if m.std() > 0 else 0.0
        inside = np.abs(y - m) <= np.sqrt(half**2 + reach**2 * noise)
        rows.append((r, np.sqrt(missed / signal), inside.mean()))
    return tuple(np.mean(rows, axis=0).tolist())


def measure(folder: Path, draws: int, labels: int | None, only: set[str], shuffled: bool) -> dict[str, dict]:
    table: dict[str, dict] = {}
    for name, read in READERS.items():
        if (only and name not in only) or not (folder / name).is_dir():
            continue
        ratings = read(folder / name)
        drawn = [draw_labels(ratings, seed, labels, shuffled=shuffled) for seed in range(draws)]
        row = {}
        for method, estimate in METHODS.items():
            began = time.perf_counter()
            row[method] = np.mean([scored(estimate(draw), draw) for draw in drawn], axis=0).tolist()
            row[method].append((time.perf_counter() - began) / draws)
        table[name] = row
        print(name, " | ".join(f"{m} {v[0]:.2f} {v[1]:.2f} {v[2]:.2f}" for m, v in row.items()), flush=True)
    for method in METHODS:
        print("all", method, np.round(np.mean([row[method] for row in table.values()], axis=0), 3))
    return table


class World(NamedTuple):
    """What simulated judges make of the truth together."""

    shared: float  # of their error variance of 1
    gain: float = 0.8
    leak: float = 0.15
    level: float = 0.5


WORLDS = (World(0.0), World(0.3), World(0.6), World(0.0, 1.0, 0.0, 0.0))  # in the last, judges are people like others


def simulated(seed: int, world: World, labels: int, *, items: int = 400, judges: int = 6, D: int = 3) -> tuple:
    """Ratings by four people and six judges; and the truth."""
    rng = np.random.default_rng(seed)
    shared, gain, leak, level = world
    truth = rng.multivariate_normal(np.zeros(D), 0.4 + 0.6 * np.eye(D), size=items)
    seen = truth @ (gain * np.eye(D) + leak * (1 - np.eye(D))) + level
    view = seen + np.sqrt(shared) * rng.normal(size=(items, D))
    parts = []

    def add(name: str, kind: str, at: np.ndarray, value: np.ndarray) -> None:
        label = {"item": [f"i{m:04d}" for m in at], "annotator": [name] * len(at), "kind": [kind] * len(at)}
        parts.append(pl.DataFrame(label | {f"d{d}": value[:, d] for d in range(D)}))

    for k in range(judges):
        own = view * (1 + 0.1 * rng.normal(size=D)) + 0.3 * rng.normal(size=D)
        add(f"judge{k}", "judge", np.arange(items), own + np.sqrt(1 - shared) * rng.normal(size=(items, D)))
    labelled = rng.choice(items, labels, replace=False)
    who = np.array([rng.choice(4, 2, replace=False) for _ in labelled])
    for k in range(4):
        at = labelled[(who == k).any(axis=1)]
        add(f"h{k}", "human", at, truth[at] + 0.25 * rng.normal(size=D) + 0.8 * rng.normal(size=(len(at), D)))
    return pl.concat(parts), truth


def simulate(draws: int) -> None:
    """Against the known truth: r, error and coverage; and the share of the error that is found to be shared."""
    for world in WORLDS:
        for labels in (10, 30, 100):
            rows = []
            for seed in range(draws):
                table, truth = simulated(seed, world, labels)
                row = []
                for model in ("groups", "joint"):
                    result = un.fuse(table, model=model)
                    low, high = result.fused.interval(LEVEL)
                    error = np.sqrt(np.mean((result.fused.mean - truth) ** 2) / truth.var())
                    pairs = zip(result.fused.mean.T, truth.T, strict=True)
                    r = np.mean([np.corrcoef(mean, true)[0, 1] for mean, true in pairs])
                    row += [r, error, np.mean((low <= truth) & (truth <= high))]
                    if model == "groups":
                        row.append(result.fuser.groups().share[1].mean())
                rows.append(row)
            figures = np.round(np.mean(rows, axis=0), 3)
            print(*world, labels, "groups: r, error, cover, share; alike: r, error, cover", figures, flush=True)


def timing() -> None:
    """Seconds of one core per iteration at a million ratings in three groups, and without groups."""
    rng = np.random.default_rng(0)
    M, K, D = 100_000, 300, 3
    item_of = np.repeat(np.arange(M), 10)
    who = (rng.choice(K // 10, (M, 10)) + K // 10 * np.arange(10)).reshape(-1)  # ten different ones per item
    truth = rng.normal(size=(M, D))
    value = truth[item_of] + rng.normal(size=(len(item_of), D))
    labels = {
        "items": [str(m) for m in range(M)],
        "annotators": [str(k) for k in range(K)],
        "dimensions": ["a", "b", "c"],
    }
    kinds = ["human" if k < 100 else "judge" if k < 200 else "code" for k in range(K)]
    ratings = un.Ratings.from_judgements(value, item_of, who, **labels, kinds=kinds)
    for model in ("joint", "groups"):
        stamps: list[float] = []
        un.make_fuser(model, max_iter=8).fit(ratings, on_step=lambda i, v, s=stamps: s.append(time.process_time()))
        print(model, "seconds per iteration:", np.round(np.median(np.diff(stamps[:8])), 3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", help="folder of data sets, 'simulate' or 'time'")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--labels", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--shuffled", action="store_true")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.what == "time":
        timing()
    elif asked.what == "simulate":
        simulate(asked.draws)
    else:
        only = {name for name in asked.only.split(",") if name}
        found = measure(Path(asked.what), asked.draws, asked.labels, only, asked.shuffled)
        if asked.out is not None:
            asked.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
