"""What must not matter to the default: order and names of anything, annotators without answers, many dimensions."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unisono as un

LEAST = 1e-8  # of the standard deviation of the truths: rounding, which slow fits enlarge


def table_of(seed, M=30, K=9, n=4, D=3, rho=0.4, missing=0.0):
    """Ratings of M items by n of K annotators each, who differ in bias, gain and noise, on a continuous scale."""
    rng = np.random.default_rng(seed)
    truth = rng.multivariate_normal(np.zeros(D), np.full((D, D), rho) + (1 - rho) * np.eye(D), size=M)
    who = np.concatenate([rng.choice(K, n, replace=False) for _ in range(M)])
    item = np.repeat(np.arange(M), n)
    bias, gain = 0.4 * rng.normal(size=(K, D)), 1 + 0.2 * rng.normal(size=(K, D))
    noise = 0.6 * np.exp(0.3 * rng.normal(size=K))
    y = bias[who] + gain[who] * truth[item] + noise[who, None] * rng.normal(size=(len(item), D))
    y[rng.random(y.shape) < missing] = np.nan
    names = {"item": [f"i{m:03d}" for m in item], "annotator": [f"a{k:02d}" for k in who]}
    return pl.DataFrame({**names, **{f"d{d}": y[:, d] for d in range(D)}}).with_columns(pl.col("^d.*$").fill_nan(None))


def dimensions_of(table):
    return [name for name in table.columns if name.startswith("d")]


def shuffled_rows(table):
    return table.sample(fraction=1, shuffle=True, seed=3)


def other_names(table):
    """The last annotator comes first."""
    return table.with_columns("p" + (100 - pl.col("annotator").str.slice(1).cast(int)).cast(str).alias("annotator"))


def silent_annotator(table, name="A"):
    """One more, who left all cells empty."""
    items = table["item"].unique().sort()[:6]
    empty = {column: [None] * 6 for column in dimensions_of(table)}
    return pl.concat([table, pl.DataFrame({"item": items, "annotator": [name] * 6, **empty}, schema=table.schema)])


def turned_dimensions(table):
    return table.select("item", "annotator", *dimensions_of(table)[::-1])


def fused(table):
    result = un.fuse(table)
    order = np.argsort(result.ratings.items)
    columns = [result.ratings.dimensions.index(name) for name in sorted(result.ratings.dimensions)]
    return result.fused.mean[order][:, columns], result.fused.sd[order][:, columns]


CHANGES = (shuffled_rows, other_names, silent_annotator, turned_dimensions)


@pytest.mark.filterwarnings("ignore::unisono.DataWarning")
@given(
    st.integers(0, 1000),
    st.integers(2, 4),
    st.sampled_from([0.2, 0.9]),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from([3, 9]),
)
@settings(max_examples=12, deadline=None, derandomize=True)
def test_order_names_and_silent_annotators_do_not_matter(seed, D, rho, missing, K):
    table = table_of(seed, D=D, rho=rho, missing=missing, K=K, n=3)
    mean, sd = fused(table)
    for change in CHANGES:
        other_mean, other_sd = fused(change(table))
        assert np.abs(other_mean - mean).max() < LEAST * mean.std(), change.__name__
        assert np.abs(other_sd - sd).max() < LEAST * mean.std(), change.__name__


@pytest.mark.slow
@pytest.mark.parametrize(("D", "missing"), [(64, 0.0), (64, 0.1), (130, 0.0)])
def test_many_dimensions_are_fused_in_seconds(D, missing):
    table = table_of(0, M=24, K=4, n=3, D=D, missing=missing)
    mean, sd = fused(table)
    assert np.isfinite(mean).all()
    assert np.isfinite(sd).all()
    alone = fused(table.select("item", "annotator", "d0"))[0][:, 0]
    assert np.corrcoef(mean[:, 0], alone)[0, 1] > 0.8
