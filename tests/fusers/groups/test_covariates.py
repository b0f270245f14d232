"""Covariates of ratings: planted effects are found, with intervals, and taken out of the truth."""

import warnings

import numpy as np
import polars as pl
import pytest

import unisono as un
from command_line import unisono_here
from judged_tables import judged_frame, judged_ratings

EFFECTS = {"length": 0.8, "position": -0.5}  # on every judge's d0, per unit


def planted(seed=0, **world):
    """Judges like long answers (an item's length) and the second position (drawn for every rating)."""
    rng = np.random.default_rng(seed)
    frame = judged_frame(seed, **({"labels": 60} | world))
    length = dict(zip(sorted(frame["item"].unique()), rng.normal(size=frame["item"].n_unique()), strict=True))
    frame = frame.with_columns(
        length=pl.col("item").replace_strict(length, return_dtype=pl.Float64),
        position=pl.Series(rng.integers(1, 3, size=len(frame))),
    )
    liked = sum(size * pl.col(name) for name, size in EFFECTS.items())
    judged = pl.col("kind") == "judge"
    return frame.with_columns(d0=pl.when(judged).then(pl.col("d0") + liked).otherwise("d0"))


def test_planted_effects_are_found_with_intervals_and_taken_out():
    frame = planted()
    warnings.simplefilter("ignore", un.DataWarning)  # lengths are no answers, and it says so
    result = un.fuse(frame, covariates="length,position")
    assert result.ratings.dimensions == ("d0", "d1")
    table = pl.DataFrame(result.fuser.effects())
    judges = table.filter(pl.col("kind") == "judge")
    inside = []
    for name, size in EFFECTS.items():
        for dimension, effect in (("d0", size), ("d1", 0.0)):
            rows = judges.filter((pl.col("covariate") == name) & (pl.col("dimension") == dimension))
            assert rows.height == 6
            assert abs(rows["effect"].mean() - effect) < 0.25
            inside += ((rows["low"] <= effect) & (effect <= rows["high"])).to_list()
    assert np.mean(inside) > 0.6
    truth = judged_ratings(0, labels=60)[1].truth
    with_them, without = (
        np.corrcoef(r.fused.mean[:, 0], truth[:, 0])[0, 1] for r in (result, un.fuse(frame.drop("length", "position")))
    )
    assert with_them > without + 0.05


def test_effects_are_saved_and_a_loaded_fit_fuses_again(tmp_path):
    frame = planted(items=60)
    frame.write_csv(tmp_path / "ratings.csv")
    done = unisono_here(
        "fuse", "ratings.csv", "--covariate", "position", "--dim", "d0", "--dim", "d1", "--out", "out", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    saved = pl.read_csv(tmp_path / "out" / "covariates.csv")
    assert saved.columns == ["annotator", "kind", "dimension", "covariate", "effect", "sd", "low", "high"]
    fuser = un.load(tmp_path / "out")
    assert fuser.fit_.covariates.names == ("position",)
    assert np.isfinite(fuser.fuse(frame.drop("length", "position")).mean).all()


def test_drift_between_batches_is_a_covariate_of_judges():
    """In the second batch the judges are kinder by one point."""
    frame = judged_frame(items=100, labels=60)
    later = (pl.col("item") >= "i050").cast(pl.Int64)
    kinder = pl.col("d0") + pl.when(pl.col("kind") == "judge").then(later).otherwise(0)
    found = un.judges(frame.with_columns(batch=later, d0=kinder), covariates="batch", reading={"dims": ["d0", "d1"]})
    table = pl.DataFrame(found.tables()["covariates.csv"]).filter(pl.col("kind") == "judge")
    effect = dict(table.group_by("dimension").agg(pl.col("effect").mean()).iter_rows())
    assert abs(effect["d0"] - 1) < 0.35
    assert abs(effect["d1"]) < 0.35


def test_batches_may_have_names():
    """One judge is harsher by a point in summer; the others are as they were."""
    frame = judged_frame(items=120, labels=60)
    season = pl.col("item").str.slice(1).cast(pl.Int64) % 3
    frame = frame.with_columns(
        batch=season.replace_strict({0: "spring", 1: "summer", 2: "winter"}, return_dtype=pl.String)
    )
    harsher = (pl.col("annotator") == "gpt-0") & (pl.col("batch") == "summer")
    found = []
    for size in (0.0, 1.0):
        drifted = frame.with_columns(d0=pl.when(harsher).then(pl.col("d0") - size).otherwise("d0"))
        table = pl.DataFrame(un.judges(drifted, covariates="batch").tables()["covariates.csv"])
        assert set(table["covariate"]) == {"batch=summer", "batch=winter"}
        found.append(table.filter((pl.col("dimension") == "d0") & (pl.col("covariate") == "batch=summer")))
    change = dict(zip(found[0]["annotator"], found[1]["effect"] - found[0]["effect"], strict=True))
    assert -1.2 < change.pop("gpt-0") < -0.6
    assert max(map(abs, change.values())) < 0.1
    clear = found[1].filter(pl.col("high") < 0)
    assert clear["annotator"].to_list() == ["gpt-0"]
    with pytest.raises(un.DataError, match="'note' has 120 different words"):
        un.judges(frame.with_columns(note=pl.col("item") + "!"), covariates="note")


def test_covariates_that_cannot_be_used_are_refused(tmp_path):
    frame = planted(items=40, labels=20)
    for value in (1.0, "first"):
        with pytest.raises(un.DataError, match="the covariate 'same' is the same"):
            un.fuse(frame.with_columns(same=pl.lit(value)), covariates=["same"])
    gap = pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise("position").alias("position")
    with pytest.raises(un.DataError, match="position is not known for the rating of 'i000' by 'gpt-1'"):
        un.fuse(frame.with_columns(gap), covariates=["position"], dims=["d0", "d1"])
    with pytest.raises(un.DataError, match="give the table"):
        un.fuse(un.read_ratings(frame), covariates=["position"])
    with pytest.raises(un.SettingsError, match="belong to the model 'groups'"):
        un.fuse(frame, model="joint", covariates=["position"])
    with pytest.raises(un.DataError, match="no column 'size'"):
        un.fuse(frame, covariates=["size"])
