"""Data sets with people and judges on the same items, read from a folder, and draws of few labels from them.

DIR/<set>/ratings.csv has item, annotator, perhaps kind, then the dimensions. Sets whose kinds lie in several files, or
in the names of annotators, are put together here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

MOST_ITEMS = 400  # of a larger set, so many are drawn
LABELS = {"least": 30, "share": 0.1, "people": 2}
LABELS_OF_FEW = 0.5  # share of the items of sets with fewer than FEW_ITEMS
FEW_ITEMS = 50
LEFT_OUT = ("item", "annotator", "kind")


class Draw(NamedTuple):
    """Judges on all items, people on some; the mean of all people on the others is to be found."""

    shown: pl.DataFrame  # item, annotator, kind, dimensions
    dimensions: tuple[str, ...]
    items: tuple[str, ...]  # those to be found
    target: np.ndarray  # (m, D)
    noise: np.ndarray  # (m, D) variance of the target's own error


def _one_file(folder: Path) -> pl.DataFrame:
    return pl.read_csv(folder / "ratings.csv", schema_overrides={"item": pl.String})


def _hanna(folder: Path) -> pl.DataFrame:
    people = pl.read_csv(folder / "humans_pos.csv").cast({pl.Int64: pl.Float64}).with_columns(kind=pl.lit("human"))
    return pl.concat([_one_file(folder).with_columns(kind=pl.lit("judge")), people], how="diagonal_relaxed")


def _empathy(folder: Path) -> pl.DataFrame:
    kind = pl.when(pl.col("annotator").str.starts_with("expert")).then(pl.lit("human")).otherwise(pl.lit("judge"))
    return _one_file(folder).with_columns(kind=kind)


def _perfumes(folder: Path) -> pl.DataFrame:
    """Consumers beside a trained panel, whose two sessions are averaged; the five scales with the same name."""
    dims = ["vanilla", "citrus", "spicy", "woody", "green"]
    panel = pl.read_csv(folder / "ratings_experts.csv").with_columns(pl.col("item").str.replace(r"_s[12]$", ""))
    panel = panel.group_by("item", "annotator").agg(pl.col(dims).mean()).with_columns(kind=pl.lit("human"))
    crowd = _one_file(folder).select("item", "annotator", *dims).with_columns(kind=pl.lit("consumer"))
    return pl.concat([crowd, panel])


def _soundscapes(folder: Path) -> pl.DataFrame:
    """People of one place, and 40 of other places, who rated in other languages."""
    every = pl.read_csv(folder / "ratings_all.csv").with_columns(
        kind=pl.when(pl.col("institution") == "UCL").then(pl.lit("human")).otherwise(pl.lit("elsewhere"))
    )
    others = sorted(every.filter(pl.col("kind") == "elsewhere")["annotator"].unique())
    kept = np.random.default_rng(0).choice(others, 40, replace=False).tolist()
    return every.filter((pl.col("kind") == "human") | pl.col("annotator").is_in(kept)).drop("institution", "language")


READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "judges_lesion": _one_file,
    "judges_10k_prompts": _one_file,
    "hanna_llm_judges": _hanna,
    "empathy_perceived_judges": _empathy,
    "perfumes": _perfumes,
    "satp_soundscapes": _soundscapes,
}


def draw_labels(table: pl.DataFrame, seed: int, labels: int | None = None, *, shuffled: bool = False) -> Draw:
    """People on some items, judges on all; `shuffled` judges rated other items than they say."""
    rng = np.random.default_rng(seed)
    dims = [name for name in table.columns if name not in LEFT_OUT]
    items = np.array(sorted(table["item"].unique()))
    if len(items) > MOST_ITEMS:
        items = np.sort(rng.choice(items, MOST_ITEMS, replace=False))
        table = table.filter(pl.col("item").is_in(items.tolist()))
    people = table.filter(pl.col("kind") == "human").sort("item", "annotator")
    judges = table.filter(pl.col("kind") != "human")
    count = people.group_by("item").len()
    usable = np.array(sorted(count.filter(pl.col("len") >= LABELS["people"])["item"]))
    few = len(items) < FEW_ITEMS
    number = int(LABELS_OF_FEW * len(items)) if few else max(int(LABELS["least"]), int(LABELS["share"] * len(items)))
    chosen = rng.choice(usable, min(labels or number, number if few else len(usable)), replace=False).tolist()
    labelled = people.filter(pl.col("item").is_in(chosen))
    order = pl.Series(rng.random(len(labelled)))
    asked = _asked(labelled, order)
    if shuffled:
        move = dict(zip(items.tolist(), rng.permutation(items).tolist(), strict=True))
        judges = judges.with_columns(pl.col("item").replace_strict(move))
    rest = people.filter(~pl.col("item").is_in(chosen))
    means = rest.group_by("item", maintain_order=True).agg(pl.col(dims).mean())
    counts = rest.group_by("item", maintain_order=True).agg(pl.col(dims).count())
    variance = np.array([_within(people, name) for name in dims])
    noise = variance / np.maximum(counts.select(dims).to_numpy(), 1)
    shown = pl.concat([judges, asked.select(judges.columns)])
    return Draw(shown, tuple(dims), tuple(means["item"]), means.select(dims).to_numpy(), noise)


def _asked(labelled: pl.DataFrame, order: pl.Series) -> pl.DataFrame:
    """So many people per item, drawn at random."""
    ranked = labelled.with_columns(order.alias("__order")).sort("item", "__order")
    return ranked.group_by("item", maintain_order=True).head(int(LABELS["people"])).drop("__order")


def _within(people: pl.DataFrame, name: str) -> float:
    """Variance of people's ratings within items."""
    each = people.group_by("item").agg(pl.col(name).var().alias("var"), pl.col(name).count().alias("n"))
    each = each.filter(pl.col("n") > 1)
    return float((each["var"] * (each["n"] - 1)).sum() / (each["n"] - 1).sum())
