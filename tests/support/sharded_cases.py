"""Crowds for fusions of shards: with spammers, flipped scales, copies, missing answers and items rated once."""

from pathlib import Path

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
