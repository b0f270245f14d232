"""Questions in one call: frames, paths or objects in, and the same figures as on the command line."""

from __future__ import annotations

import inspect
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unisono as un
from command_line import unisono_here
from unisono.api.input_output import READING
from unisono.fusers import SERIES_MODELS

pytestmark = pytest.mark.filterwarnings("ignore::unisono.DataWarning", "ignore::unisono.ConvergenceWarning")


def crowd(seed=0, M=24, K=5):
    """Grades from 1 to 7 of two dimensions, item by item."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(4, 1.5, size=(M, 2))
    rows = [
        (m, f"r{k}", *np.clip(np.round(truth[m] + rng.normal(0, 0.7, 2)), 1, 7).tolist())
        for m in range(M)
        for k in range(K)
        if (m + k) % 4
    ]
    reference = pl.DataFrame({"clip": range(M), "joy": truth[:, 0], "calm": truth[:, 1]})
    return pl.DataFrame(rows, schema=["clip", "rater", "joy", "calm"], orient="row"), reference


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Ratings, a reference and a saved fit as files."""
    folder = tmp_path_factory.mktemp("door")
    frame, reference = crowd()
    frame.write_csv(folder / "ratings.csv")
    reference.write_csv(folder / "reference.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        un.fuse(folder / "ratings.csv").save(folder / "out")
    return folder


def shapes(place, name):
    """One table as a path, as a Polars frame and as a pandas frame."""
    frame = pl.read_csv(place / name)
    return place / name, str(place / name), frame, pd.DataFrame(frame.to_dict(as_series=False))


def printed(place, *arguments):
    done = unisono_here(*arguments, "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def plain(found):
    """As JSON has it: what is not defined is null."""
    return json.loads(json.dumps(found, default=float).replace("NaN", "null").replace("-Infinity", "null"))


def test_check(place):
    expected = printed(place, "check", "ratings.csv")
    for source in (*shapes(place, "ratings.csv"), un.read_ratings(place / "ratings.csv")):
        found = un.check(source)
        assert plain(found.to_dict())["dimensions"] == expected["dimensions"]
        assert [alert.message for alert in found.alerts] == [alert["message"] for alert in expected["alerts"]]
    wider = un.check(place / "ratings.csv", scale=(0, 10), item="clip")
    assert wider.reading["scale"]["joy"]["words"] == "scale 0 to 10"
    with pytest.raises(un.SettingsError, match="ratings already"):
        un.check(un.read_ratings(place / "ratings.csv"), item="clip")


def test_score(place):
    expected = printed(place, "score", "out/truth.csv", "reference.csv")
    for truth in (*shapes(place, "out/truth.csv"), place / "out", un.read_item_table(place / "out" / "truth.csv")):
        for reference in shapes(place, "reference.csv"):
            assert plain(un.score(truth, reference).to_dict()) == expected
    result = un.fuse(place / "ratings.csv")
    for truth in (result, result.fused, result.truth):
        found = un.score(truth, place / "reference.csv").dimensions[0]
        assert found.ccc == pytest.approx(expected["dimensions"][0]["ccc"], abs=1e-3)
    with pytest.raises(un.DataError, match="needs a reference"):
        un.score(result, None)


def test_plan_and_next(place):
    plan, following = printed(place, "plan", "out"), printed(place, "next", "out", "--count", "5")
    result = un.fuse(place / "ratings.csv")
    for source in (place / "out", str(place / "out"), result, *shapes(place, "ratings.csv"), result.ratings):
        found = un.plan(source)
        assert plain(found.to_dict(0.9))["enough_each"] == plan["enough_each"]
        np.testing.assert_allclose(found.columns()["joy_sd"], plan["plan"]["joy_sd"], rtol=1e-9)
        rows = un.next_ratings(source).to_dict(5)
        assert [row["item"] for row in rows["items"]] == [row["item"] for row in following["items"]]
        assert [row["annotator"] for row in rows["annotators"]] == [row["annotator"] for row in following["annotators"]]
    assert len(un.next_ratings(place / "out").to_dict()["items"]) == 24


def test_compare(place):
    words = ("--models", "mean,median", "--folds", "2", "--reference", "reference.csv")
    expected = printed(place, "compare", "ratings.csv", *words)
    for source in shapes(place, "ratings.csv"):
        found = un.compare(source, models=["mean", "median"], folds=2, reference=place / "reference.csv").to_dict()
        for row, kept in zip(found["rows"], expected["rows"], strict=True):
            assert row["rmse"] == pytest.approx(kept["rmse"])
            assert row["ccc"] == pytest.approx(kept["ccc"])


@pytest.mark.parametrize("model", ["joint", "mean", "independent"])
def test_fusers_take_frames_and_give_tables(place, model):
    frame, reference = crowd()
    features = reference.rename({"joy": "f", "calm": "g"})
    fuser = un.make_fuser(model)
    expected = fuser.fit(un.read_ratings(frame), un.read_item_table(features)).fuse().mean
    for path, own in ((place / "ratings.csv", features), (frame, features)):
        np.testing.assert_array_equal(un.make_fuser(model).fit(path, own).fuse().mean, expected)
    pandas = pd.DataFrame(frame.to_dict(as_series=False))
    other = fuser.fuse(pandas.iloc[:40], features)
    assert isinstance(other.truth, pd.DataFrame)
    assert other.truth["clip"].dtype == pandas["clip"].dtype
    assert len(pandas.iloc[:40].merge(other.truth[["clip", "joy_sd"]], on="clip")) == 40
    assert isinstance(fuser.fuse(frame, features).truth, pl.DataFrame)
    assert np.isfinite(fuser.score(frame, features))
    assert fuser.predict(features).truth.height == 24
    with pytest.raises(un.DataError, match="give them to predict from"):
        fuser.predict(None)


def test_fusers_of_traces_take_frames():
    rows = [
        ("film", f"r{k}", t / 5, float(np.sin(t / 9) + 0.2 * np.cos(t * (k + 2) / 7)))
        for k in range(3)
        for t in range(60)
    ]
    frame = pl.DataFrame(rows, schema=["film", "rater", "time", "joy"], orient="row").rename({"film": "clip"})
    for model in ("joint", "mean"):
        fuser = un.make_fuser(model, series=True).fit(frame)
        truth = fuser.fuse(frame).truth
        assert truth.columns[:3] == ["clip", "time", "joy"]
        np.testing.assert_allclose(truth["joy"], fuser.fuse().mean[:, 0], rtol=0, atol=1e-9)


def test_fuse_takes_the_words_of_reading():
    frame, _ = crowd()
    odd = frame.rename({"clip": "stim_no", "rater": "by"})
    result = un.fuse(odd, model="mean", item="stim_no", annotator="by", dims="joy", scale=(1, 7))
    assert result.truth.columns[:2] == ["stim_no", "joy"]
    assert result.ratings.scale.given == (True,)
    with pytest.raises(un.SettingsError, match="no setting"):
        un.fuse(odd, item="stim_no", annotator="by", nonsense=3)


def test_what_is_no_table_is_said_plainly():
    for ask in (un.check, un.plan, un.next_ratings, un.compare, un.fuse):
        with pytest.raises(un.DataError, match="Cannot read ratings from a int"):
            ask(5)


def test_the_words_of_reading_are_those_of_read_ratings():
    words = set(inspect.signature(un.read_ratings).parameters) - {"source", "scale"}
    assert set(READING) == words
    for model in (*un.MODELS.values(), *SERIES_MODELS.values()):
        for kind in (model.fuser, model.series):
            assert kind is None or not words & set(kind.default_params())
