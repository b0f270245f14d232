"""Comparisons through the front door: fused, predicted, saved, checked, and on the command line."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unisono as un
from comparison_cases import world
from unisono.errors import DataError, NotFittedError, SettingsError
from unisono.fusers import Pairwise


def table_of(w, *, names=("left", "tie", "right")):
    d = w.data
    return pl.DataFrame(
        {
            "annotator": [f"k{k}" for k in d.who],
            "left": [f"i{u // d.D}" for u in d.left],
            "right": [f"i{u // d.D}" for u in d.right],
            "quality": [names[a] for a in d.answer],
        }
    )


@pytest.fixture(scope="module")
def case():
    w = world(M=30, K=12, N=1500)
    table = table_of(w)
    return w, table, un.fuse(comparisons=table)


def test_the_truth_is_found(case):
    w, _, result = case
    truth = dict(zip(result.truth["item"], result.truth["quality"], strict=True))
    assert np.corrcoef([truth[f"i{m}"] for m in range(30)], w.truth[:, 0])[0, 1] > 0.95
    spammers = [f"k{k}" for k in np.flatnonzero(w.kind == 1)]
    found = result.annotators.filter(pl.col("comparison_spammer") > 0.5)["annotator"].to_list()
    assert set(found) == set(spammers)
    assert "spammer" in result.summary()


def test_one_row_per_row_in_their_order(case):
    _, table, result = case
    whole = result.predict_comparisons(table)
    assert whole.columns == ["left", "tie", "right"]
    assert whole.height == table.height
    np.testing.assert_allclose(whole.to_numpy().sum(axis=1), 1, rtol=1e-9)
    some = table[[7, 3, 3]].select("right", "annotator", "left")  # neither answers nor the order of columns matter
    np.testing.assert_allclose(result.predict_comparisons(some).to_numpy(), whole[[7, 3, 3]].to_numpy(), rtol=1e-12)
    assert isinstance(result.predict_comparisons(pd.DataFrame(some.to_dict(as_series=False))), pd.DataFrame)


def test_predictions_are_calibrated(case):
    _, table, result = case
    chance = result.predict_comparisons(table).to_numpy()
    for i, side in enumerate(("left", "tie", "right")):
        assert abs(chance[:, i].mean() - (table["quality"] == side).mean()) < 0.03


def test_newcomers_and_new_items_are_predicted(case):
    _, _, result = case
    new = pl.DataFrame({"annotator": ["nobody"] * 3, "left": ["i1", "i1", "new"], "right": ["i2", "new", "newer"]})
    chance = result.predict_comparisons(new).to_numpy()
    assert np.isfinite(chance).all()
    np.testing.assert_allclose(chance[2, 0], chance[2, 2], atol=0.1)


def test_probabilities_of_preferences(case):
    _, _, result = case
    order = result.truth.sort("quality")["item"]
    best, worst = order[-1], order[0]
    found = result.probability(best, worst)
    assert 0.9 < found.low < found.probability < found.high < 1
    np.testing.assert_allclose(result.probability(worst, best).probability, 1 - found.probability, rtol=1e-9)
    with pytest.raises(DataError, match="There is no item 'i99'"):
        result.probability("i99", best)


def test_saved_and_loaded(case, tmp_path):
    _, table, result = case
    result.save(tmp_path / "out")
    loaded = un.load(tmp_path / "out")
    assert loaded.probability("i1", "i2") == result.probability("i1", "i2")
    who, left, right = (table[name].to_list() for name in ("annotator", "left", "right"))
    np.testing.assert_array_equal(
        loaded.answer_chances(who, left, right), result.fuser.answer_chances(who, left, right)
    )
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["read"]["layout"] == "sides"
    assert un.read_item_table(tmp_path / "out" / "truth.csv").items


def test_order_of_rows_and_names_change_nothing(case):
    _, table, result = case
    shuffled = un.fuse(comparisons=table.sample(fraction=1, shuffle=True, seed=1))
    np.testing.assert_array_equal(shuffled.truth["quality"], result.truth["quality"])
    renamed = un.fuse(comparisons=table.with_columns("k" + pl.col("annotator").str.reverse()))
    np.testing.assert_allclose(renamed.truth["quality"], result.truth["quality"], atol=1e-6)


def test_ids_that_are_numbers_come_back():
    columns = {"annotator": [1, 1, 2], "left": [10, 11, 12], "right": [11, 12, 10], "q": ["left", "tie", "right"]}
    truth = un.fuse(comparisons=pd.DataFrame(columns)).truth
    assert isinstance(truth, pd.DataFrame)
    assert truth["item"].tolist() == [10, 11, 12]


def test_components_are_told_apart():
    columns = {"left": ["a", "b", "x"], "right": ["b", "c", "y"], "q": ["left", "right", "tie"]}
    found = un.check(comparisons=pl.DataFrame(columns))
    assert found.sizes == [3, 2]
    assert any("components" in alert.message for alert in found.alerts)
    assert "components" not in str(un.check(comparisons=pl.DataFrame(columns)[:2]))
    with pytest.raises(DataError, match="different components"):
        un.fuse(comparisons=pl.DataFrame(columns)).probability("a", "x")


def test_sides_that_were_not_drawn_are_pointed_out():
    rng = np.random.default_rng(0)
    sides = np.array([["a", "b"], ["b", "c"], ["a", "c"]])[rng.integers(0, 3, 60)]
    fixed = {"left": sides[:, 0], "right": sides[:, 1], "q": np.array(["left", "right"])[rng.integers(0, 2, 60)]}
    drawn = np.where(rng.random((60, 1)) < 0.5, sides, sides[:, ::-1])
    assert "not drawn by chance" in str(un.check(comparisons=pl.DataFrame(fixed)))
    random = fixed | {"left": drawn[:, 0], "right": drawn[:, 1]}
    assert "not drawn by chance" not in str(un.check(comparisons=pl.DataFrame(random)))


def test_what_comparisons_cannot_have(case):
    _, table, _ = case
    with pytest.raises(DataError, match="nothing to fuse"):
        un.fuse()
    with pytest.raises(SettingsError, match="for ratings"):
        un.fuse(comparisons=table, model="mean")
    with pytest.raises(SettingsError, match="pairwise"):
        Pairwise().fit(pl.DataFrame({"item": ["a", "a"], "annotator": ["k", "m"], "q": [1, 2]}))
    with pytest.raises(NotFittedError):
        Pairwise().probability("a", "b")


def test_equal_calls_have_equal_results_and_no_warnings(case):
    _, table, result = case
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = un.fuse(comparisons=table)
    np.testing.assert_array_equal(again.truth["quality_sd"], result.truth["quality_sd"])


def test_two_dimensions_have_columns_of_their_own():
    w = world(M=12, K=6, N=600, D=2)
    d = w.data
    long = pl.DataFrame(
        {
            "annotator": [f"k{k}" for k in d.who],
            "left": [f"i{u // 2}" for u in d.left],
            "right": [f"i{u // 2}" for u in d.right],
            "dimension": [("calm", "loud")[u % 2] for u in d.left],
            "answer": [("left", "tie", "right")[a] for a in d.answer],
        }
    )
    result = un.fuse(comparisons=long)
    assert result.predict_comparisons(long[:2]).columns == [
        f"{n}_{s}" for n in ("calm", "loud") for s in ("left", "tie", "right")
    ]
    with pytest.raises(DataError, match="Say which dimension"):
        result.probability("i1", "i2")
    assert 0 < result.probability("i1", "i2", "loud").probability < 1
