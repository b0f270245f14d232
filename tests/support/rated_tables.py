"""Small tables of ratings for tests of agreement: complete, with gaps, sparse, on a scale of few answers."""

from __future__ import annotations

import numpy as np


def crossed(seed, units=20, raters=4, missing=0.0, bias=0.5):
    """Ratings of every unit by every rater, some of them missing: value, unit, rater."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(units, 1)) + bias * rng.normal(size=(1, raters)) + 0.7 * rng.normal(size=(units, raters))
    table[rng.random(table.shape) < missing] = np.nan
    return table.ravel(), np.repeat(np.arange(units), raters), np.tile(np.arange(raters), units)


def discrete(seed, units=20, raters=4, missing=0.0):
    """The same on a scale from 1 to 5."""
    y, unit, rater = crossed(seed, units, raters, missing)
    return np.clip(np.round(3 + y), 1, 5), unit, rater


def sparse(seed, units, raters=60, each=4):
    """Every unit rated by a few raters drawn at random, with variances 1, 0.36 and 0.64."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), each)
    rater = np.concatenate([rng.choice(raters, each, replace=False) for _ in range(units)])
    noise = 0.8 * rng.normal(size=len(unit))
    return rng.normal(size=units)[unit] + 0.6 * rng.normal(size=raters)[rater] + noise, unit, rater


def known(y, unit, rater):
    """Without the missing ones."""
    there = ~np.isnan(y)
    return y[there], unit[there], rater[there]


# Four coders, twelve units: the example of Krippendorff (2011), also used by Gwet (2014).
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, np.nan, np.nan, np.nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, np.nan, 3],
        [np.nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, np.nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, np.nan],
    ]
)
