"""What compiled code would bring: the hottest kernels of items and traces in Numba against NumPy, results compared.

    pip install numba && python -m benchmarks.compiled

Numba is no dependency; docs/decisions/0020-compiled-code.md says what came of it. Ratios are of processor time in one
run, without compilation. The gain of a whole fit follows from the share that the kernel has in it (Amdahl).
"""

from __future__ import annotations

import cProfile
import pstats
import time
from typing import Any

import numba
import numpy as np

from benchmarks.measure import best_cpu
from unisono.maths.items.item_data import ItemData, no_features, prepare
from unisono.maths.items.item_estep import expectation, left_out_means
from unisono.maths.items.item_params import ItemParams, information
from unisono.maths.series.tracer_rows import RowPrior, Strata, row_cost, row_slopes

JUDGEMENTS, D = 500_000, 3


@numba.njit
def _item(Q, G, g, y, profile, low, high, precision, linear):
    """Adds what an item's judgements say to `precision` (D, D) and `linear` (D,)."""
    D = y.shape[1]
    for n in range(low, high):
        u = profile[n]
        for i in range(D):
            linear[i] -= g[u, i]
            for j in range(D):
                linear[i] += G[u, i, j] * y[n, j]
                precision[i, j] += Q[u, i, j]


@numba.njit
def _inverse(A, L, V):
    """Inverse V of a small positive definite A, by its Cholesky factor L."""
    D = A.shape[0]
    for j in range(D):
        for i in range(j, D):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = np.sqrt(s) if i == j else s / L[j, j]
    for c in range(D):
        for i in range(D):
            s = 1.0 if i == c else 0.0
            for k in range(i):
                s -= L[i, k] * V[k, c]
            V[i, c] = s / L[i, i]
        for i in range(D - 1, -1, -1):
            s = V[i, c]
            for k in range(i + 1, D):
                s -= L[k, i] * V[k, c]
            V[i, c] = s / L[i, i]


@numba.njit
def _expectation(Q, G, g, y, profile, ptr, prior, mu, Saa, Sya):
    """E-step and statistics in one pass over the judgements; Saa (U, q, q) and Sya (U, D, q) are added to."""
    D, M = y.shape[1], len(ptr) - 1
    mean = np.empty((M, D))
    pull = prior @ mu
    A, L, V = np.empty((D, D)), np.zeros((D, D)), np.empty((D, D))
    h, second = np.empty(D), np.empty((D + 1, D + 1))
    second[D, D] = 1.0
    for m in range(M):
        A[:], h[:] = prior, pull
        _item(Q, G, g, y, profile, ptr[m], ptr[m + 1], A, h)
        _inverse(A, L, V)
        for i in range(D):
            s = 0.0
            for j in range(D):
                s += V[i, j] * h[j]
            mean[m, i] = s
        for i in range(D):
            second[i, D] = second[D, i] = mean[m, i]
            for j in range(D):
                second[i, j] = V[i, j] + mean[m, i] * mean[m, j]
        for n in range(ptr[m], ptr[m + 1]):
            u = profile[n]
            for i in range(D + 1):
                for j in range(D + 1):
                    Saa[u, i, j] += second[i, j]
            for d in range(D):
                for i in range(D + 1):
                    Sya[u, d, i] += y[n, d] * second[D, i]
    return mean


@numba.njit
def _left_out(Q, G, g, y, profile, ptr, prior, mu):
    """(J, D) the truth of each judgement's item without the judgement."""
    J, D = y.shape
    out, pull = np.empty((J, D)), prior @ mu
    A, B, L, V = np.empty((D, D)), np.empty((D, D)), np.zeros((D, D)), np.empty((D, D))
    h, r = np.empty(D), np.empty(D)
    for m in range(len(ptr) - 1):
        A[:], h[:] = prior, pull
        _item(Q, G, g, y, profile, ptr[m], ptr[m + 1], A, h)
        for n in range(ptr[m], ptr[m + 1]):
            u = profile[n]
            for i in range(D):
                r[i] = h[i] + g[u, i]
                for j in range(D):
                    r[i] -= G[u, i, j] * y[n, j]
                    B[i, j] = A[i, j] - Q[u, i, j]
            _inverse(B, L, V)
            for i in range(D):
                s = 0.0
                for j in range(D):
                    s += V[i, j] * r[j]
                out[n, i] = s
    return out


@numba.njit
def _row(w, n, V, f, yy, my, mm, alpha, beta, sign, precision, mean):
    """Cost, gradient and Hessian of an annotator's gain and noise in a trace, in one pass over the strata."""
    g, s2 = sign * np.exp(alpha), np.exp(beta)
    cost = da = db = aa = ab = bb = 0.0
    for i in range(len(w)):
        va, vb = 2.0 * g * g * V[i], f[i] * s2
        v = 0.5 * va + vb
        S = yy[i] - 2.0 * g * my[i] + g * g * mm[i]
        Sa, Saa = -2.0 * g * my[i] + 2.0 * g * g * mm[i], -2.0 * g * my[i] + 4.0 * g * g * mm[i]
        r, c = n[i] / v - S / v**2, -n[i] / v**2 + 2.0 * S / v**3
        cost += w[i] * (n[i] * np.log(v) + S / v)
        da += w[i] * (r * va + Sa / v)
        db += w[i] * r * vb
        aa += w[i] * (2.0 * r * va + c * va * va + Saa / v - 2.0 * Sa * va / v**2)
        ab += w[i] * (c * va * vb - Sa * vb / v**2)
        bb += w[i] * (r * vb + c * vb * vb)
    p, q = alpha - mean[0], beta - mean[1]
    pull = precision[0, 0] * p + precision[0, 1] * q, precision[1, 0] * p + precision[1, 1] * q
    gradient = np.array([0.5 * da + pull[0], 0.5 * db + pull[1]])
    hessian = 0.5 * np.array([[aa, ab], [ab, bb]]) + precision
    return 0.5 * (cost + p * pull[0] + q * pull[1]), gradient, hessian


def items_case() -> tuple[ItemData, ItemParams]:
    rng = np.random.default_rng(0)
    M, K = JUDGEMENTS // 5, JUDGEMENTS // 500
    item, k = np.repeat(np.arange(M), 5), rng.integers(0, K, JUDGEMENTS)
    data = prepare(rng.normal(size=(JUDGEMENTS, D)), item, k, no_features(M), K)
    B = 0.3 * rng.normal(size=(K, D, D + 1)) + np.eye(D, D + 1)
    cov = np.tile(0.01 * np.eye(D + 1), (K, D, 1, 1))
    N = np.tile(0.5 * np.eye(D), (K, 1, 1))
    return data, ItemParams(B, N, np.zeros((0, D)), np.full(D, 0.1), 0.8 * np.eye(D) + 0.2, cov)


def items() -> dict[str, float]:
    """E-step with statistics, and truths without a judgement."""
    data, params = items_case()
    prior = np.linalg.inv(params.Sigma)
    U = len(data.annotator)

    def arguments() -> tuple[Any, ...]:
        info = information(data, params)
        return info.Q, info.G, info.g, data.y, data.profile_of, data.item_ptr, prior, params.mu

    def compiled() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        Saa, Sya = np.zeros((U, D + 1, D + 1)), np.zeros((U, D, D + 1))
        return _expectation(*arguments(), Saa, Sya), Saa, Sya

    mean, stats = expectation(data, params)
    for ours, theirs in zip((mean, stats.Saa, stats.Sya), compiled(), strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(_left_out(*arguments()), left_out_means(data, params), rtol=1e-8, atol=1e-8)
    return {
        "E-step and statistics": best_cpu(lambda: expectation(data, params), 5) / best_cpu(compiled, 5),
        "truths without a judgement": best_cpu(lambda: left_out_means(data, params), 5)
        / best_cpu(lambda: _left_out(*arguments()), 5),
    }


def traces() -> dict[str, float]:
    """Cost and slopes of one annotator's row, of which a search takes thousands, whatever the number of frames."""
    rng = np.random.default_rng(0)
    strata = Strata(*rng.uniform(0.5, 2.0, (7, 12)))
    prior, at = RowPrior(np.array([0.0, -1.0]), np.array([[0.3, 0.1], [0.1, 0.5]])), np.array([0.1, -0.5])
    precision = np.linalg.inv(prior.cov)

    def plain() -> tuple[Any, ...]:
        return row_cost(strata, at, 1.0, prior), *row_slopes(strata, at, 1.0, prior)

    def compiled() -> tuple[Any, ...]:
        return _row(*strata, at[0], at[1], 1.0, precision, prior.mean)  # type: ignore[no-any-return]

    for ours, theirs in zip(plain(), compiled(), strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-10)
    many = range(2_000)
    return {
        "row of a trace": best_cpu(lambda: [plain() for _ in many], 5)
        / best_cpu(lambda: [compiled() for _ in many], 5),
    }


def shares() -> dict[str, float]:
    """Share of the kernels in the processor time of a whole default fit."""
    from benchmarks import peer_items, peer_traces

    found = {}
    for name, module, size, kernels in (
        ("items, 1,000,000 ratings", peer_items, 1_000_000, ("expectation", "left_out_means")),
        ("traces, 4,500 frames", peer_traces, 4_500, ("most_probable_row",)),
    ):
        _, data = module.load(size)  # type: ignore[attr-defined]
        module.ours(module.load(1_000)[1])  # type: ignore[attr-defined]
        profile = cProfile.Profile(time.process_time)
        profile.runcall(module.ours, data)  # type: ignore[attr-defined]
        stats: Any = pstats.Stats(profile)
        own = {key[2]: entry[3] for key, entry in stats.stats.items() if "unisono" in key[0] and key[2] in kernels}
        found |= {f"{kernel} of {name}": value / stats.total_tt for kernel, value in own.items()}
    return found


def run() -> dict[str, Any]:
    import warnings

    warnings.simplefilter("ignore")
    return {
        **{f"NumPy over Numba: {name}": value for name, value in (items() | traces()).items()},
        **{f"share: {name}": value for name, value in shares().items()},
    }


if __name__ == "__main__":
    for name, value in run().items():
        print(f"{name:<70} {value:.3g}")
