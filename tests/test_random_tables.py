"""Whatever small table comes along, fusing it gives finite numbers or a DataError, never anything else."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unisono as un

VALUES = st.one_of(
    st.none(),
    st.sampled_from([0.0, 1.0, -1.0, 5.0, 100.0]),
    st.floats(-1e6, 1e6, allow_nan=False),
    st.floats(-1e-150, 1e-150, allow_nan=False),
    st.floats(-1e99, 1e99, allow_nan=False),
    st.sampled_from([float("inf"), float("-inf"), float("nan"), 1e308]),
)
LABELS = st.sampled_from(["a", "b", "c", "ü", "10", "2", " "])


@st.composite
def tables(draw):
    D = draw(st.integers(1, 3))
    row = st.tuples(LABELS, LABELS, *[VALUES for _ in range(D)])
    rows = draw(st.lists(row, max_size=14, unique_by=lambda r: r[:2]))
    columns = ["item", "annotator", *(f"d{d}" for d in range(D))]
    kinds = {name: pl.String if name in ("item", "annotator") else pl.Float64 for name in columns}
    return pl.DataFrame(rows, schema=kinds, orient="row")


@pytest.mark.slow
@given(tables(), st.sampled_from(sorted(un.MODELS)))
@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
def test_finite_results_or_a_data_error(table, model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.DataWarning)
        warnings.simplefilter("ignore", un.ConvergenceWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            result = un.fuse(table, model=model)
        except un.DataError:
            return
    assert np.isfinite(result.fused.mean).all()
    assert np.isfinite(result.fused.cov).all()
    assert len(result.annotators) == result.ratings.K * result.ratings.D
    assert len(result.annotators_overall) == result.ratings.K
    scale = result.ratings.truth_scale  # wide enough for annotators with an origin of their own
    for found in (result.fused.mean, *result.fused.interval()):
        assert not scale.leaves(found).any()
    result.summary()
