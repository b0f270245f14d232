"""Ratings at the end of the scale: moments equal SciPy's, the E-step the naive reference, and the truth gets better."""

import numpy as np
import pytest
from scipy import integrate, stats

from item_cases import climb, data_of, default_settings, random_case, random_raters
from reference import naive_ends
from unisono.maths.items import censored_estep
from unisono.maths.items.bayes_start import bayes_start
from unisono.maths.items.censored_answers import EndAnswers, Typical, answer_slope, expected_answer, truncated_above
from unisono.maths.items.item_data import Bounds, Cuts, prepare
from unisono.maths.items.item_estep import completed_posterior, expectation, posterior

BOUNDS = Bounds(np.array([0.1, -np.inf]), np.array([2.0, 1.0]))  # missing answers, kept as 0, lie beyond one
CUTS = Cuts(*BOUNDS, *Bounds(np.full(2, -np.inf), np.full(2, np.inf)), np.ones(2))
NOWHERE = Bounds(np.full(2, -np.inf), np.full(2, np.inf))
ENDS = EndAnswers(np.array([-0.9, -np.inf]), np.array([2.5, 1.0]), np.array([0.4, 0.0]), np.ones(2))


def clipped_case(missing, **changes):
    """Random parameters, and ratings cut off at BOUNDS, with every item's judgements beside."""
    case = random_case(2, seed=5, missing=missing, subset=True, M=30, **changes)
    value = np.clip(case.data.value, *BOUNDS)
    data = prepare(value, case.data.item_of, case.data.annotator_of, case.data.scores, case.data.K)
    naive = [[(k, np.clip(y, *BOUNDS)) for k, y in judgements] for judgements in case.naive_y]
    return data._replace(cuts=CUTS), case.params, naive


def test_truncated_moments_equal_scipys():
    center, sd, bound = np.array([-2.0, 0.0, 1.5, 4.0]), np.array([0.5, 1.0, 2.0, 1.0]), 1.0
    law = stats.truncnorm(-np.inf, (bound - center) / sd, loc=center, scale=sd)
    found = truncated_above(center, sd, bound)
    np.testing.assert_allclose(found.mean, law.mean(), rtol=1e-9)
    np.testing.assert_allclose(found.variance, law.var(), rtol=1e-7)


def test_the_entropy_of_a_cut_off_normal_equals_quadrature():
    center, sd, bound = np.array([-2.0, 0.0, 1.5, 4.0]), np.array([0.5, 1.0, 2.0, 1.0]), 1.0
    found = truncated_above(center, sd, bound).entropy
    for c, s, entropy in zip(center, sd, found, strict=True):
        mass = stats.norm.cdf((bound - c) / s)

        def surprise(x, c=c, s=s, mass=mass):
            density = stats.norm.pdf(x, c, s) / mass
            return -density * np.log(density)

        expected = integrate.quad(surprise, min(c, bound) - 12 * s, bound, epsabs=1e-12, epsrel=1e-12, limit=200)[0]
        assert entropy == pytest.approx(expected, abs=1e-8)


def test_far_beyond_the_bound_the_moments_stay_sensible():
    mean, variance, entropy = truncated_above(np.array([60.0, 1e4]), np.ones(2), 0.0)
    assert np.isfinite(entropy).all()
    near = truncated_above(np.array([29.99, 30.01]), np.ones(2), 0.0).variance
    assert near[1] == pytest.approx(near[0], rel=2e-3)  # the series takes over where the formula ends
    assert ((mean > -0.1) & (mean <= 0)).all()
    assert ((variance > 0) & (variance <= 1e-3)).all()


@pytest.mark.parametrize("weight", [1.0, 0.4])
def test_the_slope_of_the_expected_answer_is_its_derivative(weight):
    ends = ENDS._replace(weight=np.array([weight, 1.0]))
    mean, variance, h = (
        np.array([[-2.5, 0.3], [0.1, 1.4], [2.9, -9.0]]),
        np.array([[0.5, 1.2], [2.0, 0.1], [0.3, 1]]),
        1e-5,
    )
    numeric = (expected_answer(mean + h, variance, ends) - expected_answer(mean - h, variance, ends)) / (2 * h)
    np.testing.assert_allclose(answer_slope(mean, variance, ends), numeric, atol=1e-9)


def test_errors_of_answers_are_those_of_truths_times_the_slope_whatever_the_unit_of_the_truth():
    typical = Typical(ENDS, np.array([0.4, np.inf]), np.ones(2), np.zeros(2))
    mean, cov = np.array([[2.4, 0.9], [0.2, -1.0]]), np.array([[[0.5, 0.2], [0.2, 0.3]]] * 2)
    variance = np.diagonal(cov, axis1=1, axis2=2)
    found = typical.narrowed(cov, mean, variance)
    slope = answer_slope(mean, variance + 0.4, ENDS)[:, 0]
    np.testing.assert_allclose(found[:, 0, 0], slope**2 * 0.5)
    np.testing.assert_allclose(found[:, 0, 1], slope * 0.2)
    np.testing.assert_allclose(found[:, 1, 1], 0.3)  # no typical annotators there
    assert slope[0] < 0.6 < 0.8 < slope[1] < 1
    scale, offset = np.array([3.0, 0.5]), np.array([1.0, -2.0])
    moved = typical.mapped(scale, offset)
    other = moved.narrowed(cov * scale[:, None] * scale, mean * scale + offset, variance * scale**2)
    np.testing.assert_allclose(other, found * scale[:, None] * scale)


def test_the_expected_answer_has_the_end_beyond_half_a_step_inside_it():
    mean, variance = np.array([[-2.5, 0.3], [0.1, 1.4]]), np.array([[0.5, 1.2], [2.0, 0.1]])
    found = expected_answer(mean, variance, ENDS)
    for m in range(2):
        for d in range(2):
            law, cuts = stats.norm(mean[m, d], np.sqrt(variance[m, d])), (ENDS.cuts.low[d], ENDS.cuts.high[d])
            inside = integrate.quad(lambda x, law=law: x * law.pdf(x), max(cuts[0], -20), cuts[1], epsabs=1e-12)[0]
            below = ENDS.low[d] * law.cdf(cuts[0]) if np.isfinite(cuts[0]) else 0.0
            assert found[m, d] == pytest.approx(below + inside + ENDS.high[d] * law.sf(cuts[1]), abs=1e-8)
    nowhere = EndAnswers(*NOWHERE, np.zeros(2), np.ones(2))
    np.testing.assert_allclose(expected_answer(mean, variance, nowhere), mean, rtol=1e-12)
    assert not nowhere.any
    answers = ENDS.answer(np.array([[-0.8, -3.0], [-0.6, 0.9], [2.31, 1.2]]))
    np.testing.assert_array_equal(answers, [[-0.9, -3.0], [-0.6, 0.9], [2.5, 1.0]])


def test_typical_answers_move_with_the_truth():
    typical = Typical(ENDS, np.array([0.3, np.inf]), np.ones(2), np.zeros(2))
    rng = np.random.default_rng(0)
    mean, variance = rng.normal(size=(5, 2)), rng.uniform(0.1, 1.0, size=(5, 2))
    found = typical.answer(mean, variance)
    np.testing.assert_array_equal(found[:, 1], mean[:, 1])  # an infinite spread: truths are what they are
    assert np.abs(found[:, 0] - mean[:, 0]).max() > 0.01
    scale, offset = np.array([2.0, 0.5]), np.array([1.0, -1.0])
    moved = typical.mapped(np.sqrt(scale), offset / 2).mapped(np.sqrt(scale), offset - np.sqrt(scale) * offset / 2)
    again = moved.answer(scale * mean + offset, scale**2 * variance)
    np.testing.assert_allclose(again, scale * found + offset, rtol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("with_cov", [False, True])
@pytest.mark.parametrize(("weight", "rounds"), [((1.0, 1.0), 12), ((0.6, 1.0), 12), ((0.6, 1.0), 0)])
def test_truths_and_the_numbers_behind_answers_equal_the_naive_reference(
    missing, with_cov, weight, rounds, monkeypatch
):
    """Whether they are found in turn, or after so many rounds together."""
    monkeypatch.setattr(censored_estep, "SETTLED", 1e-12)
    monkeypatch.setattr(censored_estep, "SECANT_ROUNDS", rounds)
    data, params, judgements = clipped_case(missing, with_cov=with_cov)
    data = data._replace(cuts=CUTS._replace(weight=np.array(weight)))
    found, read = completed_posterior(data, params)
    known = [
        naive_ends.item(params, prior, own, BOUNDS, weight=weight)
        for prior, own in zip(params.prior_mean(data.scores), judgements, strict=True)
    ]
    np.testing.assert_allclose(found.mean, [own.mean for own in known], rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.cov, [own.cov for own in known], rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.loglik, [own.bound for own in known], rtol=1e-8, atol=1e-8)
    numbers, variances = (np.vstack([y for own in known for y in part(own)]) for part in PARTS)
    np.testing.assert_allclose(read.value, numbers, rtol=0, atol=1e-8)
    at_end = variances > 0
    assert at_end.sum() > 20
    np.testing.assert_array_equal(read.value[~at_end], data.value[~at_end])
    # The sums follow, and allow for not knowing the numbers exactly; so do those of an E-step.
    y, spread = np.nan_to_num(numbers), np.nan_to_num(variances)
    Syy = np.zeros_like(data.Syy)
    for n, u in enumerate(data.profile_of):
        Syy[u] += np.outer(y[n], y[n]) + np.diag(spread[n])
    np.testing.assert_allclose(read.Syy, Syy, rtol=0, atol=1e-7)
    mean, stats_ = expectation(data, params)
    np.testing.assert_allclose(mean, found.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(data.Syy + stats_.Dyy, Syy, rtol=0, atol=1e-7)
    assert stats_.loglik == pytest.approx(found.loglik.sum(), rel=1e-10)
    again = expectation(read, params)[1]
    np.testing.assert_allclose(stats_.Sya, again.Sya, rtol=0, atol=1e-9)


PARTS = (lambda own: own.numbers, lambda own: own.variances)


def test_what_the_tolerance_leaves_of_the_bound_is_below_rounding(monkeypatch):
    data, params, _ = clipped_case(0.1)
    shipped = posterior(data, params).loglik
    monkeypatch.setattr(censored_estep, "SETTLED", 1e-13)
    exact = posterior(data, params).loglik
    assert (shipped <= exact + 1e-12).all()  # it is the highest bound
    assert exact.sum() - shipped.sum() < 1e-9 * np.abs(exact).sum()


def test_an_item_is_the_same_in_any_company():
    data, params, _ = clipped_case(0.2)
    whole = posterior(data, params)
    for m in (3, 11):
        rows = slice(data.item_ptr[m], data.item_ptr[m + 1])
        one = prepare(
            data.value[rows],
            np.zeros(rows.stop - rows.start, dtype=int),
            data.annotator_of[rows],
            data.scores._replace(Z=data.scores.Z[[m]]),
            data.K,
        )
        alone = posterior(one._replace(cuts=CUTS), params)
        np.testing.assert_allclose(alone.mean[0], whole.mean[m], rtol=0, atol=1e-13)


def hard_case(seed, D, tied):
    """Items that nearly all answer at an end: truths may be anywhere, and dimensions or errors are closely tied."""
    case = random_case(D, seed=seed, M=40, K=6, missing=0.1, subset=True, with_cov=seed % 2 == 1)
    close = np.full((D, D), 0.95) + 0.05 * np.eye(D)
    Sigma = 10.0 ** (seed % 5) * (close if tied == "truths" else case.params.Sigma)
    N = np.stack([r * close for r in np.linspace(0.05, 1.0, 6)]) if tied == "errors" else case.params.N
    bounds = Bounds(np.full(D, -0.3), np.full(D, 0.3))
    value = np.clip(3 * case.data.value, *bounds)
    data = prepare(value, case.data.item_of, case.data.annotator_of, case.data.scores, case.data.K)
    nowhere = np.full(D, np.inf)
    return data._replace(cuts=Cuts(*bounds, -nowhere, nowhere, np.ones(D))), case.params._replace(Sigma=Sigma, N=N)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("D", [2, 4])
@pytest.mark.parametrize("tied", ["nothing", "truths", "errors"])
def test_every_item_settles_where_its_bound_is_highest(seed, D, tied, monkeypatch):
    data, params = hard_case(seed, D, tied)
    found = posterior(data, params)
    assert np.isfinite(found.mean).all()
    monkeypatch.setattr(censored_estep, "SETTLED", 1e-11)
    monkeypatch.setattr(censored_estep, "SECANT_ROUNDS", 0)
    exact = posterior(data, params)
    np.testing.assert_allclose(found.loglik, exact.loglik, rtol=0, atol=1e-6)
    # Truths in turn with the numbers, at their own pace, raise the bound from there no more.
    change = found.mean - exact.mean
    assert np.abs(change / np.sqrt(np.einsum("mdd->md", exact.cov))).max() < 0.01


def test_without_bounds_nothing_is_completed():
    data, params, _ = clipped_case(0.2)
    nowhere, numbers = data._replace(cuts=Cuts(*NOWHERE, *NOWHERE, np.ones(2))), data._replace(cuts=None)
    assert completed_posterior(numbers, params)[1] is numbers
    np.testing.assert_array_equal(completed_posterior(nowhere, params)[1].y, data.y)
    np.testing.assert_array_equal(posterior(nowhere, params).mean, posterior(numbers, params).mean)


def at_the_ends(data):
    """Every answer at the lowest and at the highest number stands for those beyond."""
    low, high = np.nanmin(data.value, axis=0), np.nanmax(data.value, axis=0)
    return Cuts(low, high, low, high, np.ones(data.D))


def correlations(seed, missing):
    """Pearson with the truth of the plain fit and of the censored one, where half of the ratings are cut off."""
    rng = np.random.default_rng(seed)
    item_of, annotator_of = random_raters(rng, 120, 20, 4)
    truth = rng.normal(size=(120, 2))
    value = truth[item_of] + 0.5 * rng.normal(size=(20, 2))[annotator_of] + 0.5 * rng.normal(size=(480, 2))
    value[rng.random(value.shape) < missing] = np.nan
    data = data_of(np.clip(value, -0.7, 0.7), item_of, annotator_of)
    settings = default_settings(data)
    plain, _ = climb(data, bayes_start(data, settings), settings)
    ends = data._replace(cuts=at_the_ends(data))
    cut, _ = climb(ends, bayes_start(ends, settings), settings)
    found = posterior(data, plain.params).mean, posterior(ends, cut.params).mean
    return [np.mean([np.corrcoef(f[:, d], truth[:, d])[0, 1] for d in range(2)]) for f in found]


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_reading_the_ends_as_at_least_this_much_brings_the_truth_nearer(missing):
    found = np.array([correlations(seed, missing) for seed in range(3)])
    assert (found[:, 1] > found[:, 0]).all()
    assert np.mean(found[:, 1] - found[:, 0]) > 0.005
