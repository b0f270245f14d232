"""The accuracy benchmark: draws are what they say, absent data sets are skipped, tables go between their markers."""

import numpy as np
import pytest

from benchmarks import accuracy
from benchmarks.accuracy_page import tables, write_page
from benchmarks.accuracy_sets import Case, cases, draw, halves, item_means, thin
from unisono.tables.datasets import load_dataset


def test_absent_sets_are_named_and_the_bundled_one_and_simulations_remain(tmp_path):
    found, missing = cases(2, tmp_path)
    assert missing == ["snow", "asset", "emobank", "ceap"]
    assert {case.group for case in found} == {"squality", "sim paper", "sim crowd", "sim shared", "sim honest"}
    assert len([case for case in found if case.group == "squality"]) == 6
    (tmp_path / "asset").mkdir()
    (tmp_path / "asset" / "ratings.csv").write_text("item,annotator,a\n")
    assert "asset" not in cases(2, tmp_path)[1]


def test_the_fused_half_and_the_target_share_no_annotator():
    ratings = load_dataset("squality")
    one, other = halves(ratings, Case("squality", "squality", 0, 3), np.random.default_rng(0))
    assert not set(one.annotator_of) & set(other.annotator_of)
    assert one.J + other.J == ratings.J
    fused, target = draw(Case("squality", "squality", 0, 3))
    places = [ratings.items.index(item) for item in fused.items]
    np.testing.assert_array_equal(target, item_means(other)[places])
    assert set(fused.annotator_of) == set(one.annotator_of)


def test_thinning_leaves_the_number_asked_for():
    ratings = load_dataset("squality")
    thinned = thin(ratings, 2, np.random.default_rng(0))
    assert set(np.bincount(thinned.item_of)) == {2}
    assert thin(ratings, 0, np.random.default_rng(0)) is ratings


def figures(offset):
    return {
        "ccc": 0.5 + offset,
        "pearson": 0.6 + offset,
        "coverage": 0.9,
        "log_density": -1.0 + offset,
        "iterations": 7,
        "converged": offset < 0.2,
        "resampled": None,
    }


def test_some_models_can_be_measured_again():
    before, again = some_results(), some_results()
    again["models"] = ["auto"]
    for row in again["rows"]:
        row["models"] = {"auto": figures(0.25)}
    merged = accuracy.measured_again(before, again)
    assert merged["models"] == before["models"]
    assert [row["models"]["auto"]["ccc"] for row in merged["rows"]] == [0.75] * 3
    assert [row["models"]["mean"] for row in merged["rows"]] == [row["models"]["mean"] for row in before["rows"]]


def test_other_draws_are_told_before_anything_is_measured(monkeypatch):
    before = some_results()
    drawn = [Case(*(row[key] for key in Case._fields)) for row in before["rows"]]
    monkeypatch.setattr(accuracy, "cases", lambda seeds, folder: (drawn[:seeds], []))
    accuracy.require_same_draws(before, 3)
    with pytest.raises(SystemExit, match="other draws"):
        accuracy.require_same_draws(before, 2)


def some_results():
    gains = (("asset", 0.1), ("asset", 0.3), ("sim paper", -0.4))
    rows = [
        {
            **Case(group, group, 3, seed)._asdict(),
            "row": f"{group}/3",
            "models": {"auto": figures(gain), "mean": figures(0)},
        }
        for seed, (group, gain) in enumerate(gains)
    ]
    return {"seeds": 2, "models": ["auto", "mean"], "missing": ["snow"], "rows": rows, "minutes": 1.0}


def test_tables_hold_means_and_standard_errors_of_the_difference_to_the_mean():
    found = tables(some_results())
    assert "| auto | .700 ±.100 | .800 ±.100 | .90 |" in found["averages"]  # simulations do not count
    assert "| mean | .500 | .600 | .90 |" in found["averages"]
    assert "| picked | .700 ±.100 | .800 ±.100 | .90 |" in found["averages"]
    assert "snow" in found["setup"]


def test_prose_around_the_tables_stays(tmp_path):
    page = tmp_path / "page.md"
    names = list(tables(some_results()))
    page.write_text("".join(f"Before {n}.\n<!-- {n} -->\nold\n<!-- end {n} -->\nAfter.\n" for n in names))
    write_page(some_results(), page)
    once = page.read_text()
    write_page(some_results(), page)
    assert page.read_text() == once
    assert "old" not in once
    assert all(f"Before {n}." in once for n in names)
    assert ":file: tables/page-averages.csv" in once
    assert "\npage-averages.csv,benchmarks.accuracy," in (tmp_path / "tables" / "sources.csv").read_text()
    assert "\nauto,.700 ±.100,.800 ±.100,.90\n" in (tmp_path / "tables" / "page-averages.csv").read_text()
    page.write_text("nothing")
    with pytest.raises(ValueError, match="needs one"):
        write_page(some_results(), page)


def test_a_case_scores_every_model():
    row = accuracy.one_case(Case("sim honest", "honest", 0, 0), ["auto", "mean"])
    assert row["models"]["auto"]["pearson"] > row["models"]["mean"]["pearson"] > 0.7
    assert 0.8 < row["models"]["auto"]["coverage"] < 1
