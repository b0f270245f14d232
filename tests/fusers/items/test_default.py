"""What the default promises: known truths, scales of the estimate, honest intervals, no harm from bad annotators."""

import warnings

import numpy as np
import polars as pl
import pytest

import unisono as un
from benchmarks.planted_crowds import planted_crowd
from item_cases import drawn_from_the_model, random_raters, ratings_of
from unisono.evaluate.held_out_ratings import judgement_folds
from unisono.fusers import make_fuser
from unisono.fusers.crowd import item_signal
from unisono.fusers.gold_items import GoldReport
from unisono.maths.items.item_estimates import held_out_scores
from unisono.maths.metrics import ccc
from unisono.paper.simulation import simulate_items
from unisono.tables.datasets import load_dataset
from unisono.tables.item_table import ItemTable

pytestmark = pytest.mark.slow

# ---- known truths


def with_known(value, seed=2):
    """A good crowd of 100 items, with `value(truth)` as the known truths of the first ten."""
    ratings, truth, _ = drawn_from_the_model(100, seed=seed)
    known = value(truth)[:10]
    gold = ItemTable.from_rows(known, items=ratings.items[:10], columns=ratings.dimensions)
    return un.fuse(ratings, gold=gold), known, truth


def test_known_truths_come_out_as_they_are_and_the_summary_says_what_they_changed():
    result, known, _ = with_known(lambda truth: 1.2 * truth + 0.8)
    np.testing.assert_allclose(result.fused.mean[:10], known, rtol=1e-9)
    np.testing.assert_array_equal(result.fused.sd[:10], 0)
    assert (result.fused.sd[10:] > 0).all()
    found = result.summary_data["gold"]
    assert found["items"] == 10
    assert not found["v"]["turned"]
    assert 0.4 < found["v"]["offset"] < 0.8  # most of the way
    assert 1.0 < found["a"]["scale"] < 1.3
    assert not found["v"]["no_better_than_a_rating"]
    text = result.summary()
    assert "Known truths of 10 items" in text
    assert f"moved the estimates by {found['v']['offset']:+.3g}" in text
    assert "no better than a rating" not in text


@pytest.mark.slow
def test_the_other_items_follow_the_level_of_the_known_ones():
    result, _, truth = with_known(lambda truth: truth + 5.0)
    moved = (result.fused.mean - truth)[10:].mean(axis=0)
    assert ((moved > 3) & (moved < 5.5)).all()
    assert np.corrcoef(result.fused.mean[10:, 0], truth[10:, 0])[0, 1] > 0.9


def test_a_known_truth_in_one_dimension_leaves_the_other_open():
    ratings, truth, _ = drawn_from_the_model(40, seed=4)
    gold = ItemTable.from_rows(truth[:6, :1], items=ratings.items[:6], columns=("v",))
    result = un.fuse(ratings, gold=gold)
    np.testing.assert_array_equal(result.fused.sd[:6, 0], 0)
    assert (result.fused.sd[:6, 1] > 0).all()
    assert result.summary_data["gold"]["a"]["error"] is None
    assert "  a  " not in result.summary().split("Known truths")[1].split("Estimation")[0]


@pytest.mark.slow
@pytest.mark.parametrize("crowd", ["honest", "small", "mixing"])
def test_truths_that_are_nothing_but_noise_turn_nothing_and_are_doubted(crowd):
    if crowd == "mixing":
        ratings = simulate_items(features=0, seed=1).ratings
    else:
        ratings, _, _ = drawn_from_the_model(100 if crowd == "honest" else 50, seed=2)
    noise = 2 * np.random.default_rng(0).normal(size=(10, 2))
    gold = ItemTable.from_rows(noise, items=ratings.items[:10], columns=ratings.dimensions)
    result = un.fuse(ratings, gold=gold)
    found = result.summary_data["gold"][ratings.dimensions[0]]
    assert not found["turned"]
    assert found["error"] >= found["rating_error"]
    assert "no better than a rating. Are they really known?" in result.summary()


def test_truths_that_turned_the_dimensions_are_held_against_guessing():
    one, two = np.ones(1), np.full(1, 2.0)
    for error, doubted in ((1.5, False), (2.5, True)):
        report = GoldReport(("v",), 5, np.array([True]), one, one, np.full(1, error), one, two)
        assert report.columns()["v"]["no_better_than_a_rating"] is doubted


def test_known_truths_that_straighten_a_mixing_crowd_are_said_to():
    world = simulate_items(features=0, seed=0)
    result = un.fuse(world.ratings, gold=world.truth.select_items(world.truth.items[:10]))
    assert result.summary_data["gold"]["dim1"]["turned"]
    assert "were observations that turned and scaled the dimension" in result.summary()
    assert "no better than a rating" not in result.summary()
    assert 0.1 < result.summary_data["gold"]["dim1"]["error"] < 0.5  # on hidden ones: inside the fit they have none
    np.testing.assert_allclose(result.fused.mean[:10], world.truth.value[:10], atol=1e-9)
    np.testing.assert_array_equal(result.fused.sd[:10], 0)


# ---- the scale of the estimate


def test_the_posterior_mean_is_drawn_to_the_middle_and_the_matched_estimate_is_not():
    ratings, truth, _ = drawn_from_the_model(300, seed=5, per_item=3)
    matched, posterior = (un.fuse(ratings, estimate=name).fused for name in ("matched", "posterior"))
    assert (matched.mean.var(axis=0) > 1.05 * posterior.mean.var(axis=0)).all()
    assert (posterior.mean.var(axis=0) < truth.var(axis=0)).all()
    np.testing.assert_array_equal(un.fuse(ratings).fused.mean, matched.mean)
    r = [np.corrcoef(matched.mean[:, d], posterior.mean[:, d])[0, 1] for d in range(2)]
    assert min(r) > 1 - 1e-9


def test_a_smaller_panel_has_a_wider_scale():
    ratings, _, _ = drawn_from_the_model(150, seed=6)
    spread = [un.fuse(ratings, panel=panel).fused.mean.var(axis=0) for panel in (2, 10, np.inf)]
    assert (spread[0] > spread[1]).all()
    assert (spread[1] > spread[2]).all()
    with pytest.raises(ValueError, match="panel=0"):
        un.fuse(ratings, panel=0)
    with pytest.raises(ValueError, match="estimate='matched' needs inference='bayes'"):
        un.fuse(ratings, model="joint", inference="ml", estimate="matched")


# ---- honest intervals


@pytest.mark.parametrize("estimate", ["matched", "posterior"])
def test_ninety_per_cent_intervals_hold_what_they_say(estimate):
    inside, total = 0, 0
    for seed in range(8):
        ratings, truth, _ = drawn_from_the_model(150, seed=seed)
        low, high = un.fuse(ratings, estimate=estimate).fused.interval()
        inside += int(((low < truth) & (truth < high)).sum())
        total += truth.size
    assert 0.87 <= inside / total <= 0.93


def thinned(ratings, most, rng):
    """At most this many ratings of every item, chosen at random."""
    order = rng.permutation(ratings.J)
    item = ratings.item_of[order]
    place = np.array([np.count_nonzero(item[:n] == m) for n, m in enumerate(item)])
    keep = np.zeros(ratings.J, dtype=bool)
    keep[order[place < most]] = True
    return ratings.select_judgements(keep)


def test_one_or_two_real_ratings_per_item_are_enough_for_honest_predictions():
    rng = np.random.default_rng(0)
    whole = load_dataset("squality")
    covered = []
    for _ in range(2):
        ratings = thinned(whole, 2, rng)
        hidden = judgement_folds(ratings, 5, rng) == 0
        fuser = make_fuser("auto").fit(ratings.select_judgements(~hidden))
        answers = ratings.select_judgements(hidden)
        assert fuser.calibration_.ratio > 1.05  # people are not the model, and it shows in left-out answers
        covered.append(held_out_scores(fuser.predict_ratings(answers), answers.value, 0.9).coverage)
    assert 0.85 <= np.mean(covered) <= 0.95, covered


def test_where_nothing_is_shared_intervals_are_as_wide_as_the_scale_but_for_the_chance_that_something_is():
    widths = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        item_of, annotator_of = random_raters(rng, 40, 10, 5)
        ratings = ratings_of(rng.integers(1, 6, size=(200, 2)) * 1.0, item_of, annotator_of)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", un.DataWarning)
            low, high = un.fuse(ratings).fused.interval()
        widths.append(high - low)
        against = item_signal(ratings).share < 0  # nothing speaks for agreement
        assert (widths[-1][:, against] >= 4 - 1e-9).all()
    assert np.median(widths) >= 4 - 1e-9
    assert np.min(widths) > 2.5


# ---- bad annotators


@pytest.mark.slow
def test_spammers_and_flipped_annotators_cost_next_to_nothing():
    lost = []
    for seed in range(4):
        crowd = planted_crowd(seed, {"spammer": 0.3, "flipped": 0.1}, noise=0.6)
        ratings = ratings_of(crowd.value, crowd.item_of, crowd.annotator_of)
        honest = ratings.select_judgements((crowd.kind == "honest")[crowd.annotator_of])
        found = [un.fuse(part).fused.mean for part in (ratings, honest)]
        everybody, few = (np.mean([ccc(f[:, d], crowd.truth[:, d]) for d in range(2)]) for f in found)
        lost.append(few - everybody)
    assert np.mean(lost) < 0.02


# ---- few annotators


@pytest.mark.parametrize(("scale", "noise"), [(1.0, 1.0), (2.0, 0.6)])
def test_of_two_annotators_neither_is_trusted_over_the_other(scale, noise):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(100, 2))
    answers = [truth + 0.3 * rng.normal(size=truth.shape), scale * truth + noise * rng.normal(size=truth.shape)]
    value = np.stack(answers, axis=1).reshape(-1, 2)
    ratings = ratings_of(value, np.repeat(np.arange(100), 2), np.tile([0, 1], 100))
    found = un.fuse(ratings).fused.mean
    design = np.column_stack([*(a for answer in answers for a in answer.T), np.ones(100)])
    weight = np.linalg.lstsq(design, found[:, 0], rcond=None)[0]
    unit = np.repeat([np.exp(np.log(answer.std(axis=0)).mean()) for answer in answers], 2)  # nearly
    assert weight[0] * unit[0] == pytest.approx(weight[2] * unit[2], rel=0.07)
    assert weight[1] * unit[1] == pytest.approx(weight[3] * unit[3], abs=0.02)


# ---- saving


@pytest.mark.parametrize("censored", [False, True])
def test_a_saved_fit_of_a_scale_with_ends_fuses_other_ratings_alike(tmp_path, censored):
    ratings, _, _ = drawn_from_the_model(80, seed=7)
    cut = ratings.with_value(np.clip(np.round(2 * ratings.value), -2, 2))
    first, other = cut.select_items(list(cut.items[:60])), cut.select_items(list(cut.items[60:]))
    result = un.fuse(first, censored=censored)
    assert (result.fuser.ends_ is not None) == censored
    again = un.load(result.save(tmp_path / "out"))
    np.testing.assert_array_equal(again.fuse(other).mean, result.fuser.fuse(other).mean)
    np.testing.assert_array_equal(again.fuse(other).cov, result.fuser.fuse(other).cov)
    np.testing.assert_array_equal(again.fuse(first).mean, result.fused.mean)
    low, high = again.fuse(first).interval()
    np.testing.assert_array_equal([low, high], result.fused.interval())


def test_where_the_scale_ends_so_do_estimates_and_intervals():
    rng = np.random.default_rng(4)
    truth = rng.normal(size=60)
    answers = np.clip(np.round(50 + 40 * (truth[:, None] + 0.3 * rng.normal(size=(60, 5)))), 0, 100)
    rows = [(f"i{m}", f"a{k}", answers[m, k]) for m in range(60) for k in range(5)]
    frame = pl.DataFrame(rows, schema=["item", "annotator", "joy"], orient="row")
    result = un.fuse(frame)
    low, high = result.fused.interval()
    assert low.min() == 0
    assert high.max() == 100
    assert ((result.fused.mean >= 0) & (result.fused.mean <= 100)).all()
    # Known truths may lie on a scale of their own, if that is meant.
    known = pl.DataFrame({"item": [f"i{m}" for m in range(30)], "joy": 10 * (50 + 40 * truth[:30])})
    assert un.fuse(frame, gold=known, gold_anyway=True).fused.mean.max() > 110


def test_covariances_of_truths_and_errors_come_to_those_that_they_are():
    """The prior of uncorrelated errors gives way to many judgements."""
    truths, errors = np.array([[1.0, 0.3], [0.3, 1.0]]), 0.5 * np.array([[1.0, 0.6], [0.6, 1.0]])
    off = []
    for M in (60, 600, 12_000):
        rng = np.random.default_rng(M)
        item_of, of = random_raters(rng, M, 12, 4)
        truth = rng.multivariate_normal(np.zeros(2), truths, size=M)
        value = truth[item_of] + 0.4 * rng.normal(size=(12, 2))[of]
        value += rng.multivariate_normal(np.zeros(2), errors, size=len(of))
        fuser = make_fuser("auto").fit(ratings_of(value, item_of, of))
        unit = np.outer(fuser.scaling_.scale, fuser.scaling_.scale)
        shares = fuser.judgements_[:12] / fuser.judgements_[:12].sum()
        found = np.einsum("k,kde->de", shares, fuser.params_.N[:12]), fuser.params_.Sigma
        off.append([np.abs(part * unit - true).max() for part, true in zip(found, (errors, truths), strict=True)])
    assert off[0][0] > 0.08  # a third of the correlation is gone
    assert max(off[2]) < 0.03
    assert off[2][0] < off[1][0] < off[0][0]
