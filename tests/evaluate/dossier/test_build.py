"""The dossier holds the numbers of the fusion, in their place."""

import json

import numpy as np
import pytest

import unisono as un
from report_cases import awkward_ratings, dossier_of, dossier_of_items, dossier_of_traces, summaries
from unisono.report import report_truths
from unisono.report.report_annotators import people
from unisono.tables.ratings import Ratings


def test_rows_of_items_are_those_of_the_truth():
    data, result = dossier_of_items(), un.fuse(summaries())
    mean = un.fuse(summaries(), model="mean")
    low, high = result.fused.interval()
    assert [row["item"] for row in data["truth"]["rows"]] == list(result.ratings.items)
    for m, row in enumerate(data["truth"]["rows"]):
        expected = np.stack([result.fused.mean[m], result.fused.sd[m], low[m], high[m], mean.fused.mean[m]], axis=1)
        np.testing.assert_allclose(np.array(row["values"], dtype=float), expected, rtol=1e-12)


def test_extremes_are_those_of_the_truth():
    data, fused = dossier_of_items(), un.fuse(summaries()).fused
    for d, found in enumerate(data["truth"]["extremes"]):
        assert found["highest"] == {
            "item": fused.items[fused.mean[:, d].argmax()],
            "estimate": pytest.approx(fused.mean[:, d].max()),
            "equal": int(np.isclose(fused.mean[:, d], fused.mean[:, d].max()).sum()),
        }
        assert found["lowest"]["estimate"] == pytest.approx(fused.mean[:, d].min())


def test_a_zero_is_a_zero_and_who_shares_it_is_counted():
    rng = np.random.default_rng(10)
    truth = np.r_[np.zeros(12), rng.uniform(5, 95, size=28)]
    # Everybody answers 0 to a third of the items; the change of units and back leaves 1e-15 of it.
    value = np.where(truth[:, None] == 0, 0.0, np.clip(truth[:, None] + rng.normal(scale=5, size=(40, 6)), 0, 100))
    ratings = Ratings.from_judgements(
        value.reshape(-1, 1),
        np.repeat(np.arange(40), 6),
        np.tile(np.arange(6), 40),
        items=[f"i{m}" for m in range(40)],
        annotators=[f"a{k}" for k in range(6)],
        dimensions=("anger",),
    )
    found = dossier_of(ratings, model="mean")["truth"]
    assert [row["values"][0][4] for row in found["rows"][:12]] == [0.0] * 12
    assert found["extremes"][0]["lowest"] == {"item": "i0", "estimate": 0.0, "equal": 12}


def test_recordings_say_where_estimate_and_mean_are_furthest_apart():
    data = dossier_of_traces()
    ratings = un.load_dataset("green_intensity")
    fused, mean = un.fuse(ratings).fused, un.fuse(ratings, model="mean").fused
    T = int(fused.length[0])
    away = np.abs(fused.mean[:T, 0] - mean.mean[:T, 0])
    row = dict(zip(data["truth"]["columns"], data["truth"]["rows"][0]["values"][0], strict=True))
    assert row["largest_difference"] == pytest.approx(away.max())
    assert row["at_second"] == pytest.approx(fused.clock.start[0] + away.argmax() / fused.clock.rate)
    assert row["r_with_mean"] == pytest.approx(np.corrcoef(fused.mean[:T, 0], mean.mean[:T, 0])[0, 1])


def test_a_long_table_is_shown_in_part_and_says_so(monkeypatch):
    monkeypatch.setattr(report_truths, "MOST_CELLS", 600)
    data = dossier_of(summaries())
    assert len(data["truth"]["rows"]) <= 40 < data["truth"]["of"]
    assert "differ most" in data["truth"]["chosen_by"]
    furthest = {one["item"] for one in data["truth"]["furthest"][:3]}
    assert furthest <= {row["item"] for row in data["truth"]["rows"]}


def test_change_without_somebody_is_that_of_the_fitted_model():
    ratings = summaries()
    result = un.fuse(ratings)
    found = people(result.fuser, ratings, result.fused, result.described)
    row = found["rows"][0]
    k = ratings.annotators.index(row["annotator"])
    rest = result.fuser.fuse(ratings.select_judgements(ratings.annotator_of != k))
    expected = np.sqrt(np.nanmean((rest.mean - result.fused.mean) ** 2, axis=0))
    np.testing.assert_allclose(row["change_without"], expected)
    assert max(row["change_without"]) > 0


def test_with_features_nothing_is_said_of_what_changes():
    drawn = un.simulate_items(items=30, annotators=4, dimensions=2, features=2, seed=3)
    result = un.fuse(drawn.ratings, features=drawn.features)
    found = people(result.fuser, result.ratings, result.fused, result.described)
    assert found["without"] is None


def test_the_most_reliable_come_first():
    rows = dossier_of_items()["annotators"]["rows"]
    order = [row["mean_reliability"] for row in rows]
    assert order == sorted(order, reverse=True)


def test_held_out_answers_are_foreseen_better_than_by_chance():
    rows = {row["model"]: row for row in dossier_of_items()["held_out"]["rows"]}
    assert set(rows) == {"auto", "mean"}
    assert rows["auto"]["rmse"] < 1  # standard deviations of the ratings


def test_traces_say_why_nothing_was_held_out():
    assert "unisono compare" in dossier_of_traces()["held_out"]["why_not"]


@pytest.mark.parametrize("model", ["auto", "mean", "ewe", "zscore-mean", "independent"])
def test_awkward_ratings_become_plain_json(model):
    data = dossier_of(awkward_ratings(), model=model)
    json.dumps(data, allow_nan=False)
    assert data["coverage"]["annotators_per_item"][0] == [1, 1]
