"""Random small instances of the item model, in the fast and in the naive layout."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from unisono.maths.em_loop import run_em
from unisono.maths.items.bayes_bound import BayesSettings
from unisono.maths.items.bayes_em import bayes_step, settled
from unisono.maths.items.bayes_start import bayes_settings
from unisono.maths.items.item_data import ItemData, no_features, orthogonal_scores, prepare
from unisono.maths.items.item_params import ItemParams, Structure, sample_ratings, sample_truths
from unisono.maths.items.item_priors import Priors
from unisono.tables.item_table import ItemTable
from unisono.tables.ratings import Ratings


class Case(NamedTuple):
    data: ItemData
    params: ItemParams
    naive_params: tuple  # F, b, N, prior means, Sigma
    naive_y: list
    X: np.ndarray


def spd(rng, D, floor=0.3):
    root = rng.normal(size=(D, D + 2))
    return root @ root.T / D + floor * np.eye(D)


def random_case(D, *, missing=0.0, subset=False, seed=0, M=17, K=5, P=3, diagonal_noise=False, with_cov=False) -> Case:
    rng = np.random.default_rng(seed)
    B = np.concatenate([np.eye(D) + 0.4 * rng.normal(size=(K, D, D)), 0.3 * rng.normal(size=(K, D, 1))], axis=2)
    N = np.stack([spd(rng, D) for _ in range(K)])
    if diagonal_noise or with_cov:
        N = N * np.eye(D)
    Sigma = spd(rng, D)
    X = rng.normal(size=(M, P))
    scores = orthogonal_scores(X, intercept=True)
    theta = rng.normal(size=(scores.R, D))
    mu = rng.normal(size=D)
    cov = np.stack([np.stack([spd(rng, D + 1) for _ in range(D)]) for _ in range(K)]) * 0.05 if with_cov else None
    params = ItemParams(B, N, theta, mu, Sigma, cov)
    y, item_of, annotator_of, naive_y = [], [], [], []
    for m in range(M):
        who = np.sort(rng.choice(K, size=rng.integers(0, K + 1), replace=False)) if subset else np.arange(K)
        judgements = []
        for k in who:
            r = rng.normal(size=D) * 2
            r[rng.random(D) < missing] = np.nan
            y.append(r)
            item_of.append(m)
            annotator_of.append(k)
            judgements.append((int(k), r))
        naive_y.append(judgements)
    data = prepare(np.array(y), np.array(item_of), np.array(annotator_of), scores, K)
    naive = (B[:, :, :-1], B[:, :, -1], N, mu + scores.Z @ theta, Sigma)
    return Case(data, params, naive, naive_y, X)


def data_of(value, item_of, annotator_of) -> ItemData:
    """Ratings (J, D) with NaN, sorted by item, in standardised units as the default model wants them."""
    z = (value - np.nanmean(value, axis=0)) / np.nanstd(value, axis=0)
    return prepare(z, item_of, annotator_of, no_features(item_of.max() + 1), annotator_of.max() + 1)


def ratings_of(value, item_of, annotator_of, truth=None):
    """The same as `Ratings` with labels; with the truth (M, D) also as a table of items."""
    dimensions = tuple(f"dim{d + 1}" for d in range(value.shape[1]))
    items = [f"i{m}" for m in range(item_of.max() + 1)]
    annotators = [f"k{k}" for k in range(annotator_of.max() + 1)]
    ratings = Ratings.from_judgements(
        value, item_of, annotator_of, items=items, annotators=annotators, dimensions=dimensions, source="test"
    )
    return ratings if truth is None else (ratings, ItemTable.from_rows(truth, items=items, columns=dimensions))


def random_raters(rng, M, K, per_item):
    """Item and annotator of M * per_item judgements; nobody rates an item twice."""
    who = np.sort(np.argpartition(rng.random((M, K)), per_item - 1, axis=1)[:, :per_item], axis=1)
    return np.repeat(np.arange(M), per_item), who.reshape(-1)


def default_settings(data, **changes) -> BayesSettings:
    """Settings of the default model."""
    structure = Structure("gain", True, "shared", "full", intercept=True)
    return bayes_settings(data, structure, Priors(), np.full(data.D, 1e-6), **changes)


def climb(data, start, settings):
    """Variational EM until no truth moves any more."""
    return run_em(lambda s: bayes_step(data, s, settings), start, stop_when=settled(5e-3), max_iter=200)


def simulated(structure_seed, *, D, missing, features):
    rng = np.random.default_rng(structure_seed)
    M, K = 40, 6
    X = rng.normal(size=(M, 4)) if features else np.zeros((M, 0))
    truth = rng.normal(size=(M, D)) + X.sum(axis=1, keepdims=True)
    F = np.eye(D) + 0.3 * rng.normal(size=(K, D, D))
    item_of, annotator_of = np.divmod(np.arange(M * K), K)
    keep = rng.random(M * K) < 0.7
    item_of, annotator_of = item_of[keep], annotator_of[keep]
    y = np.einsum("nij,nj->ni", F[annotator_of], truth[item_of]) + 0.5 * rng.normal(size=(len(item_of), D)) + 1.0
    y[rng.random(y.shape) < missing] = np.nan
    return y, item_of, annotator_of, X, K


STRUCTURES = list(
    itertools.product(
        ("identity", "gain", "full"),
        (False, True),
        ("isotropic", "diagonal", "full", "scaled"),
        ("isotropic", "diagonal", "full"),
    )
)


def standardised(seed, *, D=2, missing, features):
    y, item_of, annotator_of, X, K = simulated(seed, D=D, missing=missing, features=features)
    y = (y - np.nanmean(y, axis=0)) / np.nanstd(y, axis=0)
    return y, item_of, annotator_of, X, K


def drawn_from_the_model(M, *, seed, K=15, per_item=5, D=2):
    """Data from the Bayesian model itself, in the coordinates it reports (average annotator = identity)."""
    rng = np.random.default_rng(seed)
    F = np.eye(D) + 0.15 * rng.normal(size=(K, D, D))
    b = 0.3 * rng.normal(size=(K, D))
    F += np.eye(D) - F.mean(axis=0)
    b -= b.mean(axis=0)
    N = (rng.uniform(0.2, 1.0, size=K)[:, None] * np.array([1.0, 0.7]))[:, :, None] * np.eye(D)
    Sigma = np.array([[1.0, 0.5], [0.5, 0.8]])
    params = ItemParams(np.dstack([F, b]), N, np.zeros((0, D)), np.array([0.4, -1.0]), Sigma)
    truth = sample_truths(params, no_features(M), rng)
    who = np.sort(np.argpartition(rng.random((M, K)), per_item, axis=1)[:, :per_item], axis=1)
    item_of, annotator_of = np.repeat(np.arange(M), per_item), who.reshape(-1)
    y = sample_ratings(params, truth, item_of, annotator_of, rng)
    ratings = Ratings.from_judgements(
        y,
        item_of,
        annotator_of,
        items=[f"i{m}" for m in range(M)],
        annotators=[f"k{k}" for k in range(K)],
        dimensions=("v", "a"),
    )
    return ratings, truth, params
