"""Ratings and comparisons of the same truths: what the ratings say of every item, as the model of comparisons takes it.

The model of ratings is fitted first; then its likelihood of every item, as a normal in standardised units, is part of
the model of comparisons. Dimensions that ratings do not have are correlated with those they have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unisono.fusers import item_posteriors, joint_items
from unisono.fusers.standardisation import Scaling
from unisono.maths.comparisons.comparison_priors import TRUTH_ITEMS
from unisono.maths.comparisons.comparison_state import Prior
from unisono.tables.answer_scale import Scale
from unisono.tables.comparisons import Comparisons, place_of
from unisono.tables.labels import sort_labels
from unisono.tables.ratings import Ratings

NAMELESS = "comparison"  # the dimension of comparisons whose table does not name it


def dimensions_of(rated: Ratings | None, compared: Comparisons) -> tuple[str, ...]:
    """What comparisons are about; without a name it is the dimension of the ratings, where they have one."""
    if rated is not None and rated.D == 1 and compared.dimensions == (NAMELESS,):
        return rated.dimensions
    return compared.dimensions


def union_of(rated: Ratings | None, compared: Comparisons) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All items, and all dimensions: those of the ratings first."""
    if rated is None:
        return compared.items, compared.dimensions
    more = [name for name in dimensions_of(rated, compared) if name not in rated.dimensions]
    return sort_labels([*rated.items, *compared.items]), (*rated.dimensions, *more)


def places_in(labels: Sequence[str], own: Sequence[str]) -> np.ndarray:
    """Where each of one's own labels stands."""
    place = place_of(labels)
    return np.array([place[label] for label in own], dtype=np.int64)


def rating_prior(joint: joint_items.Joint, rated: Ratings, items: Sequence[str], D: int) -> Prior:
    """What a fit of ratings says of every item, in its standardised units; its dimensions are the first of D.

    What ratings say is weakened as far as left-out answers widen their intervals.
    """
    found, params = joint._items, joint.params_
    own, M, at = rated.D, len(items), places_in(items, rated.items)
    plain, honest = found.posterior, item_posteriors.honest_posterior(found, joint.calibration_)
    centre = params.mu + found.data.scores.Z @ params.theta
    inverse = np.linalg.inv(params.Sigma)
    P = np.linalg.inv(plain.cov)
    h = np.einsum("mij,mj->mi", P, plain.mean) - centre @ inverse
    trust = np.trace(plain.cov, axis1=1, axis2=2) / np.trace(honest.cov, axis1=1, axis2=2)
    mean, shift, precision = np.zeros((M, D)), np.zeros((M, D)), np.zeros((M, D, D))
    mean[:, :own], mean[at, :own] = params.mu, centre
    shift[at, :own] = trust[:, None] * h
    precision[at, :own, :own] = trust[:, None, None] * (P - inverse)
    Sigma = np.eye(D)
    Sigma[:own, :own] = params.Sigma
    unit = 1 / np.sqrt(np.diagonal(Sigma))  # truths have a spread of one logit, to begin with
    return Prior(
        mean, Sigma, TRUTH_ITEMS + len(rated.items), precision, shift, np.arange(D) < own, unit, np.zeros((M, 0))
    )


def units_of_all(joint: joint_items.Joint, D: int) -> tuple[Scaling, Scale]:
    """Units and ends of the scale; of dimensions without ratings, logits without ends."""
    more = D - len(joint.dimensions_)
    scaling = Scaling(np.append(joint.scaling_.loc, np.zeros(more)), np.append(joint.scaling_.scale, np.ones(more)))
    return scaling, Scale((*joint.scale_.ends, *(None,) * more), (*joint.scale_.given, *(False,) * more))


def without_ratings(compared: Comparisons) -> Ratings:
    """Ratings that nobody gave, of the items that were compared."""
    empty = np.zeros(0, dtype=np.int64)
    D = len(compared.dimensions)
    return Ratings.from_judgements(
        np.zeros((0, D)),
        empty,
        empty,
        items=compared.items,
        annotators=compared.annotators,
        dimensions=compared.dimensions,
        scale=Scale.none(D),
        source=compared.source,
        frame_kind=compared.frame_kind,
    )
