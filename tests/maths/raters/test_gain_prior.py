"""Planted spammers and flipped annotators are expected to be what they are; a clean crowd is left alone."""

import numpy as np
import pandas as pd
import pytest

import unisono as un
from benchmarks.planted_crowds import planted_crowd
from item_cases import data_of, random_case, random_raters
from unisono.maths.items.annotator_rows import FLIPPED_CLASS, SPAMMER_CLASS, expected_gain
from unisono.maths.items.bayes_start import bayes_settings, bayes_start
from unisono.maths.items.item_params import Structure
from unisono.maths.items.item_priors import SPAMMER_GAIN, Priors
from unisono.maths.metrics import ccc
from unisono.maths.raters.rater_diagnosis import class_priors, competence, diagnose
from unisono.tables.ratings import Ratings

BAD = {"spammer": 0.3, "flipped": 0.1}


def given(crowd):
    """(K,) judgements of everybody."""
    return np.bincount(crowd.annotator_of, minlength=crowd.K).astype(float)


def gains(crowd):
    found = diagnose(crowd.value, crowd.item_of, crowd.annotator_of, crowd.K)
    return expected_gain(class_priors(found, given(crowd)))


def test_of_a_clean_crowd_nothing_else_is_expected():
    for seed in range(4):
        assert gains(planted_crowd(seed, {}, noise=0.3)).min() > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("integer", [False, True])
def test_planted_annotators_are_expected_to_be_what_they_are(integer):
    straight = []
    for seed in range(3):
        crowd = planted_crowd(seed, BAD, integer=integer)
        found = gains(crowd)
        assert found.shape == (crowd.K, 2)
        assert found.max() <= 1
        assert found.min() >= -1
        honest, spammer = crowd.kind == "honest", crowd.kind == "spammer"
        assert found[honest].mean() > 0.85
        assert found[spammer].mean() < SPAMMER_GAIN + 0.15
        assert np.median(found[crowd.flipped]) < -0.5
        assert found[crowd.flipped].mean() < -0.4
        straight.append(found[(crowd.kind == "flipped")[:, None] & ~crowd.flipped])
    # Who turns one dimension round is expected to answer the other as everybody does.
    assert len(np.concatenate(straight)) >= 5
    assert np.median(np.concatenate(straight)) > 0.5


def test_spammers_and_flipped_annotators_have_no_say():
    expected = np.array([[1.0, 1.0], [SPAMMER_GAIN] * 2, [-1.0, 1.0], [-1.0, -1.0], [0.65, 0.65]])
    params = random_case(2, seed=1).params
    identity = params._replace(B=np.tile(np.hstack([np.eye(2), np.zeros((2, 1))]), (5, 1, 1)))
    np.testing.assert_allclose(competence(identity, expected), [1, 0, 0, 0, 0.5], atol=1e-12)
    usual = np.ones((5, 2))
    np.testing.assert_allclose(competence(identity, usual), 1)
    np.testing.assert_allclose(competence(identity._replace(B=-identity.B), usual), 0)
    np.testing.assert_allclose(competence(identity._replace(B=0.4 * identity.B), usual), 0.4)


@pytest.mark.slow
def test_the_truth_gets_back_the_variance_that_spammers_hide():
    shares = []
    for seed in range(6):
        crowd = planted_crowd(seed, BAD)
        sd = crowd.value.std(axis=0)
        data = data_of((crowd.value - crowd.value.mean(axis=0)) / sd, crowd.item_of, crowd.annotator_of)
        found = diagnose(crowd.value, crowd.item_of, crowd.annotator_of, crowd.K)
        settings, suspecting = (
            bayes_settings(data, Structure("gain", noise="shared"), Priors(), np.full(2, 1e-4), classes=classes)
            for classes in (None, class_priors(found, given(crowd)))
        )
        start = bayes_start(data, suspecting)
        say = competence(start.params, expected_gain(start.hyper.classes))
        assert say[crowd.kind == "spammer"].mean() < 0.3 < 0.7 < say[crowd.kind == "honest"].mean()
        truth = crowd.truth.var(axis=0) / sd**2
        shares.append([np.diagonal(s.targets.latent) / truth for s in (settings, suspecting)])
    plain, given_back = np.mean(shares, axis=(0, 2))
    # Part of it: nobody is expected to be quite deaf to the truth.
    assert plain < 0.35
    assert 1.7 * plain < given_back < 1


@pytest.mark.slow
@pytest.mark.parametrize("integer", [False, True])
def test_the_fused_truth_is_nearly_as_good_as_without_the_planted(integer):
    lost = []
    for seed in range(6):
        crowd = planted_crowd(seed, BAD, integer=integer)
        truth = np.clip(3 + crowd.truth, 1, 5) if integer else crowd.truth
        ratings = Ratings.from_judgements(
            crowd.value,
            crowd.item_of,
            crowd.annotator_of,
            items=[str(m) for m in range(len(truth))],
            annotators=[str(k) for k in range(crowd.K)],
            dimensions="ab",
        )
        honest = ratings.select_judgements((crowd.kind == "honest")[crowd.annotator_of])
        rated = np.unique(honest.item_of)
        with_them, without = (un.fuse(some.select_items(rated)).fused.mean for some in (ratings, honest))
        lost.append([ccc(without[:, d], truth[rated, d]) - ccc(with_them[:, d], truth[rated, d]) for d in range(2)])
    assert np.mean(lost) < 0.02


def test_a_scale_is_flipped_or_a_spammers_or_usual():
    crowd = planted_crowd(0, BAD)
    found = diagnose(crowd.value, crowd.item_of, crowd.annotator_of, crowd.K)
    classes = class_priors(found, given(crowd))
    np.testing.assert_allclose(classes.sum(axis=2), 1)
    np.testing.assert_array_equal(classes[:, :, FLIPPED_CLASS], found.flipped)
    idle = np.maximum(found.spammer[:, None], found.unrelated + found.constant)
    assert (classes[:, :, SPAMMER_CLASS] <= idle).all()
    none = np.zeros((crowd.K, 2))
    nobody = found._replace(spammer=np.zeros(crowd.K), flipped=none, unrelated=none, constant=none)
    np.testing.assert_array_equal(expected_gain(class_priors(nobody, given(crowd))), 1)
    spammers = nobody._replace(spammer=np.ones(crowd.K))
    np.testing.assert_allclose(expected_gain(class_priors(spammers, np.full(crowd.K, 1e12))), SPAMMER_GAIN)


@pytest.mark.parametrize("idle", [False, True])
def test_who_answers_one_dimension_at_random_has_no_say_on_that_one(idle):
    """A third of twelve answer the second dimension at random, and the first as everybody does."""
    rng = np.random.default_rng(1)
    item_of, of = random_raters(rng, 120, 12, 5)
    truth = rng.normal(size=(120, 2))
    value = truth[item_of] + 0.4 * rng.normal(size=(12, 2))[of] + 0.6 * rng.normal(size=(600, 2))
    lazy = of < 4
    if idle:
        value[lazy, 1] = rng.normal(size=lazy.sum())
    found = diagnose(value, item_of, of, 12)
    classes = class_priors(found, np.bincount(of).astype(float))[:, :, SPAMMER_CLASS]
    assert classes[:, 0].max() < 0.1
    assert classes[4:, 1].max() < 0.1
    names = list("abcdefghijkl")
    fused = un.fuse(
        pd.DataFrame({"item": item_of, "annotator": [names[k] for k in of], "x": value[:, 0], "y": value[:, 1]})
    )
    table = fused.annotators.to_pandas() if hasattr(fused.annotators, "to_pandas") else fused.annotators
    of_y = table[table.dimension == "y"].sort_values("annotator")["reliability"].to_numpy()
    estimate = fused.truth.sort_values("item")["y"].to_numpy()
    mean = np.bincount(item_of, value[:, 1]) / 5
    better = np.corrcoef(estimate, truth[:, 1])[0, 1] - np.corrcoef(mean, truth[:, 1])[0, 1]
    if idle:
        assert np.median(classes[:4, 1]) > 0.9
        assert np.median(of_y[:4]) < 0.1
        assert better > 0.04
    else:
        assert classes[:4, 1].max() < 0.1
        assert of_y[:4].min() > 0.5
        assert better < 0.03


def test_who_said_little_has_the_benefit_of_the_doubt():
    crowd = planted_crowd(0, BAD)
    found = diagnose(crowd.value, crowd.item_of, crowd.annotator_of, crowd.K)
    none = np.zeros((crowd.K, 2))
    suspected = found._replace(spammer=np.full(crowd.K, 0.6), flipped=none, unrelated=none, constant=none)
    few = np.tile([0.0, 2.0, 18.0, 1e9], crowd.K)[: crowd.K]
    believed = class_priors(suspected, few)[:, :, SPAMMER_CLASS]
    np.testing.assert_allclose(believed[:4], np.array([0.0, 0.3, 0.54, 0.6])[:, None] * np.ones(2), atol=1e-8)


def test_who_gives_one_answer_throughout_is_no_class_but_does_not_count_in_the_level():
    """Six of seven agree on answers from 1 to 5; the seventh always answers 5, which may mean that all lie beyond."""
    rng = np.random.default_rng(0)
    item_of, of = np.repeat(np.arange(60), 7), np.tile(np.arange(7), 60)
    truth = rng.normal(size=60)
    value = np.clip(np.round(3 + truth[item_of] + 0.6 * rng.normal(size=420)), 1, 5)[:, None]
    value[of == 6] = 5
    found = diagnose(value, item_of, of, 7)
    assert found.constant[6, 0] > 0.99
    many = np.full(7, 60.0)
    crowd, classes = class_priors(found, many), class_priors(found, many, varied=True)
    assert expected_gain(crowd)[6, 0] < 0.35
    assert expected_gain(classes)[6, 0] > 0.9
    few = class_priors(found, np.full(7, 2.0), varied=True)[6, 0, SPAMMER_CLASS]
    np.testing.assert_allclose(few, 0.8 * class_priors(found, np.full(7, 2.0))[6, 0, SPAMMER_CLASS], rtol=0.01)
    np.testing.assert_allclose(classes[:6], crowd[:6], atol=0.01)
    frame = pd.DataFrame({"item": item_of, "annotator": [f"a{k}" for k in of], "x": value[:, 0]})
    everybody, six = (un.fuse(some).truth.sort_values("item")["x"] for some in (frame, frame[frame.annotator != "a6"]))
    assert abs(everybody.mean() - six.mean()) < 0.1
    assert np.corrcoef(everybody, six)[0, 1] > 0.995


def test_missing_answers_and_a_constant_annotator_are_no_obstacle():
    crowd = planted_crowd(5, BAD)
    value = crowd.value.copy()
    value[np.random.default_rng(0).random(value.shape) < 0.2] = np.nan
    who = int(np.flatnonzero(crowd.kind == "honest")[0])
    value[crowd.annotator_of == who] = 1.0
    found = gains(crowd._replace(value=value))
    assert np.isfinite(found).all()
    assert found[crowd.kind == "spammer"].mean() < 0.5
