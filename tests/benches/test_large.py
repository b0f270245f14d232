"""Benchmarks of large loads: truths are really compared, and the cost model finds what costs were made of."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from benchmarks import cost_model, large
from benchmarks.peer_rows import Row


def truths(folder, shift: float = 0.0):
    (folder / "truth").mkdir(parents=True)
    for part in range(2):
        table = pl.DataFrame({"item": [f"{part}a", f"{part}b"], "joy": [1.0, 2.0 + part * shift]})
        table.write_parquet(folder / "truth" / f"part-{part:05d}.parquet")
    return folder


def test_truths_of_two_engines_are_compared_part_by_part(tmp_path):
    one, same, other = truths(tmp_path / "one"), truths(tmp_path / "same"), truths(tmp_path / "other", 1e-6)

    assert large.difference(one, same) == 0.0
    assert large.difference(one, other) == pytest.approx(1e-6, rel=1e-6)


def test_nothing_to_compare_is_no_agreement(tmp_path):
    with pytest.raises(RuntimeError, match="no truths"):
        large.difference(tmp_path, tmp_path)


def test_large_ratings_are_as_many_as_asked_for_and_whole_numbers(tmp_path):
    large.make_ratings(tmp_path / "ratings.parquet", 5_000)

    found = pl.read_parquet(tmp_path / "ratings.parquet")

    assert found.shape == (5_000, 5)
    assert found["item"].n_unique() == 1_000
    assert found["annotator"].n_unique() == 10
    assert not found.select("item", "annotator").is_duplicated().any()
    assert set(found["calm"]) <= set(range(1, 8))


def test_coefficients_of_costs_are_found_and_never_negative():
    rng = np.random.default_rng(0)
    columns = rng.uniform(1, 10, (40, 3))

    found, error = cost_model.fitted(columns, columns @ np.array([2.0, 0.0, 5.0]))

    np.testing.assert_allclose(found, [2.0, 0.0, 5.0], atol=1e-8)
    assert error < 1e-8


def test_the_whole_default_is_a_fixed_cost_and_one_per_rating():
    rows = [Row("items", "unisono auto", n, 1.0, 0.05 + 7e-6 * n, 2e-4 * n, 0.9) for n in (1_000, 10_000, 1_000_000)]

    found = cost_model.whole_model(rows, "items")

    assert found["fixed"] == pytest.approx(0.05)
    assert found["each"] == pytest.approx(7e-6)


def test_ten_times_the_ratings_cost_ten_times_as_much():
    one, ten = (cost_model.extrapolated(2e-6, 1e9, J=J) for J in (1e8, 1e9))

    assert ten["core_hours"] == pytest.approx(10 * one["core_hours"])
    dollars = [found["AWS c7i.16xlarge"]["dollars"] for found in (one, ten)]
    assert 5 * dollars[0] < dollars[1] <= 10 * dollars[0]  # what the last levels of the tree cost stays the same


def test_what_reaches_the_driver_does_not_grow_with_the_shards():
    few, many = (cost_model.simulated(shards, 16) for shards in (40, 700))
    for found in (few, many):
        assert found["of the model"] == pytest.approx([1.0] * len(found["sums"]), abs=0.03)
        assert found["judgements"] == found["shards"] * 400
    assert many["to the driver"] == few["to the driver"]
    assert many["sums"] == [88, 11, 2, 1]


def test_what_travels_grows_with_the_annotators_and_not_with_the_ratings():
    one, ten, wide = (
        cost_model.travel_seconds(shards, 8, 32, cost_model.sent_up(K, 3), cost_model.sent_down(K, 3))
        for shards, K in ((1_000, 20_000), (10_000, 20_000), (1_000, 200_000))
    )
    assert ten < 6 * one
    assert wide == pytest.approx(10 * one)
