"""Tests of significance: equal to SciPy and to copied resamples; careful where folds share their training data."""

import numpy as np
import pytest
from scipy import stats

from unisono.maths.metrics import (
    better_share,
    ccc,
    paired_t,
    pearson,
    resample_counts,
    resampled_scores,
    standard_error,
)


def test_paired_t_equals_scipys_and_grows_more_careful_with_overlap():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.5, 1, size=8), rng.normal(size=8)
    found = paired_t(a - b)
    expected = stats.ttest_rel(a, b)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-10)
    assert found.mean / found.se == pytest.approx(expected.statistic, rel=1e-10)
    assert (found.wins, found.folds) == ((a > b).sum(), 8)
    careful = paired_t(a - b, overlap=0.25)
    assert careful.se == pytest.approx(found.se * np.sqrt((1 / 8 + 0.25) * 8))
    assert careful.p > found.p


def test_equal_models_are_never_significantly_different_and_one_fold_decides_nothing():
    assert paired_t(np.zeros(5)).p == 1
    assert paired_t(np.full(5, 0.25)).p == 0
    assert np.isnan(paired_t(np.array([0.3])).p)
    assert np.isnan(paired_t(np.zeros(0)).mean)
    assert paired_t(np.array([0.1, np.nan, 0.3])).folds == 2


def test_standard_error_of_a_mean():
    values = np.array([1.0, 2.0, 4.0, np.nan])
    assert standard_error(values) == pytest.approx(stats.sem(values[:3]))
    assert np.isnan(standard_error(np.array([1.0])))


def test_resampled_scores_equal_those_of_copied_resamples():
    rng = np.random.default_rng(1)
    reference = 1000 + rng.normal(size=(30, 2))
    estimate = 0.6 * reference + 390 + 0.5 * rng.normal(size=(30, 2))
    reference[4, 0], estimate[9, 1] = np.nan, np.nan
    counts = resample_counts(30, 230, rng)
    assert (counts.sum(axis=1) == 30).all()
    found = resampled_scores(estimate, reference, counts)
    for r in (0, 120, 229):
        rows = np.repeat(np.arange(30), counts[r])
        for d in range(2):
            x, y = estimate[rows, d], reference[rows, d]
            assert found.ccc[r, d] == pytest.approx(ccc(x, y), rel=1e-9)
            assert found.pearson[r, d] == pytest.approx(pearson(x, y), rel=1e-9)


def test_the_better_estimate_is_better_in_most_resamples_and_none_beats_itself():
    rng = np.random.default_rng(2)
    truth = rng.normal(size=(100, 2))
    good, bad = (truth + s * rng.normal(size=(100, 2)) for s in (0.3, 0.8))
    counts = resample_counts(100, 200, rng)
    a, b = (resampled_scores(x, truth, counts).ccc for x in (good, bad))
    assert (better_share(a, b) > 0.95).all()
    assert (better_share(b, a) < 0.05).all()
    assert (better_share(a, a) == 0).all()
