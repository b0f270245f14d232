"""The library's front door."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unisono as un
from trace_world import trace_world
from unisono.fusers import make_fuser

ROWS = {
    "clip": ["a", "a", "b", "b", "c", "c"],
    "rater": ["x", "y", "x", "y", "x", "y"],
    "valence": [1.0, 2.0, 5.0, 4.0, 3.0, 3.5],
}


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_the_kind_of_frame_that_came_in_comes_out(library):
    frame = library.DataFrame(ROWS)
    ratings = un.read_ratings(frame)
    for result in (un.fuse(frame), un.fuse(ratings), un.fuse(ratings.select_items(["a", "b", "c"]))):
        assert isinstance(result.truth, library.DataFrame)
        assert isinstance(result.annotators, library.DataFrame)
        assert list(result.truth["clip"]) == ["a", "b", "c"]


def test_files_give_polars(tmp_path):
    pl.DataFrame(ROWS).write_csv(tmp_path / "r.csv")
    assert isinstance(un.fuse(tmp_path / "r.csv").truth, pl.DataFrame)


def test_an_unknown_model_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'joint'"):
        un.fuse(pl.DataFrame(ROWS), model="jiont")


def test_every_public_name_can_be_imported():
    for name in un.__all__:
        assert getattr(un, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = un.nothing


def test_estimators_keep_the_grammar():
    """Keyword-only settings that are only stored; `fit` returns the fuser itself."""
    ratings = un.read_ratings(pl.DataFrame(ROWS))
    for model in un.MODELS.values():
        fuser = model.fuser(**model.settings)
        assert fuser.alike().get_params() == fuser.get_params()
        assert fuser.fit(ratings) is fuser


def test_a_fuser_keeps_its_own_seed_unless_another_is_given():
    ratings = trace_world(seed=0).ratings
    found = {}
    for own, given in ((3, None), (3, 3), (3, 4), (4, None)):
        fuser = make_fuser("paper-joint", series=True, width=5, restarts=1, seed=own)
        result = un.fuse(ratings, model=fuser, seed=given)
        found[own, given] = result.fused.mean
        assert result.seed == (own if given is None else given)
    np.testing.assert_array_equal(found[3, None], found[3, 3])
    np.testing.assert_array_equal(found[3, 4], found[4, None])
    assert not np.array_equal(found[3, None], found[4, None])
