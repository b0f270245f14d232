"""The evidence of a style equals brute-force integration; sums equal loops."""

import numpy as np
import pytest
from scipy import stats

from unisono.maths.items.item_priors import NOISE_SD
from unisono.maths.raters.rater_signal import centred_sums
from unisono.maths.raters.response_styles import (
    COMPRESSED,
    KINDS,
    STYLE_PRIORS,
    SWAPPED,
    UNRELATED,
    USUAL,
    TypicalNoise,
    fit_mixture,
    style_evidence,
    styles_of,
)


def small_case(seed=0, K=3, D=2, n=9, missing=0.1):
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(K), n)
    truth = rng.normal(size=(K * n, D))
    answers = truth @ np.array([[1.1, 0.1], [-0.2, 0.8]])[:D, :D] + 0.7 * rng.normal(size=truth.shape)
    answers[rng.random(answers.shape) < missing] = np.nan
    return answers, truth, of


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_sums_equal_loops(missing):
    answers, truth, of = small_case(missing=missing)
    sums = centred_sums(answers, truth, of, 4)
    for k in range(3):
        for d in range(2):
            rows = (of == k) & ~np.isnan(answers[:, d])
            x = truth[rows] - truth[rows].mean(axis=0)
            y = answers[rows, d] - answers[rows, d].mean()
            assert sums.n[k, d] == rows.sum()
            np.testing.assert_allclose(sums.xx[k, d], x.T @ x, rtol=1e-10)
            np.testing.assert_allclose(sums.xy[k, d], x.T @ y, rtol=1e-10)
            np.testing.assert_allclose(sums.yy[k, d], y @ y, rtol=1e-10)
    assert not sums.n[3].any()


@pytest.mark.parametrize("kind", [USUAL, COMPRESSED, SWAPPED, UNRELATED])
def test_evidence_equals_brute_force(kind):
    """Draws of slopes are replaced by the normal marginal with all rows written out; t is summed on a fine grid."""
    answers, truth, of = small_case(1)
    noise = TypicalNoise(np.array([0.5, 0.6]), np.array([1.2, 1.1]))
    found = style_evidence(centred_sums(answers, truth, of, 3), noise, np.zeros((3, 2)), np.ones(2))
    d = 1
    h = [style[0] for style in styles_of(d, 2)].index(kind)
    follows = found.follows[d, h]
    prior_of = STYLE_PRIORS[KINDS[kind]]
    center, width = np.zeros(2), np.full(2, prior_of.leak)
    center[follows], width[follows] = prior_of.center, prior_of.width
    typical = (noise.idle if kind == UNRELATED else noise.following)[d] * prior_of.noise
    for k in range(3):
        rows = (of == k) & ~np.isnan(answers[:, d])
        n = int(rows.sum())
        # An orthonormal basis of what is left when means are taken off.
        basis = np.linalg.qr(np.hstack([np.ones((n, 1)), np.eye(n)[:, 1:]]))[0][:, 1:]
        X, y = basis.T @ truth[rows], basis.T @ answers[rows, d]
        log_t = np.linspace(np.log(typical) - 8, np.log(typical) + 8, 401)
        # Swapped answers may follow the other truth either way round.
        signs = (1, -1) if kind == SWAPPED else (1,)
        density = [
            np.mean(
                [stats.multivariate_normal.pdf(y, s * X @ center, np.exp(u) * np.eye(n - 1) + spread) for s in signs]
            )
            for u in log_t
            for spread in [(X * width**2) @ X.T]
        ]
        prior = stats.norm.pdf(log_t, np.log(typical), NOISE_SD)
        expected = np.log(np.trapezoid(np.array(density) * prior, log_t))
        assert found.loglik[k, d, h] == pytest.approx(expected, abs=0.02)


def test_slopes_are_found_with_many_ratings():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(2000, 2))
    slopes = np.array([1.2, 0.4, 1.9, -0.8])
    of = np.repeat(np.arange(4), 500)
    answers = slopes[of, None] * (truth + 0.3 * rng.normal(size=truth.shape))
    noise = TypicalNoise(np.full(2, 0.1), np.ones(2))
    found = style_evidence(centred_sums(answers, truth, of, 4), noise, np.full((4, 2), -np.inf), np.ones(2))
    for k, kind in enumerate((0, 1, 2, 3)):
        np.testing.assert_allclose(found.slope[k, :, kind], slopes[k], atol=0.05)
        assert (found.loglik[k].argmax(axis=1) == kind).all()


def test_the_mixture_learns_how_common_styles_are():
    rng = np.random.default_rng(0)
    K, n = 60, 30
    of = np.repeat(np.arange(K), n)
    truth = rng.normal(size=(K * n, 1))
    idle = np.arange(K) < 24
    answers = np.where(idle[of, None], rng.normal(size=truth.shape), truth) + 0.5 * rng.normal(size=truth.shape)
    noise = TypicalNoise(np.array([0.25]), np.array([1.0]))
    evidence = style_evidence(centred_sums(answers, truth, of, K), noise, np.full((K, 1), -np.inf), np.ones(1))
    member = fit_mixture(evidence, np.ones((K, 1), dtype=bool))
    np.testing.assert_allclose(member.style.sum(axis=2), 1.0)
    assert member.spammer[idle].min() > 0.8
    assert member.spammer[~idle].max() < 0.1
