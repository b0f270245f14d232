"""Ratings and parameters of the model of groups of annotators who err together.

    truth     a_m  = mu + theta' z_m + e,       e ~ N(0, Sigma)                                          eq. J1
    view      c_gm = A_g a_m + t_g + u_gm,      u ~ N(0, S_g);  the reference sees c_0m = a_m            eq. J2
    rating    y_nd = f_kd c_gmd + beta_kd' x_n + eta,  eta ~ N(0, r_k s_gd)                              eq. J3

A_g holds the gain and the leakage that a group has in common, t_g its leniency, S_g the errors its members share: with
many members their mean comes to A a + t + u and no further. beta_kd = [bias, effects of the rating's covariates],
x_n = [1, covariates of the rating]. Annotators see the group's view on their own dimension alone, so that all sums over
ratings are products with a sparse matrix of items by annotators, one per dimension, group and block of items, whose
entries are ones, ratings or covariates.

    M items, K annotators, D dimensions, G groups, J judgements, X = 1 + covariates of a rating
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from unisono.maths.items.item_data import Scores

BLOCK_ITEMS = 1 << 14  # keeps memory small; of no influence on results


class Panel(NamedTuple):
    """The ratings of some items by one group."""

    items: np.ndarray  # (m,) places in the block of the items that the group rated
    rated: tuple[sparse.csr_array, ...]  # D of (m, K): ratings, where there are any
    known: tuple[tuple[sparse.csr_array, ...], ...]  # D times X of (m, K): x_n in the same places

    def counted(self, per_annotator: np.ndarray) -> np.ndarray:
        """(D, m, n) sums over the ratings of each item of numbers (K, D, n) of whoever gave them."""
        K, D, n = per_annotator.shape
        if self._complete:
            found = self.known[0][0] @ per_annotator.reshape(K, D * n)
            return np.ascontiguousarray(found.reshape(-1, D, n).transpose(1, 0, 2))
        return np.stack([self.known[d][0] @ np.ascontiguousarray(per_annotator[:, d]) for d in range(D)])

    def given(self, per_item: np.ndarray) -> np.ndarray:
        """(K, D, n) sums over the ratings of each annotator of numbers (D, n, m) of the items."""
        D, n, m = per_item.shape
        if self._complete:
            return np.asarray(self.known[0][0].T @ per_item.reshape(D * n, m).T).reshape(-1, D, n)
        return np.stack([self.known[d][0].T @ per_item[d].T for d in range(D)], axis=1)

    @property
    def _complete(self) -> bool:
        """Whether every rating has a number on every dimension, so that one matrix of ones serves them all."""
        return all(part[0] is self.known[0][0] for part in self.known)


class Block(NamedTuple):
    """A stretch of items with one panel per group."""

    start: int
    stop: int
    panels: tuple[Panel, ...]


class GroupData(NamedTuple):
    """Everything about the ratings that does not change while parameters are estimated."""

    blocks: tuple[Block, ...]
    group: np.ndarray  # (K,) group of each annotator; 0 is the reference
    scores: Scores  # features of the items as orthogonal scores
    answers: np.ndarray  # (K, D) ratings given
    Sxx: np.ndarray  # (K, D, X, X) sums of x x'
    Sxy: np.ndarray  # (K, D, X) sums of x y
    Syy: np.ndarray  # (K, D) sums of y^2
    G: int

    @property
    def M(self) -> int:
        return self.scores.M

    @property
    def K(self) -> int:
        return len(self.group)

    @property
    def D(self) -> int:
        return int(self.answers.shape[1])

    @property
    def X(self) -> int:
        return int(self.Sxy.shape[2])

    def members(self, g: int) -> np.ndarray:
        """(K,) who is in group g."""
        return np.asarray(self.group == g)


def prepare_groups(
    value: np.ndarray,
    item_of: np.ndarray,
    annotator_of: np.ndarray,
    group: np.ndarray,
    G: int,
    scores: Scores,
    covariates: np.ndarray | None = None,
) -> GroupData:
    """From ratings with NaN (J, D), sorted by item, and their covariates (J, X - 1). M is the number of score rows."""
    J, D = value.shape
    x = np.hstack([np.ones((J, 1)), np.zeros((J, 0)) if covariates is None else covariates])
    K, M = len(group), scores.M
    blocks = []
    for start in range(0, M, BLOCK_ITEMS):
        stop = min(start + BLOCK_ITEMS, M)
        inside = slice(*np.searchsorted(item_of, [start, stop]))
        chosen = value[inside], item_of[inside] - start, annotator_of[inside], x[inside]
        of_group = group[annotator_of[inside]]
        panels = tuple(_panel(*(part[of_group == g] for part in chosen), K=K) for g in range(G))
        blocks.append(Block(start, stop, panels))
    seen, y = ~np.isnan(value), np.nan_to_num(value)
    add = sparse.csc_array((np.ones(J), annotator_of, np.arange(J + 1)), shape=(K, J))
    P = x.shape[1]
    Sxx, Sxy = np.zeros((K, D, P, P)), np.zeros((K, D, P))
    for d in range(D):
        products = (x[:, :, None] * x[:, None, :]).reshape(J, P * P)
        Sxx[:, d] = (add @ (seen[:, [d]] * products)).reshape(K, P, P)
        Sxy[:, d] = add @ (y[:, [d]] * x)
    return GroupData(tuple(blocks), group, scores, np.asarray(add @ seen.astype(float)), Sxx, Sxy, add @ y**2, G)


def _panel(y: np.ndarray, item: np.ndarray, annotator: np.ndarray, x: np.ndarray, *, K: int) -> Panel:
    items, row = np.unique(item, return_inverse=True)
    row = row.reshape(-1)
    rated: list[sparse.csr_array] = []
    known: list[tuple[sparse.csr_array, ...]] = []
    complete = not np.isnan(y).any()
    for d in range(y.shape[1]):
        seen = ~np.isnan(y[:, d])
        ptr = np.concatenate([[0], np.cumsum(np.bincount(row[seen], minlength=len(items)))])

        def entries(number: np.ndarray, who: np.ndarray = annotator[seen], ptr: np.ndarray = ptr) -> sparse.csr_array:
            return sparse.csr_array((number, who, ptr), shape=(len(items), K))

        rated.append(entries(y[seen, d]))
        known.append(known[0] if complete and d else tuple(entries(x[seen, p].copy()) for p in range(x.shape[1])))
    return Panel(items, tuple(rated), tuple(known))


LOG_2PI = float(np.log(2 * np.pi))


class Rows(NamedTuple):
    """What annotators make of their group's view: [f_kd, beta_kd], independent normals over k and d."""

    mean: np.ndarray  # (K, D, 1 + X)
    cov: np.ndarray  # (K, D, 1 + X, 1 + X)


class GroupParams(NamedTuple):
    """One point in parameter space, with the posterior of the annotators' rows."""

    mu: np.ndarray  # (D,)
    theta: np.ndarray  # (R, D)
    Sigma: np.ndarray  # (D, D)
    A: np.ndarray  # (G, D, D)
    t: np.ndarray  # (G, D)
    S: np.ndarray  # (G, D, D)
    rows: Rows
    r: np.ndarray  # (K,) noise of each annotator, relative to the group
    s: np.ndarray  # (G, D) noise variances of a group's typical annotator

    @property
    def B(self) -> np.ndarray:
        """(G, D, D + 1) the maps [A_g, t_g]."""
        return np.concatenate([self.A, self.t[:, :, None]], axis=2)

    def noise(self, group: np.ndarray) -> np.ndarray:
        """(K, D) noise variances of all annotators."""
        return np.asarray(self.r[:, None] * self.s[group])


class Hyper(NamedTuple):
    """How annotators of a group differ, the group's mean of each coefficient, and how sure the predictor is."""

    precision: np.ndarray  # (G, 1 + X) of gain, bias and the effects of covariates
    center: np.ndarray  # (G, D, 1 + X) gain 1, bias 0, effects of covariates as estimated
    ridge: float  # precision of theta, relative to Sigma
    theta_var: np.ndarray  # (R,) variances of theta's rows relative to Sigma


def row_seconds(rows: Rows) -> np.ndarray:
    """(K, D, 1 + X, 1 + X) E[row row']."""
    return np.asarray(rows.mean[..., :, None] * rows.mean[..., None, :] + rows.cov)


def shared_root(S: np.ndarray) -> np.ndarray:
    """(D, D) a root L with L L' = S, also of a singular S."""
    values, vectors = np.linalg.eigh(S)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
