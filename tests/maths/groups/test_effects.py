"""How well effects of covariates on whole groups are known."""

import numpy as np

from group_cases import random_params, random_ratings
from unisono.maths.groups.group_estep import coefficients
from unisono.maths.groups.group_labels import common_effect_variance


def test_effects_on_a_group_are_known_from_labels_and_from_inside_items():
    rng = np.random.default_rng(0)
    G, K, M, D = 3, 9, 30, 2
    data, (value, item_of, annotator_of, x) = random_ratings(rng, G, K, M, D, covariates=2)
    params = random_params(rng, G, K, D, X=3)
    learned = np.arange(G) > 0
    found = common_effect_variance(data, params, learned)
    assert found.shape == (G, D, 2)
    np.testing.assert_array_equal(found[0], 0)
    noise, given = params.noise(data.group), coefficients(data, params).ff
    for g in (1, 2):
        N = noise[data.group == g].mean(axis=0)
        for d in range(D):
            for p in range(2):
                within, means, weights = 0.0, [], []
                for m in range(M):
                    here = (item_of == m) & ~np.isnan(value[:, d])
                    own = x[here & (data.group[annotator_of] == g), p]
                    if not len(own):
                        continue
                    within += np.sum((own - own.mean()) ** 2) / N[d]
                    judged = (item_of == m) & (data.group[annotator_of] == 0)
                    if not judged.any():
                        continue
                    Q = np.zeros((D, D))
                    for n in np.flatnonzero(judged):
                        Q += np.diag(np.where(np.isnan(value[n]), 0.0, given[annotator_of[n]]))
                    V = np.linalg.inv(np.linalg.inv(params.Sigma) + Q)
                    A = params.A[g, d]
                    means.append(own.mean())
                    weights.append(1 / (params.S[g, d, d] + N[d] / len(own) + A @ V @ A))
                middle = np.average(means, weights=weights)
                expected = 1 / (within + np.sum(np.array(weights) * (np.array(means) - middle) ** 2))
                np.testing.assert_allclose(found[g, d, p], expected, rtol=1e-9)
