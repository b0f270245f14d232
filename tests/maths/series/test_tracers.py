"""Annotators of traces on two time scales: evidence, sweeps, delays and the truth against naive references."""

import numpy as np
import pytest
from scipy.optimize import minimize

from reference.dense_tracers import autocorrelation, courses, log_course, log_levels, uncondensed
from reference.dense_tracers import delay_evidence as naive_delay_evidence
from trace_crowds import crowd
from unisono.maths.series import trace_priors
from unisono.maths.series.delays_and_memory import (
    ROUNDS,
    Looks,
    common_delays,
    delay_posterior,
    delay_shares,
    precision_among_all,
)
from unisono.maths.series.trace_data import nearest_rated
from unisono.maths.series.trace_frames import Hands, delay_evidence, independent_frames, mean_autocorrelation, placed
from unisono.maths.series.trace_frames import place as place_strata
from unisono.maths.series.trace_parts import HeldParts, two_scales
from unisono.maths.series.trace_truth import Levels, level_posterior
from unisono.maths.series.tracer_climb import (
    arrived,
    capped,
    climb,
    log_prior,
    looked_at,
    objective,
    population,
    set_out,
    sweep,
    typical,
    with_bias,
    with_row,
)
from unisono.maths.series.tracer_params import weighted_median
from unisono.maths.series.tracer_rows import (
    Sums,
    first_signs,
    first_tracers,
    hands_of,
    most_probable_row,
    row_cost,
    row_prior,
    row_slopes,
)

RATE = 2.0


def at_lag(data, lag=None):
    """The only dimension of the traces, placed at these delays."""
    parts = HeldParts(data, rows=300)
    scales = two_scales(parts, data.K, 1)[0]
    lag, ones = np.zeros(data.K, dtype=int) if lag is None else np.asarray(lag), np.ones(data.K)
    return scales, placed(parts, (Hands(scales.unit, scales.flat, lag, ones, ones, 1.0),))[0]


def settled(data, lag=None, sweeps=4, kappa=0.05):
    scales, place = at_lag(data, lag)
    now = first_tracers(scales, place)
    for _ in range(sweeps):
        now = sweep(scales, place, kappa, now)
    return scales, place, now


@pytest.mark.parametrize("lag", [[0, 0, 0, 0, 0], [2, 0, 1, 5, 3]])
def test_the_evidence_on_a_row_equals_the_dense_density_of_all_rows(lag):
    data, _, _ = crowd(turned=(1,))
    scales, place, now = settled(data, lag)
    now = now._replace(sign=np.sign(now.sign))
    flat = row_prior(np.zeros(2), 1e12 * np.eye(2))

    def dense(k, sign, at):
        gain, noise, level = now.gain.copy(), now.noise.copy(), now.level_noise.copy()
        gain[k], noise[k], level[k] = sign * np.exp(at[0]), np.exp(at[1]), now.eta * np.exp(at[1])
        return log_course(data, scales, lag, gain, noise, now.A) + log_levels(scales, gain, level, now.bias, now.AB)

    for k in range(data.K):
        strata = Sums(scales, place, now).without(k, 1.0)
        for sign in (1.0, -1.0):
            here, there = np.array([0.1, -0.7]), np.array([-0.4, 0.3])
            found = row_cost(strata, here, sign, flat) - row_cost(strata, there, sign, flat)
            np.testing.assert_allclose(found, dense(k, sign, there) - dense(k, sign, here), rtol=1e-8)


def test_slopes_are_those_of_the_cost_and_its_minimum_is_found():
    data, _, _ = crowd(turned=(1,))
    scales, place, now = settled(data)
    prior, h = now.prior, 1e-5
    for k in range(data.K):
        strata = Sums(scales, place, now).without(k, 0.05)
        for sign in (1.0, -1.0):
            at = np.array([0.2, -0.5])
            gradient, hessian = row_slopes(strata, at, sign, prior)
            step = h * np.eye(2)
            difference = [row_cost(strata, at + e, sign, prior) - row_cost(strata, at - e, sign, prior) for e in step]
            np.testing.assert_allclose(gradient, np.array(difference) / (2 * h), rtol=1e-6, atol=1e-7)
            turned = [
                row_slopes(strata, at + e, sign, prior)[0] - row_slopes(strata, at - e, sign, prior)[0] for e in step
            ]
            np.testing.assert_allclose(hessian, np.array(turned) / (2 * h), rtol=1e-6, atol=1e-7)
            found = most_probable_row(strata, at, sign, prior)
            other = minimize(lambda x, s=strata, w=sign: row_cost(s, x, w, prior), at, method="Nelder-Mead",
                             options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000})  # fmt: skip
            np.testing.assert_allclose(found.at, other.x, atol=1e-5)
            assert np.linalg.eigvalsh(found.cov).min() > 0


def test_the_objective_equals_dense_densities():
    data, _, _ = crowd()
    scales, place, now = settled(data)
    other = now._replace(
        alpha=now.alpha + 0.3,
        beta=now.beta - 0.2,
        bias=now.bias + 0.1,
        A=now.A * 1.3,
        AB=now.AB * 0.7,
        eta=now.eta * 1.2,
        tau2=now.tau2 * 0.8,
        prior=row_prior(now.prior.mean + 0.1, 1.3 * now.prior.cov + 0.1 * np.eye(2)),
        related=now.related * 0.8,
    )

    def dense(state):
        course = log_course(data, scales, np.zeros(data.K), state.gain, state.noise, state.A)
        levels = log_levels(scales, state.gain, state.level_noise, state.bias, state.AB)
        return 0.05 * course + levels + dense_prior(state)

    def dense_prior(state):
        """Normal rows and biases around what is known of them, or with a unit, an origin of their own, of which nothing
        is known; variances as if so many values had been seen before."""
        away = np.stack([state.alpha, state.beta], axis=1) - state.prior.mean
        spread = np.array([[0.09, 0.8 * 0.3 * 0.6], [0.8 * 0.3 * 0.6, 0.36]])
        total = 0.0
        P = np.linalg.inv(state.prior.cov)
        total -= 0.5 * 4 * (np.trace(P @ spread) - np.log(np.linalg.det(P)))
        wide = state.prior.cov + 1e8 * np.outer([1, 2], [1, 2])  # as wide as anything; its density in between
        for matrix in [np.outer(d, d) + C for d, C in zip(away, state.cov, strict=True)]:
            usual = np.sqrt(np.linalg.det(P)) * np.exp(-0.5 * np.trace(P @ matrix))
            own = 1e4 / trace_priors.OWN_UNIT_SD / np.sqrt(np.linalg.det(wide))
            own *= np.exp(-0.5 * np.trace(np.linalg.inv(wide) @ matrix))
            total += np.log((1 - trace_priors.OWN) * usual + trace_priors.OWN * own)
        for square in state.bias**2 + state.bias_variance:
            usual = np.exp(-0.5 * square / state.tau2) / np.sqrt(state.tau2)
            total += np.log((1 - trace_priors.OWN) * usual + trace_priors.OWN / trace_priors.OWN_ORIGIN_SD)
        for value, seen in (
            (state.tau2, [0.1] * 4),
            (state.A, [0.5] * 4),
            (state.AB, [1.0] * 2),
            (state.eta, [1.0] * 4),
        ):
            total -= 0.5 * sum(square / value + np.log(value) for square in seen)
        return total

    np.testing.assert_allclose(
        log_prior(scales, other) - log_prior(scales, now), dense_prior(other) - dense_prior(now), rtol=1e-6
    )
    found = objective(scales, place, 0.05, other) - objective(scales, place, 0.05, now)
    np.testing.assert_allclose(found, dense(other) - dense(now), rtol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_every_annotator_raises_the_objective(seed):
    """The law of the sweeps, with signs decided: one row after the other, the population held."""
    data, _, _ = crowd(seed, turned=(2,))
    scales, place, now = settled(data, sweeps=1)
    known = {"cov": np.zeros((data.K, 2, 2)), "bias_variance": np.zeros(data.K)}
    now = now._replace(sign=np.sign(now.sign), odds=np.sign(now.sign) * 1e3, related=np.ones(data.K), **known)
    before = objective(scales, place, 0.05, now)
    for _ in range(3):
        for k in range(data.K):
            now = with_row(now, k, looked_at(now, k, Sums(scales, place, now), 0.05))._replace(**known)
            after = objective(scales, place, 0.05, now)
            assert after >= before - 1e-9
            before = after


def test_the_bias_is_the_most_probable_one_with_the_levels_of_the_truth_integrated_out():
    data, _, _ = crowd()
    scales, place, now = settled(data)
    for k in range(data.K):
        sums = Sums(scales, place, now)
        sums.without(k, 0.05)
        found = with_bias(now, k, sums)

        def cost(bias, k=k, now=now):
            moved = now.bias.copy()
            moved[k] = bias
            levels = log_levels(scales, now.gain, now.level_noise, moved, now.AB)
            return -levels + 0.5 * bias**2 * now.bias_weight[k] / now.tau2

        h, at = 1e-3, found.bias[k]
        assert abs(cost(at + h) - cost(at - h)) / (2 * h) < 1e-6
        curvature = (cost(at + h) - 2 * cost(at) + cost(at - h)) / h**2
        np.testing.assert_allclose(found.bias_variance[k], 1 / curvature, rtol=1e-5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("searched", [0, 1, 6])
def test_a_climb_never_lowers_the_objective(seed, searched):
    """With hesitant signs, a greatest weight and gaps, from a start that is no optimum of anything."""
    data, truth, _ = crowd(seed, turned=(2,))
    y, rows = data.y.copy(), np.repeat(data.annotator_of, data.length[data.item_of])
    y[rows == 0, 0] = np.where(np.isnan(y[rows == 0, 0]), np.nan, truth)  # one who would count for too much
    y[rows == 4, 0] = np.random.default_rng(seed).standard_normal((rows == 4).sum())  # one whose sign nobody knows
    scales, place, now = settled(data._replace(y=y), sweeps=searched)
    hesitant = now.sign.copy()
    hesitant[4] = 0.1
    now = capped(now._replace(sign=hesitant), scales.moving)
    at, values, least = set_out(scales, now), [], []
    for _ in range(12):
        at, value = climb(scales, place, 0.05, at)
        values.append(value)
        least.append((at.tracers.beta - 2 * at.tracers.alpha).min() - at.least)
    assert np.diff(values).min() > -1e-9
    assert values[-1] > values[0] + 0.01
    assert min(least) > -1e-9
    end = arrived(scales, at)
    np.testing.assert_allclose(np.diff(end.alpha - at.tracers.alpha), 0.0, atol=1e-12)
    assert abs(typical(end, scales.moving)[0]) < 0.02
    courses = [log_course(data, scales, np.zeros(data.K), now.gain, now.noise, now.A) for now in (at.tracers, end)]
    np.testing.assert_allclose(*courses, rtol=1e-8)


def test_independent_frames_follow_the_autocorrelation():
    data, _, _ = crowd(gaps=False, lengths=(60, 60))
    parts = HeldParts(data)
    scales = two_scales(parts, data.K, 1)
    traces = data.y.reshape(10, 60)
    expected = np.mean([autocorrelation(trace - trace.mean(), 20) for trace in traces], axis=0)
    np.testing.assert_allclose(mean_autocorrelation(parts, scales, 20)[0], expected, rtol=1e-10)
    until = int(np.flatnonzero(expected < trace_priors.UNCORRELATED)[0])
    share = trace_priors.EVIDENCE / (1 + 2 * sum(expected[1:until] ** 2))
    np.testing.assert_allclose(independent_frames(parts, scales, 10 / RATE, 60), [share], rtol=1e-10)


def test_traces_that_do_not_move_say_nothing_of_independent_frames():
    """However their constant is rounded, or jittered: one of five hardly moves on the first recording."""
    data, _, _ = crowd(gaps=False, lengths=(60, 60))
    found = []
    for constant in (0.1, 0.3 + 1e-9 * np.random.default_rng(0).standard_normal(60)):
        y = data.y.copy()
        y[:60, 0] = constant
        parts = HeldParts(data._replace(y=y / 3.0))
        found += independent_frames(parts, two_scales(parts, data.K, 1), RATE, 60)
    assert found[1] == pytest.approx(found[0], rel=1e-9)


def test_levels_and_courses_are_in_the_unit_of_the_median_annotator():
    data, _, _ = crowd(gaps=False)
    parts = HeldParts(data)
    scales = two_scales(parts, data.K, 1)[0]
    of, values = np.array([(k, course) for _, k, _, course in courses(data, scales)]).T
    sd = [np.sqrt(np.mean(values[of == k] ** 2)) for k in range(data.K)]
    np.testing.assert_allclose(np.median(sd), 1.0)
    value = np.concatenate([one.value.ravel() for part in parts.parts for (one,) in part.courses])
    level = np.repeat(scales.level, data.length[data.item_of])
    np.testing.assert_allclose(scales.centre + scales.unit * level + value, data.y[:, 0])


@pytest.mark.parametrize("lag", [[0, 0, 0, 0, 0], [2, 0, -1, 5, 3]])
def test_condensed_frames_say_what_all_frames_say(lag):
    """With gaps and an annotator who is flat: evidence on every row, population and objective."""
    data, _, _ = crowd(4, turned=(1,), lengths=(60, 45, 50, 80))
    y, rows = data.y.copy(), np.repeat(data.annotator_of, data.length[data.item_of])
    y[np.random.default_rng(0).random(len(y)) < 0.1] = np.nan
    y[rows == 3] = 0.5
    data = data._replace(y=y)
    scales, place, now = settled(data, lag)
    naive = place_strata(uncondensed(data, scales, lag), data.K)
    assert len(place.stratum) < len(naive.stratum)
    np.testing.assert_allclose(objective(scales, place, 0.05, now), objective(scales, naive, 0.05, now), rtol=1e-12)
    both = [population(scales, one, 0.05, now) for one in (place, naive)]
    np.testing.assert_allclose(both[0].A, both[1].A, rtol=1e-12)
    np.testing.assert_allclose(place.cross, naive.cross, atol=1e-10)
    np.testing.assert_allclose(place.given, naive.given)
    at = np.array([0.1, -0.7])
    for k in range(data.K):
        costs = [row_cost(Sums(scales, one, now).without(k, 0.05), at, 1.0, now.prior) for one in (place, naive)]
        np.testing.assert_allclose(*costs, rtol=1e-12)


def test_a_weighted_median_is_that_of_repeated_values():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 8):
        values, count = rng.integers(0, 5, n).astype(float), rng.integers(1, 4, n)
        assert weighted_median(values, count) == np.median(np.repeat(values, count))


def test_levels_of_recordings_equal_the_dense_posterior():
    data, _, _ = crowd()
    data = data._replace(y=np.concatenate([data.y, data.y[::-1]], axis=1))
    rng = np.random.default_rng(3)
    level = rng.standard_normal((len(data.item_of), 2))
    level[3, 0] = level[7] = np.nan
    levels = Levels(
        rng.uniform(0.5, 2, (5, 2)),
        0.3 * rng.standard_normal((5, 2, 2)) * (1.0 - np.eye(2)),
        rng.uniform(0.2, 1, (5, 2)),
        rng.standard_normal((5, 2)),
        np.zeros((5, 2)),
        np.array([[1.0, 0.4], [0.4, 0.8]]),
        np.ones(2),
        np.ones(2),
        np.zeros(2),
        np.ones(2),
    )
    L, V, loglik = level_posterior(data, level, levels)
    total = 0.0
    for m in range(3):
        rows = [(j, d) for j in np.flatnonzero(data.item_of == m) for d in (0, 1) if not np.isnan(level[j, d])]
        k = [data.annotator_of[j] for j, _ in rows]
        G = np.array([levels.leak[a, d] for a, (_, d) in zip(k, rows, strict=True)])
        for i, (a, (_, d)) in enumerate(zip(k, rows, strict=True)):
            G[i, d] = levels.gain[a, d]
        z = np.array([level[j, d] - levels.bias[a, d] for a, (j, d) in zip(k, rows, strict=True)])
        C = G @ levels.prior @ G.T + np.diag([levels.noise[a, d] for a, (_, d) in zip(k, rows, strict=True)])
        np.testing.assert_allclose(L[m], levels.prior @ G.T @ np.linalg.solve(C, z), rtol=1e-8)
        np.testing.assert_allclose(
            V[m], levels.prior - levels.prior @ G.T @ np.linalg.solve(C, G @ levels.prior), rtol=1e-8
        )
        total += -0.5 * (z @ np.linalg.solve(C, z) + np.linalg.slogdet(2 * np.pi * C)[1])
    np.testing.assert_allclose(loglik, total, rtol=1e-8)


def test_the_evidence_on_a_delay_equals_the_sum_over_frames():
    data, _, _ = crowd(lag=(2, 0, 1, 3, 0))
    lag = np.array([1, 0, 0, 2, 0])
    scales, _, now = settled(data, lag)
    for k in range(data.K):
        found = HeldParts(data, rows=300).map(delay_evidence, (0,), (hands_of(scales, now, lag),), k, 4)
        expected = naive_delay_evidence(data, scales, now, 1.0, lag, k, 4)
        np.testing.assert_allclose(np.sum(found, axis=0)[0], expected, rtol=1e-8, atol=1e-10)


def test_delays_are_found_by_a_search_that_settles_and_are_in_their_intervals():
    lag, inside = np.array([4, 0, 1, 2, 3]), []
    for seed in range(5):
        data, _, _ = crowd(seed, lengths=(300, 300), lag=lag, gaps=False)
        scales, _, now = settled(data, sweeps=6)
        looks = Looks(HeldParts(data), (hands_of(scales, now, np.zeros(5, dtype=int)),), 6)
        found = common_delays(looks, {0: 0.05}, np.zeros(5, dtype=int), 4.0)
        assert found.settled
        assert np.abs((found.lag - found.lag.mean()) - (lag - lag.mean())).max() <= 1.5
        known = delay_posterior(looks, {0: 0.05}, [found.lag], np.zeros(5, dtype=int), 4.0)
        assert np.abs((known.mean[:, 0] - known.mean.mean()) - (lag - lag.mean())).max() <= 1.0
        ends = known.interval(0.9)[:, 0]
        relative = lag - lag.mean() + known.mean.mean()
        inside.append((ends[:, 0] <= relative) & (relative <= ends[:, 1]))
    assert np.mean(inside) >= 0.85


class Curves:
    """Parts in which the evidence on each delay is a parabola around `best` (K, D), whoever is where."""

    def __init__(self, best, curve):
        self.best, self.curve = best, curve

    def map(self, function, dimensions, hands, k, most):
        grid = np.arange(-most, most + 1)
        return [np.array([-0.5 * self.curve[k, d] * (grid - self.best[k, d]) ** 2 for d in dimensions])]


def test_delays_between_frames_equal_the_normal_posterior_of_two_dimensions():
    rng = np.random.default_rng(0)
    rate, best, curve = 2.0, rng.normal(0.0, 0.5, (3, 2)), rng.uniform(3.0, 12.0, (3, 2))
    hands = 2 * (Hands(1.0, np.zeros(3, dtype=bool), np.zeros(3, dtype=int), np.ones(3), np.ones(3), 1.0),)
    none = [np.zeros(3, dtype=int)] * 2
    found = delay_posterior(Looks(Curves(best, curve), hands, 6), {0: 0.5, 1: 2.0}, none, np.arange(3), rate)
    common, own = (trace_priors.DELAY_SD * rate) ** 2, (trace_priors.DIMENSION_DELAY_SD * rate) ** 2
    told = curve * np.array([0.5, 2.0])
    for k in range(3):
        C = np.linalg.inv(np.linalg.inv(common + own * np.eye(2)) + np.diag(told[k]))
        np.testing.assert_allclose(found.mean[k], C @ (told[k] * best[k]), atol=1e-3)
        np.testing.assert_allclose(found.variance[k], np.diagonal(C), rtol=2e-3)
        sd = np.sqrt(np.diagonal(C))[:, None] * [-1.6449, 1.6449]
        np.testing.assert_allclose(found.interval(0.9)[k], found.mean[k][:, None] + sd, atol=2e-2)


def test_a_delay_beside_the_average_is_known_as_pairs_of_annotators_tell_it():
    a, before = np.array([2.0, 3.0, 1.0, 4.0]), 1.0 / trace_priors.DELAY_SD**2
    told = a * (a.sum() - a)
    P = np.diag(before + told)
    for j, k in np.ndindex(4, 4):
        P[j, k] -= a[j] * a[k] * (j != k)
    C, middle = np.linalg.inv(P), np.eye(4) - 0.25
    expected = (1.0 / np.diagonal(P)) / np.diagonal(middle @ C @ middle)
    found = precision_among_all((1.0 / (before + told))[:, None])[:, 0]
    np.testing.assert_allclose(found, expected, rtol=0.15)  # shares of what pairs tell are taken to go as `told`
    equal = precision_among_all(np.full((4, 1), 1.0 / (before + 12.0)))
    P = (before + 16.0) * np.eye(4) - 4.0
    np.testing.assert_allclose(equal, 1.0 / P[0, 0] / (middle @ np.linalg.inv(P) @ middle)[0, 0], rtol=1e-9)


def naive_share(data, scales, now, lag, block, usual):
    """What a frame counts for on delays, by loops over annotators, recordings and frames; no gaps."""
    n = curve = square = 0.0
    weight, q = now.gain / now.noise, now.gain**2 / now.noise
    value = {}
    for recording, k, frame, course in courses(data, scales):
        value[recording, k, int(frame)] = course
    for k in range(data.K):
        slopes, curves = [], []
        for m, T in enumerate(data.length):
            frames = [t for t in range(T) if 0 <= t + lag[k] < T]
            x, y = [], [value[m, k, t + lag[k]] for t in frames]
            for t in frames:
                said = [j for j in range(data.K) if j != k and 0 <= t + lag[j] < T]
                total = sum(weight[j] * value[m, j, t + lag[j]] for j in said)
                x.append(total / (1.0 / now.A + q[k] + sum(q[j] for j in said)))
            x, y = np.array(x), np.array(y)
            follows = x @ y / (x @ x)
            blocks = max(round(len(x) / block), 1)
            for b in range(blocks):
                own = slice(b * len(x) // blocks, (b + 1) * len(x) // blocks)
                slopes.append(weight[k] * np.sum((np.gradient(x) * (y - follows * x))[own]))
                curves.append(weight[k] * np.sum((np.gradient(x) * np.gradient(y))[own]))
        slopes, curves = np.array(slopes), np.array(curves)
        left = slopes - curves * slopes.sum() / curves.sum()
        n, curve = n + len(slopes), curve + curves.sum()
        square += np.sum(left**2) * len(slopes) / (len(slopes) - 1)
    more = trace_priors.PRIOR_BLOCKS * curve / n
    return (curve + more) / (square + more / usual)


def test_what_a_frame_counts_for_on_delays_equals_the_naive_reference():
    lag = np.array([2, 0, 1, 0])
    data, _, _ = crowd(2, K=4, lengths=(90, 140), lag=lag, gaps=False)
    scales, _, now = settled(data, lag)
    found = delay_shares(HeldParts(data, rows=300), (hands_of(scales, now, lag),), np.array([0.1]), 2.0)
    np.testing.assert_allclose(found, naive_share(data, scales, now, lag, 40, 0.1), rtol=1e-8)


class Asked:
    """Parts that count what is asked of them."""

    def __init__(self, parts):
        self.parts, self.asked = parts, []

    def map(self, function, dimensions, hands, k, most):
        self.asked.append((k, dimensions, tuple(hands[0].lag.tolist())))
        return self.parts.map(function, dimensions, hands, k, most)


def test_no_delay_is_looked_at_twice_with_the_others_in_the_same_place():
    data, _, _ = crowd(1, lengths=(300, 300), lag=np.array([4, 0, 1, 2, 3]), gaps=False)
    scales, _, now = settled(data, sweeps=6)
    parts, group = Asked(HeldParts(data)), np.zeros(5, dtype=int)
    looks = Looks(parts, (hands_of(scales, now, group),), 6)
    found = common_delays(looks, {0: 0.05}, group, 4.0)
    assert len(set(parts.asked)) == len(parts.asked)
    before = len(parts.asked)
    again = common_delays(looks, {0: 0.05}, group, 4.0)
    assert len(parts.asked) == before
    fresh = common_delays(Looks(HeldParts(data), (hands_of(scales, now, group),), 6), {0: 0.05}, group, 4.0)
    for one in (again, fresh):
        assert np.array_equal(found.lag, one.lag)


class Following:
    """Parts in which the second annotator follows the first, who is always on the other side."""

    def map(self, function, dimensions, hands, k, most):
        other = int(hands[0].lag[1 - k])
        profile = np.zeros((1, 2 * most + 1))
        profile[0, most + (other if k else -other)] = 1e6
        return [profile]


def test_delays_that_take_turns_are_looked_at_once_per_place_and_end_unsettled():
    parts, group, told = Asked(Following()), np.zeros(2, dtype=int), []
    hands = (Hands(1.0, np.zeros(2, dtype=bool), group, np.ones(2), np.ones(2), 1.0),)
    found = common_delays(
        Looks(parts, hands, 4), {0: 1.0}, group, 4.0, around=np.array([1, 2]), on_delay=lambda *at: told.append(at)
    )
    assert not found.settled
    assert len(told) == 2 * ROUNDS
    assert len(parts.asked) < 10


def test_reversed_hands_are_turned_from_the_first_guess_on():
    data, _, gain = crowd(3, K=6, turned=(4,), lengths=(200, 200), gaps=False)
    assert np.array_equal(first_signs(*at_lag(data)), np.sign(gain))
    _, _, now = settled(data, sweeps=10, kappa=0.1)
    assert np.array_equal(np.sign(now.sign), np.sign(gain))
    assert now.odds[4] < -3


def test_nobody_counts_for_more_than_the_cap_allows():
    data, truth, _ = crowd(1, K=5, gaps=False)
    y = data.y.copy()
    own = np.repeat(data.annotator_of, data.length[data.item_of]) == 0
    y[own, 0] = np.tile(truth, 1)
    _, _, now = settled(data._replace(y=y), sweeps=12, kappa=0.2)
    weight = now.beta - 2 * now.alpha
    assert weight[0] == pytest.approx(np.median(weight) - np.log(trace_priors.MOST_WEIGHT), abs=0.3)


def test_the_nearest_rated_frame_is_found_inside_its_recording():
    rng = np.random.default_rng(0)
    precision = (rng.uniform(size=(40, 2)) < 0.3) * 1.0
    precision[10:22, 1] = 0.0
    length = np.array([10, 12, 18])
    near, far = nearest_rated(precision, length)
    first = np.repeat(np.cumsum(length) - length, length)
    last = first + np.repeat(length, length)
    for t in range(40):
        for d in (0, 1):
            rated = [u for u in range(first[t], last[t]) if precision[u, d]]
            assert far[t, d] == (min(abs(u - t) for u in rated) if rated else 0)
            assert near[t, d] in (rated or [t])
