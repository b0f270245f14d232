"""Ratings by groups, and parameters of their model, for tests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.groups.group_data import GroupParams, Rows, prepare_groups
from unisono.maths.items.item_data import no_features, orthogonal_scores


def random_params(rng, G, K, D, R=0, X=1):
    def covariance(size):
        root = rng.normal(size=(D, D))
        return size * (root @ root.T / D + 0.2 * np.eye(D))

    A = np.stack([np.eye(D), *(np.eye(D) + 0.4 * rng.normal(size=(D, D)) for _ in range(G - 1))])
    t = np.vstack([np.zeros(D), rng.normal(size=(G - 1, D))])
    S = np.stack([np.zeros((D, D)), *(covariance(0.5) for _ in range(G - 1))])
    mean = np.concatenate([1 + 0.3 * rng.normal(size=(K, D, 1)), 0.5 * rng.normal(size=(K, D, X))], axis=2)
    rows = Rows(mean, np.zeros((K, D, 1 + X, 1 + X)))
    r, s = rng.uniform(0.5, 2, size=K), rng.uniform(0.3, 1, size=(G, D))
    return GroupParams(rng.normal(size=D), rng.normal(size=(R, D)), covariance(1.0), A, t, S, rows, r, s)


def random_ratings(rng, G, K, M, D, missing=0.3, labelled=0.5, covariates=0, features=0):
    """Annotator k is in group k mod G; some dimensions are missing, the reference rated some items alone."""
    group = np.arange(K) % G
    item_of, annotator_of = (part.reshape(-1) for part in np.meshgrid(np.arange(M), np.arange(K), indexing="ij"))
    value = rng.normal(size=(M * K, D))
    value[rng.random((M * K, D)) < missing] = np.nan
    unlabelled = rng.random(M) >= labelled
    drop = (group[annotator_of] == 0) & unlabelled[item_of] & (G > 1)
    keep = ~drop & ~np.isnan(value).all(axis=1)
    x = rng.normal(size=(M * K, covariates))
    scores = orthogonal_scores(rng.normal(size=(M, features)), intercept=True) if features else no_features(M)
    given = value[keep], item_of[keep], annotator_of[keep]
    data = prepare_groups(*given, group, G, scores, x[keep] if covariates else None)
    return data, (*given, x[keep])


class Panel(NamedTuple):
    """Simulated people and judges whose truth is known."""

    ratings: tuple[np.ndarray, np.ndarray, np.ndarray]  # value, item_of, annotator_of
    group: np.ndarray
    truth: np.ndarray
    labelled: np.ndarray

    @property
    def M(self):
        return len(self.truth)

    def with_judges_shuffled(self, seed):
        """The same judges, who rated other items than they say."""
        value, item_of, annotator_of = self.ratings
        move = np.random.default_rng(seed).permutation(self.M)
        item = np.where(self.group[annotator_of] > 0, move[item_of], item_of)
        return self._replace(ratings=_sorted(value, item, annotator_of))

    def judges_alone(self):
        value, item_of, annotator_of = self.ratings
        keep = self.group[annotator_of] > 0
        first = int((self.group == 0).sum())
        group = np.zeros(len(self.group) - first, dtype=int)
        return self._replace(ratings=(value[keep], item_of[keep], annotator_of[keep] - first), group=group)


def simulated_panel(seed, *, items=200, people=4, judges=6, dimensions=2, labels=30, per_label=2, shared=0.3, **world):
    """`labels` items are rated by `per_label` people each, all by the judges, whose errors have variance 1."""
    gain, leak, noise = (world.get(name, usual) for name, usual in (("gain", 0.8), ("leak", 0.15), ("noise", 0.8)))
    rng = np.random.default_rng(seed)
    D, K = dimensions, people + judges
    Sigma = 0.4 + 0.6 * np.eye(D)
    truth = rng.multivariate_normal(np.zeros(D), Sigma, size=items)
    view = truth @ (gain * np.eye(D) + leak * (1 - np.eye(D))) + 0.5 + np.sqrt(shared) * rng.normal(size=(items, D))
    labelled = np.sort(rng.choice(items, labels, replace=False))
    rows = [(m, people + k) for m in range(items) for k in range(judges)]
    rows += [(m, k) for m in labelled for k in rng.choice(people, per_label, replace=False)]
    item_of, annotator_of = (np.array(part) for part in zip(*rows, strict=True))
    bias = np.vstack([0.25 * rng.normal(size=(people, D)), 0.3 * rng.normal(size=(judges, D))])
    error = rng.normal(size=(len(rows), D))
    judged = (annotator_of >= people)[:, None]
    seen = np.where(judged, view[item_of] + np.sqrt(1 - shared) * error, truth[item_of] + noise * error)
    group = (np.arange(K) >= people).astype(int)
    return Panel(_sorted(seen + bias[annotator_of], item_of, annotator_of), group, truth, labelled)


def _sorted(value, item_of, annotator_of):
    order = np.lexsort((annotator_of, item_of))
    return value[order], item_of[order], annotator_of[order]
