"""Means of systems by prediction-powered inference: a leaderboard with intervals and ties.

Human labels on some items are combined with predictions on all. Predictions are fused truths made without the item's
own labels: labelled items are divided into folds, and the model is fitted without the labels of each. Whatever the
model does, the means are unbiased (eq. K1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono.errors import DataError
from unisono.fusers.grouped_annotators import Groups
from unisono.maths.groups.judge_tests import PoweredMeans, difference, powered_means
from unisono.maths.items.item_estimates import half_width
from unisono.tables.annotator_kinds import divide
from unisono.tables.labels import listed, sort_labels
from unisono.tables.ratings import Ratings

LEVEL = 0.90
FEWEST_LABELS = 10  # convention: labelled items below which nothing is cross-fitted


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Systems and dimensions, the best first; figures are (S, D)."""

    systems: tuple[str, ...]
    dimensions: tuple[str, ...]
    items: np.ndarray  # (S,)
    labelled: np.ndarray  # (S, D) items with a rating by people
    found: tuple[PoweredMeans, ...]  # D
    model_mean: np.ndarray  # (S, D) mean of the fused truths
    weight: np.ndarray  # (D,) how far predictions were believed

    def columns(self) -> dict[str, Any]:
        """One row per dimension and system, in the order of their means."""
        rows: list[dict[str, Any]] = []
        for d, dimension in enumerate(self.dimensions):
            found = self.found[d]
            better, worse = self._compared(d)
            sd = np.sqrt(np.diagonal(found.cov))
            half = np.array([half_width(LEVEL, nu) for nu in found.freedom]) * sd
            for s in np.argsort(-np.nan_to_num(found.mean, nan=-np.inf), kind="stable"):
                rows.append(
                    {
                        "dimension": dimension,
                        "system": self.systems[s],
                        "mean": found.mean[s],
                        "sd": sd[s],
                        "low": found.mean[s] - half[s],
                        "high": found.mean[s] + half[s],
                        "best_rank": 1 + int(better[s].sum()),
                        "worst_rank": len(self.systems) - int(worse[s].sum()),
                        "labels_mean": found.labels_mean[s],
                        "model_mean": self.model_mean[s, d],
                        "items": int(self.items[s]),
                        "labelled": int(found.labelled[s]),
                    }
                )
        return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}

    def differences(self) -> dict[str, Any]:
        """One row per dimension and pair of systems, with 90 % intervals."""
        rows: list[dict[str, Any]] = []
        for d, dimension in enumerate(self.dimensions):
            for a in range(len(self.systems)):
                for b in range(a + 1, len(self.systems)):
                    gap = difference(self.found[d], a, b)
                    half = half_width(LEVEL, gap.freedom) * gap.sd
                    names = {"dimension": dimension, "system": self.systems[a], "other": self.systems[b]}
                    figures = {"difference": gap.mean, "sd": gap.sd, "low": gap.mean - half, "high": gap.mean + half}
                    rows.append(names | figures)
        return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}

    def _compared(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """(S, S) which systems are clearly better, and clearly worse, than each; the others are ties."""
        S = len(self.systems)
        better, worse = np.zeros((S, S), dtype=bool), np.zeros((S, S), dtype=bool)
        for a in range(S):
            for b in range(S):
                gap = difference(self.found[d], b, a)
                half = half_width(LEVEL, gap.freedom) * gap.sd
                better[a, b], worse[a, b] = gap.mean > half, gap.mean < -half
        return better, worse


def leaderboard(
    ratings: Ratings,
    fuser: Groups,
    system_of: Mapping[str, str],
    cluster_of: Mapping[str, str] | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    on_task: Callable[[int, int], None] | None = None,
) -> Leaderboard:
    """Means of the systems that items belong to, from a fitted model of groups and its ratings."""
    systems, system = _coded(ratings, system_of, "system")
    cluster = _coded(ratings, cluster_of, "prompt")[1] if cluster_of else np.arange(ratings.M)
    labels = people_means(ratings, fuser.reference_kind)
    prediction = cross_fitted(ratings, fuser, labels, cluster, folds, seed, on_task)
    S = len(systems)
    found = tuple(powered_means(labels[:, d], prediction[:, d], system, S, cluster) for d in range(ratings.D))
    items = np.bincount(system, minlength=S)
    fused = fuser.fuse().mean
    model = np.stack([np.bincount(system, fused[:, d], minlength=S) / np.maximum(items, 1) for d in range(ratings.D)])
    return Leaderboard(
        systems,
        ratings.dimensions,
        items,
        np.stack([part.labelled for part in found], axis=1),
        found,
        model.T,
        np.array([part.weight for part in found]),
    )


def people_means(ratings: Ratings, reference: str | None) -> np.ndarray:
    """(M, D) mean of the reference's ratings of each item, NaN where there is none."""
    division = divide(ratings, reference)
    if not division.reference:
        raise DataError(
            f"{ratings.source}: means of systems need ratings by people on some items. "
            "Say who is who with a column 'kind', --kind or --humans."
        )
    own = division.group[ratings.annotator_of] == 0
    value, item = ratings.value[own], ratings.item_of[own]
    found = np.full((ratings.M, ratings.D), np.nan)
    for d in range(ratings.D):
        seen = ~np.isnan(value[:, d])
        count = np.bincount(item[seen], minlength=ratings.M)
        total = np.bincount(item[seen], value[seen, d], minlength=ratings.M)
        found[count > 0, d] = total[count > 0] / count[count > 0]
    return found


def cross_fitted(
    ratings: Ratings,
    fuser: Groups,
    labels: np.ndarray,
    cluster: np.ndarray,
    folds: int,
    seed: int,
    on_task: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """(M, D) fused truths without the item's own labels; of items without labels, the mean over folds."""
    labelled = np.isfinite(labels).any(axis=1)
    if labelled.sum() < FEWEST_LABELS:
        raise DataError(
            f"{ratings.source}: only {int(labelled.sum())} items are rated by people, too few for means of systems; "
            f"label at least {FEWEST_LABELS}."
        )
    groups = np.unique(cluster[labelled])
    fold_of = np.full(int(cluster.max()) + 1, -1)
    fold_of[np.random.default_rng(seed).permutation(groups)] = np.arange(len(groups)) % folds
    fold = np.where(labelled, fold_of[cluster], -1)
    people = divide(ratings, fuser.reference_kind).group == 0
    prediction, total = np.zeros((ratings.M, ratings.D)), int(fold.max()) + 1
    for k in range(total):
        hidden = (fold == k)[ratings.item_of] & people[ratings.annotator_of]
        again = fuser.alike().explain(fuser.covariates_).expecting(fuser.fit_.shared)
        mean = again.fit(ratings.select_judgements(~hidden)).fuse().mean
        prediction[fold == k] = mean[fold == k]
        prediction[~labelled] += mean[~labelled] / total
        if on_task is not None:
            on_task(k + 1, total)
    return prediction


def _coded(ratings: Ratings, of: Mapping[str, str], what: str) -> tuple[tuple[str, ...], np.ndarray]:
    """The labels that items have, and the place (M,) of each item's among them."""
    missing = [item for item in ratings.items if not of.get(item)]
    if missing:
        raise DataError(f"{ratings.source}: item {listed(missing)} has no {what}.")
    names = sort_labels(of[item] for item in ratings.items)
    place = {name: i for i, name in enumerate(names)}
    return names, np.array([place[of[item]] for item in ratings.items], dtype=np.int64)
