"""Crowds for fusions of shards: with spammers, flipped scales, copies, missing answers and items rated once."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl


def crowd_table(items: int = 300, annotators: int = 24, per_item: int = 6, seed: int = 0) -> pl.DataFrame:
    """A table with one row per judgement: annotator 3 guesses, 4 is flipped, 5 and 6 are copies."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(items, 2)) @ np.array([[1.0, 0.4], [0.0, 0.9]])
    rows = []
    for m in range(items):
        count = 1 if m % 50 == 7 else per_item
        chosen = set(rng.choice(annotators, count, replace=False).tolist())
        chosen = chosen | {5, 6} if 5 in chosen else chosen - {6}
        answers = {}
        for k in sorted(chosen):
            slope = {3: 0.0, 4: -1.0}.get(k, 1 + 0.1 * (k % 5 - 2))
            y = truth[m] * slope + 0.1 * (k % 7) + rng.normal(size=2) * (0.4 + 0.03 * k)
            answers[k] = np.clip(np.round(1.3 * y + 4), 1, 7)
            if k == 6:
                answers[k] = answers[5]
        for k, y in answers.items():
            y = np.where(rng.random(2) < 0.05, np.nan, y)
            rows.append((f"clip{m}", f"rater{k}", *y))
    table = pl.DataFrame(rows, schema=["item", "annotator", "valence", "arousal"], orient="row")
    return table.fill_nan(None).sample(fraction=1.0, shuffle=True, seed=seed)


def written(table: pl.DataFrame, path: Path) -> Path:
    table.write_csv(path)
    return path


class World(NamedTuple):
    """Ratings, features of their items, and truths that are known."""

    ratings: pl.DataFrame
    features: pl.DataFrame
    gold: pl.DataFrame


NAMES = ["valence", "arousal", "dominance"]


def _world(truth: np.ndarray, rows: list, features: np.ndarray, known: int) -> World:
    names = NAMES[: truth.shape[1]]
    ratings = pl.DataFrame(rows, schema=["item", "annotator", *names], orient="row").fill_nan(None)
    items = pl.Series("item", [f"clip{m}" for m in range(len(truth))])
    described = pl.DataFrame(features, schema=[f"f{p}" for p in range(features.shape[1])])
    gold = pl.DataFrame(truth[:known], schema=names)
    return World(
        ratings.sample(fraction=1.0, shuffle=True, seed=1),
        described.insert_column(0, items),
        gold.insert_column(0, items.head(known)),
    )


def hard_table(items: int = 240, annotators: int = 20, seed: int = 3) -> World:
    """One judgement in twenty slips, one item in three is hard; two features tell half of the truth."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(items, 3))
    truth = X @ rng.normal(size=(3, 2)) * 0.5 + rng.normal(size=(items, 2)) * 0.7
    bias, sd = rng.normal(size=(annotators, 2)) * 0.3, np.exp(rng.normal(size=annotators) * 0.2)
    rows = []
    for m in range(items):
        for k in rng.choice(annotators, rng.integers(4, 9), replace=False):
            error = rng.normal(size=2) * sd[k] * (1.6 if m % 3 == 0 else 0.5)
            error = rng.normal(size=2) * 4 if rng.random() < 0.05 else error
            y = 4 + truth[m] + bias[k] + error
            rows.append((f"clip{m}", f"rater{k}", *np.where(rng.random(2) < 0.04, np.nan, y)))
    return _world(truth + 4.2, rows, X[:, :2], 25)


def mixed_table(dimensions: int = 2, items: int = 200, annotators: int = 15, seed: int = 5) -> World:
    """Everybody mixes the dimensions, so that known truths have to turn them; a third one is known of few items."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(items, dimensions))
    F = rng.uniform(0.2, 1.0, size=(annotators, 2, 2))
    rows = []
    for m in range(items):
        for k in rng.choice(annotators, 7, replace=False):
            y = rng.normal(size=dimensions) * 0.4
            y[:2] += F[k] @ truth[m, :2]
            y[2:] += truth[m, 2:]
            rows.append((f"clip{m}", f"rater{k}", *y))
    world = _world(truth, rows, truth[:, :1] + rng.normal(size=(items, 1)), 40)
    if dimensions == 2:
        return world
    few = pl.when(pl.col("item").is_in([f"clip{m}" for m in range(3)])).then(pl.col("dominance"))
    return world._replace(gold=world.gold.with_columns(dominance=few))
