"""The benchmark against peers: what is skipped and why, what an interrupted run keeps, what the table says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import peer_items, peer_traces, peers
from benchmarks.accuracy_page import fill_page
from benchmarks.peer_page import blocks, in_words
from benchmarks.peer_rows import Row, read, write
from benchmarks.peer_table import growth, page


def grown(method: str, exponent: float, at: float, pearson: float, sizes: tuple[int, ...]) -> list[Row]:
    return [Row("items", method, n, 1.0, at * (n / sizes[0]) ** exponent, 1.0, pearson) for n in sizes]


def test_a_method_is_skipped_where_its_own_growth_says_so():
    before = grown("slow", 2.0, 0.1, 0.9, (1_000, 10_000))

    skipped = peers.measured_or_skipped("items", "slow", 100_000, before)
    further = peers.measured_or_skipped("items", "slow", 1_000_000, [*before, skipped])

    assert skipped.note == "skipped: would take ~1,000 s"
    assert further.note == "skipped: would take ~28 hours"


def test_a_method_is_skipped_where_memory_would_not_do_and_little_memory_says_nothing():
    def rows(*megabytes: float) -> list[Row]:
        return [Row("items", "wide", 1_000 * 10**i, 0.1, 0.1, mb, 0.9) for i, mb in enumerate(megabytes)]

    assert peers._why(rows(80.0, 8_000.0), 100_000) == "skipped: would need ~781 GB"
    assert peers._why(rows(0.1, 10.0), 100_000) == ""


def test_a_run_that_was_interrupted_keeps_what_it_has(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(peers, "OUT", tmp_path)
    monkeypatch.setattr(peers, "LOADS", {"items": peers.LOADS["items"]._replace(sizes=(1_000,))})
    asked = []

    def measured(load: str, method: str, size: int, before: list[Row]) -> Row:
        asked.append(method)
        return Row(load, method, size, 1.0, 1.0, 1.0, 0.9)

    monkeypatch.setattr(peers, "measured_or_skipped", measured)
    write(
        tmp_path / "peers.csv", [Row("items", "PM", 1_000, 2.0, 2.0, 2.0, 0.5), Row("items", "CATD", 1_000, note="no")]
    )

    peers.run(resume=True)

    assert "LFC_N" in asked
    assert not {"PM", "CATD"} & set(asked)
    kept = {row.method: row for row in read(tmp_path / "peers.csv")}
    assert kept["PM"].cpu == 2.0
    assert kept["CATD"].note == "no"
    assert not kept["CATD"].measured


def test_the_table_names_who_is_faster_and_what_they_miss():
    sizes = (10_000, 100_000)
    rows = [
        *grown("unisono auto", 1.0, 1.0, 0.95, sizes),
        *grown("quick", 1.0, 0.1, 0.9, sizes),
        *grown("good", 2.0, 5.0, 0.96, sizes),
    ]

    text = page(rows)

    assert growth(rows)["items", "good"] == pytest.approx(2.0)
    assert "| 10,000 | good | quick 10 x, 1.95 | good 5 |" in text
    assert "| 100,000 | good | quick 10 x, 1.95 | good 50 |" in text


def test_the_words_are_those_of_the_table():
    sizes = (10_000, 100_000)
    ours, quick = grown("unisono auto", 1.0, 1.0, 0.95, sizes), grown("quick", 0.5, 0.1, 0.9, sizes)
    good = [*grown("good", 2.0, 5.0, 0.96, sizes[:1]), Row("items", "good", sizes[1], note="skipped")]

    words = in_words([*ours, *quick, *good])

    assert "or closer: good at 10,000 ratings, in 5 times the time of ours." in words
    assert "Faster: quick at every size, 10 to 32 times, and misses 1.95 times as much." in words
    assert "or closer: nobody, at any size." in in_words([*ours, *quick])


def test_the_page_says_what_its_table_says(tmp_path):
    docs = Path(__file__).parents[2] / "docs"
    page = tmp_path / "benchmarks.md"
    page.write_text((docs / "benchmarks.md").read_text(encoding="utf-8"), encoding="utf-8")

    fill_page(blocks(read(docs / "images" / "peers.csv")), page, "benchmarks.peers")

    hint = "python -m benchmarks.peers --page docs/benchmarks.md --from docs/images/peers.csv"
    assert page.read_text(encoding="utf-8") == (docs / "benchmarks.md").read_text(encoding="utf-8"), hint
    for table in (tmp_path / "tables").glob("benchmarks-*.csv"):
        assert table.read_text(encoding="utf-8") == (docs / "tables" / table.name).read_text(encoding="utf-8"), hint


@pytest.mark.parametrize("method", ["pandas mean", "polars mean", "PM", "CATD", "LFC_N"])
def test_published_methods_find_the_truth_of_items(method):
    truth, ratings = peer_items.load(5_000)

    found = peer_items.METHODS[method](ratings)

    assert found.shape == truth.shape
    assert min(np.corrcoef(found[:, d], truth[:, d])[0, 1] for d in range(2)) > 0.85


@pytest.mark.parametrize("method", ["mean", "z-score mean", "EWE", "statsmodels Kalman smoother"])
def test_published_methods_find_the_truth_of_traces(method):
    truth, traces = peer_traces.load(1_000)

    found = peer_traces.METHODS[method](traces)

    assert found.shape == truth.shape
    assert min(np.corrcoef(found[:, d], truth[:, d])[0, 1] for d in range(2)) > 0.6
