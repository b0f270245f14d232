"""Ids keep the type and the name they came with, so that results join onto the table they came from."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unisono as un

CLIPS = {
    "whole numbers": [10, 2, 7, 2000],
    "text": ["b", "a", "ü", "Ωmega"],
    "leading zeros": ["007", "07", "7", "70"],
    "dates": [datetime.date(2024, 1, day) for day in (3, 1, 2, 9)],
    "moments": [datetime.datetime(2024, 1, day, 12, 30) for day in (3, 1, 2, 9)],
    "floats": [1.5, 2.0, 0.25, 10.0],
    "truth values": [True, False, True, False],
}


def columns(clips, clip="clip", rater="WorkerId"):
    """Every clip rated by three people; rows of a clip do not lie together."""
    rows = [(c, k) for k in range(3) for c in clips]
    grade = [(3 * i + i // 5) % 5 + 1.0 for i in range(len(rows))]
    return {clip: [c for c, _ in rows], rater: [101 + k for _, k in rows], "joy": grade}


def joined(frame, result, on):
    if isinstance(frame, pd.DataFrame):
        return frame.merge(result.truth[[on, "joy_sd"]], on=on)
    return frame.join(result.truth.select(on, "joy_sd"), on=on)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize("kind", [kind for kind in CLIPS if kind != "truth values"])
def test_results_join_onto_the_frame_they_came_from(library, kind):
    frame = library.DataFrame(columns(CLIPS[kind]))
    result = un.fuse(frame, model="mean")
    assert result.truth["clip"].dtype == frame["clip"].dtype
    assert sorted(map(str, result.truth["clip"])) == sorted(map(str, frame["clip"][:4]))
    assert len(joined(frame, result, "clip")) == len(frame)
    assert result.annotators["WorkerId"].dtype == frame["WorkerId"].dtype
    assert list(result.annotators_overall["WorkerId"]) == [101, 102, 103]
    assert list(result.annotators["WorkerId"]) == [101, 102, 103]


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_every_row_gets_the_numbers_of_its_own_item(library):
    frame = library.DataFrame(columns([10, 2, 7, 2000], clip="item"))
    table = joined(frame, un.fuse(frame, model="mean"), "item")
    truth = un.fuse(frame, model="mean").truth
    mean = dict(zip(truth["item"], truth["joy"], strict=True))
    for clip in (10, 2, 7, 2000):
        own = [joy for c, joy in zip(frame["item"], frame["joy"], strict=True) if c == clip]
        assert mean[clip] == pytest.approx(np.mean(own))
    assert len(table) == 12


def test_small_whole_numbers_and_categories_keep_their_types():
    frame = pl.DataFrame(columns([1, 2, 3, 4])).with_columns(pl.col("clip").cast(pl.UInt8))
    assert un.fuse(frame, model="mean").truth.schema["clip"] == pl.UInt8
    named = pl.DataFrame(columns(["a", "b", "c", "d"])).with_columns(pl.col("clip").cast(pl.Categorical))
    result = un.fuse(named, model="mean")
    assert named.join(result.truth.select("clip", "joy_sd"), on="clip").height == 12
    for dtype in ("category", "Int16", "string"):
        pandas = pd.DataFrame(columns([1, 2, 3, 4])).astype({"clip": dtype})
        assert un.fuse(pandas, model="mean").truth["clip"].dtype == pandas["clip"].dtype
        assert len(pandas.merge(un.fuse(pandas, model="mean").truth[["clip", "joy_sd"]], on="clip")) == 12


def test_a_frame_with_an_index_of_its_own():
    frame = pd.DataFrame(columns([10, 2, 7, 2000]), index=[f"row {i}" for i in range(12)])
    assert list(un.fuse(frame, model="mean").truth["clip"]) == [2, 7, 10, 2000]


def test_parts_of_the_ratings_keep_their_ids():
    ratings = un.read_ratings(pl.DataFrame(columns([10, 2, 7, 2000]))).select_items(["7", "2000", "10"])
    assert un.fuse(ratings, model="mean").truth["clip"].to_list() == [7, 2000, 10]


def test_text_files_give_whole_numbers_where_all_are(tmp_path):
    for clips, expected in (([10, 2, 7, 2000], [2, 7, 10, 2000]), (["007", "8", "9", "10"], ["007", "8", "9", "10"])):
        pl.DataFrame(columns(clips)).write_csv(tmp_path / "r.csv")
        result = un.fuse(tmp_path / "r.csv", model="mean")
        assert result.truth["clip"].to_list() == expected
        result.save(tmp_path / "out")
        assert pl.read_csv(tmp_path / "out" / "truth.csv", infer_schema=False).columns[0] == "item"
    pl.DataFrame(columns([10, 2, 7, 2000])).with_columns(pl.col("clip").cast(pl.Int32)).write_parquet(tmp_path / "p")
    assert un.fuse(tmp_path / "p", model="mean").truth.schema["clip"] == pl.Int32


def test_traces_keep_the_ids_of_their_recordings():
    rows = [
        (f, k, t / 2, np.sin(t / 3) + f / 7 + k / 9 + (t * k % 3) / 20)
        for f in (4, 11)
        for k in range(3)
        for t in range(30)
    ]
    frame = pl.DataFrame(rows, schema=["film", "rater", "time", "joy"], orient="row")
    truth = un.fuse(frame, model="mean", item="film").truth
    assert truth.columns[:2] == ["film", "time"]
    assert truth["film"].unique().sort().to_list() == [4, 11]


def test_a_name_that_is_also_a_dimension_is_not_used_twice():
    frame = pl.DataFrame(columns([10, 2, 7, 2000]))
    result = un.fuse(frame, model="mean", dims={"clip": "joy"}, item="clip")
    assert result.truth.columns == ["item", "clip", "clip_sd", "clip_low", "clip_high"]


def test_ratings_that_no_table_holds_have_plain_names():
    result = un.fuse(un.simulate_items(items=8, annotators=4, features=0).ratings, model="mean")
    assert result.truth.columns[0] == "item"
    assert result.annotators.columns[:2] == ["annotator", "dimension"]


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_names_made_of_several_columns_join_by_their_parts(library):
    table = columns([10, 2, 7, 2000], clip="prompt") | {"system": ["gpt", "llm"] * 6}
    frame = library.DataFrame(table)
    truth = un.fuse(frame, model="mean", item=["system", "prompt"], annotator="WorkerId", dims="joy").truth
    assert list(truth.columns[:3]) == ["item", "system", "prompt"]
    assert truth["prompt"].dtype == frame["prompt"].dtype
    on = ["system", "prompt"]
    whole = (
        frame.merge(truth[[*on, "joy_sd"]], on=on) if library is pd else frame.join(truth.select(*on, "joy_sd"), on=on)
    )
    assert len(whole) == 12


def test_wide_tables_and_indexes_keep_ids_too():
    wide = pd.DataFrame({"clip": [3, 1, 2], "rater1": [1, 5, 2], "rater2": [2, 4, 2], "rater3": [1, 5, 3]})
    result = un.fuse(wide, model="mean")
    assert list(result.truth["clip"]) == [1, 2, 3]
    assert list(result.annotators_overall["annotator"]) == ["rater1", "rater2", "rater3"]
    indexed = pd.DataFrame(columns([10, 2, 7, 2000])).set_index("clip")
    assert list(un.fuse(indexed, model="mean").truth["clip"]) == [2, 7, 10, 2000]
