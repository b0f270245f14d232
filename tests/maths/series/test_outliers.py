"""Single frames far outside everything else that an annotator traced: drawn in, and nothing else touched."""

import numpy as np
import pytest

from trace_crowds import crowd
from unisono.maths.series.trace_parts import without_outliers


def with_one(data, row, value):
    y = data.y.copy()
    y[row] = value
    return data._replace(y=y)


def test_honest_traces_stay_as_they_are():
    for seed in range(5):
        data, _, _ = crowd(seed, turned=(1,))
        assert without_outliers(data) is data.y
    steps = data._replace(y=np.where(data.y > np.nanmean(data.y), 1.0, 0.0))
    assert without_outliers(steps) is steps.y


@pytest.mark.parametrize("row", [0, 1, 60, 61, 130])
@pytest.mark.parametrize("size", [-1e6, 40.0, 1e9])
def test_a_frame_far_out_becomes_the_running_median_and_others_stay(row, size):
    data, _, _ = crowd(gaps=False)
    found = without_outliers(with_one(data, row, size))
    others = np.arange(len(found)) != row
    np.testing.assert_array_equal(found[others], data.y[others])
    assert abs(found[row] - data.y[row]) < 1.5


def test_nothing_jumps_as_a_frame_moves_out():
    data, _, _ = crowd(gaps=False)
    values = np.linspace(data.y[20, 0], 60.0, 4001)
    found = np.array([without_outliers(with_one(data, 20, v))[20, 0] for v in values])
    assert np.abs(np.diff(found)).max() < 3.0 * (values[1] - values[0])
    np.testing.assert_array_equal(found[:50], values[:50])


def test_what_is_far_out_moves_with_the_scale():
    data, _, _ = crowd(gaps=False)
    wild = with_one(data, 20, 50.0)
    found = without_outliers(wild._replace(y=1000.0 * wild.y - 5000.0))
    np.testing.assert_allclose(found, 1000.0 * without_outliers(wild) - 5000.0, rtol=1e-12)


def test_who_never_moves_may_begin_to():
    data, _, _ = crowd(gaps=False)
    still = np.repeat(data.annotator_of, data.length[data.item_of]) == 3
    y = np.where(still[:, None], 1.0, data.y)
    y[np.flatnonzero(still)[:2]] = 2.0
    assert without_outliers(data._replace(y=y)) is not None
    np.testing.assert_array_equal(without_outliers(data._replace(y=y)), y)
