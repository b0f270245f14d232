"""Benchmarks of growth and of a million ratings: exponents, what is left out, tables that a page takes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from benchmarks import growth, million
from benchmarks.accuracy_page import fill_page
from benchmarks.growth import AXES, Point, exponent, foreseen, grown, in_markdown


def points(power: float, sizes: tuple[int, ...] = (10, 100, 1_000)) -> list[Point]:
    return [Point(n, 0.01 * n**power, 30.0 * n, 2.0 * n) for n in sizes]


def test_exponents_are_those_of_the_sizes_that_tell():
    bent = [Point(1, 5.0, 100.0, 1.0), *points(1.3)]
    assert exponent(bent, "cpu", 10) == pytest.approx(1.3)
    assert exponent(bent, "megabytes", 10) == pytest.approx(1.0)
    assert np.isnan(exponent(bent, "cpu", 1_000))
    little = [point._replace(megabytes=5.0) for point in bent]
    assert np.isnan(exponent(little, "megabytes", 10))


def test_sizes_that_would_take_too_long_are_left_out(monkeypatch, capsys):

    def measured(module: str, one: str, name: str, size: int) -> dict[str, float]:
        return {"cpu": 1e-4 * size**2, "megabytes": 30.0, "table": 1.0}

    monkeypatch.setattr(growth, "in_own_process", measured)
    found = grown("frames", (10, 100, 1_000, 10_000), longest=150.0)
    assert [point.size for point in found] == [10, 100, 1_000]
    assert foreseen(found, 10_000) == pytest.approx(1e4)
    assert "left out: would take about 10,000 s" in capsys.readouterr().err


def test_a_size_is_measured_from_a_table_to_its_truths():
    found = growth.measure("judgements", 300)
    assert found["cpu"] > 0
    assert found["table"] > 0


@pytest.mark.parametrize("name", AXES)
def test_every_axis_has_a_table_of_its_size(name):
    size = AXES[name].quick[-1]
    table = growth.LOADS[name](size)
    told = {
        "judgements": lambda: table.height,
        "dimensions": lambda: table.width - 2,
        "annotators": lambda: table["annotator"].n_unique(),
        "frames": lambda: int(table.length.sum()),
    }[name]()
    assert told == pytest.approx(size, rel=0.02)


def test_tables_and_picture_go_into_a_page(tmp_path):
    page = tmp_path / "benchmarks.md"
    page.write_text("<!-- growth -->\n<!-- end growth -->\n<!-- million -->\n<!-- end million -->\n")
    found = {name: points(1.0, (100_000, 1_000_000)) for name in AXES}
    growth.draw(found, tmp_path / "images" / "growth.png")
    row = ["sliders, any order", 0.05, 0.3, 6.0, 1.0, 20.0, 50.0, 2.9]
    fill_page({"growth": in_markdown(found), "million": million.in_markdown([row], 993_000)}, page, "here")
    assert (tmp_path / "images" / "growth.png").stat().st_size > 1_000
    table = pl.read_csv(tmp_path / "tables" / "benchmarks-growth.csv", infer_schema=False)
    assert table["exponent of time"].to_list() == ["1.00"] * len(AXES)
    assert pl.read_csv(tmp_path / "tables" / "benchmarks-million.csv").height == 1
    assert "993,000 judgements" in page.read_text()


def test_a_million_ratings_are_a_group_by_mean_apart_from_ours():
    table = million.table_of(2_000, "whole numbers")
    assert table.select(*million.DIMENSIONS).to_numpy().min() >= 1
    assert len(million.measured("whole numbers", True, table)) == len(million.HEAD)
