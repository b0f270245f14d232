"""The level of the truth is that of the population annotators come from, by least squares of their biases."""

import numpy as np

from unisono.maths.items.annotator_rows import FLIPPED_CLASS, SPAMMER_CLASS, usual_classes
from unisono.maths.items.bayes_bound import Hyper
from unisono.maths.items.item_params import ItemParams
from unisono.maths.items.truth_level import population_level

C = np.diag([0.3, 0.2])


def posterior_of_biases(true, error, tie):
    """Parameters whose biases are the posterior means of `true` (K, 2), seen with error variances `error` (K, 2)."""
    K, before = len(true), tie[:, None] / np.diagonal(C)
    B, cov = np.tile(np.eye(2, 3), (K, 1, 1)), np.zeros((K, 2, 3, 3))
    cov[:, :, 2, 2] = 1 / (before + 1 / error)
    B[:, :, 2] = cov[:, :, 2, 2] * true / error
    return ItemParams(B, np.tile(np.eye(2), (K, 1, 1)), np.zeros((0, 2)), np.zeros(2), np.eye(2), cov)


def hyper_of(tie, classes):
    one = np.ones(len(tie))
    return Hyper(50.0, 100.0, one, C, tie, 1.0, np.zeros(0), one, np.eye(2), np.ones(2), classes)


def drawn(K=7, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(K, 2)), rng.uniform(0.01, 1.0, size=(K, 2)), rng.uniform(0.3, 1.2, size=K)


def test_the_level_is_that_of_least_squares():
    seen, error, tie = drawn()
    params = posterior_of_biases(seen, error, tie)
    found = population_level(
        params, hyper_of(tie, usual_classes(7, 2)), np.array([0.4, -2.0]), *2 * [np.ones(7, dtype=bool)]
    )
    weight = 1 / (np.diagonal(C) / tie[:, None] + error)
    np.testing.assert_allclose(found.at, (weight * seen).sum(axis=0) / weight.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.cov, 12 / 10 * np.diag(1 / weight.sum(axis=0)), rtol=1e-9)
    assert found.freedom == 11


def test_spammers_and_the_flipped_have_no_say_and_who_rated_nothing_neither():
    seen, error, tie = drawn()
    seen[:3] += 50.0
    params, classes = posterior_of_biases(seen, error, tie), usual_classes(7, 2)
    classes[0], classes[1] = np.eye(3)[SPAMMER_CLASS], np.eye(3)[FLIPPED_CLASS]
    rated = np.arange(7) != 2
    found = population_level(params, hyper_of(tie, classes), np.zeros(2), rated, rated)
    others = ItemParams(*(p[3:] if i in (0, 1, 5) else p for i, p in enumerate(params)))
    alone = population_level(others, hyper_of(tie[3:], classes[3:]), np.zeros(2), *2 * [np.ones(4, dtype=bool)])
    np.testing.assert_allclose(found.at, alone.at, rtol=1e-9)
    # The covariance of biases is that of everybody: of those who follow it is as much smaller as their biases are.
    own = params.cov[:, :, 2, 2]
    told = 1 - own * tie[:, None] / np.diagonal(C)
    squares = tie[:, None] * ((params.b - told * found.at) ** 2 + own)
    share = squares[3:].mean(axis=0) / squares[rated].mean(axis=0)
    assert share.max() < 0.01
    np.testing.assert_allclose(np.diagonal(found.cov), share * np.diagonal(alone.cov), rtol=1e-9)
    assert found.freedom == alone.freedom == 8


def test_where_nobody_follows_the_truth_nobody_tells_the_level():
    seen, error, tie = drawn()
    params = posterior_of_biases(seen, error, tie)
    params = params._replace(B=np.where(np.eye(2, 3) > 0, -1.0, params.B))
    everybody = np.ones(7, dtype=bool)
    assert population_level(params, hyper_of(tie, usual_classes(7, 2)), np.zeros(2), everybody, everybody) is None


def test_one_answer_more_or_a_thousand_hardly_matters_to_the_say_of_somebody():
    seen, error, _ = drawn()
    hyper, everybody = hyper_of(np.ones(7), usual_classes(7, 2)), np.ones(7, dtype=bool)
    error[:] = 0.01
    seen[0] = 3.0
    level = population_level(posterior_of_biases(seen, error, np.ones(7)), hyper, np.zeros(2), everybody, everybody).at
    error[0] = 1e-6  # a thousand times as many answers
    busy = population_level(posterior_of_biases(seen, error, np.ones(7)), hyper, np.zeros(2), everybody, everybody).at
    np.testing.assert_allclose(busy, level, atol=0.03)
