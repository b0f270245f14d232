"""The joint model of traces: delays, features, gold, draws, settings that make no sense."""

import numpy as np
import pytest

import unisono as un
from trace_world import RATE, by, pearson, trace_world
from unisono.errors import DataError
from unisono.fusers import make_fuser
from unisono.fusers import trace_fuser as series_base
from unisono.fusers.fusion_results import dimension_columns
from unisono.tables.item_table import Clock
from unisono.tables.ratings import Ratings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world():
    return trace_world(lengths=(90, 70))


@pytest.fixture(scope="module")
def default(world):
    return un.fuse(world.ratings)


@pytest.mark.parametrize("model", ["joint", "independent"])
def test_the_truth_of_a_fit_is_computed_once(world, model, monkeypatch):
    fuser = make_fuser(model, series=True).fit(world.ratings)
    again = fuser.fuse(world.ratings)
    monkeypatch.setattr(series_base, "fused_truth", None)
    fused, table = fuser.fuse(), fuser.describe()
    np.testing.assert_allclose(fused.mean, again.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fused.cov, again.cov, rtol=1e-9, atol=1e-9)
    assert np.isfinite(table.reliability).all()


def test_delays_are_reported_in_seconds_with_intervals(world, default):
    table = default.described
    relative = table.delay - table.delay.mean(axis=0)
    true = world.lag / RATE
    np.testing.assert_allclose(relative, true - true.mean(axis=0), atol=0.35)
    assert (table.delay_low <= table.delay).all()
    assert (table.delay <= table.delay_high).all()
    assert (table.delay_high - table.delay_low).mean() < 2.0
    columns = dimension_columns(table)
    np.testing.assert_array_equal(columns["delay"], table.delay.ravel())
    assert {"delay_low", "delay_high"} <= set(columns)
    assert "delay" not in dimension_columns(un.fuse(world.ratings, model="mean").described)


def test_the_convention_is_followed_and_said(world, default):
    assert default.summary_data["delay_convention"] == "earliest"
    assert "By convention the earliest annotator reacts after 0.2 s" in default.summary()
    np.testing.assert_allclose(default.described.delay.min(), 0.2, atol=0.11)
    given = un.fuse(world.ratings, lag=0.8)
    assert given.summary_data["delay_convention"] == "given"
    np.testing.assert_allclose(given.described.delay.mean(), 0.8, atol=0.11)
    np.testing.assert_allclose(given.summary_data["mean_delay"], 0.8, atol=0.11)
    # The same shape, earlier or later.
    shift = round((given.summary_data["mean_delay"] - default.summary_data["mean_delay"]) * RATE)
    assert shift > 0
    moved = default.fused.mean[: 90 - shift]
    assert pearson(given.fused.mean[:90][: len(moved)], default.fused.mean[shift:90]).min() > 0.99


def test_a_long_reaction_time_widens_the_window(world):
    far = un.fuse(world.ratings, lag=4.0)
    np.testing.assert_allclose(far.summary_data["mean_delay"], 4.0, atol=0.11)
    assert far.summary_data["window"] >= 5.0


def test_draws_spread_like_the_posterior_of_the_model(world):
    fuser = make_fuser("auto", series=True).fit(world.ratings)
    paths = fuser.draw(200, np.random.default_rng(0))
    assert paths.shape == (200, 160, 2)
    fused = fuser.fuse()
    np.testing.assert_allclose(paths.mean(axis=0), fused.mean, atol=0.15)
    assert (paths.std(axis=0).mean(axis=0) < fused.sd.mean(axis=0)).all()  # bands know that errors last
    again = fuser.draw(200, np.random.default_rng(0))
    np.testing.assert_array_equal(paths, again)


def test_annotators_of_one_dimension_each(world):
    """Half the annotators rate one dimension, half the other: nothing relates them but the model of the truth."""
    r = trace_world(lengths=(90, 70), K=6, gaps=False)
    rows = np.repeat(r.ratings.annotator_of, r.ratings.length[r.ratings.item_of])
    value = r.ratings.value.copy()
    value[rows % 2 == 0, 0] = np.nan
    value[rows % 2 == 1, 1] = np.nan
    result = un.fuse(r.ratings.with_value(value))
    assert pearson(result.fused.mean, r.truth.value).min() > 0.95
    assert np.isfinite(result.fused.sd).all()
    np.testing.assert_array_equal(np.isnan(result.described.delay), np.isnan(result.described.gain))
    assert np.isnan(result.described.gain).sum() == 6


def test_silent_annotators_change_nothing(world, default):
    r = world.ratings
    more = Ratings.from_judgements(
        np.concatenate([r.value, np.full((90, 2), np.nan)]),
        np.append(r.item_of, 0),
        np.append(r.annotator_of, 5),
        items=r.items,
        annotators=(*r.annotators, "never", "empty"),
        dimensions=r.dimensions,
        length=r.length,
        clock=r.clock,
    )
    result = un.fuse(more)
    np.testing.assert_array_equal(result.fused.mean, default.fused.mean)
    np.testing.assert_array_equal(result.fit.trace.objective, default.fit.trace.objective)
    for name in ("gain", "noise", "agreement", "delay"):
        assert np.isnan(getattr(result.described, name)[4:]).all()
        np.testing.assert_array_equal(getattr(result.described, name)[:4], getattr(default.described, name))


def test_aligned_means_find_relative_delays(world):
    aligned, plain = un.fuse(world.ratings, model="aligned-mean"), un.fuse(world.ratings, model="mean")
    true = world.lag / RATE
    relative = aligned.described.delay - np.median(aligned.described.delay, axis=0)
    np.testing.assert_allclose(relative, true - np.median(true, axis=0), atol=0.21)
    reach = range(8)
    best = [
        max(pearson(one.fused.mean[s:90], world.truth.value[: 90 - s]).mean() for s in reach)
        for one in (aligned, plain)
    ]
    assert best[0] > best[1]
    earlier = un.fuse(world.ratings, model="aligned-mean", lag=0.6)
    np.testing.assert_allclose(earlier.fused.mean[:60], aligned.fused.mean[3:63])


def test_newcomers_count_as_average_annotators(world):
    r = world.ratings
    known = r.select_judgements(r.annotator_of < 3)
    fuser = make_fuser("auto", series=True).fit(known)
    with_newcomer, without = fuser.fuse(r), fuser.fuse(known)
    assert pearson(with_newcomer.mean, world.truth.value).min() > 0.95
    assert np.abs(with_newcomer.mean - without.mean).max() > 0.01
    names = [name.replace("rater 3", "somebody") for name in r.annotators]
    np.testing.assert_allclose(fuser.fuse(by(r, names)).mean, with_newcomer.mean)
    paper = make_fuser("paper-joint", series=True, width=3, restarts=1).fit(
        Ratings.from_judgements(
            known.value,
            known.item_of,
            known.annotator_of,
            items=r.items,
            annotators=r.annotators[:3],
            dimensions=r.dimensions,
            length=r.length,
            clock=r.clock,
        )
    )
    with pytest.raises(DataError, match="'rater 3' was not in the fit"):
        paper.fuse(r)


def test_gold_fixes_scale_zero_and_delay(world):
    t = world.truth
    # Two frames earlier than the truth that was rated, so that the rule of the earliest annotator is wrong.
    early = np.concatenate([np.concatenate([part[2:], part[-1:], part[-1:]]) for part in (t.value[:90], t.value[90:])])
    scaled = un.ItemTable.from_rows(3 * early + 10, items=t.items, columns=t.columns, length=t.length, clock=t.clock)
    result = un.fuse(world.ratings, gold=scaled.select_items(["clip 0"]))
    assert result.summary_data["delay_convention"] == "gold"
    error = result.fused.mean - scaled.value
    assert np.abs(error[:90]).max() < 0.3  # known frames come out as they are
    assert np.sqrt(np.mean(error[90:] ** 2)) < 1.3  # where the truth has a spread of three times its own
    low, high = result.fused.interval()
    inside = ((low < scaled.value) & (scaled.value < high))[90:].mean()
    assert inside > 0.6


def test_a_little_gold_is_used_for_scale_alone(world, default):
    t = world.truth
    value = np.full_like(t.value, np.nan)
    value[140:152] = 2 * t.value[140:152] + 5
    few = un.ItemTable.from_rows(value, items=t.items, columns=t.columns, length=t.length, clock=t.clock)
    result = un.fuse(world.ratings, gold=few)
    # The shape is that of the default, the level close to that of the gold.
    assert pearson(result.fused.mean[:140], default.fused.mean[:140]).min() > 0.999
    np.testing.assert_allclose(result.fused.mean[140:152], value[140:152], atol=1e-8)
    assert np.all(result.fused.mean[:90].mean(axis=0) > 1.5)


def known_frames(world, change):
    """Gold on the first recording: what `change` makes of the truth."""
    t = world.truth
    made = un.ItemTable.from_rows(change(t.value), items=t.items, columns=t.columns, length=t.length, clock=t.clock)
    return made.select_items(["clip 0"])


@pytest.mark.parametrize(
    ("change", "words"),
    [(lambda v: v / 100, "in another unit"), (lambda v: 20 * v, "in another unit"), (lambda v: 1 - v, "run against")],
)
def test_gold_that_means_something_else_is_refused_and_obeyed_if_asked(world, change, words):
    gold = known_frames(world, change)
    with pytest.raises(DataError, match=rf"'valence' .*{words}.* 'arousal' .*gold_anyway=True"):
        un.fuse(world.ratings, gold=gold)
    result = un.fuse(world.ratings, gold=gold, gold_anyway=True, scale="none")
    wanted = change(world.truth.value)
    assert np.sqrt(np.mean((result.fused.mean - wanted)[90:] ** 2)) < 0.5 * wanted.std()


def test_gold_in_another_unit_is_refused_beside_filters_of_a_given_length_as_well(world):
    with pytest.raises(DataError, match="in another unit"):
        un.fuse(world.ratings, gold=known_frames(world, lambda v: v / 100), window=0.8)


@pytest.mark.parametrize("model", ["auto", "independent"])
def test_constant_gold_sets_the_level_of_its_dimension_alone(world, default, model):
    gold = known_frames(world, lambda v: np.column_stack([np.full(len(v), 2.0), v[:, 1]]))
    result = un.fuse(world.ratings, gold=gold, model=model)
    plain = default if model == "auto" else un.fuse(world.ratings, model=model)
    assert pearson(result.fused.mean[90:], plain.fused.mean[90:]).min() > 0.97
    spread = [one.fused.mean[90:, 0].std() for one in (result, plain)]
    assert spread[0] > 0.9 * spread[1]
    with pytest.raises(DataError, match="known frames of valence are all equal"):
        un.fuse(world.ratings, gold=gold, model=model, window=0.8)


@pytest.mark.parametrize(
    ("keep", "words"),
    [
        (slice(0, 5), "at least 10 frames of every dimension"),
        (slice(0, 0), "knows the truth of no frame"),
    ],
)
def test_gold_that_is_too_little(world, keep, words):
    t = world.truth
    value = np.full_like(t.value, np.nan)
    value[keep] = t.value[keep]
    gold = un.ItemTable.from_rows(value, items=t.items, columns=t.columns, length=t.length, clock=t.clock)
    with pytest.raises(DataError, match=words):
        un.fuse(world.ratings, gold=gold)


def test_gold_for_longer_filters_than_it_has_frames_for_is_refused_with_the_reason(world):
    gold = world.truth.select_items(["clip 0"])
    with pytest.raises(DataError, match=r"filters of 13 frames: 27 unknowns .* a window of at most 0\.8 s"):
        un.fuse(world.ratings, gold=gold, window=2.4)
    un.fuse(world.ratings, gold=gold, window=0.8)


def test_the_unit_and_who_decided_which_way_is_up_are_said(world, default):
    assert default.summary_data["unit"] == "annotators"
    assert "Unit: that of the typical annotator; annotators' gains differ by a factor of 1." in default.summary()
    assert "up is what most annotators do." in default.summary()
    rows = np.repeat(world.ratings.annotator_of, world.ratings.length[world.ratings.item_of])
    wheels = un.fuse(world.ratings.with_value(world.ratings.value * np.array([1.0, 4.0, 0.3, 9.0])[rows][:, None]))
    assert wheels.summary_data["unit"] == "private"
    assert "divide by the standard deviation of the truth (valence " in wheels.summary()
    known = un.fuse(world.ratings, gold=world.truth.select_items(["clip 0"]))
    assert known.summary_data["unit"] == "gold"
    assert "up is what the known frames say" in known.summary()
    assert "unit" not in un.fuse(world.ratings, model="mean").summary_data


def test_the_band_allows_for_what_all_annotators_do_alike(world, default):
    """A common unit that is off, in proportion to how far the truth is from its middle; or the share asked for."""
    none, large = (un.fuse(world.ratings, shared=share) for share in (0.0, 0.5))
    np.testing.assert_array_equal(none.fused.mean, default.fused.mean)
    more = np.diagonal(default.fused.cov - none.fused.cov, axis1=1, axis2=2)
    middle = default.fuser.scaling_.restore_mean(default.fuser.parts_[0].model.params.mu)
    unit = default.fuser.parts_[0].model.spread.gain - none.fuser.parts_[0].model.spread.gain
    assert (unit > 0).all()
    np.testing.assert_allclose(more, unit * (default.fused.mean - middle) ** 2, rtol=1e-6, atol=1e-12)
    assert np.all(large.fused.sd > none.fused.sd)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"window": 1.0, "lag": 2.0}, "does not fit into a window"),
        ({"window": "wide"}, "give seconds from 0 on"),
        ({"shared": 1.0}, "a share of the error from 0 up to"),
        ({"memory": 0}, "memory=0: give seconds above 0, or leave it out"),
    ],
)
def test_settings_that_make_no_sense(world, words, message):
    with pytest.raises(ValueError, match=message):
        un.fuse(world.ratings, model="joint", **words)


def test_data_that_do_not_go_together(world):
    with pytest.raises(DataError, match="longer than every recording, of which the longest has 18 s"):
        un.fuse(world.ratings, window=60.0)
    with pytest.raises(DataError, match="a lag of 60 s is longer than every recording"):
        un.fuse(world.ratings, lag=60.0)
    empty = world.ratings.with_value(np.where([True, False], world.ratings.value, np.nan))
    with pytest.raises(DataError, match="nobody rated 'arousal'"):
        un.fuse(empty)
    fuser = make_fuser("auto", series=True).fit(world.ratings)
    slow = un.align_to(world.features, world.ratings)
    clock = Clock(1.0, slow.clock.start)
    other = un.ItemTable.from_rows(slow.value, items=slow.items, columns=slow.columns, length=slow.length, clock=clock)
    with pytest.raises(DataError, match="fitted without features"):
        fuser.predict(other)
    with pytest.raises(DataError, match="5 frames per second, as the fit had"):
        make_fuser("auto", series=True).fit(world.ratings, world.features).predict(other)
    with pytest.raises(DataError, match="not on the clock of the ratings"):
        make_fuser("auto", series=True).fit(world.ratings.select_items(["clip 0"]), _shortened(world.features))
    items = un.simulate_items(items=6, annotators=3, seed=0).ratings
    with pytest.raises(DataError, match="has no time column"):
        make_fuser("auto", series=True).fit(items)


def _shortened(table):
    one = table.select_items(["clip 0"])
    return un.ItemTable.from_rows(
        one.value[:50], items=one.items, columns=one.columns, length=np.array([50]), clock=one.clock
    )


def test_a_refit_keeps_nothing_of_the_fit_before():
    first, second = trace_world(seed=0), trace_world(seed=1)
    fuser = make_fuser("joint", series=True).fit(first.ratings, gold=first.truth.select_items(first.truth.items[:1]))
    fuser.leftover_ = "of an earlier fit"
    fuser.fit(second.ratings)
    assert not hasattr(fuser, "leftover_")
    fresh = make_fuser("joint", series=True).fit(second.ratings)
    np.testing.assert_array_equal(fuser.fuse().mean, fresh.fuse().mean)
    assert fuser.notes() == fresh.notes()
