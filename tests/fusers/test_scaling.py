"""Units of ratings that are far apart."""

import warnings

import numpy as np
import polars as pl
import pytest

import unisono as un


@pytest.mark.parametrize("model", ["paper-joint", "paper-independent"])
def test_a_dimension_of_dust_breaks_no_published_model(model):
    rows = {"item": ["a", "a", "b"], "annotator": ["a", "b", "a"], "x": [0.0, 100.0, None], "y": [None, None, 6e-151]}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", un.ConvergenceWarning)
        table = un.fuse(pl.DataFrame(rows), model=model).described
    assert np.isfinite(table.noise).all()
