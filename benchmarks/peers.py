"""Ours beside other packages and published methods on the same ratings: seconds, peak memory, correlation with truth.

    python -m benchmarks.run peers

Ratings of items by annotators with gain, bias and noise, one in ten of whom guesses; whole numbers from 1 to 9, two
dimensions. Every method runs in a process of its own, from arrays in memory to an estimate per item; the time of ours
includes diagnosis, copies, intervals and the table of annotators, which the others do not have.

    mean (pandas, polars)   the plain mean
    PM, CATD                truth discovery with weights per annotator (Li et al. 2014)
    LFC_N                   bias and variance per annotator by EM (Raykar et al. 2010)
    DawidSkene              crowd-kit on answers as kinds
    P.910                   sureal's bias and inconsistency per annotator
    FactorAnalysis          scikit-learn's first factor of items by annotators, gaps filled with the annotator's mean
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import chi2

from benchmarks.measure import in_own_process, peak_megabytes

SIZES = (1_000, 10_000, 100_000, 1_000_000)  # ratings: judgements of D = 2
PER_ITEM = 5
MOST = {"sureal P.910": 10_000, "crowd-kit DawidSkene": 10_000, "sklearn FactorAnalysis": 10_000}  # beyond, minutes
STEPS = 50
Ratings = tuple[np.ndarray, np.ndarray, np.ndarray]  # value (J, D), item (J,), annotator (J,)


def run() -> dict[str, Any]:
    """[seconds, megabytes, Pearson] of every method on every load, and growth exponents of the time."""
    found: dict[str, Any] = {}
    for name in METHODS:
        if name.startswith("sureal") and importlib.util.find_spec("sureal") is None:
            continue
        times = []
        for size in SIZES:
            if size > MOST.get(name, SIZES[-1]):
                break
            one = in_own_process("benchmarks.peers", name, size)
            times.append((size, one["seconds"]))
            found[f"{name}, {size:,} ratings"] = [one["seconds"], one["megabytes"], one["pearson"]]
        if len(times) > 2:
            (first, a), (last, b) = times[-3], times[-1]
            found[f"{name}, growth exponent"] = float(np.log(b / a) / np.log(last / first))
    return found


def load(size: int, D: int = 2, seed: int = 0) -> tuple[np.ndarray, Ratings]:
    """Truth (M, D) and about so many judgements."""
    rng = np.random.default_rng(seed)
    M, K = size // PER_ITEM, max(size // 200, 10)
    truth = rng.normal(size=(M, D)) @ np.linalg.cholesky(np.array([[1.0, 0.4], [0.4, 1.0]])).T
    gain, bias = 1 + 0.2 * rng.normal(size=(K, D)), 0.4 * rng.normal(size=(K, D))
    noise = 0.7 * np.exp(0.4 * rng.normal(size=K))
    gain[rng.random(K) < 0.1] = 0.0
    who = np.sort(rng.integers(0, K - PER_ITEM + 1, size=(M, PER_ITEM)), axis=1) + np.arange(PER_ITEM)
    item, k = np.repeat(np.arange(M), PER_ITEM), who.ravel()
    y = truth[item] * gain[k] + bias[k] + noise[k, None] * rng.normal(size=(len(k), D))
    return truth, (np.clip(np.round(1.6 * y + 5), 1, 9), item, k)


def ours(ratings: Ratings) -> np.ndarray:
    from unisono.api import fuse
    from unisono.data import Ratings as Table

    value, item, k = ratings
    items, annotators = ([f"{what}{n}" for n in range(int(of.max()) + 1)] for what, of in (("i", item), ("a", k)))
    table = Table.from_judgements(value, item, k, items=items, annotators=annotators, dimensions=["x", "y"])
    result = fuse(table)
    _ = result.described
    return np.asarray(result.fused.mean)


def pandas_mean(ratings: Ratings) -> np.ndarray:
    import pandas as pd

    value, item, _ = ratings
    return np.asarray(pd.DataFrame(value).groupby(item).mean().to_numpy())


def polars_mean(ratings: Ratings) -> np.ndarray:
    import polars as pl

    value, item, _ = ratings
    frame = pl.DataFrame({"item": item, "x": value[:, 0], "y": value[:, 1]})
    return frame.group_by("item").mean().sort("item").drop("item").to_numpy()


def _weighted(y: np.ndarray, item: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return np.bincount(item, weight * y) / np.bincount(item, weight)


def pm(ratings: Ratings) -> np.ndarray:
    """Weights -log of an annotator's share of all squared distances."""
    value, item, k = ratings
    found = []
    for y in value.T:
        truth = np.bincount(item, y) / np.bincount(item)
        for _ in range(STEPS):
            loss = np.bincount(k, (y - truth[item]) ** 2) + 1e-9
            truth, before = _weighted(y, item, -np.log(loss / loss.sum())[k]), truth
            if np.abs(truth - before).max() < 1e-4:
                break
        found.append(truth)
    return np.stack(found, axis=1)


def catd(ratings: Ratings) -> np.ndarray:
    """Weights from the upper end of an interval of an annotator's variance."""
    value, item, k = ratings
    n = np.bincount(k)
    quantile = chi2.ppf(0.025, n)
    found = []
    for y in value.T:
        truth = np.bincount(item, y) / np.bincount(item)
        for _ in range(STEPS):
            weight = quantile / (np.bincount(k, (y - truth[item]) ** 2) + 1e-9)
            truth, before = _weighted(y, item, weight[k]), truth
            if np.abs(truth - before).max() < 1e-4:
                break
        found.append(truth)
    return np.stack(found, axis=1)


def lfc_n(ratings: Ratings) -> np.ndarray:
    """y = truth + bias_k + noise of variance v_k."""
    value, item, k = ratings
    n = np.bincount(k)
    found = []
    for y in value.T:
        truth = np.bincount(item, y) / np.bincount(item)
        for _ in range(STEPS):
            bias = np.bincount(k, y - truth[item]) / n
            variance = np.bincount(k, (y - truth[item] - bias[k]) ** 2) / n + 1e-6
            truth, before = _weighted(y - bias[k], item, 1 / variance[k]), truth
            if np.abs(truth - before).max() < 1e-4:
                break
        found.append(truth)
    return np.stack(found, axis=1)


def dawid_skene(ratings: Ratings) -> np.ndarray:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    value, item, k = ratings
    found = []
    for y in value.T:
        table = pd.DataFrame({"task": item, "worker": k, "label": y.astype(int)})
        model = DawidSkene(n_iter=STEPS).fit(table)
        shares = model.probas_.sort_index()
        found.append(shares.to_numpy() @ shares.columns.to_numpy(dtype=float))
    return np.stack(found, axis=1)


def factor_analysis(ratings: Ratings) -> np.ndarray:
    from sklearn.decomposition import FactorAnalysis

    value, item, k = ratings
    found = []
    for y in value.T:
        table = np.full((item.max() + 1, k.max() + 1), np.nan)
        table[item, k] = y
        table = np.where(np.isnan(table), np.nan_to_num(np.nanmean(table, axis=0)), table)
        score = FactorAnalysis(1, random_state=0).fit_transform(table)[:, 0]
        found.append(score * np.sign(score @ (table.mean(axis=1) - table.mean())))
    return np.stack(found, axis=1)


def p910(ratings: Ratings) -> np.ndarray:
    from contextlib import redirect_stdout
    from io import StringIO
    from types import SimpleNamespace

    from sureal import P910AnnexEModel
    from sureal.dataset_reader import RawDatasetReader

    value, item, k = ratings
    found = []
    for y in value.T:
        videos: list[dict[str, Any]] = [
            {"content_id": m, "asset_id": m, "path": "", "os": {}} for m in range(int(item.max()) + 1)
        ]
        for m, who, answer in zip(item.tolist(), k.tolist(), y.tolist(), strict=True):
            videos[m]["os"][f"k{who}"] = answer
        references = [{"content_id": m, "path": ""} for m in range(len(videos))]
        dataset = SimpleNamespace(dataset_name="bench", ref_videos=references, dis_videos=videos, ref_score=9.0)
        with redirect_stdout(StringIO()):
            found.append(np.array(P910AnnexEModel(RawDatasetReader(dataset)).run_modeling()["quality_scores"]))
    return np.stack(found, axis=1)


METHODS: dict[str, Callable[[Ratings], np.ndarray]] = {
    "unisono auto": ours,
    "pandas mean": pandas_mean,
    "polars mean": polars_mean,
    "PM": pm,
    "CATD": catd,
    "LFC_N": lfc_n,
    "crowd-kit DawidSkene": dawid_skene,
    "sklearn FactorAnalysis": factor_analysis,
    "sureal P.910": p910,
}


def measure(name: str, size: int) -> dict[str, float]:
    """What the process of one measurement finds; memory counts from before the method begins."""
    import warnings

    warnings.simplefilter("ignore")
    truth, ratings = load(size)
    METHODS[name](load(1_000)[1])  # imports and first calls are not what is compared
    empty = peak_megabytes()
    start = time.perf_counter()
    estimate = METHODS[name](ratings)
    seconds = time.perf_counter() - start
    fit = [float(np.corrcoef(estimate[:, d], truth[:, d])[0, 1]) for d in range(truth.shape[1])]
    return {"seconds": seconds, "megabytes": peak_megabytes() - empty, "pearson": float(np.mean(fit))}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
