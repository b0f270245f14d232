"""Checks that every model of traces has to pass, whatever it is made of."""

import warnings

import numpy as np
import pytest

import unisono as un
from trace_world import pearson, trace_world
from unisono.fusers import SERIES_MODELS, make_fuser
from unisono.fusers.saved_fit import load_fit, write_fit
from unisono.tables.ratings import Ratings

pytestmark = pytest.mark.slow

MODELS = tuple(SERIES_MODELS)
PAPER = ("paper-joint", "paper-independent")
SMALL = {"restarts": 1, "width": 3}  # of the published models


def settings(name):
    return SMALL if name in PAPER else {}


def fitted(name, ratings, **tables):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.ConvergenceWarning)
        return make_fuser(name, series=True, **settings(name)).fit(ratings, **tables)


@pytest.fixture(scope="module")
def world():
    return trace_world()


@pytest.fixture(scope="module")
def fusers(world):
    return {name: fitted(name, world.ratings) for name in MODELS}


@pytest.mark.parametrize("name", MODELS)
def test_every_frame_has_a_truth_with_a_band(name, fusers, world):
    fused = fusers[name].fuse()
    assert fused.items == world.ratings.items
    np.testing.assert_array_equal(fused.length, world.ratings.length)
    assert np.isfinite(fused.mean).all()
    assert (fused.sd > 0).all()
    columns = fused.columns()
    assert list(columns)[:3] == ["recording", "time", "valence"]
    assert columns["recording"][:90] == ["clip 0"] * 90
    np.testing.assert_allclose(columns["time"][90:93], [0.4, 0.6, 0.8])


@pytest.mark.parametrize("name", [name for name in MODELS if name not in PAPER])
def test_the_truth_is_found(name, fusers, world):
    # At the best common shift: where the truth lies in time is a convention.
    mean, truth = fusers[name].fuse().mean[:90], world.truth.value[:90]
    best = max(pearson(mean[s:], truth[: 90 - s]).mean() for s in range(8))
    assert best > 0.95


@pytest.mark.parametrize("name", MODELS)
def test_row_order_does_not_matter(name, fusers, world):
    r = world.ratings
    order = np.random.default_rng(1).permutation(r.J)
    frames = np.concatenate([np.arange(r.offset[j], r.offset[j + 1]) for j in order])
    same = {"items": r.items, "annotators": r.annotators, "dimensions": r.dimensions}
    shuffled = Ratings.from_judgements(
        r.value[frames], r.item_of[order], r.annotator_of[order], length=r.length, clock=r.clock, **same
    )
    np.testing.assert_array_equal(fitted(name, shuffled).fuse().mean, fusers[name].fuse().mean)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in PAPER])
def test_units_follow_the_ratings(name, fusers, world):
    scale, shift = np.array([1e6, 1e-9]), np.array([5e6, -3e-9])
    first = fusers[name].fuse()
    second = fitted(name, world.ratings.with_value(world.ratings.value * scale + shift)).fuse()
    np.testing.assert_allclose((second.mean - shift) / scale, first.mean, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(second.sd / scale, first.sd, rtol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_known_annotators_on_other_recordings(name, fusers, world):
    whole, some = fusers[name].fuse(), world.ratings.select_items(["clip 1"])
    np.testing.assert_allclose(fusers[name].fuse(world.ratings).mean, whole.mean, rtol=1e-8, atol=1e-10)
    again = fusers[name].fuse(some)
    assert again.items == ("clip 1",)
    np.testing.assert_allclose(again.mean, whole.mean[90:160], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(again.sd, whole.sd[90:160], rtol=1e-7)


@pytest.mark.parametrize("name", MODELS)
def test_annotators_are_described(name, world):
    value = world.ratings.value.copy()
    rows = np.repeat(world.ratings.annotator_of, world.ratings.length[world.ratings.item_of])
    value[rows == 2] = np.random.default_rng(0).standard_normal(((rows == 2).sum(), 2))
    table = fitted(name, world.ratings.with_value(value)).describe()
    assert table.ratings.tolist() == [3, 3, 3, 3]
    if name != "paper-joint":
        assert np.nanmean(table.agreement, axis=1).argmin() == 2
        assert np.nanmean(table.reliability, axis=1).argmin() == 2
    known = table.reliability[~np.isnan(table.reliability)]
    assert ((known >= 0) & (known <= 1)).all()


@pytest.mark.parametrize("name", MODELS)
def test_held_out_ratings_are_foreseen(name, fusers, world):
    """Frame by frame, and better than by the annotators' means; values that are given are not looked at."""
    r = world.ratings
    hidden = r.with_value(np.full_like(r.value, np.nan))
    predicted = fusers[name].predict_ratings(hidden)
    np.testing.assert_array_equal(predicted.mean, fusers[name].predict_ratings(r).mean)
    error = (predicted.mean - r.value)[~np.isnan(r.value)]
    assert np.sqrt(np.mean(error**2)) < 0.6
    assert (predicted.variance > 0).all()


@pytest.mark.parametrize("name", [name for name in MODELS if name not in PAPER])
def test_scores_prefer_sense_to_noise(name, fusers, world):
    other = world.ratings.select_items(["clip 2"])
    nonsense = np.random.default_rng(2).standard_normal(other.value.shape) * 2
    assert fusers[name].score(other) > fusers[name].score(other.with_value(nonsense))


@pytest.mark.parametrize("name", [name for name in MODELS if name not in PAPER])
def test_features_predict(name, world):
    train = world.ratings.select_items(["clip 0", "clip 1"])
    fuser = fitted(name, train, features=world.features)
    fused = fuser.predict(world.features.select_items(["clip 2"]))
    assert pearson(fused.mean, world.truth.value[160:]).min() > 0.6
    assert fused.clock is not None
    assert fuser.fuse(train, world.features).mean.shape == (160, 2)


@pytest.mark.parametrize("name", MODELS)
def test_awkward_traces(name):
    """An empty trace, a silent annotator, a constant one, a recording nobody rated, one of two frames."""
    r = trace_world(lengths=(60, 50, 2, 40), gaps=False).ratings
    rows = np.repeat(r.annotator_of, r.length[r.item_of])
    item = np.repeat(r.item_of, r.length[r.item_of])
    value = r.value.copy()
    value[rows == 1] = np.nan
    value[rows == 2] = 3.0
    value[(rows == 0) & (item == 1)] = np.nan
    value[item == 3] = np.nan
    fuser = fitted(name, r.with_value(value))
    fused, table = fuser.fuse(), fuser.describe()
    assert np.isfinite(fused.mean).all()
    assert (fused.sd > 0).all()
    assert np.isnan(table.agreement[1]).all()


@pytest.mark.parametrize("name", MODELS)
def test_saved_fits_come_back_bit_for_bit(name, world, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.ConvergenceWarning)
        result = un.fuse(world.ratings, model=name, features=world.features, **settings(name))
    write_fit(result.fit, tmp_path / "fit")
    loaded = load_fit(tmp_path / "fit")
    assert loaded.settings == result.fit.settings
    for key, array in result.fit.arrays.items():
        np.testing.assert_array_equal(loaded.arrays[key], array)
    fuser = un.load(tmp_path)
    fused = fuser.fuse(world.ratings, world.features)
    np.testing.assert_allclose(fused.mean, result.fused.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fused.sd, result.fused.sd, rtol=1e-9)


def test_items_and_traces_do_not_mix():
    with pytest.raises(ValueError, match="for traces over time"):
        make_fuser("aligned-mean")
    with pytest.raises(ValueError, match="no setting window"):
        make_fuser("joint", window=3.0)
    with pytest.raises(ValueError, match="no setting anchor"):
        make_fuser("joint", series=True, anchor="none")
    with pytest.raises(ValueError, match="no settings to change: leave out noise"):
        make_fuser("paper-joint", series=True, noise="full")
