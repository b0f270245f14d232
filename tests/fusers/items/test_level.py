"""Who rates most, or answers without looking, does not set the level of the truth, nor how sure it is."""

import numpy as np
import polars as pl
import pytest

import unisono as un


def table(item, annotator, y):
    return pl.DataFrame({"item": [f"i{m:03d}" for m in item], "annotator": [f"a{k:02d}" for k in annotator], "x": y})


def busy_and_severe(rng):
    """Twelve raters of 60 items; the more one rates, the lower one rates, and on average nobody is severe."""
    t, busy = rng.normal(size=60), np.linspace(-1.5, 1.5, 12)
    p = np.exp(busy) / np.exp(busy).sum()
    k = np.concatenate([rng.choice(12, 4, replace=False, p=p) for _ in range(60)])
    m = np.repeat(np.arange(60), 4)
    return table(m, k, t[m] - 0.5 * busy[k] + 0.6 * rng.normal(size=240)), t


def always_seven(rng):
    """Six raters from 1 to 7, of whom one says 7 whatever he sees."""
    t = 4 + 1.2 * rng.normal(size=60)
    m, k = np.divmod(np.arange(360), 6)
    y = np.clip(np.round(t[m] + 0.7 * rng.normal(size=360)), 1, 7)
    return table(m, k, np.where(k == 0, 7.0, y)), t


@pytest.mark.parametrize("world", [busy_and_severe, always_seven])
def test_the_level_is_not_that_of_the_busy_nor_of_spammers(world):
    off, plain = [], []
    for seed in range(5):
        frame, t = world(np.random.default_rng(seed))
        off.append((un.fuse(frame).fused.mean[:, 0] - t).mean())
        plain.append(frame.group_by("item").agg(pl.col("x").mean())["x"].mean() - t.mean())
    assert np.abs(plain).min() > 0.2  # there is something to go wrong
    assert np.abs(off).mean() < 0.4 * np.abs(plain).mean()
