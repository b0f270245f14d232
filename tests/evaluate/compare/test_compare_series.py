"""Models of traces on stretches that were hidden from them, and the choice of a window by it."""

import numpy as np
import pytest

import unisono as un
from trace_world import RATE, trace_world
from unisono.errors import DataError
from unisono.evaluate.held_out_ratings import left_out_agreement
from unisono.evaluate.scoring import score_tables
from unisono.fusers import make_fuser
from unisono.fusers.held_out_stretches import NEVER, SECONDS, stretch_folds, without_rows
from unisono.tables.coverage_and_outliers import raters_per_frame


@pytest.fixture(scope="module")
def world():
    return trace_world(lengths=(220, 180))


def test_stretches_are_long_and_leave_every_frame_a_rating(world):
    r = world.ratings
    fold = stretch_folds(r, 1.0, 4, np.random.default_rng(0))
    assert set(np.unique(fold)) <= {NEVER, 0, 1, 2, 3}
    for f in range(4):
        left = without_rows(r, fold == f)
        frames = raters_per_frame(left)
        assert ((frames > 0) | (raters_per_frame(r) < 2)).all()
    # Inside a recording a stretch is as long as it should be; at its ends it may be cut.
    own = fold[r.offset[0] : r.offset[1]]
    edges = np.flatnonzero(np.diff(own)) + 1
    assert np.all(np.diff(edges) >= SECONDS * RATE)


def test_stretches_are_longer_than_filters_reach(world):
    fold = stretch_folds(world.ratings, 15.0, 4, np.random.default_rng(0))
    edges = np.flatnonzero(np.diff(fold[: world.ratings.offset[1]])) + 1
    assert np.all(np.diff(edges) >= 30 * RATE)


def test_every_frame_alone_cannot_be_hidden(world):
    r = world.ratings
    rows = np.repeat(r.annotator_of, r.length[r.item_of])
    alone = r.with_value(np.where((rows == 0)[:, None], r.value, np.nan))
    with pytest.raises(DataError, match="no stretch can be hidden"):
        stretch_folds(alone, 1.0, 4, np.random.default_rng(0))


@pytest.mark.slow
def test_the_default_foresees_traces_better_than_the_mean(world):
    models = ["auto", "mean", "aligned-mean"]
    one = un.compare(world.ratings, reference=world.truth, models=models, folds=3)
    two = un.compare(world.ratings, reference=world.truth, models=models, folds=3, jobs=2)
    row = {found.model: found for found in one.rows}
    same = {found.model: found for found in two.rows}
    assert [row[m].folds for m in models] == [same[m].folds for m in models]
    assert row["auto"].log_density > row["mean"].log_density
    assert row["auto"].rmse < row["mean"].rmse
    assert 0.8 < row["auto"].coverage < 0.98
    assert row["auto"].agreement > 0.9
    assert one.kind == "series"
    assert "predicts held-out ratings better than 'mean'" in one.answer
    assert row["auto"].ccc > row["mean"].ccc


def test_agreement_with_the_left_out_does_not_depend_on_where_the_truth_lies(world):
    people = np.array([1])
    early = left_out_agreement(make_fuser("auto", series=True, lag=1.2), world.ratings, None, people)
    late = left_out_agreement(make_fuser("auto", series=True, lag=0.6), world.ratings, None, people)
    np.testing.assert_allclose(early, late, atol=0.02)


def test_published_models_are_tried_when_asked_for(world):
    from unisono.evaluate.model_comparison import distinct_models

    assert "paper-joint" not in distinct_models(series=True)
    assert "aligned-mean" in distinct_models(series=True)
    assert "aligned-mean" not in distinct_models(series=False)
    assert distinct_models(["paper-joint"], series=True) == ["paper-joint"]
    with pytest.raises(ValueError, match="for traces over time"):
        distinct_models(["aligned-mean"], series=False)


@pytest.mark.slow
def test_a_width_is_chosen_by_held_out_stretches():
    world = trace_world(lengths=(80, 60), K=3, gaps=False)
    words = {"model": "paper-joint", "restarts": 1, "max_iter": 3}
    result = un.fuse(world.ratings, **words)
    tried = result.summary_data["windows_tried"]
    assert [one["name"] for one in tried] == ["5 frames", "10 frames", "20 frames", "50 frames"]
    errors = [one["rmse"] for one in tried]
    assert result.fuser.width_ == [5, 10, 20, 50][int(np.argmax(np.isclose(errors, min(errors), rtol=1e-9)))]
    assert "Error on held-out stretches" in result.summary()
    again = un.fuse(world.ratings, jobs=2, **words)
    assert [one["rmse"] for one in again.summary_data["windows_tried"]] == errors


def test_scores_at_the_best_lag_and_by_recording(world):
    t = world.truth
    rows = np.arange(220)
    late = np.concatenate([t.value[np.maximum(rows - 3, 0)], t.value[220 + np.maximum(np.arange(180) - 3, 0)]])
    moved = un.ItemTable.from_rows(late, items=t.items, columns=t.columns, length=t.length, clock=t.clock)
    found = score_tables(moved, t)
    for row, plain in zip(found.at_best_lag, found.dimensions, strict=True):
        np.testing.assert_allclose(row.lag, 3 / RATE)
        assert row.pearson > 0.9999 > plain.pearson
    assert [(row.recording, row.name, row.n) for row in found.recordings] == [
        (item, name, n) for item, n in (("clip 0", 220), ("clip 1", 180)) for name in ("valence", "arousal")
    ]
