"""report.html of comparisons, and their plots."""

import json
import re

import numpy as np
import polars as pl
import pytest

import unisono as un
from command_line import unisono_here as run
from comparison_cases import world
from unisono.errors import DataError
from unisono.evaluate.pair_agreement import most_compared, win_shares
from unisono.report.report_highlights import in_short
from unisono.report.report_methods import methods_paragraph


@pytest.fixture(scope="module")
def case():
    d = world(M=20, K=8, N=2400).data
    columns = {"annotator": [f"k{k}" for k in d.who], "left": [f"i{i:02d}" for i in d.left]}
    answers = {"right": [f"i{j:02d}" for j in d.right], "calm": [("left", "tie", "right")[a] for a in d.answer]}
    table = pl.DataFrame(columns | answers)
    return table, un.fuse(comparisons=table)


def test_the_page_says_what_was_found(case, tmp_path):
    _, result = case
    result.save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    data = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert data["kind"] == "comparisons"
    assert not re.search(r"""(?:src|href)=["']https?:""", page)
    for one in data["truth"]["rows"]:
        assert one["item"] in page
    best = result.truth.sort("calm")["item"][-1]
    assert data["truth"]["rows"][0]["item"] == best
    spammers = result.annotators.filter(pl.col("comparison_spammer") > 0.9)["annotator"]
    assert all(name in page for name in spammers)
    assert "Bradley-Terry" in data["methods"]
    assert "2,400 comparisons of 20 items" in data["methods"]
    assert methods_paragraph(data) == data["methods"]
    answers = in_short(data)
    assert f"highest {best}" in answers[0].lines[0].text
    assert [one.sentence for one in answers] == [
        "Estimates of 20 items, each with an interval (truth.csv).",
        "All 20 items are connected by comparisons.",
        "8 annotators, of whom some look unreliable.",
    ]
    (tmp_path / "out" / "report.html").unlink()
    assert run("report", tmp_path / "out").returncode == 0
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8") == page


def test_wins_are_those_of_counting(case):
    table, result = case
    found = result.comparisons
    items = most_compared(found, result.fused.mean[:, 0], 6)
    assert (np.diff(result.fused.mean[items, 0]) <= 0).all()
    shares = win_shares(found, 0, items)
    for a, one in enumerate(items):
        for b, other in enumerate(items):
            names = found.items[one], found.items[other]
            rows = table.filter(
                ((pl.col("left") == names[0]) & (pl.col("right") == names[1]))
                | ((pl.col("left") == names[1]) & (pl.col("right") == names[0]))
            )
            if a == b or not rows.height:
                assert np.isnan(shares[a, b])
                continue
            side = np.where(rows["left"] == names[0], "left", "right")
            answer = rows["calm"].to_numpy()
            np.testing.assert_allclose(shares[a, b], ((answer == side) + 0.5 * (answer == "tie")).mean())


def test_components_and_contradictions_are_alerts(tmp_path):
    rows = {"left": ["a", "b", "x"], "right": ["b", "c", "y"], "q": ["left", "right", "tie"]}
    un.fuse(comparisons=pl.DataFrame(rows)).report(tmp_path / "page.html")
    assert "2 components" in (tmp_path / "page.html").read_text(encoding="utf-8")
    un.fuse(comparisons=pl.DataFrame(rows)[:2]).report(tmp_path / "whole.html")
    assert "Nothing stands out" in (tmp_path / "whole.html").read_text(encoding="utf-8")


def test_with_ratings_and_without_a_report(case, tmp_path):
    table, _ = case
    items = sorted({*table["left"], *table["right"]})
    rng = np.random.default_rng(0)
    rated = {"item": items * 3, "annotator": ["x"] * 20 + ["y"] * 20 + ["z"] * 20, "calm": rng.integers(1, 8, 60)}
    result = un.fuse(pl.DataFrame(rated), comparisons=table)
    result.report(tmp_path / "page.html")
    assert "on the scale of the ratings" in (tmp_path / "page.html").read_text(encoding="utf-8")
    table.write_csv(tmp_path / "pairs.csv")
    for more, there in (((), True), (("--no-report",), False)):
        out = tmp_path / f"out{there}"
        assert run("fuse", "--comparisons", tmp_path / "pairs.csv", "--out", out, *more).returncode == 0
        assert (out / "report.html").exists() == there


def test_plots(case):
    pytest.importorskip("matplotlib")
    _, result = case
    axes = un.plot.wins(result, most=8)
    assert len(axes.get_yticklabels()) == 8
    assert len(un.plot.truth(result).get_yticklabels()) == 20
    with pytest.raises(DataError, match="Wins are of comparisons"):
        un.plot.wins(un.fuse(un.load_dataset("squality")))
