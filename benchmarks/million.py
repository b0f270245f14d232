"""A million ratings in memory: group-by mean, our mean, the default, judges and leaderboards in one process.

    python -m benchmarks.million [--judgements 993_000] [--page docs/benchmarks.md]       # or as part of `make bench`

A Polars frame with ids as text and two dimensions, sliders or whole numbers from 1 to 7, rows in any order or sorted by
item. Figures are processor seconds and how many times the group-by mean they are; everything from the frame to the
frame of truths counts, imports do not.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import unisono as un
from benchmarks.accuracy_page import fill_page
from benchmarks.measure import best_cpu, peak_megabytes, reset_peak

DIMENSIONS = ("calm", "warm")
PER_ITEM, PER_ANNOTATOR = 5, 1_000
HEAD = ["answers", "group-by mean, s", "`mean`, s", "over it", "`auto`, s", "over that", "`auto`, MB", "over the table"]


def table_of(judgements: int, answers: str = "sliders", *, shuffled: bool = True, seed: int = 0) -> pl.DataFrame:
    """Ratings with their annotators' gain, bias and noise; one in twenty annotators answers anything."""
    rng = np.random.default_rng(seed)
    M, K, D = judgements // PER_ITEM, max(judgements // PER_ANNOTATOR, 2 * PER_ITEM), len(DIMENSIONS)
    gain, bias = 1 + 0.2 * rng.normal(size=(K, D)), 0.4 * rng.normal(size=(K, D))
    noise = 0.7 * np.exp(0.3 * rng.normal(size=K))
    gain[rng.random(K) < 0.05] = 0.0
    who = (np.sort(rng.integers(0, K - PER_ITEM + 1, size=(M, PER_ITEM)), axis=1) + np.arange(PER_ITEM)).ravel()
    item = np.repeat(np.arange(M), PER_ITEM)
    y = rng.normal(size=(M, D))[item] * gain[who] + bias[who] + noise[who, None] * rng.normal(size=(len(who), D))
    y = np.clip(np.round(50 + 15 * y, 1), 0, 100) if answers == "sliders" else np.clip(np.round(1.2 * y + 4), 1, 7)
    order = rng.permutation(len(y)) if shuffled else np.arange(len(y))
    named = {
        "item": pl.select(pl.format("i{}", pl.Series(item[order]))).to_series(),
        "annotator": pl.select(pl.format("a{}", pl.Series(who[order]))).to_series(),
    }
    return pl.DataFrame({**named, **{name: y[order, d] for d, name in enumerate(DIMENSIONS)}})


def run(judgements: int = 993_000, into: Path | None = None) -> dict[str, Any]:
    """Measures and prints the table, also `into` a page; returns it flat."""
    warnings.simplefilter("ignore")
    rows = [
        measured(answers, shuffled, table_of(judgements, answers, shuffled=shuffled))
        for answers in ("sliders", "whole numbers")
        for shuffled in (True, False)
    ]
    if into is not None:
        fill_page({"million": in_markdown(rows, judgements)}, into, "benchmarks.million")
    return {f"{row[0]}, {name}": value for row in rows for name, value in zip(HEAD[1:], row[1:], strict=True)} | rest(
        judgements
    )


def measured(answers: str, shuffled: bool, table: pl.DataFrame) -> list[Any]:
    """One line of the table."""
    un.fuse(table.head(2_000), model="mean"), un.fuse(table.head(2_000))  # imports and first calls
    by_hand = best_cpu(lambda: table.group_by("item").agg(pl.col(*DIMENSIONS).mean()), 7)
    before = reset_peak()
    _ = un.fuse(table).truth
    megabytes = peak_megabytes() - before
    mean, auto = (best_cpu(lambda model=model: un.fuse(table, model=model).truth) for model in ("mean", "auto"))  # type: ignore[misc]
    label = f"{answers}, {'any order' if shuffled else 'sorted'}"
    share = megabytes / (table.estimated_size() / 2**20)
    return [label, by_hand, mean, mean / by_hand, auto, auto / by_hand, megabytes, share]


def rest(judgements: int) -> dict[str, float]:
    """Judges beside people, and leaderboards of systems, over the time of the default on the same table."""
    table = table_of(judgements, "whole numbers", shuffled=False)
    systems = table.with_columns(
        pl.format("s{}", pl.col("item").str.slice(1).cast(pl.Int64) % 10).alias("system"),
        pl.format("p{}", pl.col("item").str.slice(1).cast(pl.Int64) // 10).alias("prompt"),
    )
    auto = best_cpu(lambda: un.fuse(table).truth, 1)
    tasks: dict[str, Callable[[], object]] = {
        "judges": lambda: un.judges(table, kinds={"judge": "a1,a2,a3"}),
        "leaderboard": lambda: un.leaderboard(systems, by="system", prompt="prompt"),
    }
    return {f"{name} over auto": best_cpu(work, 1) / auto for name, work in tasks.items()}


def in_markdown(rows: list[list[Any]], judgements: int) -> str:
    """The table with what it is of."""
    lines = [[row[0], *(f"{value:.2f}" if value < 10 else f"{value:.0f}" for value in row[1:])] for row in rows]
    text = "\n".join(f"| {' | '.join(line)} |" for line in [HEAD, ["---"] * len(HEAD), *lines])
    return f"{judgements:,} judgements on two dimensions, a Polars frame in memory; processor seconds.\n\n{text}"


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="A million ratings beside a group-by mean, in one process.")
    options.add_argument("--judgements", type=int, default=993_000)
    options.add_argument("--page", type=Path)
    given = options.parse_args()
    for key, value in run(given.judgements, given.page).items():
        print(f"{key:<48} {value:.3g}")
