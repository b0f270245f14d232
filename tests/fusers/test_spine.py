"""What every fit does is done in one place: tables read, settings checked, the past forgotten, bad gold refused."""

import pytest

import unisono as un
from fuser_checks import small_world
from trace_world import trace_world
from unisono.fusers import Fuser, make_fuser
from unisono.fusers.model_registry import ALL_MODELS

CONCRETE = ("fit", "fuse", "predict", "score", "forget", "unfitted")
CASES = [(name, False) for name, model in ALL_MODELS.items() if model.fuser is not None]
CASES += [(name, True) for name, model in ALL_MODELS.items() if model.series is not None]


def kinds(kind=Fuser):
    own = [one for one in kind.__subclasses__() if one.__module__.startswith("unisono.")]  # tests have some too
    return [kind, *(below for one in own for below in kinds(one))]


def test_no_model_has_a_fit_of_its_own():
    assert len(kinds()) > 15
    assert not [(kind.__name__, name) for kind in kinds()[1:] for name in CONCRETE if name in vars(kind)]


@pytest.mark.parametrize(("name", "series"), CASES)
def test_a_failed_fit_leaves_nothing_of_the_last_one(name, series, monkeypatch):
    ratings = trace_world(seed=0).ratings if series else small_world().ratings
    fuser = make_fuser(name, series=series)
    vars(fuser).update(trace_="a fit", _ratings="its ratings")

    def fails(given):
        fuser.scaling_ = "half a fit"
        raise un.DataError("no")

    monkeypatch.setattr(type(fuser), "_fit", lambda self, given: fails(given))
    with pytest.raises(un.DataError, match="no"):
        fuser.fit(ratings)
    assert set(vars(fuser)) == set(fuser.get_params()) | ({"executor"} & set(vars(fuser)))
    with pytest.raises(un.NotFittedError):
        fuser.fuse()


def test_settings_that_make_no_sense_leave_nothing_either():
    fuser = un.items.Joint().fit(small_world().ratings)
    with pytest.raises(un.SettingsError):
        fuser.set_params(panel=-1).fit(small_world().ratings)
    with pytest.raises(un.NotFittedError):
        fuser.fuse()


def test_refused_gold_leaves_nothing():
    world = small_world(items=60, missing=0.0)
    upside_down = un.ItemTable.from_rows(-world.truth.value, items=world.truth.items, columns=world.truth.columns)
    fuser = un.items.Joint()
    with pytest.raises(un.DataError, match="run against the ratings"):
        fuser.fit(world.ratings, gold=upside_down)
    with pytest.raises(un.NotFittedError):
        fuser.fuse()
    assert fuser.set_params(gold_anyway=True).fit(world.ratings, gold=upside_down).fuse().mean.shape == (60, 2)
