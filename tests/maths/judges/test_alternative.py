"""The alternative annotator test: good judges pass, poor ones do not, and the p-values are those of SciPy."""

import numpy as np
import pytest
from scipy import stats

from unisono.maths.groups.judge_tests import (
    _below,
    alternative_test,
    benjamini_yekutieli,
    beside_people,
    own_consistency,
)


def rated(judge_noise, seed=0, M=100, K=4, missing=0.2):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=M)
    people = truth[:, None] + 0.7 * rng.normal(size=(M, K))
    people[rng.random((M, K)) < missing] = np.nan
    return truth + judge_noise * rng.normal(size=M), people


def test_a_judge_better_than_people_passes_and_a_random_one_does_not():
    good = alternative_test(*rated(0.2))
    assert good.passes
    assert good.winning_rate == 1
    assert good.advantage > 0.55
    assert good.people == 4
    bad = alternative_test(*rated(3.0))
    assert not bad.passes
    assert bad.advantage < 0.3


def test_nothing_is_said_without_shared_items():
    judge, people = rated(0.2, M=8)
    found = alternative_test(judge, people)
    assert np.isnan(found.winning_rate)
    assert not found.passes
    assert alternative_test(judge, people[:, :1]).people == 0


def test_p_values_and_discoveries_are_scipys():
    W = np.random.default_rng(0).integers(-1, 2, size=40).astype(float)
    expected = stats.ttest_1samp(W, 0.2, alternative="less").pvalue
    np.testing.assert_allclose(_below(W, 0.2), expected, rtol=1e-10)
    p = np.array([0.001, 0.2, 0.011, 0.5, 0.02])
    adjusted = stats.false_discovery_control(p, method="by")
    np.testing.assert_array_equal(benjamini_yekutieli(p, 0.05), adjusted <= 0.05)


def test_consistency_is_the_intraclass_correlation():
    rng = np.random.default_rng(0)
    answers = rng.normal(size=(3000, 1)) + 0.5 * rng.normal(size=(3000, 4))
    y = answers - answers.mean()
    within = (answers - answers.mean(axis=1, keepdims=True)) ** 2
    B, W = 4 * (y.mean(axis=1) ** 2).sum() / 2999, within.sum() / 9000
    assert own_consistency(answers) == pytest.approx(((B - W) / (B + 3 * W), W**0.5))
    some = np.where(rng.random(answers.shape) < 0.5, np.nan, answers)
    found = own_consistency(some)
    assert found[0] == pytest.approx(1 / 1.25, abs=0.03)
    assert found[1] == pytest.approx(0.5, abs=0.02)
    once = np.where(np.arange(4) == 0, answers, np.nan)
    assert np.isnan(own_consistency(once)).all()
    assert np.isnan(own_consistency(np.ones((5, 2)))[0])


def test_people_who_err_against_each_other_do_not_blow_up_gains():
    """From how they differ their mean would seem to be noise; what a judge foretells of it is none."""
    rng = np.random.default_rng(0)
    truth, error = rng.normal(size=200), rng.normal(0, 3, 200)
    people = np.stack([truth + error, truth - error], axis=1)
    for gain in (1.0, 0.5):
        assert beside_people(gain * truth, people).gain == pytest.approx(gain)
