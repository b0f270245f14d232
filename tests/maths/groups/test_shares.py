"""Labels choose how much error a group is expected to share."""

import numpy as np
import pytest
from scipy.stats import multivariate_t

from group_cases import random_params, random_ratings, simulated_panel
from unisono.maths.groups.group_fit import assembled, fit_best, fit_groups, label_score
from unisono.maths.groups.group_labels import Learned, without_labels
from unisono.maths.groups.group_priors import JUDGES, REFERENCE, GroupPriors
from unisono.maths.items.item_data import no_features


def test_the_score_of_labels_is_the_log_density_of_a_student_t():
    rng = np.random.default_rng(0)
    D = 3
    data, _ = random_ratings(rng, 3, 9, 25, D, missing=0.4)
    params = random_params(rng, 3, 9, D)
    root = rng.normal(size=(D + 1, D + 1))
    learned = Learned(
        root @ root.T / 50, 2.5, 7.0, np.full(D, np.nan), np.ones(D), 12, np.zeros(D), np.eye(D), np.zeros(D, bool)
    )
    found = without_labels(data, params)
    total, patterns = 0.0, set()
    for m in range(data.M):
        seen = np.isfinite(found.label[m])
        if not seen.any():
            continue
        patterns.add(tuple(seen))
        x = np.append(found.mean[m] - params.mu, 1.0)
        leverage = x @ learned.inverse @ x
        away = (found.label[m] - found.mean[m])[seen] / (1 - found.weight[m] * leverage)
        shape = found.cov[m] * (1 + leverage) * (1 + learned.spent / learned.freedom) + np.diag(found.label_noise[m])
        total += multivariate_t.logpdf(away, shape=shape[np.ix_(seen, seen)], df=learned.freedom)
    assert len(patterns) > 2
    np.testing.assert_allclose(label_score(data, params, learned), total, rtol=1e-10)


@pytest.mark.parametrize(("shared", "expected"), [(0.0, {0.1, 0.03}), (0.7, {0.65})])
def test_labels_choose_among_expected_shares(shared, expected):
    chosen = []
    for seed in range(4):
        panel = simulated_panel(seed, labels=60, shared=shared)
        starts = (
            assembled(
                *panel.ratings,
                panel.group,
                no_features(panel.M),
                reference=True,
                kinds=(REFERENCE, JUDGES._replace(shared=share)),
                priors=GroupPriors(),
            )
            for share in JUDGES.tried
        )
        seen = []

        def watched(start, *_, seen=seen):
            seen.append(start.settings.kinds[1].shared)

        found = fit_best(starts, tol=1e-3, max_iter=300, on_step=watched)
        # The first that is worse ends the search.
        assert list(dict.fromkeys(seen)) == list(JUDGES.tried[: len(set(seen))])
        assert len(set(seen)) >= 3 if shared == 0 else len(set(seen)) == 2
        chosen.append(found.start.settings.kinds[1].shared)
        # The best one goes on where it was compared, to where it would have come by itself.
        assert found.trace.converged
        alone = fit_groups(found.start.data, found.start.state, found.start.settings, tol=1e-3, max_iter=300)[0]
        np.testing.assert_allclose(found.state.mean, alone.mean, atol=1e-12)
        whole = assembled(
            *panel.ratings,
            panel.group,
            no_features(panel.M),
            reference=True,
            kinds=found.start.settings.kinds,
            priors=GroupPriors(),
        )
        whole = fit_groups(whole.data, whole.state, whole.settings, tol=1e-3, max_iter=300)[0]
        np.testing.assert_allclose(found.state.mean, whole.mean, atol=0.02)
    assert set(chosen) <= expected
