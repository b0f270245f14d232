"""Ordinal ratings: moments, masses and priors equal quadrature, thresholds climb to the top, and stay in order."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from unisono.maths.items.latent_ratings import (
    POOL_RATINGS,
    Numbers,
    Thresholds,
    interval,
    normal_scores,
    pool_thresholds,
    truncated_between,
)

SHARES = np.array([0.1, 0.2, 0.15, 0.25, 0.3])
BOUNDS = [(-np.inf, -0.7), (-0.4, 0.9), (1.5, np.inf), (2.5, 4.0), (-6.0, -5.0), (-np.inf, np.inf)]


def integral(function, low, high):
    return integrate.quad(function, max(low, -40), min(high, 40), epsabs=1e-14, epsrel=1e-13, limit=400, points=[0])[0]


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_moments_between_two_bounds_equal_quadrature(low, high):
    cut = interval(np.array([low]), np.array([high]))
    mass = integral(stats.norm.pdf, low, high)
    assert cut.log_mass[0] == pytest.approx(np.log(mass), abs=1e-8)
    mean, variance, entropy = (part[0] for part in truncated_between(cut))
    expected = integral(lambda x: x * stats.norm.pdf(x) / mass, low, high)
    assert mean == pytest.approx(expected, abs=1e-8)
    assert variance == pytest.approx(
        integral(lambda x: (x - expected) ** 2 * stats.norm.pdf(x) / mass, low, high), abs=1e-8
    )
    surprise = integral(lambda x: stats.norm.pdf(x) / mass * (np.log(mass) - stats.norm.logpdf(x)), low, high)
    assert entropy == pytest.approx(surprise, abs=1e-8)


def test_far_out_in_a_tail_everything_stays_finite():
    low, high = np.array([30.0, -45.0, 60.0]), np.array([31.0, -44.0, np.inf])
    cut = interval(low, high)
    assert np.isfinite(cut.log_mass).all()
    assert all(np.isfinite(part).all() for part in truncated_between(cut))


def test_scores_are_the_means_of_their_intervals():
    edges = np.concatenate([[-np.inf], pool_thresholds(SHARES), [np.inf]])
    np.testing.assert_allclose(np.diff(stats.norm.cdf(edges)), SHARES, rtol=1e-12)
    means = [
        integral(lambda x, s=s: x * stats.norm.pdf(x) / s, a, b)
        for a, b, s in zip(edges, edges[1:], SHARES, strict=False)
    ]
    np.testing.assert_allclose(normal_scores(SHARES), means, atol=1e-8)


def reading(sd=1.3):
    return Thresholds(sd * pool_thresholds(SHARES)[None], SHARES[None], np.array([sd]))


def numbers(seed=0, n=300, K=4):
    """Ratings of annotators with thresholds of their own, as scores, and what a model expects of them."""
    rng = np.random.default_rng(seed)
    who, center = rng.integers(K, size=n), rng.normal(size=n)
    own = np.sort(1.3 * pool_thresholds(SHARES) + 0.3 * rng.normal(size=(K, 4)), axis=1)
    category = (center[:, None] + 0.5 * rng.normal(size=(n, 1)) > own[who]).sum(axis=1)
    return Numbers(np.arange(n), 1.3 * normal_scores(SHARES)[category], who, center, np.full(n, 0.5)), category


def objective(tau, category, given, sd=1.3):
    """eq. O3 of one annotator, term by term."""
    edges = np.concatenate([[-np.inf], tau, [np.inf]])
    mass = stats.norm.cdf((edges[category + 1] - given.center) / given.sd)
    mass -= stats.norm.cdf((edges[category] - given.center) / given.sd)
    own = np.diff(stats.norm.cdf(edges / sd))
    if (np.diff(tau) <= 0).any():
        return -np.inf
    return np.log(mass).sum() + POOL_RATINGS * (SHARES * np.log(own / SHARES)).sum()


def test_thresholds_climb_to_the_top_of_the_bound():
    given, category = numbers()
    model, found, last = reading(), reading().start(4)[:, 0], None
    for _ in range(12):
        read = model.read(0, given, found, learn=True)
        masses = read.entropy  # with the expected squares, the bound's part; eq. O3 has both in one
        total = sum(objective(tau, category[given.annotator == k], _of(given, k)) for k, tau in enumerate(read.shape))
        assert last is None or total >= last - 1e-9
        assert np.isfinite(masses)
        last, found = total, read.shape
    for k in range(4):
        best = optimize.minimize(
            lambda inner, k=k: (
                -objective(
                    np.concatenate([found[k, :1], inner, found[k, -1:]]), category[given.annotator == k], _of(given, k)
                )
            ),
            found[k, 1:-1] + 0.05,
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
        )
        np.testing.assert_allclose(found[k, 1:-1], best.x, atol=1e-6)
    # The outer ones hold the scale.
    np.testing.assert_array_equal(found[:, [0, -1]], model.start(4)[:, 0][:, [0, -1]])


def _of(given, k):
    at = given.annotator == k
    return Numbers(*(part[at] for part in given))


def test_the_prior_is_that_of_imaginary_ratings_and_highest_at_the_pool():
    given, _ = numbers()
    model = reading()
    assert model.read(0, given, model.start(4)[:, 0], learn=False).log_prior == pytest.approx(0, abs=1e-12)
    moved = model.start(4)[:, 0] + np.array([0, 0.2, -0.1, 0])
    own = np.diff(stats.norm.cdf(np.concatenate([[-np.inf], moved[0], [np.inf]]) / 1.3))
    expected = 4 * POOL_RATINGS * (SHARES * np.log(own / SHARES)).sum()
    assert model.read(0, given, moved, learn=False).log_prior == pytest.approx(expected, abs=1e-8)
    assert expected < 0


def test_an_annotator_who_never_gives_an_answer_keeps_thresholds_in_order():
    given, category = numbers(n=400)
    used = category != 2
    given = Numbers(*(part[used] for part in given))
    model, found = reading(), reading().start(4)[:, 0]
    for _ in range(20):
        found = model.read(0, given, found, learn=True).shape
    assert (np.diff(found, axis=1) > 0).all()
