"""Other packages and published methods on ratings of items, from arrays in memory to an estimate per item.

Ratings by annotators with gain, bias and noise, one in ten of whom guesses; whole numbers from 1 to 9, two dimensions,
five judgements per item, 200 per annotator.

    mean (pandas, polars)   the plain mean
    PM, CATD                truth discovery with weights per annotator (Li et al. 2014)
    LFC_N                   bias and variance per annotator by EM (Raykar et al. 2010)
    DawidSkene              crowd-kit on answers as kinds
    RASA, ClosestToAverage  crowd-kit's aggregators of vectors
    P.910, P.913, BT.500    sureal: bias and inconsistency per annotator; bias; outliers removed
    FactorAnalysis          scikit-learn's first factor of items by annotators, gaps filled with the annotator's mean
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import chi2

PER_ITEM = 5
STEPS = 50
Ratings = tuple[np.ndarray, np.ndarray, np.ndarray]  # value (J, D), item (J,), annotator (J,)


def load(size: int, seed: int = 0, D: int = 2) -> tuple[np.ndarray, Ratings]:
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
    """The whole default: diagnosis, copies, fit, intervals, table of annotators."""
    from unisono.api import fuse
    from unisono.tables.ratings import Ratings as Table

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


def _in_turns(ratings: Ratings, step: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """Every dimension from its mean, `step` from a truth to the next one until it stays."""
    value, item, _ = ratings
    found = []
    for y in value.T:
        truth = np.bincount(item, y) / np.bincount(item)
        for _ in range(STEPS):
            truth, before = step(y, truth), truth
            if np.abs(truth - before).max() < 1e-4:
                break
        found.append(truth)
    return np.stack(found, axis=1)


def pm(ratings: Ratings) -> np.ndarray:
    """Weights -log of an annotator's share of all squared distances."""
    _, item, k = ratings

    def step(y: np.ndarray, truth: np.ndarray) -> np.ndarray:
        loss = np.bincount(k, (y - truth[item]) ** 2) + 1e-9
        return _weighted(y, item, -np.log(loss / loss.sum())[k])

    return _in_turns(ratings, step)


def catd(ratings: Ratings) -> np.ndarray:
    """Weights from the upper end of an interval of an annotator's variance."""
    _, item, k = ratings
    quantile = chi2.ppf(0.025, np.bincount(k))

    def step(y: np.ndarray, truth: np.ndarray) -> np.ndarray:
        return _weighted(y, item, (quantile / (np.bincount(k, (y - truth[item]) ** 2) + 1e-9))[k])

    return _in_turns(ratings, step)


def lfc_n(ratings: Ratings) -> np.ndarray:
    """y = truth + bias_k + noise of variance v_k."""
    _, item, k = ratings
    n = np.bincount(k)

    def step(y: np.ndarray, truth: np.ndarray) -> np.ndarray:
        bias = np.bincount(k, y - truth[item]) / n
        variance = np.bincount(k, (y - truth[item] - bias[k]) ** 2) / n + 1e-6
        return _weighted(y - bias[k], item, 1 / variance[k])

    return _in_turns(ratings, step)


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


def _embedded(ratings: Ratings) -> Any:
    """The table crowd-kit's aggregators of vectors take: the answers of a judgement are its vector."""
    import pandas as pd

    value, item, k = ratings
    return pd.DataFrame({"task": item, "worker": k, "output": np.arange(len(k)), "embedding": list(value)})


def rasa(ratings: Ratings) -> np.ndarray:
    from crowdkit.aggregation import RASA

    return np.stack(RASA(n_iter=STEPS).fit(_embedded(ratings)).aggregated_embeddings_.sort_index().to_list())


def closest_to_average(ratings: Ratings) -> np.ndarray:
    from crowdkit.aggregation import ClosestToAverage

    model = ClosestToAverage(distance=lambda a, b: float(np.sum((a - b) ** 2))).fit(_embedded(ratings))
    return np.stack(model.embeddings_and_outputs_.sort_index()["embedding"].to_list())


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


def _sureal(model: str, ratings: Ratings) -> np.ndarray:
    from contextlib import redirect_stdout
    from io import StringIO
    from types import SimpleNamespace

    import sureal
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
        with redirect_stdout(StringIO()):  # it reports every iteration
            found.append(np.array(getattr(sureal, model)(RawDatasetReader(dataset)).run_modeling()["quality_scores"]))
    return np.stack(found, axis=1)


METHODS: dict[str, Callable[[Ratings], np.ndarray]] = {
    "unisono auto": ours,
    "pandas mean": pandas_mean,
    "polars mean": polars_mean,
    "PM": pm,
    "CATD": catd,
    "LFC_N": lfc_n,
    "crowd-kit DawidSkene": dawid_skene,
    "crowd-kit RASA": rasa,
    "crowd-kit ClosestToAverage": closest_to_average,
    "sklearn FactorAnalysis": factor_analysis,
    "sureal P.910": lambda ratings: _sureal("P910AnnexEModel", ratings),
    "sureal P.913": lambda ratings: _sureal("P913124Model", ratings),
    "sureal BT.500": lambda ratings: _sureal("BT500Model", ratings),
}
NEEDS = {"crowd-kit": "crowdkit", "sklearn": "sklearn", "sureal": "sureal"}
