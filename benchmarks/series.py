"""Speed and memory of the series model, as ratios measured in one run.

`run()` returns a flat dict of numbers; names end in _s (seconds), _mb (megabytes) or _ratio. Everything runs on one
BLAS thread, the rivals too; CSV reading may use all cores, as it does for a user.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import linalg
from threadpoolctl import threadpool_limits

from benchmarks.measure import best_time
from unisono.fusers.series import Joint
from unisono.maths.series.trace_data import Priors, SeriesData, SeriesParams, Structure
from unisono.maths.series.trace_em import soft_step
from unisono.maths.series.trace_estep import expect, log_likelihood
from unisono.maths.series.trace_layout import Layout, make_layout, precision_blocks, unit_rows, whiten
from unisono.paper.simulation import simulate_series
from unisono.tables.ratings import Ratings

K = 6


def run() -> dict[str, float]:
    """All measurements, a few minutes in all."""
    with threadpool_limits(limits=1):
        return {
            **against_dense(),
            **at_film_length(),
            **default_at_film_length(),
            **memory_at_film_length(),
            **against_kalman(),
        }


def make_case(T: int, D: int, W: int, gaps: float = 0.0) -> tuple[SeriesData, SeriesParams, Structure]:
    """Random walks seen through random filters by K annotators; a share `gaps` of the numbers missing."""
    rng = np.random.default_rng(0)
    F = rng.standard_normal((K, W, D, D)) * 0.3 / np.sqrt(W)
    F[:, W // 3] += np.eye(D)
    truth = np.cumsum(rng.standard_normal((T, D)), axis=0) * 0.05
    y = np.concatenate([truth + 0.2 * rng.standard_normal((T, D)) for _ in range(K)])
    y[rng.random(y.shape) < gaps] = np.nan
    data = SeriesData(y, np.zeros(K, dtype=int), np.arange(K), np.array([T]), np.zeros((T, 0)), K)
    params = SeriesParams(
        F=F,
        b=np.zeros((K, D)),
        N=np.tile(0.1 * np.eye(D), (K, 1, 1)),
        rho=np.zeros((K, D)),
        lag=np.zeros((K, D)),
        mu=np.zeros(D),
        theta=np.zeros((0, D)),
        sigma=0.01 * np.eye(D),
        phi=0.98,
    )
    return data, params, Structure(W=W, transform="taps")


def against_dense() -> dict[str, float]:
    """E-step (means, covariances within the window, likelihood, moments) against LAPACK on the full matrix."""
    out = {}
    for T in (500, 1000, 2000):
        data, params, structure = make_case(T, 2, 10)
        layout = make_layout(data, structure)
        precision = dense_precision(layout, params, structure)
        dense = best_time(lambda P=precision: dense_estep(P), 2)  # type: ignore[misc]
        whole = best_time(lambda a=layout, p=params, s=structure: expect(a, p, s))  # type: ignore[misc]
        data, _, _ = make_case(T, 2, 10, gaps=0.05)
        layout = make_layout(data, structure)
        gaps = best_time(lambda a=layout, p=params, s=structure: expect(a, p, s))  # type: ignore[misc]
        out |= {f"dense_{T}_s": dense, f"estep_{T}_s": whole, f"estep_{T}_gaps_s": gaps}
        out |= {f"dense_over_estep_{T}_ratio": dense / whole, f"dense_over_estep_{T}_gaps_ratio": dense / gaps}
    return out


def dense_precision(layout: Layout, params: SeriesParams, structure: Structure) -> np.ndarray:
    """(L D, L D) the same posterior precision as one matrix; making it is not counted against the rival."""
    group = layout.groups[0]
    rows = unit_rows(group, whiten(layout.channels, params, structure))
    blocks = precision_blocks(group, rows, params)
    B = group.S * layout.D
    out = np.zeros((len(blocks.kind) * B, len(blocks.kind) * B))
    for i, kind in enumerate(blocks.kind):
        here = slice(i * B, (i + 1) * B)
        diagonal, left = blocks.row(int(kind))
        out[here, here] = np.tril(diagonal)
        if i:
            out[here, (i - 1) * B : i * B] = left
    return out + np.tril(out, -1).T


def dense_estep(precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What any dense implementation has to do at least: factor, solve, invert."""
    factor = linalg.cho_factor(precision, lower=True, check_finite=False)
    mean = linalg.cho_solve(factor, np.ones(len(precision)), check_finite=False)
    return mean, linalg.lapack.dpotri(factor[0], lower=1)[0]


def at_film_length() -> dict[str, float]:
    """One whole soft EM iteration at 45,000 frames, W = 50, against reading its ratings and against 4,500 frames."""
    out = {}
    priors = Priors(filter_sd=1.0, bias_sd=0.5)
    for T in (4_500, 45_000):
        data, params, structure = make_case(T, 2, 50)
        layout = make_layout(data, structure)
        out[f"iteration_{T}_s"] = best_time(lambda a=layout, p=params, s=structure: soft_step(a, p, s, priors), 5)  # type: ignore[misc]
    data, params, structure = make_case(45_000, 2, 50, gaps=0.02)
    layout = make_layout(data, structure)
    out["iteration_45000_gaps_s"] = best_time(lambda: soft_step(layout, params, structure, priors), 2)
    out["layout_45000_gaps_s"] = best_time(lambda: make_layout(data, structure), 1)
    out["read_csv_s"] = read_csv_time()
    out["iteration_over_read_csv_ratio"] = out["iteration_45000_s"] / out["read_csv_s"]
    out["iteration_gaps_over_read_csv_ratio"] = out["iteration_45000_gaps_s"] / out["read_csv_s"]
    out["growth_4500_to_45000_ratio"] = out["iteration_45000_s"] / out["iteration_4500_s"]
    return out


def default_at_film_length() -> dict[str, float]:
    """The whole default fit of 45,000 frames, W = 76: delays, EM, bands, description.

    Complete, and with 2 % of every trace missing in gaps of up to a second.
    """
    out = {}
    for name, gaps in (("default_45000", 0.0), ("default_45000_gaps", 0.02)):
        ratings = film(gaps)
        fuser = Joint()
        out[f"{name}_s"] = best_time(lambda r=ratings, f=fuser: f.fit(r), 1)  # type: ignore[misc]
        out[f"{name}_description_s"] = best_time(fuser.describe, 1)
        out[f"{name}_iterations"] = float(fuser.trace_.iterations)
        out[f"{name}_converged"] = float(fuser.trace_.converged)
    return out


def film(gaps: float) -> Ratings:
    """Realistic traces of 30 minutes at 25 frames per second; a share `gaps` of each trace missing."""
    ratings = simulate_series(
        recordings=1, frames=45_000, features=0, realistic=True, rate=25.0, window=50, autocorrelation=0.95
    ).ratings
    rng, value = np.random.default_rng(5), ratings.value.copy()
    for j in range(len(ratings.item_of)):
        trace = value[ratings.offset[j] : ratings.offset[j + 1]]
        while np.isnan(trace).mean() < gaps:
            start = rng.integers(len(trace))
            trace[start : start + rng.integers(1, 26)] = np.nan
    return ratings.with_value(value)


def read_csv_time(T: int = 45_000, D: int = 2) -> float:
    """Reading the same ratings, recording,time,annotator,<dims>, with polars."""
    import polars as pl

    data, _, _ = make_case(T, D, 50)
    frame = pl.DataFrame(
        {
            "recording": ["film"] * len(data.y),
            "time": np.tile(np.arange(T) / 25.0, K),
            "annotator": [f"rater{k}" for k in range(K) for _ in range(T)],
            "valence": data.y[:, 0],
            "arousal": data.y[:, 1],
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.csv"
        frame.write_csv(path)
        return best_time(lambda: pl.read_csv(path), 5)


def memory_at_film_length() -> dict[str, float]:
    """Peak resident memory of a process that does one iteration, and of one that only imports."""
    work = {
        "imports_mb": "",
        "iteration_45000_mb": "b.one_iteration(0.0);",
        "iteration_45000_gaps_mb": "b.one_iteration(0.02);",
    }
    out = {}
    for name, call in work.items():
        code = f"import benchmarks.series as b; {call} print(b.peak_mb())"
        root = Path(__file__).parents[1]
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
        out[name] = float(done.stdout)
    return out


def one_iteration(gaps: float) -> None:
    data, params, structure = make_case(45_000, 2, 50, gaps)
    soft_step(make_layout(data, structure), params, structure, Priors(filter_sd=1.0, bias_sd=0.5))


def peak_mb() -> float:
    """High-water mark of this process since it was started; unlike getrusage it forgets the parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024.0


def against_kalman(T: int = 500, D: int = 2, W: int = 50) -> dict[str, float]:
    """The same model as a state space of W D numbers, statsmodels' compiled smoother."""
    data, params, structure = make_case(T, D, W)
    layout = make_layout(data, structure)
    smoother = kalman_smoother(data, params, T, D, W)
    difference = abs(smoother.loglike() - log_likelihood(layout, params, structure))
    kalman = best_time(smoother.smooth, 2)
    ours = best_time(lambda: expect(layout, params, structure))
    return {
        "kalman_500_wd100_s": kalman,
        "estep_500_wd100_s": ours,
        "kalman_over_estep_ratio": kalman / ours,
        "kalman_loglik_difference": difference,
    }


def kalman_smoother(data: SeriesData, params: SeriesParams, T: int, D: int, W: int):  # type: ignore[no-untyped-def]
    from statsmodels.tsa.statespace.kalman_smoother import KalmanSmoother

    n = W * D
    smoother = KalmanSmoother(k_endog=K * D, k_states=n, k_posdef=D)
    smoother.bind(np.asfortranarray(np.swapaxes(data.y.reshape(K, T, D), 0, 1).reshape(T, K * D).T))
    transition = np.zeros((n, n))
    transition[:D, :D] = params.phi * np.eye(D)
    transition[D:, :-D] = np.eye(n - D)
    smoother["transition"] = transition
    smoother["selection", :D, :] = np.eye(D)
    smoother["state_cov"] = params.sigma
    smoother["design"] = np.moveaxis(params.F, 1, 2).reshape(K * D, n)
    smoother["obs_cov"] = linalg.block_diag(*params.N)
    gap = np.abs(np.arange(W)[:, None] - np.arange(W))
    smoother.initialize_known(np.zeros(n), np.kron(params.phi**gap, params.sigma / (1.0 - params.phi**2)))
    return smoother


if __name__ == "__main__":
    for name, value in run().items():
        print(f"{name:40s} {value:.4g}")
