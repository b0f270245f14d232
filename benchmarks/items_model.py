"""Speed and memory of the model of items: against the naive reference, sureal, and a pandas groupby, in one run.

(a) 10,000 items x 5 of 200 annotators x 2 dimensions, joint EM to convergence
    and the default against joint EM by maximum likelihood, each the whole fit
(b) 1,000,000 items x 5 ratings x 3 dimensions x 10,000 annotators, one EM iteration
(c) the time of an iteration from 10^4 to 10^6 items
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.measure import best_time, in_own_process, peak_megabytes
from unisono.maths.em_loop import relative_change, run_em
from unisono.maths.items.item_data import ItemData, no_features, prepare
from unisono.maths.items.item_params import Structure
from unisono.maths.items.likelihood_em import MlSettings, em_step, paper_start

STRUCTURE = Structure(noise="isotropic", latent="full")
SUREAL_ITEMS = 1000  # sureal takes minutes on the whole load, so it gets a tenth, and ratios are per rating


def run() -> dict[str, Any]:
    """All measurements; about two minutes."""
    with threadpool_limits(limits=1):
        return {**to_convergence(), **default_against_ml(), **one_iteration(), **growth()}


def load(
    M: int, K: int, D: int, per_item: int = 5, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Truth (M, D), ratings (J, D), item_of (J,), annotator_of (J,); annotators have gain, leakage, bias and noise."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((M, D))
    F = np.eye(D) + 0.2 * rng.standard_normal((K, D, D))
    b, noise = 0.5 * rng.standard_normal((K, D)), rng.uniform(0.3, 1.2, size=K)
    who = np.sort(rng.integers(0, K - per_item + 1, size=(M, per_item)), axis=1) + np.arange(per_item)
    item_of, annotator_of = np.repeat(np.arange(M, dtype=np.int32), per_item), who.reshape(-1).astype(np.int32)
    y = np.empty((M * per_item, D))
    for start in range(0, len(y), 1 << 18):
        rows = slice(start, start + (1 << 18))
        k = annotator_of[rows]
        y[rows] = np.einsum("nij,nj->ni", F[k], truth[item_of[rows]]) + b[k]
        y[rows] += noise[k, None] * rng.standard_normal((len(k), D))
    return truth, y, item_of, annotator_of


def settings(D: int) -> MlSettings:
    return MlSettings(STRUCTURE, np.full(D, 1e-6))


def to_convergence() -> dict[str, Any]:
    """(a): the whole fit, and per rating and iteration against the naive reference on a tenth of the items."""
    truth, y, item_of, annotator_of = load(10_000, 200, 2)
    found: dict[str, Any] = {}

    def fit() -> None:
        data = prepare(y, item_of, annotator_of, no_features(len(truth)), 200)
        found["fit"] = run_em(
            lambda p: em_step(data, p, settings(2)),
            paper_start(data, settings(2)),
            stop_when=relative_change(1e-5),
            max_iter=500,
        )

    seconds = best_time(fit)
    params, trace = found["fit"]
    data = prepare(y, item_of, annotator_of, no_features(len(truth)), 200)
    fast = best_time(lambda: em_step(data, params, settings(2))) / len(y)
    tenth = len(truth) // 10
    naive = best_time(lambda: _naive_step(params, y, item_of, annotator_of, tenth), repeats=1) / (5 * tenth)
    from unisono.maths.items.item_estep import posterior

    mean = posterior(data, params).mean
    plain = np.stack([np.bincount(item_of, y[:, d]) / 5 for d in range(2)], axis=1)
    result = {
        "a_joint_em_s": seconds,
        "a_iterations": trace.iterations,
        "a_naive_over_fast_per_rating_ratio": naive / fast,
        "a_pearson_joint": [float(np.corrcoef(mean[:, d], truth[:, d])[0, 1]) for d in range(2)],
        "a_pearson_mean": [float(np.corrcoef(plain[:, d], truth[:, d])[0, 1]) for d in range(2)],
    }
    if importlib.util.find_spec("sureal") is not None:
        sureal = sureal_seconds(y, item_of, annotator_of, SUREAL_ITEMS) / (5 * SUREAL_ITEMS)
        result["a_sureal_over_joint_per_rating_ratio"] = sureal / (seconds / len(y))
    return result


def default_against_ml() -> dict[str, Any]:
    """(a): the default, everything it does before it is asked for results, over joint EM by maximum likelihood."""
    from unisono.fusers import Joint
    from unisono.tables.ratings import Ratings

    truth, y, item_of, annotator_of = load(10_000, 200, 2)
    labels = {
        "items": [f"i{m}" for m in range(len(truth))],
        "annotators": [f"a{k}" for k in range(200)],
        "dimensions": ["x", "y"],
    }
    ratings = Ratings.from_judgements(y, item_of, annotator_of, **labels)
    ml, default = Joint(inference="ml"), Joint()
    # In turns, so that a busy moment of the machine hits both.
    pairs = [
        (best_time(lambda: default.fit(ratings), repeats=1), best_time(lambda: ml.fit(ratings), repeats=1))
        for _ in range(7)
    ]
    seconds = [min(times) for times in zip(*pairs, strict=True)]
    return {
        "a_default_s": seconds[0],
        "a_default_iterations": default.trace_.iterations,
        "a_ml_iterations": ml.trace_.iterations,
        "a_default_over_ml_ratio": seconds[0] / seconds[1],
    }


def _naive_step(params: Any, y: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, items: int) -> None:
    """The paper's E-step with a DK x DK covariance per item, and its M-step in loops."""
    sys.path.insert(0, "tests")
    from reference import naive_items

    rated = [list(zip(annotator_of[5 * m : 5 * m + 5], y[5 * m : 5 * m + 5], strict=True)) for m in range(items)]
    means = np.tile(params.mu, (items, 1))
    mean, cov, _ = naive_items.posterior(params.F, params.b, params.N, means, params.Sigma, rated)
    # Annotators absent from the tenth would have singular equations; they are few and left out of the loops.
    present = np.unique(annotator_of[: 5 * items])
    place = {k: i for i, k in enumerate(present)}
    known = [[(place[k], r) for k, r in judgements] for judgements in rated]
    naive_items.paper_m_step(known, mean, cov, np.ones((items, 1)), len(present))


def sureal_seconds(y: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, items: int) -> float:
    """sureal's P.910 model (bias and inconsistency per annotator), dimension by dimension, on the first items."""
    from types import SimpleNamespace

    from sureal import P910AnnexEModel
    from sureal.dataset_reader import RawDatasetReader

    def work() -> None:
        for d in range(y.shape[1]):
            videos: list[dict[str, Any]] = [
                {"content_id": m, "asset_id": m, "path": "", "os": {}} for m in range(items)
            ]
            for n in np.flatnonzero(item_of < items):
                videos[item_of[n]]["os"][f"k{annotator_of[n]}"] = float(y[n, d])
            references = [{"content_id": m, "path": ""} for m in range(items)]
            dataset = SimpleNamespace(dataset_name="bench", ref_videos=references, dis_videos=videos, ref_score=5.0)
            with redirect_stdout(StringIO()):  # it reports every iteration
                P910AnnexEModel(RawDatasetReader(dataset)).run_modeling()

    return best_time(work, repeats=1)


def one_iteration() -> dict[str, Any]:
    """(b): one EM iteration against pandas, and peak memory in a process of its own."""
    return {f"b_{name}": value for name, value in in_own_process("benchmarks.items_model", "million").items()}


def million(M: int = 1_000_000) -> dict[str, Any]:
    """What the process of (b) measures. Memory counts from before the data exist to after an iteration."""
    import pandas as pd

    empty = peak_megabytes()
    _, y, item_of, annotator_of = load(M, 10_000, 3)
    data: ItemData = prepare(y, item_of, annotator_of, no_features(M), 10_000)
    params = paper_start(data, settings(3))
    seconds = best_time(lambda: em_step(data, params, settings(3)))
    peak = peak_megabytes() - empty
    frame = pd.DataFrame({"item": item_of, "annotator": annotator_of, "a": y[:, 0], "b": y[:, 1], "c": y[:, 2]})
    groupby = best_time(lambda: frame.groupby("item")[["a", "b", "c"]].mean(), repeats=5)
    megabytes = y.nbytes / 2**20
    return {
        "iteration_s": seconds,
        "groupby_s": groupby,
        "iteration_over_groupby_ratio": seconds / groupby,
        "peak_mb": peak,
        "peak_over_ratings_ratio": peak / megabytes,
    }


def growth() -> dict[str, Any]:
    """(c): time per item of an iteration at 10^5 and 10^6 items relative to 10^4."""
    per_item = {}
    for M in (10_000, 100_000, 1_000_000):
        _, y, item_of, annotator_of = load(M, 200, 2)
        data = prepare(y, item_of, annotator_of, no_features(M), 200)
        params = paper_start(data, settings(2))
        per_item[M] = best_time(lambda d=data, p=params: em_step(d, p, settings(2))) / M
    return {f"c_per_item_{M:.0e}_over_1e4_ratio": per_item[M] / per_item[10_000] for M in (100_000, 1_000_000)}


if __name__ == "__main__":
    if sys.argv[1:] == ["million"]:
        with threadpool_limits(limits=1):
            print(json.dumps(million()))
    else:
        start = time.perf_counter()
        print(json.dumps(run() | {"seconds": time.perf_counter() - start}, indent=1))
