"""The truth by labels alone, and its mixture with what groups say."""

import numpy as np
from scipy.stats import multivariate_normal

from unisono.maths.groups.group_labels import LabelsAlone, labels_alone, mixed, told_by_labels


def drawn(seed=0, n=60, D=2):
    """Labels with missing numbers, their noise, and what they were drawn from."""
    rng = np.random.default_rng(seed)
    mu, Sigma = np.array([0.5, -1.0]), np.array([[1.0, 0.4], [0.4, 0.6]])
    noise = rng.uniform(0.1, 0.5, (n, D))
    label = rng.multivariate_normal(mu, Sigma, n) + np.sqrt(noise) * rng.normal(size=(n, D))
    missing = rng.random((n, D)) < 0.2
    missing[:, 0] &= ~missing[:, 1]
    return np.where(missing, np.nan, label), np.where(missing, np.nan, noise), mu, Sigma


def penalised(label, noise, mu, Sigma, target, imaginary):
    """Log likelihood of the labels with the log prior of Sigma."""
    total = -0.5 * imaginary * (np.linalg.slogdet(Sigma)[1] + np.trace(np.linalg.solve(Sigma, target)))
    for y, v in zip(label, noise, strict=True):
        at = np.flatnonzero(np.isfinite(y))
        if len(at):
            total += multivariate_normal.logpdf(y[at], mu[at], Sigma[np.ix_(at, at)] + np.diag(v[at]))
    return total


def test_mean_and_covariance_are_the_most_probable():
    label, noise, mu, Sigma = drawn()
    target = np.diag([0.8, 0.8])
    found = labels_alone(label, noise, np.zeros(2), target, 5.0)
    best = penalised(label, noise, *found, target, 5.0)
    assert best > penalised(label, noise, mu, Sigma, target, 5.0)
    rng = np.random.default_rng(1)
    for _ in range(20):
        step = 0.05 * rng.normal(size=(2, 2))
        near = LabelsAlone(found.mu + 0.05 * rng.normal(size=2), found.Sigma + step @ step.T)
        assert penalised(label, noise, *near, target, 5.0) < best


def test_a_dimension_without_labels_stays_where_it_is_expected():
    label, noise, _, _ = drawn()
    label[:, 1], noise[:, 1] = np.nan, np.nan
    found = labels_alone(label, noise, np.array([0.0, 0.3]), np.eye(2), 5.0)
    np.testing.assert_allclose(found.mu[1], 0.3, atol=0.3)
    assert np.isfinite(found.Sigma).all()


def test_a_mixture_has_the_mean_and_covariance_of_draws_from_it():
    label, noise, mu, Sigma = drawn(n=3)
    alone, belief, rng = LabelsAlone(mu, Sigma), 0.3, np.random.default_rng(2)
    mean, cov = rng.normal(size=(3, 2)), np.tile(0.2 * np.eye(2), (3, 1, 1))
    own, own_cov = told_by_labels(label, noise, alone)
    own_cov = own_cov + own_cov @ np.linalg.inv(Sigma) @ own_cov / 3
    found, spread = mixed(mean, cov, belief, label, noise, alone, 3)
    for m in range(3):
        first = rng.random(200_000) < belief
        draws = np.where(
            first[:, None],
            rng.multivariate_normal(mean[m], cov[m], len(first)),
            rng.multivariate_normal(own[m], own_cov[m], len(first)),
        )
        np.testing.assert_allclose(found[m], draws.mean(axis=0), atol=0.02)
        np.testing.assert_allclose(spread[m], np.cov(draws.T), atol=0.03)


def test_labels_tell_of_their_own_items_alone():
    label, noise, mu, Sigma = drawn(n=4)
    label[0], noise[0] = np.nan, np.nan
    mean, cov = told_by_labels(label, noise, LabelsAlone(mu, Sigma))
    np.testing.assert_allclose(mean[0], mu)
    np.testing.assert_allclose(cov[0], Sigma)
    at = np.flatnonzero(np.isfinite(label).all(axis=1))[0]
    gain = Sigma @ np.linalg.inv(Sigma + np.diag(noise[at]))
    np.testing.assert_allclose(mean[at], mu + gain @ (label[at] - mu))
    np.testing.assert_allclose(cov[at], Sigma - gain @ Sigma)
