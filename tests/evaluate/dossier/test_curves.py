"""Curves survive packing: to half a step of the grid, gaps included."""

import base64
import gzip
import json

import numpy as np

import unisono as un
from unisono.report import report_truths as module
from unisono.report.report_truths import BESIDE, CURVES, curves
from unisono.tables.item_table import Clock
from unisono.tables.ratings import Ratings


def decoded(data):
    """The curves of every drawn recording: (T, D) by name, and a list of (T, D) for the traces; NaN in gaps."""
    packed = json.loads(gzip.decompress(base64.b64decode(data["packed"])))
    floor, step, coarse = (np.array(data[name]) for name in ("floor", "step", "trace_step"))
    found = []
    for one in packed:
        steps = {name: _read(one[name]) for name in CURVES}
        found.append(
            {name: (of + steps["estimate"] * (name in BESIDE)) * step + floor for name, of in steps.items()}
            | {"traces": [_read(trace) * coarse + floor for trace in one["traces"]]}
        )
    return found


def _read(coded):
    """(T, D) steps; NaN in gaps."""
    table = np.full((len(coded[0]) if coded else 0, len(coded)), np.nan)
    for d, changes in enumerate(coded):
        known = np.array([change is not None for change in changes], dtype=bool)
        table[known, d] = np.cumsum([change for change in changes if change is not None])
    return table


def test_packed_curves_are_the_traces_and_the_truth():
    ratings = un.load_dataset("green_intensity")
    fused, mean = un.fuse(ratings).fused, un.fuse(ratings, model="mean").fused
    data = curves(ratings, fused, mean)
    low, _ = fused.interval()
    first = 0
    for m, one in enumerate(decoded(data)):
        own = slice(first, first + int(ratings.length[m]))
        first = own.stop
        half = np.array(data["step"]) / 2 * 1.0001
        for name, values in (("estimate", fused.mean), ("low", low), ("mean", mean.mean)):
            assert np.all(np.abs(one[name] - values[own]) <= half)
        judgements = range(int(ratings.item_ptr[m]), int(ratings.item_ptr[m + 1]))
        for trace, j in zip(one["traces"], judgements, strict=True):
            assert np.nanmax(np.abs(trace - ratings.value[ratings.offset[j] : ratings.offset[j + 1]])) <= 4 * half


def test_gaps_stay_gaps_and_a_flat_dimension_has_a_grid():
    value = np.array([[1.0, 5.0], [np.nan, 5.0], [3.0, 5.0], [2.0, 5.0], [2.5, np.nan], [3.0, 5.0]])
    ratings = Ratings.from_judgements(
        value,
        np.array([0, 0]),
        np.array([0, 1]),
        items=["r"],
        annotators=["a", "b"],
        dimensions=["x", "flat"],
        length=np.array([3]),
        clock=Clock(2.0, np.array([0.5])),
    )
    mean = un.fuse(ratings, model="mean").fused
    (one,) = decoded(curves(ratings, mean, mean))
    np.testing.assert_array_equal(np.isnan(one["traces"][0]), np.isnan(value[:3]))
    np.testing.assert_array_equal(np.isnan(one["traces"][1]), np.isnan(value[3:]))
    np.testing.assert_allclose(one["traces"][1][0], [2.0, 5.0], atol=2.1e-3)


def test_too_many_recordings_are_drawn_in_part(monkeypatch):
    ratings = un.load_dataset("green_intensity")
    mean = un.fuse(ratings, model="mean").fused
    monkeypatch.setattr(module, "MOST_NUMBERS", 40_000)
    data = curves(ratings, mean, mean)
    assert len(data["recordings"]) == 1 < data["of"] == 2


def test_somebody_in_other_units_does_not_make_the_estimate_coarser():
    ratings = un.load_dataset("green_intensity")
    mean = un.fuse(ratings, model="mean")
    own = np.repeat(ratings.annotator_of == 3, np.diff(ratings.offset))
    wide = ratings.with_value(np.where(own[:, None], 1000 * ratings.value, ratings.value))
    steps = [curves(one, mean.fused, mean.fused)["step"] for one in (ratings, wide)]
    np.testing.assert_array_equal(*steps)
