"""M-steps against the dense reference, as stationary points, and as steps that never lower the objective."""

import numpy as np
import pytest

from reference import dense_series as dense
from reference.series_density import expected_log_density
from series_cases import CASES, Case, make_data, make_params, structure_of
from unisono.maths.series.trace_data import Priors, Structure, identity_params
from unisono.maths.series.trace_em import (
    log_prior,
    make_step,
    maximise,
    paper_step,
    point_moments,
    start_from_truth,
)
from unisono.maths.series.trace_estep import expect, infer
from unisono.maths.series.trace_gold import gold_params, gold_structure, with_gold, without_gold
from unisono.maths.series.trace_layout import make_layout

TIGHT = Priors(filter_sd=0.2, bias_sd=0.5, noise_nu=5.0, noise_scale=np.array([0.4, 0.5]))


@pytest.mark.parametrize("case", [c for c in CASES if not c.autocorrelated], ids=str)
def test_filters_bias_and_noise_equal_dense_normal_equations(case):
    data, params, structure = make_data(case), make_params(case), structure_of(case)
    priors = Priors(filter_sd=0.7, bias_sd=0.9)  # T < W: without a prior there are many solutions
    layout = make_layout(data, structure)
    new = maximise(layout, expect(layout, params, structure).moments, params, structure, priors)
    for k in range(case.K):
        for d in range(case.D):
            S, c, yy = dense.second_moments(data, params, k, d, case.W, zero_start=case.start == "zero")
            if S[-1, -1] == 0:
                continue
            n = params.N[k, d, d]
            P = np.diag([0.7**-2] * (case.W * case.D) + [0.9**-2])
            x = np.linalg.solve(S / n + P, c / n)
            got = np.append(new.F[k, :, d].ravel(), new.b[k, d])
            np.testing.assert_allclose(got, x, rtol=1e-8, atol=1e-8)
            noise = (yy - 2 * x @ c + x @ S @ x) / S[-1, -1]
            np.testing.assert_allclose(new.N[k, d, d], noise, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("case", [c for c in CASES if not c.P], ids=str)
def test_sigma_given_phi_equals_the_dense_reference(case):
    data, params, structure = make_data(case), make_params(case), structure_of(case, level=False)
    layout = make_layout(data, structure)
    new = maximise(layout, expect(layout, params, structure).moments, params, structure, Priors())
    now, cross, before, first, n = dense.truth_moments(data, params, zero_start=case.start == "zero")
    phi = case.phi
    want = (now - phi * (cross + cross.T) + phi**2 * before + (1 - phi**2) * first) / n
    np.testing.assert_allclose(new.sigma, want, rtol=1e-8, atol=1e-9)


STRUCTURES = [
    Structure(W=4),
    Structure(W=4, isotropic=True, bias=False, level=False, start="zero"),
    Structure(W=3, fixed=(1,)),
    Structure(W=1),
    Structure(W=2, isotropic=True, start="zero"),
    Structure(W=4, transform="delay", autocorrelated=True, fixed=(0, 1, 2, 3)),
]


def rough(structure, missing="dims", lengths=(60, 35), P=2):
    case = Case(D=2, W=structure.W, lengths=lengths, phi=0.6, missing=missing, P=P, K=4)
    return make_data(case, seed=7), structure


@pytest.mark.parametrize("priors", [Priors(theta_precision=0.0), TIGHT, TIGHT._replace(kappa=0.2, theta_precision=3.0)])
@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda s: "-".join(str(v) for v in s))
def test_the_soft_objective_rises_at_every_step(structure, priors):
    data, structure = rough(structure)
    step = make_step(make_layout(data, structure), structure, priors)
    params, objective = identity_params(data, structure, phi=0.5), []
    for _ in range(12):
        params, value = step(params)
        objective.append(value)
    rise = np.diff(objective)
    assert np.all(rise >= -1e-9 * np.abs(objective[0])), rise
    assert objective[-1] > objective[0] + 1.0


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES[:-1], ids=lambda s: "-".join(str(v) for v in s))
def test_the_m_step_climbs_and_repeats_to_a_stationary_point(structure):
    data, structure = rough(structure)
    layout = make_layout(data, structure)
    params = identity_params(data, structure, phi=0.5)
    moments, priors = expect(layout, params, structure).moments, TIGHT._replace(theta_precision=3.0)

    def height(p):
        return expected_log_density(layout, moments, p) + log_prior(p, structure, priors)

    values = [height(params)]
    for _ in range(60):
        params = maximise(layout, moments, params, structure, priors)
        values.append(height(params))
    assert np.all(np.diff(values) >= -1e-8), np.diff(values)
    rng = np.random.default_rng(0)
    names = ["sigma", "theta"] + ["mu"] * structure.level + ["b"] * structure.bias
    for name in names:
        value = getattr(params, name)
        change = rng.standard_normal(value.shape) * 1e-3
        if name == "sigma":
            change = np.eye(2) * 1e-3 if structure.isotropic else 0.5 * (change + change.T)
        if name == "b":
            change[list(structure.fixed)] = 0.0
        for sign in (1, -1):
            assert height(params._replace(**{name: value + sign * change})) < values[-1]
    free = np.array([k not in structure.fixed for k in range(data.K)])[:, None, None]
    scaled = [params._replace(N=params.N * np.where(free, factor, 1.0)) for factor in (1.001, 0.999)]
    assert max(height(p) for p in scaled) < values[-1]


def test_paper_step_equals_the_appendix():
    case = Case(D=2, W=4, lengths=(30, 22), phi=0.0, missing="dims", start="zero", P=3)
    data = make_data(case)
    structure = Structure(W=4, bias=False, isotropic=True, level=False, start="zero")
    params = make_params(case)._replace(b=np.zeros((3, 2)), mu=np.zeros(2))
    layout = make_layout(data, structure)
    new = paper_step(layout, params, structure, Priors())
    truths = [dense.paper_estep(data, params, m) for m in range(2)]
    F, tau2, theta, sigma2 = dense.paper_mstep(data, truths, 4)
    np.testing.assert_allclose(new.F, F, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(new.N, tau2[:, None, None] * np.eye(2), rtol=1e-8)
    np.testing.assert_allclose(new.theta, theta, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(new.sigma, sigma2 * np.eye(2), rtol=1e-8, atol=1e-12)


def test_start_from_truth_is_the_papers_m_step_on_that_truth():
    case = Case(D=2, W=3, lengths=(25, 14), phi=0.0, start="zero", P=2)
    data = make_data(case)
    structure = Structure(W=3, bias=False, isotropic=True, level=False, start="zero")
    a = np.random.default_rng(2).standard_normal((39, 2))
    got = start_from_truth(make_layout(data, structure), a, identity_params(data, structure), structure, Priors())
    F, tau2, theta, sigma2 = dense.paper_mstep(data, [a[:25], a[25:]], 3)
    np.testing.assert_allclose(got.F, F, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(got.N[:, 0, 0], tau2, rtol=1e-8)
    np.testing.assert_allclose(got.theta, theta, rtol=1e-8)
    np.testing.assert_allclose(got.sigma[0, 0], sigma2, rtol=1e-8)


def test_one_frame_and_one_tap_are_the_global_model():
    """EM of the global model (full F, bias, diagonal N, features) written densely, item by item."""
    rng = np.random.default_rng(4)
    M, K, D, P = 40, 5, 3, 2
    case = Case(D=D, W=1, lengths=(1,) * M, phi=0.0, missing="dims", P=P, K=K)
    data = make_data(case, seed=9)
    data = data._replace(y=data.y + rng.standard_normal(data.y.shape))
    params = make_params(case)._replace(phi=0.0)
    structure = Structure(W=1, level=False)
    params = params._replace(mu=np.zeros(D))
    new, objective = make_step(make_layout(data, structure), structure, Priors())(params)
    loglik, XX, XA = 0.0, np.zeros((P, P)), np.zeros((P, D))
    E, second = np.zeros((M, D)), np.zeros((M, D, D))
    Sz, cz = np.zeros((K, D, D + 1, D + 1)), np.zeros((K, D, D + 1))
    for m in range(M):
        prior_mean = data.X[m] @ params.theta
        seen = [(k, d, y[0, d]) for k, y in dense.judgements_of(data, m) for d in range(D) if not np.isnan(y[0, d])]
        H = np.array([params.F[k, 0, d] for k, d, _ in seen]).reshape(-1, D)
        R = np.diag([params.N[k, d, d] for k, d, _ in seen])
        r = np.array([y - params.b[k, d] for k, d, y in seen]) - H @ prior_mean
        V = H @ params.sigma @ H.T + R
        gain = np.linalg.solve(V, H @ params.sigma).T
        E[m] = prior_mean + gain @ r
        second[m] = params.sigma - gain @ H @ params.sigma + np.outer(E[m], E[m])
        loglik -= 0.5 * (r @ np.linalg.solve(V, r) + np.linalg.slogdet(V)[1] + len(r) * np.log(2 * np.pi))
        z = np.append(E[m], 1.0)
        zz = np.outer(z, z)
        zz[:D, :D] = second[m]
        for k, d, y in seen:
            Sz[k, d] += zz
            cz[k, d] += y * z
        XX += np.outer(data.X[m], data.X[m])
        XA += np.outer(data.X[m], E[m])
    np.testing.assert_allclose(objective, loglik, rtol=1e-10)
    theta = np.linalg.solve(XX, XA)
    np.testing.assert_allclose(new.theta, theta, rtol=1e-8)
    fitted = data.X @ theta
    sigma = sum(second[m] - np.outer(E[m], fitted[m]) - np.outer(fitted[m], E[m] - fitted[m]) for m in range(M)) / M
    np.testing.assert_allclose(new.sigma, sigma, rtol=1e-8, atol=1e-10)
    for k in range(K):
        for d in range(D):
            x = np.linalg.solve(Sz[k, d], cz[k, d])
            np.testing.assert_allclose(np.append(new.F[k, 0, d], new.b[k, d]), x, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("autocorrelated", [True, False])
def test_known_annotators_stay_as_they_are(autocorrelated):
    case = Case(D=2, W=3, lengths=(30,), phi=0.7, autocorrelated=autocorrelated)
    data, params, structure = make_data(case), make_params(case), structure_of(case, fixed=(0, 1, 2))
    layout = make_layout(data, structure)
    new = maximise(layout, expect(layout, params, structure).moments, params, structure, Priors())
    for name in ("F", "b", "N", "rho"):
        np.testing.assert_array_equal(getattr(new, name), getattr(params, name))
    assert np.abs(new.sigma - params.sigma).max() > 1e-3


def test_gold_is_reproduced_and_its_channel_stays():
    case = Case(D=2, W=3, lengths=(40, 25), phi=0.7, P=0)
    data, structure = make_data(case), Structure(W=3)
    gold = np.full((65, 2), np.nan)
    gold[:40] = np.cumsum(np.random.default_rng(0).standard_normal((40, 2)), axis=0) * 0.3
    both, structure = with_gold(data, gold), gold_structure(structure, data.K)
    params = gold_params(identity_params(data, structure, phi=0.9), 1e-6)
    layout = make_layout(both, structure)
    step = make_step(layout, structure, TIGHT)
    for _ in range(5):
        params, _ = step(params)
    truth = infer(layout, both.X, params, structure)
    np.testing.assert_allclose(truth.mean[:40], gold[:40], atol=1e-3)
    np.testing.assert_array_equal(params.F[3, :, :, :], gold_params(identity_params(data, structure), 1e-6).F[3])
    np.testing.assert_allclose(params.N[3], 1e-6 * np.eye(2))
    assert without_gold(params).F.shape == (3, 3, 2, 2)


def test_point_moments_hold_no_covariance():
    case = Case(D=1, W=2, lengths=(6,), phi=0.5, start="zero")
    data = make_data(case)
    layout = make_layout(data, structure_of(case))
    a = np.arange(6.0)[:, None]
    S = point_moments(layout, a).S[0]
    np.testing.assert_allclose(S, [[55.0, 40.0, 15.0], [40.0, 30.0, 10.0], [15.0, 10.0, 6.0]])
