"""Slips and unclear items: precisions equal the naive reference, the bound rises, and what is said of items is true."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import unisono as un
from item_cases import data_of, default_settings, random_case, random_raters
from reference import naive_weights
from unisono.maths.em_loop import run_em
from unisono.maths.items.bayes_em import bayes_step
from unisono.maths.items.bayes_start import bayes_start
from unisono.maths.items.item_data import Bounds, Cuts
from unisono.maths.items.item_estep import expectation, posterior
from unisono.maths.items.judgement_weights import equal_weights, long_tails, marginal, reweighed, settled, tail_sums


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_precisions_equal_the_naive_reference(missing):
    case = random_case(2, seed=3, missing=missing, subset=True)
    weights, tails = equal_weights(case.data), np.array([4.0, 6.0, 0.0])
    judgement, item = [[1.0] * len(judgements) for judgements in case.naive_y], np.ones(case.data.M)
    for _ in range(3):
        weights = reweighed(case.data, case.params, weights, tails)
        judgement, item = naive_weights.reweighed(*case.naive_params, case.naive_y, judgement, item, *tails[:2])
        np.testing.assert_allclose(weights.judgement, np.concatenate([np.array(own) for own in judgement]), rtol=1e-8)
        np.testing.assert_allclose(weights.item, item, rtol=1e-8)
    found = posterior(weights.of(case.data), case.params)
    for m, judgements in enumerate(case.naive_y):
        own = [u * item[m] for u in judgement[m]]
        F, b, N, means, Sigma = case.naive_params
        mean, cov = naive_weights.weighted_posterior(F, b, N, means[m], Sigma, judgements, own)
        np.testing.assert_allclose(found.mean[m], mean, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(found.cov[m], cov, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("freedom", [3.0, 8.0, 200.0])
def test_at_the_best_precisions_the_bound_is_the_log_density_of_students_t(freedom):
    errors = np.random.default_rng(0).normal(size=(40, 3)) * 2
    expected = stats.multivariate_t(np.zeros(3), np.eye(3), df=freedom).logpdf(errors).sum()
    found = marginal((errors**2).sum(axis=1), np.full(40, 3.0), freedom) - 40 * 1.5 * np.log(2 * np.pi)
    assert found == pytest.approx(expected, rel=1e-10)


def slipping(seed=0, slips=0.05, spread=None, M=60):
    """Ratings of 4 of 12 annotators, standardised; one answer in twenty has nothing to do with its item."""
    rng = np.random.default_rng(seed)
    item_of, annotator_of = random_raters(rng, M, 12, 4)
    truth, bias = rng.normal(size=(M, 2)), 0.4 * rng.normal(size=(12, 2))
    errors = 0.6 * rng.normal(size=(len(item_of), 2)) * (np.ones(M) if spread is None else spread)[item_of, None]
    errors = np.where(rng.random(errors.shape) < slips, 4 * rng.normal(size=errors.shape), errors)
    return truth[item_of] + bias[annotator_of] + errors, item_of, annotator_of, truth


@pytest.mark.parametrize("censored", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_bound_rises_with_slips_also_at_ends(censored, missing):
    value, item_of, annotator_of, _ = slipping()
    rng = np.random.default_rng(1)
    value[rng.random(value.shape) < missing] = np.nan
    data = data_of(value, item_of, annotator_of)
    if censored:
        data = data_of(np.minimum(value, 0.9), item_of, annotator_of)
        high, none = np.nanmax(data.value, axis=0) - 0.05, np.full(2, np.inf)
        data = data._replace(cuts=Cuts(*Bounds(-none, high), *Bounds(-none, none), np.array([1.0, 0.7])))
    settings = default_settings(data, slips=True)
    start = bayes_start(data, settings)._replace(weights=equal_weights(data))
    state, trace = run_em(lambda s: bayes_step(data, s, settings), start, stop_when=lambda *_: False, max_iter=40)
    assert np.diff(trace.objective).min() >= -1e-9 * np.abs(trace.objective).max()
    assert state.weights.judgement.min() < 0.5


def test_equal_weights_change_nothing():
    case = random_case(3, seed=1, missing=0.2, subset=True, with_cov=True)
    plain, weighted = (expectation(data, case.params) for data in (case.data, equal_weights(case.data).of(case.data)))
    np.testing.assert_allclose(weighted[0], plain[0], rtol=1e-12)
    for a, b in zip(vars(weighted[1]).values(), vars(plain[1]).values(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    assert settled(case.data, case.params) is None
    assert settled(case.data, case.params._replace(tails=np.array([np.inf, np.inf, 0.0]))) is None


def frame_of(value, item_of, annotator_of):
    return pd.DataFrame({"item": [f"i{m:03d}" for m in item_of], "annotator": [f"a{k}" for k in annotator_of]}).assign(
        x=value[:, 0], y=value[:, 1]
    )


def correlation(result, truth):
    fused = result.truth.set_index("item").sort_index()
    return np.mean([np.corrcoef(fused[name], truth[:, d])[0, 1] for d, name in enumerate("xy")])


@pytest.mark.parametrize("slips", [0.0, 0.05])
def test_slips_are_let_go_where_there_are_any(slips):
    value, item_of, annotator_of, truth = slipping(2, slips)
    found, plain = (un.fuse(frame_of(value, item_of, annotator_of), slips=how) for how in (True, False))
    gain = correlation(found, truth) - correlation(plain, truth)
    if slips:
        assert gain > 0.01
        assert np.isfinite(found.fuser.params_.tails).any()
    else:
        assert found.fuser.params_.tails is None
        pd.testing.assert_frame_equal(found.truth, plain.truth)


def test_slips_that_are_let_go_leave_the_estimate_as_reliable_as_it_is():
    claimed, true = [], []
    for seed in range(8):
        value, item_of, annotator_of, truth = slipping(seed, 0.05)
        result = un.fuse(frame_of(value, item_of, annotator_of))
        claimed.append(result.fit.arrays["reliability_draws"].mean(axis=0))
        fused = result.truth.set_index("item").sort_index()
        true.append([np.corrcoef(fused[name], truth[:, d])[0, 1] ** 2 for d, name in enumerate("xy")])
    assert np.mean(claimed) == pytest.approx(np.mean(true), abs=0.03)


def test_truth_says_which_items_are_unclear_and_of_no_item_where_all_are_alike():
    hard = np.arange(60) % 3 == 0
    value, item_of, annotator_of, truth = slipping(5, 0.0, np.where(hard, 2.5, 0.7))
    found = un.fuse(frame_of(value, item_of, annotator_of))
    table = found.truth.set_index("item").sort_index()
    unclear = table["unclear"].to_numpy()
    assert unclear[hard].mean() > 0.8
    assert unclear[~hard].mean() < 0.3
    inside = (table["x_low"] <= truth[:, 0]) & (table["x_high"] >= truth[:, 0])
    assert inside[hard].mean() > 0.7
    assert (table["x_high"] - table["x_low"])[hard].mean() > 1.5 * (table["x_high"] - table["x_low"])[~hard].mean()
    alike = slipping(5, 0.0)
    assert "unclear" not in un.fuse(frame_of(*alike[:3])).truth


def test_spread_that_goes_with_the_level_makes_no_item_unclear():
    value, item_of, annotator_of, _ = slipping(5, 0.0)
    data, piled = data_of(value, item_of, annotator_of), np.maximum(value, 0.5)
    assert not long_tails(tail_sums(data, un.fuse(frame_of(value, item_of, annotator_of)).fuser.params_))
    result = un.fuse(frame_of(piled, item_of, annotator_of), censored=False)
    assert result.fuser.params_.tails is None
    assert "unclear" not in result.truth


def test_a_saved_fit_says_the_same(tmp_path):
    frame = frame_of(*slipping(2)[:3])
    result = un.fuse(frame)
    result.save(tmp_path / "out")
    again = un.load(tmp_path / "out").fuse(un.read_ratings(frame))
    np.testing.assert_allclose(again.truth["x"], result.truth["x"], rtol=1e-6)


@pytest.mark.parametrize("hard", [False, True])
def test_items_that_few_rated_because_they_are_hard_have_wide_intervals(hard):
    inside, powers = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        spread = np.exp(0.6 * rng.normal(size=90))
        n = np.clip(np.round(5 / spread), 1, 8).astype(int)
        item_of = np.repeat(np.arange(90), n)
        of = np.concatenate([rng.choice(12, c, replace=False) for c in n])
        truth, errors = rng.normal(size=(90, 2)), 0.6 * rng.normal(size=(len(of), 2))
        value = truth[item_of] + 0.3 * rng.normal(size=(12, 2))[of] + errors * (spread[item_of, None] if hard else 1)
        found = un.fuse(frame_of(value, item_of, of))
        table, few = found.truth.set_index("item").sort_index(), n <= 2
        inside.append(((table["x_low"] <= truth[:, 0]) & (table["x_high"] >= truth[:, 0]))[few].mean())
        tails = found.fuser.params_.tails
        powers.append(0.0 if tails is None else tails[2])
    if hard:
        assert min(powers) > 0
        assert np.mean(inside) > 0.82
    else:
        assert max(powers) == 0
