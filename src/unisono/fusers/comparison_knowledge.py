"""What is known beside a table of comparisons: known truths, annotators of an earlier fit, ratings of the same items.

Known truths define the unit and the level of their dimensions, with an error of their own that is learned. What a fit
without them says of the items shows whether they run the same way, and where a truth of which nothing is known lies.
An earlier fit leaves everybody's gain, order effect and threshold, with what it does not know of them, and the spread
of truths; truths of single items are those of the new comparisons. Of ratings the model is fitted first; then its
likelihood of every item, as a normal in standardised units, is part of the model of comparisons. Dimensions that
ratings do not have are correlated with those they have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.fusers import item_posteriors, joint_items
from unisono.fusers.standardisation import Scaling
from unisono.fusers.warm_start import require_shared_annotators
from unisono.maths.comparisons import comparison_priors
from unisono.maths.comparisons.comparison_priors import TRUTH_ITEMS
from unisono.maths.comparisons.comparison_state import IMAGINARY, PINNED, Crowd, Earlier, Prior
from unisono.maths.gold_slope import FEWEST_KNOWN, Slope, slope_on
from unisono.tables import Ratings, Scale, comparisons, item_table, listed, sort_labels
from unisono.tables.comparisons import Comparisons, place_of

if TYPE_CHECKING:
    from unisono.fusers.compared_items import Pairwise


class KnownTruths(NamedTuple):
    """Known truths as the model takes them."""

    prior: Prior
    scaling: Scaling  # from its units to those of the known truths
    slopes: tuple[Slope, ...]  # of known truths on estimates without them, both with a spread of 1


def known_values(gold: item_table.ItemTable, items: tuple[str, ...], dimensions: tuple[str, ...]) -> np.ndarray:
    """(M, D) known truths, NaN where there are none."""
    unknown = [name for name in gold.columns if name not in dimensions]
    if unknown:
        raise DataError(f"{gold.source} has {listed(unknown)}, which nobody compared: there is {listed(dimensions)}.")
    place, found = comparisons.place_of(items), np.full((len(items), len(dimensions)), np.nan)
    strange = [item for item in gold.items if item not in place]
    if len(strange) == len(gold.items):
        raise DataError(f"{gold.source}: nobody compared {listed(strange)}, whose truths it has.")
    rows = [(m, place[item]) for m, item in enumerate(gold.items) if item in place]
    for column, name in enumerate(gold.columns):
        for row, m in rows:
            found[m, dimensions.index(name)] = gold.value[row, column]
    return found


def with_known_truths(known: np.ndarray, blind: Pairwise, source: str) -> KnownTruths:
    """`blind` is the fit without the known truths (M, D)."""
    estimate, D = blind.posterior_.mean[:, : known.shape[1]], blind.posterior_.mean.shape[1]
    prior, slopes = blind.prior_, []
    loc, scale, unit = np.zeros(D), np.ones(D), np.ones(D)
    gold, mean, rated = np.full(blind.posterior_.mean.shape, np.nan), prior.mean.copy(), prior.rated.copy()
    for d, name in enumerate(blind.dimensions_):
        seen = np.flatnonzero(~np.isnan(known[:, d]))
        if not len(seen):
            slopes.append(slope_on(estimate[:0, d], known[:0, d]))
            continue
        if len(seen) < FEWEST_KNOWN or np.ptp(known[seen, d]) == 0 or np.ptp(estimate[seen, d]) == 0:
            raise DataError(
                f"{source}: '{name}' has {len(seen)} known truths that were compared, of which {FEWEST_KNOWN} that "
                "differ are needed: comparisons have neither a unit nor a level of their own."
            )
        x, y = estimate[seen, d], known[seen, d]
        slope = slope_on(x / x.std(), y / y.std())
        slopes.append(slope)
        loc[d], scale[d], rated[d] = y.mean(), y.std(), True
        unit[d] = x.std() * (-1.0 if slope.upside_down else 1.0)
        gold[seen, d], mean[:, d] = (y - loc[d]) / scale[d], -x.mean() / unit[d]
    Sigma = blind.hyper_.Sigma / unit[:, None] / unit
    prior = prior._replace(
        mean=mean, Sigma=Sigma, items=comparison_priors.TRUTH_ITEMS, rated=rated, unit=unit, gold=gold
    )
    return KnownTruths(prior, Scaling(loc, scale), tuple(slopes))


def with_earlier_people(compared: comparisons.Comparisons, earlier: Pairwise) -> tuple[str, ...]:
    """Annotators of the comparisons, and after them those of the earlier fit who are not among them."""
    if compared.dimensions != earlier.dimensions_:
        raise DataError(
            f"{compared.source} has the dimensions {listed(compared.dimensions)}, the fit to start from has "
            f"{listed(earlier.dimensions_)}: they have to be the same, in the same order."
        )
    return (*compared.annotators, *require_shared_annotators(compared.annotators, compared.source, earlier.judges_))


def earlier_people(people: tuple[str, ...], earlier: Pairwise) -> Earlier:
    """What the earlier fit says of these annotators, and of all."""
    at, new = comparisons.place_of(earlier.judges_), len(earlier.judges_)
    row = np.array([at.get(name, new) for name in people])
    known, crowd, hyper = row < new, earlier.crowd_, earlier.hyper_
    if not np.isfinite(hyper.tie):  # nobody had a threshold
        tau = np.full(new, comparison_priors.TIE_MEDIAN), np.full(new, comparison_priors.TIE_SD)
        crowd = crowd._replace(tau=tau[0], tau_sd=tau[1])
    if sides_unknown := hyper.order_var <= PINNED:
        crowd = crowd._replace(cov=crowd.cov + np.diag([0.0, comparison_priors.USUAL_SD**2]))
    taken = Crowd(*(part[np.where(known, row, 0)] for part in crowd))
    population = IMAGINARY._replace(
        counts=hyper.shares * (IMAGINARY.counts.sum() + new),
        gain_var=hyper.gain_var,
        order_var=comparison_priors.USUAL_SD**2 if sides_unknown else hyper.order_var,
        spread_n=IMAGINARY.spread_n + new,
        order=hyper.order,
        order_n=IMAGINARY.order_n + new,
        slip=hyper.slip,
        slip_precision=IMAGINARY.slip_precision + new / comparison_priors.SLIP_SD**2,
    )
    if np.isfinite(hyper.tie):
        precision = 1 / comparison_priors.TIE_MEDIAN_SD**2 + new / comparison_priors.TIE_SD**2
        population = population._replace(tie=hyper.tie, tie_precision=precision, steps=hyper.steps)
    return Earlier(known, taken, population)


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
