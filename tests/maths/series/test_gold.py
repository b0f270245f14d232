"""Gold undoes the rotation, scale and delay that ratings alone leave open."""

import numpy as np
import pytest

from series_cases import rotated
from unisono.maths.series.trace_gold import GoldSettings, fit_with_gold, gold_memory, with_known

pytestmark = pytest.mark.slow


def test_one_known_recording_brings_the_truth_back():
    data, truth = rotated()
    gold = np.full_like(truth, np.nan)
    gold[:150] = truth[:150]
    fit = fit_with_gold(data, gold, GoldSettings(W=4))
    rest = slice(150, None)
    plain = data.y.reshape(8, 5, 150, 2).mean(1).reshape(-1, 2)
    for d in range(2):
        r = np.corrcoef(fit.mean[rest, d], truth[rest, d])[0, 1]
        assert r > 0.9
        assert r > np.corrcoef(plain[rest, d], truth[rest, d])[0, 1] + 0.05
    np.testing.assert_allclose(fit.mean[:150], truth[:150], atol=0.02)
    assert np.all(fit.sd[:150] <= 0.0101 * np.nanstd(gold, axis=0))
    assert np.all(fit.sd[rest] > 0.02 * np.nanstd(gold, axis=0))


@pytest.mark.parametrize(("pool", "may_fall"), [(50.0, 0.01), (0.0, 1e-8)])
def test_the_objective_rises_at_every_step(pool, may_fall):
    """On all recordings always; on those with gold alone it may fall once settled, since noise is drawn to a pool."""
    seen = []
    for seed in (0, 3):
        data, truth = rotated(seed)
        data = data._replace(y=(data.y - data.y.mean(axis=0)) / data.y.std(axis=0))
        gold = np.where(np.arange(len(truth))[:, None] < 150, truth, np.nan)
        settings, objective = GoldSettings(W=4, pool=pool), []
        fit = fit_with_gold(data, gold, settings, watch=lambda i, p, value, to=objective: to.append(value))
        assert fit.trace.iterations == settings.max_iter
        assert np.diff(fit.trace.objective).min() > 0.0
        alone = np.diff(objective[: settings.gold_iter])
        assert alone.min() > -may_fall
        assert alone.sum() > 1000.0
        seen.append(alone.min())
    assert (min(seen) < -1e-5) == (pool > 0)


def test_gold_in_other_units_gives_other_units():
    data, truth = rotated()
    gold = np.where(np.arange(len(truth))[:, None] < 150, truth, np.nan)
    first = fit_with_gold(data, gold, GoldSettings(W=4, max_iter=5))
    second = fit_with_gold(data, 100.0 * gold - 3.0, GoldSettings(W=4, max_iter=5))
    np.testing.assert_allclose(second.mean, 100.0 * first.mean - 3.0, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(second.sd, 100.0 * first.sd, rtol=1e-6)


def test_recordings_with_gold_are_picked():
    data, truth = rotated(M=3)
    gold = np.full_like(truth, np.nan)
    gold[160] = truth[160]
    part, known = with_known(data, gold)
    assert part.length.tolist() == [150]
    np.testing.assert_array_equal(part.y, data.y[5 * 150 : 10 * 150])
    assert np.isfinite(known).sum() == 2


def test_memory_of_the_gold():
    data, _ = rotated(M=2)
    known = np.full((300, 2), np.nan)
    known[:4, 0] = [1.0, 1.0, 1.0, -1.0]
    np.testing.assert_allclose(gold_memory(data, known), 1 / 3)
    known[149:151, 1] = 5.0  # neighbours in the table, not in time
    np.testing.assert_allclose(gold_memory(data, known), 1 / 3)
    assert gold_memory(data, np.full((300, 2), np.nan)) == 0.0
