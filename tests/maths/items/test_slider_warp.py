"""Sliders with a private warp: its part of the bound equals the formula, and it climbs to the top."""

import numpy as np
import pytest
from scipy import integrate, optimize

from unisono.maths.items.slider_warp import FEWEST_RATINGS, STRAIGHT_RATINGS, Sliders, Warp, pooled_knots

KNOTS = np.array([-2.0, -0.8, 0.1, 0.9, 2.0])
STRAIGHT = np.diff(KNOTS) / 4


def sliders(seed=0, K=2, n=400):
    """Annotator 0 bends the scale, annotator 1 does not; sliders from -2 to 2."""
    rng = np.random.default_rng(seed)
    center = rng.uniform(-1.9, 1.9, size=n)
    who = np.arange(n) % K
    z = np.clip(center + 0.2 * rng.normal(size=n), -2, 2)
    bent = 4 * ((z + 2) / 4) ** 2 - 2
    return Sliders(np.arange(n), np.where(who == 0, bent, z), who, center, np.full(n, 0.2))


def line(p, y):
    """The broken line with shares p of the range, by adding up its slopes."""
    return np.interp(y, KNOTS, KNOTS[0] + 4 * np.concatenate([[0], np.cumsum(p)]))


def objective(p, given):
    """eq. W2 of one annotator, rating by rating."""
    if np.min(p) <= 0:
        return -np.inf
    slope = (p / STRAIGHT)[np.clip(np.searchsorted(KNOTS, given.y, side="right") - 1, 0, 3)]
    square = ((line(p, given.y) - given.center) / given.sd) ** 2
    return (np.log(slope) - square / 2).sum() + STRAIGHT_RATINGS * (STRAIGHT * np.log(p / STRAIGHT)).sum()


def of(given, k):
    at = given.annotator == k
    return Sliders(*(part[at] for part in given))


def test_shares_climb_to_the_top_of_the_bound():
    given, model = sliders(), Warp(KNOTS[None])
    found, last = model.start(2)[:, 0], -np.inf
    for _ in range(15):
        found = model.learn(0, given, found)
        latent, log_density = model.latent(0, given.y, given.annotator, found)
        total = sum(objective(found[k], of(given, k)) for k in range(2))
        square = (((latent - given.center) / given.sd) ** 2).sum() / 2
        assert log_density - square == pytest.approx(total, abs=1e-8)
        assert total >= last - 1e-9
        last = total
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    for k in range(2):
        best = optimize.minimize(
            lambda free, k=k: -objective(np.append(free, 1 - free.sum()), of(given, k)),
            found[k, :3] + 0.01,
            method="Nelder-Mead",
            options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000},
        )
        np.testing.assert_allclose(found[k, :3], best.x, atol=1e-6)


def test_the_warp_of_one_who_bends_the_scale_is_found_and_the_other_is_left_alone():
    given, model = sliders(), Warp(KNOTS[None])
    found = model.start(2)[:, 0]
    for _ in range(15):
        found = model.learn(0, given, found)
    inverse = 2 * np.sqrt(KNOTS[1:-1] + 2) - 2  # of y = 4 ((z + 2) / 4)^2 - 2
    np.testing.assert_allclose(line(found[0], KNOTS[1:-1]), inverse, atol=0.3)  # a straight line is off it by about 1
    np.testing.assert_allclose(line(found[1], KNOTS[1:-1]), KNOTS[1:-1], atol=0.1)


def test_densities_of_ratings_integrate_to_that_of_the_numbers_behind():
    """The logarithms of slopes are what makes a density of the rating out of one of y*."""
    model, shares = Warp(KNOTS[None]), np.array([[0.4, 0.3, 0.2, 0.1]])

    def density(y):
        latent, log_density = model.latent(0, np.array([y]), np.zeros(1, int), shares)
        log_slopes = log_density - STRAIGHT_RATINGS * (STRAIGHT * np.log(shares[0] / STRAIGHT)).sum()
        return np.exp(log_slopes - ((latent[0] - 0.3) / 0.4) ** 2 / 2) / (0.4 * np.sqrt(2 * np.pi))

    total = sum(
        integrate.quad(density, a, b, epsabs=1e-12)[0] for a, b in zip(KNOTS[:-1], KNOTS[1:] - 1e-12, strict=True)
    )
    expected = integrate.quad(lambda z: np.exp(-(((z - 0.3) / 0.4) ** 2) / 2) / (0.4 * np.sqrt(2 * np.pi)), -2, 2)[0]
    assert total == pytest.approx(expected, abs=1e-8)


def test_with_fewer_ratings_than_it_takes_nothing_is_learned():
    given, model = sliders(n=2 * FEWEST_RATINGS - 2), Warp(KNOTS[None])
    found = model.learn(0, given, model.start(2)[:, 0])
    np.testing.assert_array_equal(found, model.start(2)[:, 0])
    np.testing.assert_allclose(model.latent(0, given.y, given.annotator, found)[0], given.y, atol=1e-12)


def test_knots_hold_equal_shares_of_the_ratings_and_never_coincide():
    y = np.random.default_rng(0).normal(size=5000)
    knots = pooled_knots(y, -5.0, 5.0)
    np.testing.assert_allclose(np.histogram(y, knots)[0], 1000, atol=2)
    piled = pooled_knots(np.r_[np.zeros(4000), y], -5.0, 5.0)
    assert (np.diff(piled) > 0).all()
