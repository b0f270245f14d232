"""Label switching: whatever was permuted and flipped is put right, and nothing else is touched."""

from itertools import permutations, product

import numpy as np

from unisono.maths.metrics import best_switch, ccc


def test_a_permuted_and_flipped_truth_is_put_right():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(60, 3))
    estimate = truth + 0.3 * rng.normal(size=truth.shape)
    for order, signs in product(permutations(range(3)), product([1, -1], repeat=3)):
        mixed = (estimate * signs)[:, order]
        np.testing.assert_allclose(best_switch(mixed, truth).apply(mixed), estimate)


def test_the_assignment_has_the_highest_sum_of_all():
    rng = np.random.default_rng(1)
    for _ in range(5):
        estimate, known = rng.normal(size=(20, 3)), rng.normal(size=(20, 3))

        def total(order, signs, a=estimate, b=known):
            return sum(ccc(s * a[:, e], b[:, d]) for d, (e, s) in enumerate(zip(order, signs, strict=True)))

        best = max(total(o, s) for o, s in product(permutations(range(3)), product([1, -1], repeat=3)))
        found = best_switch(estimate, known)
        assert np.isclose(total(found.order, found.sign), best)


def test_fewer_known_dimensions_than_estimated_ones():
    rng = np.random.default_rng(2)
    truth = rng.normal(size=(40, 3))
    found = best_switch(-truth, truth[:, [2, 0]])
    assert found.order.tolist() == [2, 0]
    assert found.sign.tolist() == [-1, -1]
