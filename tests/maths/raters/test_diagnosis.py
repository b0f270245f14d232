"""Planted annotators are found, honest ones left in peace, and a crowd without signal yields no claims."""

import numpy as np
import pytest

import unisono as un
from benchmarks.planted_crowds import area_under_curve, planted_crowd
from unisono.maths.raters.rater_diagnosis import diagnose
from unisono.maths.raters.rater_signal import SharedSignal
from unisono.maths.raters.response_styles import KINDS

THIRD_BAD = {"spammer": 0.3, "flipped": 0.1}


def diagnosed(crowd):
    return diagnose(crowd.value, crowd.item_of, crowd.annotator_of, crowd.K)


@pytest.mark.slow
@pytest.mark.parametrize("dimensions", [1, 2])
@pytest.mark.parametrize("integer", [False, True])
def test_planted_spammers_and_flipped_annotators_are_found(dimensions, integer):
    spammer, flipped = [], []
    for seed in range(5):
        crowd = planted_crowd(seed, THIRD_BAD, dimensions=dimensions, integer=integer)
        found = diagnosed(crowd)
        spammer.append(area_under_curve(found.spammer, crowd.kind == "spammer"))
        flipped.append(area_under_curve(found.flipped.ravel(), crowd.flipped.ravel()))
    assert np.mean(spammer) > 0.98
    assert min(spammer) >= 0.95
    assert np.mean(flipped) > 0.99
    assert min(flipped) >= 0.95


@pytest.mark.slow
def test_high_probabilities_are_right_and_low_ones_too():
    crowds = [planted_crowd(seed, THIRD_BAD, integer=True) for seed in range(20, 26)]
    found = [diagnosed(crowd) for crowd in crowds]
    spammer = np.concatenate([one.spammer for one in found])
    is_spammer = np.concatenate([crowd.kind == "spammer" for crowd in crowds])
    assert (spammer > 0.9).sum() > 55  # of 90
    assert is_spammer[spammer > 0.9].mean() > 0.95
    assert is_spammer[spammer < 0.1].mean() < 0.05
    flipped = np.concatenate([one.flipped.ravel() for one in found])
    turned = np.concatenate([crowd.flipped.ravel() for crowd in crowds])
    assert turned[flipped > 0.9].mean() > 0.9
    assert turned[flipped < 0.1].mean() < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("dimensions", [1, 2])
def test_an_honest_crowd_raises_no_alarm(dimensions):
    for seed in range(6):
        found = diagnosed(planted_crowd(seed, {}, dimensions=dimensions, noise=0.8))
        for name in ("spammer", "flipped", "swapped", "constant"):
            assert getattr(found, name).max() < 0.9, (seed, name)
        assert found.spammer.mean() < 0.03


def test_every_style_is_told_from_the_others():
    """A planted style has the largest probability of all for nearly everybody who has it."""
    kinds = {"flipped": 0.1, "swapped": 0.1, "compressed": 0.1, "constant": 0.1}
    right, told = {name: [] for name in kinds}, []
    for seed in range(4):
        crowd = planted_crowd(seed, kinds)
        found = diagnosed(crowd)
        table = np.stack([found.of_kind(name) for name in KINDS], axis=2)
        most = np.array(KINDS)[table.argmax(axis=2)]
        for name, hits in right.items():
            expected = crowd.flipped if name == "flipped" else np.tile((crowd.kind == name)[:, None], 2)
            hits.extend(most[expected] == name)
        swapped = crowd.kind == "swapped"
        told.extend(found.swapped[swapped, 0, 1] > 0.5)
    assert np.mean(told) > 0.6
    for name, hits in right.items():
        assert np.mean(hits) > 0.9, name


def test_probabilities_of_a_dimension_add_up_to_one():
    crowd = planted_crowd(3, THIRD_BAD | {"constant": 0.1, "swapped": 0.1})
    found = diagnosed(crowd)
    np.testing.assert_allclose(sum(found.of_kind(name) for name in KINDS), 1.0, rtol=1e-9)
    np.testing.assert_array_equal(np.einsum("kdd->kd", found.swapped), 0.0)
    # Whoever never varies on any dimension carries no information either.
    assert found.spammer[crowd.kind == "constant"].min() > 0.9


@pytest.mark.slow
def test_a_crowd_of_pure_noise_yields_no_claims():
    for seed in range(8):
        crowd = planted_crowd(seed, {"spammer": 1.0}, integer=seed % 2 == 0)
        found = diagnosed(crowd)
        for name in ("spammer", "flipped", "compressed", "stretched", "swapped"):
            assert getattr(found, name).max() < 0.5, (seed, name)


@pytest.mark.slow
def test_few_ratings_stay_near_the_prior():
    """One rating each, or items that nobody else rated, tell nothing: everybody gets the same, modest probability."""
    crowd = planted_crowd(0, THIRD_BAD)
    extra = 3
    value = np.vstack([crowd.value, np.tile(np.linspace(-1, 1, extra + 6)[:, None], 2)])
    item_of = np.concatenate([crowd.item_of, np.arange(extra), 200 + np.arange(6)])
    annotator_of = np.concatenate([crowd.annotator_of, crowd.K + np.arange(extra), np.full(6, crowd.K + extra)])
    order = np.lexsort((annotator_of, item_of))
    found = diagnose(value[order], item_of[order], annotator_of[order], crowd.K + extra + 2)
    unknown = found.spammer[crowd.K :]  # once, once, once, alone on items, silent
    assert unknown.max() < 0.5
    assert unknown.min() > 0.1
    assert np.ptp(found.flipped[crowd.K :]) < 0.02


def test_nobody_can_vouch_for_themselves():
    """Answers that follow an annotator's own pattern, however consistent, gain nothing by being their own."""
    crowd = planted_crowd(1, {})
    own = np.flatnonzero(crowd.annotator_of == 7)
    value = crowd.value.copy()
    value[own] = 5 * np.random.default_rng(0).normal(size=(len(own), 2))
    found = diagnose(value, crowd.item_of, crowd.annotator_of, crowd.K)
    assert found.spammer[7] > 0.9
    assert np.delete(found.spammer, 7).max() < 0.5


def test_dimensions_that_are_one_are_not_called_swapped():
    """When everybody answers two dimensions from one impression, nobody mistakes one for the other."""
    crowd = planted_crowd(2, {}, dimensions=1, items=300, per_item=4, ratings_each=60)
    rng = np.random.default_rng(0)
    value = np.hstack([crowd.value + 0.5 * rng.normal(size=crowd.value.shape), crowd.value])
    found = diagnose(value, crowd.item_of, crowd.annotator_of, crowd.K)
    assert found.swapped.max() < 0.9
    assert found.of_kind("swapped").mean() < 0.2


def test_most_annotators_cannot_mistake_a_dimension_for_another():
    """Summaries: four annotators whose dimensions go together closely; three of them are no minority."""
    ratings = un.load_dataset("squality")
    found = diagnose(ratings.value, ratings.item_of, ratings.annotator_of, len(ratings.annotators))
    assert found.swapped.max() < 0.5


def mostly_zero_crowd(seed, M=100, K=38, D=6, per_item=10):
    """Honest annotators with gains of their own; four answers of five are zero; truths correlate by .4."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(M, D)) @ np.linalg.cholesky(0.6 * np.eye(D) + 0.4).T
    annotator_of = np.sort(np.argsort(rng.random((M, K)), axis=1)[:, :per_item], axis=1).reshape(-1)
    item_of = np.repeat(np.arange(M), per_item)
    felt = truth[item_of] + 0.7 * rng.normal(size=(M * per_item, D)) + 0.4 * rng.normal(size=(K, D))[annotator_of]
    gain = np.exp(0.4 * rng.normal(size=(K, D)))[annotator_of]
    return np.round(30 * gain * np.maximum(felt - 0.8, 0)), item_of, annotator_of, K


@pytest.mark.slow
def test_mostly_zero_answers_are_no_evidence_of_mistakes():
    """Where few answers decide, they are few: no claims from normal noise that is not there."""
    for seed in range(3):
        value, *rest = mostly_zero_crowd(seed)
        assert (value == 0).mean() > 0.7
        found = diagnose(value, *rest)
        for name in ("spammer", "flipped", "swapped"):
            assert getattr(found, name).max() < 0.9, (seed, name)


def test_without_a_shared_signal_everybody_gets_the_prior(monkeypatch):
    """Whatever the answers look like, apart from those that never vary."""
    crowd = planted_crowd(0, THIRD_BAD | {"constant": 0.1})
    monkeypatch.setattr(SharedSignal, "probability", np.zeros(2))
    found = diagnosed(crowd)
    varied = crowd.kind != "constant"
    assert np.ptp(found.spammer[varied]) < 1e-9
    assert np.ptp(found.flipped[varied]) < 1e-9
    assert found.constant[~varied].min() > 0.9


def test_units_and_missing_answers():
    crowd = planted_crowd(4, THIRD_BAD)
    value = np.where(np.random.default_rng(0).random(crowd.value.shape) < 0.15, np.nan, crowd.value)
    first = diagnose(value, crowd.item_of, crowd.annotator_of, crowd.K)
    second = diagnose(value * [1e6, 1e-9] + [3.0, 5e-9], crowd.item_of, crowd.annotator_of, crowd.K)
    np.testing.assert_allclose(second.spammer, first.spammer, atol=1e-6)
    np.testing.assert_allclose(second.flipped, first.flipped, atol=1e-6)
    assert area_under_curve(first.spammer, crowd.kind == "spammer") > 0.95
