"""Tables about annotators: tidy, complete, explained."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unisono as un
from item_cases import drawn_from_the_model
from trace_world import trace_world
from unisono.fusers.fusion_results import BY_DIMENSION, OVERALL, dimension_columns, overall_columns

FEELINGS = pl.DataFrame(
    {"item": ["a", "a", "b", "b"], "annotator": ["x", "y", "x", "y"], "feeling": ["joy", "joy", "fear", "joy"]}
)
PAGE = Path(__file__).parents[2] / "docs" / "annotators.md"


def documented(title):
    """The names in the tables below a heading of the page."""
    page = PAGE.read_text(encoding="utf-8")
    section = page[page.index(f"## {title}") :].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("|")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_the_page_explains_every_column_and_no_other():
    by_dimension = {"annotator", "dimension", "from_<other>", *(column.name for column in BY_DIMENSION)}
    of_categories = un.fuse(FEELINGS, categories=["feeling"], category_model="majority").annotators_overall.columns
    assert documented("annotators.csv") == by_dimension
    assert documented("annotators_overall.csv") == {*of_categories, *(column.name for column in OVERALL)}


@pytest.mark.parametrize("model", ["auto", "mean"])
def test_a_row_for_every_annotator_and_dimension(model):
    ratings, _, _ = drawn_from_the_model(40, seed=2)
    hidden = ratings.with_value(
        np.where((np.arange(ratings.J) % 3 == 0)[:, None] & [True, False], np.nan, ratings.value)
    )
    result = un.fuse(hidden, model=model)
    table = result.annotators
    assert table.height == ratings.K * ratings.D
    assert table.select("annotator", "dimension").rows() == [
        (k, d) for k in ratings.annotators for d in ratings.dimensions
    ]
    np.testing.assert_array_equal(table["gain"].to_numpy().reshape(ratings.K, -1), result.described.gain)
    own = ~np.isnan(hidden.value)
    for k, d in ((0, 0), (3, 1)):
        count = own[hidden.annotator_of == k, d].sum()
        row = table.filter(
            (pl.col("annotator") == ratings.annotators[k]) & (pl.col("dimension") == ratings.dimensions[d])
        )
        assert row["ratings"].item() == count
    styles = ["usual", "compressed", "stretched", "flipped", "swapped", "unrelated", "constant"]
    np.testing.assert_allclose(table.select(styles).sum_horizontal().to_numpy(), 1.0, atol=1e-9)


def test_one_row_per_annotator_overall():
    ratings, _, _ = drawn_from_the_model(40, seed=2)
    result = un.fuse(ratings)
    overall = result.annotators_overall
    assert overall["annotator"].to_list() == list(ratings.annotators)
    np.testing.assert_allclose(overall["reliability"], result.described.reliability.mean(axis=1))
    np.testing.assert_array_equal(overall["spammer"], result.described.diagnosis.spammer)


def test_traces_have_delays_and_no_styles():
    described = un.fuse(trace_world(seed=0).ratings, model="aligned-mean").described
    assert "delay" in dimension_columns(described)
    ratings, _, _ = drawn_from_the_model(20, seed=1)
    items = un.fuse(ratings, model="mean").described
    assert "delay" not in dimension_columns(items)
    assert "spammer" in overall_columns(items)


def test_numbers_in_files_have_sensible_digits(tmp_path):
    ratings, _, _ = drawn_from_the_model(40, seed=2)
    result = un.fuse(ratings)
    result.save(tmp_path / "out")
    for name, exact in (("annotators", result.annotators), ("annotators_overall", result.annotators_overall)):
        text = pl.read_csv(tmp_path / "out" / f"{name}.csv", infer_schema=False)
        for column in text.columns:
            if exact[column].dtype == pl.Float64:
                digits = [len(re.sub(r"^-?0\.0*|e.*|[-.]", "", cell)) for cell in text[column] if cell is not None]
                assert max(digits, default=0) <= 6, column
                np.testing.assert_allclose(
                    text[column].cast(pl.Float64), exact[column].fill_nan(None), rtol=1e-5, atol=1e-9
                )
    truth = pl.read_csv(tmp_path / "out" / "truth.csv", infer_schema=False)
    for name in ratings.dimensions:
        sd = float(np.median(result.truth[f"{name}_sd"]))
        for column in (name, f"{name}_sd", f"{name}_low", f"{name}_high"):
            written = truth[column].cast(pl.Float64).to_numpy()
            assert np.abs(written - result.truth[column].to_numpy()).max() <= sd / 1000
            assert max(len(cell.split(".")[-1]) for cell in truth[column]) <= 5
