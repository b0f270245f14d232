"""Ratings drawn from the global model, with the truth they were drawn from.

The defaults are the paper's synthetic experiment: 100 items, 10 annotators who all rate everything, 2 dimensions, 500
features, elements of F_k from U(0, 1), truth from U(-1, 1). The paper does not give its noise; .3 is ours.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from unisono.data import ItemTable, Ratings
from unisono.errors import DataError
from unisono.simulate.simulation import Simulation

TransformLaw = Literal["uniform", "identity", "near-identity", "shared"]


def simulate_items(
    *,
    items: int = 100,
    annotators: int = 10,
    dimensions: int = 2,
    features: int = 500,
    ratings_per_item: int | None = None,
    noise: float = 0.3,
    transform: TransformLaw = "uniform",
    spread: float = 0.3,
    bias: float = 0.0,
    missing: float = 0.0,
    seed: int = 0,
) -> Simulation:
    """Draws a data set. `spread` is the sd of F_k around the identity, or the off-diagonal value of a shared F."""
    per_item = annotators if ratings_per_item is None else ratings_per_item
    if not 1 <= per_item <= annotators:
        raise DataError(f"{per_item} ratings per item need at least as many annotators; there are {annotators}.")
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((items, features))
    truth = rng.uniform(-1, 1, size=(items, dimensions))
    F = _matrices(transform, annotators, dimensions, spread, rng)
    b = bias * rng.standard_normal((annotators, dimensions))
    who = _assign(items, annotators, per_item, rng)
    item_of = np.repeat(np.arange(items), per_item)
    annotator_of = who.reshape(-1)
    y = np.einsum("nij,nj->ni", F[annotator_of], truth[item_of]) + b[annotator_of]
    y += noise * rng.standard_normal(y.shape)
    y[rng.random(y.shape) < missing] = np.nan
    return _labelled(y, item_of, annotator_of, X, truth, F, b, noise)


def _matrices(law: TransformLaw, K: int, D: int, spread: float, rng: np.random.Generator) -> np.ndarray:
    """(K, D, D) annotator matrices."""
    eye = np.tile(np.eye(D), (K, 1, 1))
    if law == "uniform":
        return rng.uniform(0, 1, size=(K, D, D))
    if law == "near-identity":
        return np.asarray(eye + spread * rng.standard_normal((K, D, D)))
    return np.asarray(eye + spread * (1 - eye)) if law == "shared" else eye


def _assign(M: int, K: int, per_item: int, rng: np.random.Generator) -> np.ndarray:
    """(M, per_item) annotators of each item, sorted; everyone when all are asked."""
    if per_item == K:
        return np.tile(np.arange(K), (M, 1))
    return np.sort(np.argpartition(rng.random((M, K)), per_item, axis=1)[:, :per_item], axis=1)


def _labelled(
    y: np.ndarray,
    item_of: np.ndarray,
    annotator_of: np.ndarray,
    X: np.ndarray,
    truth: np.ndarray,
    F: np.ndarray,
    b: np.ndarray,
    noise: float,
) -> Simulation:
    items = tuple(f"item{m + 1}" for m in range(len(truth)))
    annotators = tuple(f"annotator{k + 1}" for k in range(len(F)))
    dimensions = tuple(f"dim{d + 1}" for d in range(truth.shape[1]))
    ratings = Ratings.from_judgements(
        y, item_of, annotator_of, items=items, annotators=annotators, dimensions=dimensions, source="simulation"
    )
    columns = tuple(f"x{p + 1}" for p in range(X.shape[1]))
    described = {
        name: {"F": F[k].tolist(), "bias": b[k].tolist(), "noise_sd": noise} for k, name in enumerate(annotators)
    }
    return Simulation(
        ratings,
        ItemTable.from_rows(X, items=items, columns=columns, source="simulated features"),
        ItemTable.from_rows(truth, items=items, columns=dimensions, source="simulated truth"),
        described,
    )
