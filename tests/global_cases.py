"""Random small instances of the global model, in the fast and in the naive layout."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.global_data import GlobalData, prepare
from unisono.maths.global_params import GlobalParams
from unisono.maths.predictor import orthogonal_scores


class Case(NamedTuple):
    data: GlobalData
    params: GlobalParams
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
    params = GlobalParams(B, N, theta, mu, Sigma, cov)
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
