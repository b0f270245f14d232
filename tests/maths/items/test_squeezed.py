"""Stretched estimates stay inside the scale and keep their order."""

import numpy as np
import polars as pl
from scipy.special import ndtr

import unisono as un
from unisono.maths.items.item_data import Bounds
from unisono.maths.items.item_estimates import squeezed
from unisono.maths.items.item_priors import END_MARGIN

ENDS = Bounds(np.array([-2.0, -np.inf, -np.inf]), np.array([3.0, 1.0, np.inf]))


def test_the_order_stays_and_no_estimate_leaves_the_scale_nor_lies_on_its_end():
    x = np.linspace(-2.4, 3.4, 301)[:, None] * np.ones(3)
    found = squeezed(x, ENDS)
    assert (np.diff(found[:, 0]) > 0).all()
    assert (found[:, 0] > -2).all()
    assert (found[:, 0] < 3).all()
    assert (np.diff(found[x[:, 1] < 1.3][:, 1]) > 0).all()
    assert (found[:, 1] <= 1).all()
    np.testing.assert_array_equal(found[:, 2], x[:, 2])


def test_only_what_is_beside_an_end_moves_and_never_by_more_than_it_has_to():
    x, w = np.linspace(-2.0, 3.0, 501)[:, None] * np.ones(3), END_MARGIN
    found = squeezed(x, ENDS)[:, 0]
    inside = (x[:, 0] >= -2 + w) & (x[:, 0] <= 3 - w)
    np.testing.assert_allclose(found[inside], x[inside, 0], rtol=0, atol=1e-12)
    assert np.abs(found - x[:, 0]).max() <= w / np.e * (1 + 1e-9)
    turned = squeezed(-x[:, :1], Bounds(np.array([-3.0]), np.array([2.0])))
    np.testing.assert_allclose(turned[:, 0], -found, atol=1e-12)


def test_where_one_end_is_says_nothing_of_estimates_beside_the_other():
    """Answers from 0 to 100 are on that scale; the same times a thousand have no end where nobody has been."""
    x = np.linspace(0.5, 1.4, 91)[:, None]
    near, far, none = (squeezed(x, Bounds(np.array([low]), np.array([1.0]))) for low in (-2.0, -20.0, -np.inf))
    np.testing.assert_array_equal(near, far)
    np.testing.assert_array_equal(near, none)


def test_a_scale_narrower_than_two_margins_keeps_the_order():
    x = np.linspace(-0.1, 0.2, 301)[:, None]
    assert (np.diff(squeezed(x, Bounds(np.array([0.0]), np.array([0.12]))), axis=0) >= -1e-15).all()


def test_the_best_of_a_fit_do_not_all_get_the_highest_value():
    rng = np.random.default_rng(0)
    truth = 100 - 12 * rng.gamma(0.6, size=120)
    m, k = np.divmod(np.arange(240), 2)
    y = np.clip(np.round(truth[m] + 8 * rng.normal(size=240)), 0, 100)
    frame = pl.DataFrame({"item": [f"i{i:03d}" for i in m], "annotator": [f"a{a}" for a in k], "x": y})
    fused = un.fuse(frame, panel=1.0).fused.mean[:, 0]  # stretched to the spread of single answers
    assert fused.max() < 100
    means = y.reshape(-1, 2).mean(axis=1)
    assert len(np.unique(np.round(fused, 6))) >= len(np.unique(means))


def test_where_most_answers_are_the_best_one_intervals_are_narrow_and_hold_the_truth():
    """Thresholds of which the highest lies far below the middle: most answer 5, and the best items differ little."""
    rng = np.random.default_rng(3)
    cuts, inside, width = np.array([-2.5, -2.1, -1.7, -0.9]), [], []
    for _ in range(4):
        truth, k = rng.normal(size=60), np.concatenate([rng.choice(12, 4, replace=False) for _ in range(60)])
        m = np.repeat(np.arange(60), 4)
        bias, noise = 0.4 * rng.normal(size=12), 0.6
        mind = truth[m] + bias[k] + noise * rng.normal(size=240)
        y = 1.0 + (mind[:, None] > cuts).sum(axis=1)
        expected = 1 + ndtr((truth[:, None] - cuts) / np.hypot(0.4, noise)).sum(axis=1)
        frame = pl.DataFrame({"item": [f"i{i:02d}" for i in m], "annotator": [f"a{a:02d}" for a in k], "x": y})
        low, high = (end[:, 0] for end in un.fuse(frame).fused.interval())
        inside.append((low <= expected) & (expected <= high))
        order = np.argsort(expected)
        width.append([(high - low)[order[40:]].mean(), (high - low)[order[:20]].mean()])
    assert 0.82 < np.mean(inside) < 0.95
    best, worst = np.mean(width, axis=0)
    assert best < worst / 2
