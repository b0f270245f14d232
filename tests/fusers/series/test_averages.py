"""Averages of traces: one class, made from the averages of items."""

import pickle

import numpy as np
import pytest

from trace_world import trace_world
from unisono.fusers import baseline_traces, make_fuser
from unisono.fusers.baseline_items import Mean, Median

KINDS = {
    "Mean": "series-mean",
    "Median": "series-median",
    "ZScoreMean": "series-zscore-mean",
    "EvaluatorWeighted": "series-ewe",
    "WeightedMean": "series-weighted-mean",
    "AlignedMean": "aligned-mean",
}


@pytest.mark.parametrize("name", KINDS)
def test_classes_have_the_names_and_kinds_that_saved_fits_know(name):
    fuser = pickle.loads(pickle.dumps(getattr(baseline_traces, name)()))
    assert type(fuser).__name__ == name
    assert fuser.kind == KINDS[name]


@pytest.mark.parametrize(("name", "average"), [("mean", Mean), ("median", Median)])
def test_every_frame_is_an_item(name, average):
    ratings = trace_world(gaps=False).ratings
    frames = average().fit(baseline_traces.as_frames(ratings)).fuse()
    np.testing.assert_array_equal(make_fuser(name, series=True).fit(ratings).fuse().mean, frames.mean)
