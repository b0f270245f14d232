"""The checks of fuser_checks.py on every model there is."""

import numpy as np
import pytest

import fuser_checks
import unisono as un
from unisono.fusers import make_fuser
from unisono.fusers.saved_fit import load_fit, write_fit

PAPER = ("paper-joint", "paper-independent")


def maker(name):
    settings = {"inference": "ml", "noise": "diagonal"} if name == "joint" else {}
    return lambda: make_fuser(name, **settings)


@pytest.mark.parametrize("name", un.MODELS)
@pytest.mark.parametrize("check", fuser_checks.ALL, ids=lambda check: check.__name__.removeprefix("check_"))
def test_every_fuser(name, check):
    if check is fuser_checks.check_prediction_from_features and name in PAPER:
        pytest.skip("the paper's model has no mean, so features shifted from zero do not predict")
    if check is fuser_checks.check_annotators_are_described and name == "paper-joint":
        pytest.skip("the published joint model turns the truth any way it likes, so its agreement says little")
    check(maker(name))


@pytest.mark.parametrize("name", un.MODELS)
def test_units(name):
    fuser_checks.check_units_do_not_matter(maker(name), per_dimension=name not in PAPER)


@pytest.mark.parametrize("name", un.MODELS)
def test_saved_fits_come_back_bit_for_bit(name, tmp_path):
    world = fuser_checks.small_world()
    result = un.fuse(world.ratings, model=name, features=world.features)
    write_fit(result.fit, tmp_path / "fit")
    loaded = load_fit(tmp_path / "fit")
    assert (loaded.model, loaded.kind, loaded.settings) == (name, result.fit.kind, result.fit.settings)
    assert (loaded.items, loaded.annotators) == (result.fit.items, result.fit.annotators)
    assert loaded.provenance == result.fit.provenance
    assert loaded.arrays.keys() == result.fit.arrays.keys()
    for key, array in result.fit.arrays.items():
        np.testing.assert_array_equal(loaded.arrays[key], array)
    np.testing.assert_array_equal(loaded.trace.objective, result.fit.trace.objective)
    fuser = un.load(tmp_path)
    fused = fuser.fuse(world.ratings, world.features)
    np.testing.assert_allclose(fused.mean, result.fused.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(fuser.predict(world.features).mean, result.fuser.predict(world.features).mean)


@pytest.mark.parametrize("name", ["auto", "mean"])
def test_the_same_seed_gives_the_same_bytes(name, tmp_path):
    for folder in ("one", "two"):
        world = fuser_checks.small_world(seed=4)
        un.fuse(world.ratings, model=name, seed=4).save(tmp_path / folder)
    for path in sorted((tmp_path / "one").rglob("*.*")):
        other = tmp_path / "two" / path.relative_to(tmp_path / "one")
        assert other.read_bytes() == path.read_bytes(), path.name
