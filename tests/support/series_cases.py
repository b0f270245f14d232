"""Small random series for the tests: every edge in one place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reference import dense_series as dense
from unisono.maths.series.trace_data import SeriesData, SeriesParams, Structure, lag_kernel
from unisono.maths.series.trace_estep import Truth

TOL = {"rtol": 1e-8, "atol": 1e-8}  # of the exact inference against the dense reference


class Case(NamedTuple):
    D: int
    W: int
    lengths: tuple[int, ...]
    phi: float
    missing: str = "none"  # none, frames, dims, run, annotator
    start: str = "preroll"
    autocorrelated: bool = False
    P: int = 0
    K: int = 3

    def __str__(self) -> str:
        return "-".join(str(v) for v in self)


def structure_of(case: Case, **changes) -> Structure:
    return Structure(W=case.W, autocorrelated=case.autocorrelated, start=case.start)._replace(**changes)


def make_data(case: Case, seed: int = 0) -> SeriesData:
    rng = np.random.default_rng(seed)
    M = len(case.lengths)
    pairs = [(m, k) for m in range(M) for k in range(case.K)]
    if case.missing == "annotator":
        pairs = [(m, k) for m, k in pairs if (m + k) % 3 or (M == 1 and k)]
    blocks = []
    for m, _ in pairs:
        y = np.cumsum(rng.standard_normal((case.lengths[m], case.D)), axis=0) * 0.5 + rng.standard_normal()
        if case.missing == "frames":
            y[rng.random(len(y)) < 0.15] = np.nan
        if case.missing == "dims":
            y[rng.random(y.shape) < 0.3] = np.nan
        if case.missing == "run":
            y[len(y) // 3 : 2 * len(y) // 3] = np.nan
        blocks.append(y)
    index = np.array(pairs)
    return SeriesData(
        y=np.concatenate(blocks),
        item_of=index[:, 0],
        annotator_of=index[:, 1],
        length=np.array(case.lengths),
        X=rng.standard_normal((sum(case.lengths), case.P)),
        K=case.K,
    )


def make_params(case: Case, seed: int = 1) -> SeriesParams:
    rng = np.random.default_rng(seed)
    D, W, K = case.D, case.W, case.K
    F = rng.standard_normal((K, W, D, D)) * 0.4 / np.sqrt(W)
    F[:, W // 3] += np.eye(D)
    N = np.eye(D) * rng.uniform(0.2, 0.8, (K, 1, D))
    root = rng.standard_normal((D, D)) * 0.3 + np.eye(D) * 0.7
    return SeriesParams(
        F=F,
        b=rng.standard_normal((K, D)) * 0.3,
        N=N,
        rho=rng.uniform(-0.3, 0.8, (K, D)) if case.autocorrelated else np.zeros((K, D)),
        lag=np.zeros((K, D)),
        mu=rng.standard_normal(D),
        theta=rng.standard_normal((case.P, D)) * 0.5,
        sigma=root @ root.T,
        phi=case.phi,
    )


def delayed_params(case: Case, between: bool = False, seed: int = 4) -> SeriesParams:
    """Parameters with one gain per dimension and one delay per row; `between`: delays between two frames."""
    rng = np.random.default_rng(seed)
    params = make_params(case)
    lag = rng.integers(0, case.W - between, (case.K, case.D)) + (0.3 if between else 0.0)
    gain = np.eye(case.D) + 0.2 * rng.standard_normal((case.K, case.D, case.D))
    F = np.zeros_like(params.F)
    for k, d in np.ndindex(*lag.shape):
        F[k, :, d] = np.outer(lag_kernel(float(lag[k, d]), case.W), gain[k, d])
    return params._replace(F=F, lag=lag)


CASES = [
    Case(D=1, W=1, lengths=(1,), phi=0.0),
    Case(D=2, W=1, lengths=(1, 1, 1, 1), phi=0.0, missing="annotator", P=2),
    Case(D=2, W=2, lengths=(31,), phi=0.9, missing="frames"),
    Case(D=1, W=5, lengths=(83, 83, 40), phi=0.95, P=1),
    Case(D=3, W=5, lengths=(23, 9), phi=0.5, missing="dims"),
    Case(D=2, W=20, lengths=(70,), phi=0.9, missing="run"),
    Case(D=2, W=20, lengths=(7, 12), phi=0.4),
    Case(D=1, W=20, lengths=(64,), phi=-0.3, missing="dims", start="zero"),
    Case(D=2, W=5, lengths=(41, 33, 41), phi=0.0, missing="annotator", start="zero", P=3),
    Case(D=3, W=2, lengths=(17, 17), phi=0.7, start="zero"),
    Case(D=2, W=5, lengths=(4, 3), phi=0.0, start="zero"),
    Case(D=2, W=4, lengths=(37, 37), phi=0.9, autocorrelated=True),
    Case(D=2, W=1, lengths=(26, 11), phi=0.9, missing="dims", autocorrelated=True),
    Case(D=1, W=3, lengths=(30,), phi=0.5, missing="frames", autocorrelated=True, start="zero"),
]


def require_dense(truth: Truth, data: SeriesData, params: SeriesParams, case: Case) -> float:
    """Means, covariances and likelihood have to be those of the dense reference, whose log p(y) is returned."""
    total, first = 0.0, 0
    for m, T in enumerate(case.lengths):
        post = dense.posterior(data, params, m, zero_start=case.start == "zero")
        rows, D = slice(first, first + T), case.D
        np.testing.assert_allclose(truth.mean[rows], post.mean.reshape(-1, D)[post.back :], **TOL)
        frames = [post.cov[(post.back + t) * D :, (post.back + t) * D :][:D, :D] for t in range(T)]
        np.testing.assert_allclose(truth.cov[rows], np.array(frames), **TOL)
        total, first = total + post.loglik, first + T
    np.testing.assert_allclose(truth.loglik, total, rtol=1e-10)
    return total


def rotated(seed=0, M=8, T=150, K=5, W=4):
    """Everybody mixes the two dimensions through positive random filters, as in the paper's simulation."""
    rng = np.random.default_rng(seed)
    truth = np.cumsum(rng.standard_normal((M, T + W, 2)), axis=1)
    truth = (truth - truth.min((0, 1))) / np.ptp(truth, axis=(0, 1))
    F = rng.uniform(0, 1, (K, W, 2, 2))
    y = np.zeros((M, K, T, 2))
    for k in range(K):
        for w in range(W):
            y[:, k] += truth[:, W - w : W - w + T] @ F[k, w].T
    y += rng.standard_normal(y.shape) * 0.4 * y.std()
    data = SeriesData(
        y.reshape(-1, 2), np.repeat(np.arange(M), K), np.tile(np.arange(K), M), np.full(M, T), np.zeros((M * T, 0)), K
    )
    return data, truth[:, W:].reshape(-1, 2)
