"""No estimate and no end of an interval leaves the scale: in any model, with gold, in predictions, for traces."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unisono as un
from unisono.fusers.model_registry import models_for
from unisono.tables.item_table import Clock, ItemTable
from unisono.tables.ratings import Ratings

pytestmark = pytest.mark.filterwarnings("ignore::unisono.ConvergenceWarning", "ignore::unisono.DataWarning")


def stays_within(fused, low, high):
    """Whether estimates and intervals keep to [low, high]."""
    found = np.stack([fused.mean, *fused.interval()])
    return bool((found >= low).all() and (found <= high).all())


def extreme(seed=0, M=12, K=3, D=2):
    """Few grades from 1 to 5, most of them at the ends, by people who hardly agree: intervals would be wide."""
    rng = np.random.default_rng(seed)
    item_of, annotator_of = np.repeat(np.arange(M), K), np.tile(np.arange(K), M)
    truth = rng.choice([1, 5], size=(M, D))
    value = np.where(rng.random((M * K, D)) < 0.7, truth[item_of], rng.integers(1, 6, (M * K, D)))
    labels = {"items": [f"i{m}" for m in range(M)], "annotators": [f"a{k}" for k in range(K)]}
    return Ratings.from_judgements(
        value, item_of, annotator_of, **labels, dimensions=[f"d{d}" for d in range(D)]
    ), truth.astype(float)


def extreme_traces(seed=0, T=80, K=3):
    """Traces that run along the ends of -1 to 1."""
    rng = np.random.default_rng(seed)
    shape = np.sign(np.sin(np.arange(T) / 9))
    value = np.concatenate([np.clip(2 * shape + rng.normal(0, 0.8, T), -1, 1) for _ in range(K)])[:, None]
    return Ratings.from_judgements(
        value,
        np.zeros(K, dtype=int),
        np.arange(K),
        items=["film"],
        annotators=[f"a{k}" for k in range(K)],
        dimensions=["v"],
        length=np.array([T]),
        clock=Clock(5.0, np.zeros(1)),
    )


@pytest.mark.parametrize("model", models_for(series=False))
def test_estimates_and_intervals_keep_to_the_scale(model):
    ratings, _ = extreme()
    assert list(ratings.scale) == [(1, 5), (1, 5)]
    assert stays_within(un.fuse(ratings, model=model).fused, 1, 5)
    free = un.fuse(ratings, model=model, scale="none").fused
    assert not stays_within(free, 1, 5)
    wide = un.fuse(ratings, model=model, scale=(-50, 50)).fused
    np.testing.assert_allclose(wide.mean, free.mean, rtol=0, atol=1e-8)


@pytest.mark.parametrize("model", models_for(series=True))
def test_traces_keep_to_the_scale(model):
    ratings = extreme_traces()
    assert list(ratings.scale) == [(-1, 1)]
    assert stays_within(un.fuse(ratings, model=model).fused, -1, 1)
    assert not stays_within(un.fuse(ratings, model=model, scale="none").fused, -1, 1)


@pytest.mark.parametrize("model", ["mean", "zscore-mean", "paper-independent"])
def test_the_sd_is_not_cut(model):
    ratings, _ = extreme()
    cut, free = (un.fuse(ratings, model=model, scale=scale).fused for scale in ((1, 5), "none"))
    np.testing.assert_array_equal(cut.sd, free.sd)


@pytest.mark.parametrize("model", ["auto", "independent", "mean", "ewe", "paper-joint"])
def test_predictions_of_a_saved_fit_keep_to_the_scale(model, tmp_path):
    ratings, truth = extreme(M=30)
    features = ItemTable.from_rows(truth + 0.1, items=ratings.items, columns=["f", "g"])
    far = ItemTable.from_rows(np.array([[40.0, -40.0]]), items=["new"], columns=["f", "g"])
    # Where answers at the ends say "here or beyond", a prediction is the answer to expect, which lies inside.
    numbers = {"censored": False} if model in ("auto", "independent") else {}
    result = un.fuse(ratings, model=model, features=features, scale={"d0": (1, 5)}, **numbers)
    again = un.load(result.save(tmp_path / "out"))
    assert again.scale_ == result.fuser.scale_
    assert again.scale_.given == (True, False)
    for fuser in (result.fuser, again):
        assert stays_within(fuser.predict(far), 1, 5)
        assert not np.all((fuser.predict(far).uncut >= 1) & (fuser.predict(far).uncut <= 5))
    assert stays_within(again.fuse(ratings.select_items(["i1", "i2"]), features), 1, 5)


def test_predictions_of_a_saved_fit_of_traces_keep_to_the_scale(tmp_path):
    ratings = extreme_traces()
    for model in ("auto", "mean"):
        again = un.load(un.fuse(ratings, model=model).save(tmp_path / model))
        assert stays_within(again.fuse(ratings), -1, 1)


@pytest.mark.parametrize("model", ["auto", "independent"])
def test_gold_beyond_what_was_inferred_widens_it(model):
    ratings, truth = extreme(M=30)
    known = np.where(np.arange(30)[:, None] < 12, truth * 1.3, np.nan)
    gold = ItemTable.from_rows(known[:12], items=ratings.items[:12], columns=ratings.dimensions, source="gold.csv")
    fused = un.fuse(ratings, model=model, gold=gold).fused
    assert stays_within(fused, 1, 6.5)
    np.testing.assert_allclose(fused.mean[:12], known[:12], rtol=0, atol=1e-9)


def test_gold_outside_a_given_scale_is_refused():
    ratings, _ = extreme()
    gold = ItemTable.from_rows(np.array([[2.0, 6.0]]), items=["i3"], columns=["d0", "d1"], source="gold.csv")
    with pytest.raises(un.DataError, match=r"gold.csv: d1 of item 'i3' is 6, outside the scale 1 to 5"):
        un.fuse(ratings, gold=gold, scale=(1, 5))


def test_gold_frames_widen_the_scale_of_traces():
    ratings = extreme_traces()
    gold = ItemTable.from_rows(
        np.where(np.arange(80)[:, None] < 40, 1.2 * np.sin(np.arange(80) / 9)[:, None], np.nan),
        items=["film"],
        columns=["v"],
        length=np.array([80]),
        clock=ratings.clock,
        source="gold.csv",
    )
    fused = un.fuse(ratings, gold=gold).fused
    assert stays_within(fused, -1.2, 1.2)
    with pytest.raises(un.DataError, match=r"gold.csv: v is .*, outside the scale -1 to 1"):
        un.fuse(ratings, gold=gold, scale=(-1, 1))


def test_a_later_batch_is_on_the_scale_of_the_one_before():
    ratings, _ = extreme(M=30)
    first = un.fuse(ratings.with_scale((0, 6)))
    middle = ratings.with_value(np.clip(ratings.value, 2, 4)).select_items([f"i{m}" for m in range(9)])
    assert un.fuse(middle, start=first.fuser).fuser.scale_.ends == ((0, 6), (0, 6))
    assert un.fuse(middle, start=first.fuser, scale=(1, 5)).fuser.scale_.ends == ((1, 5), (1, 5))


GRADES = st.one_of(st.none(), st.integers(1, 5))


@st.composite
def tables(draw):
    labels = st.sampled_from("abcdef")
    rows = draw(st.lists(st.tuples(labels, labels, GRADES, GRADES), max_size=20, unique_by=lambda row: row[:2]))
    return pl.DataFrame(
        rows, schema={"item": pl.String, "annotator": pl.String, "p": pl.Float64, "q": pl.Float64}, orient="row"
    )


@pytest.mark.slow
@given(tables(), st.sampled_from(models_for(series=False)))
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
def test_whatever_the_table_results_keep_to_its_scale(table, model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = un.fuse(table, model=model)
        except un.DataError:
            return
    assert all(ends is None or ends[0] >= 0 for ends in result.ratings.scale)
    for name, ends in zip(result.ratings.dimensions, result.ratings.scale, strict=True):
        if ends is not None:
            columns = [result.truth[column] for column in (name, f"{name}_low", f"{name}_high")]
            assert all(column.min() >= ends[0] and column.max() <= ends[1] for column in columns)
