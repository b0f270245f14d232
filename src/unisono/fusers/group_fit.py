"""What a fit of the model of groups consists of: units, covariates, learned numbers, and what is expected beforehand.

Units are those of the reference, unless a group answers on another scale altogether: its mean is 0; one standard
deviation within groups is 1. A group whose answers spread three times as much, or a third, rates in units of its own (0
to 100 beside 1 to 7) and is standardised by itself. Newcomers are typical members of their kind. What is expected of
every kind before its labels are seen is a choice of several possibilities. A reference that rates against all others is
upside down, or they are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.fusers.standardisation import Scaling, places_by_label, pooled_scaling
from unisono.maths.gold_slope import Slope, slope_on
from unisono.maths.groups.group_data import GroupParams, Rows
from unisono.maths.groups.group_labels import Learned
from unisono.maths.groups.group_priors import JUDGES, MANY_LABELS, PEOPLE, REFERENCE, KindPrior
from unisono.maths.items.item_estimates import half_width
from unisono.tables.annotator_kinds import Division
from unisono.tables.labels import listed
from unisono.tables.ratings import RatingNumbers, Ratings

OTHER_UNITS = 3.0  # convention: ratio of typical spreads from which two groups do not use the same scale


class GroupUnits(NamedTuple):
    """y = loc + scale * z for the ratings of each group; those of group 0 are the truth's."""

    loc: np.ndarray  # (G, D)
    scale: np.ndarray  # (G, D)

    @property
    def truth(self) -> Scaling:
        """The units of the truth."""
        return Scaling(self.loc[0], self.scale[0])

    @property
    def own(self) -> list[bool]:
        """Whether each group has units of its own."""
        return [bool((self.scale[g] != self.scale[0]).any()) for g in range(len(self.loc))]

    def standardise(self, value: np.ndarray, of_group: np.ndarray) -> np.ndarray:
        """(J, D) ratings by members of the groups `of_group` (J,)."""
        return np.asarray((value - self.loc[of_group]) / self.scale[of_group])


def group_units(value: np.ndarray, of_group: np.ndarray, G: int) -> GroupUnits:
    """Units of ratings (J, D), NaN where missing, by members of the groups `of_group` (J,)."""
    each = [pooled_scaling(value[of_group == g]) for g in range(G)]
    spread = np.stack([part.scale for part in each])
    seen = ~np.isnan(value)
    counts = np.stack([seen[of_group == g].sum(axis=0) for g in range(G)])
    relative = np.where((counts > 0) & (counts[0] > 0), spread / spread[0], 1.0)
    ratio = np.median(relative, axis=1)
    alike = ((ratio < OTHER_UNITS) & (ratio > 1 / OTHER_UNITS))[:, None]
    weight = counts * alike
    within = np.sqrt((weight * relative**2).sum(axis=0) / np.maximum(weight.sum(axis=0), 1))
    scale = spread[0] * np.where(within > 0, within, 1.0)
    loc = np.stack([part.loc for part in each])
    return GroupUnits(np.where(alike, loc[0], loc), np.where(alike, scale, spread))


LEVEL = 0.90  # convention: of intervals


class CovariateUnits(NamedTuple):
    """x = center + scale * z for the covariates of ratings."""

    names: tuple[str, ...]
    center: np.ndarray  # (P,)
    scale: np.ndarray  # (P,)


NO_COVARIATES = CovariateUnits((), np.zeros(0), np.zeros(0))


def standardised(numbers: RatingNumbers | None, ratings: Ratings) -> tuple[CovariateUnits, np.ndarray]:
    """The units of the covariates, and their standardised numbers (J, P)."""
    if numbers is None:
        return NO_COVARIATES, np.zeros((ratings.J, 0))
    x = numbers.of(ratings)
    center, scale = x.mean(axis=0), x.std(axis=0)
    for name, spread in zip(numbers.names, scale, strict=True):
        if spread == 0:
            raise DataError(f"{numbers.source}: the covariate '{name}' is the same for all ratings. Leave it out.")
    return CovariateUnits(numbers.names, center, scale), (x - center) / scale


def effect_columns(
    annotators: tuple[str, ...],
    kinds: tuple[str, ...],
    dimensions: tuple[str, ...],
    rows: Rows,
    group: np.ndarray,
    units: GroupUnits,
    covariates: CovariateUnits,
    common: np.ndarray | None,
) -> dict[str, Any]:
    """One row per annotator, dimension and covariate: change of the answer per unit of it, with a 90 % interval.

    `common` (G, D, P): variance of what a covariate does to a whole group.
    """
    K, reach = len(annotators), half_width(LEVEL, np.inf)
    table: list[dict[str, Any]] = []
    for k in range(K):
        for d, dimension in enumerate(dimensions):
            for p, name in enumerate(covariates.names):
                unit = units.scale[group[k], d] / covariates.scale[p]
                effect = rows.mean[k, d, 2 + p] * unit
                variance = rows.cov[k, d, 2 + p, 2 + p] + (0.0 if common is None else common[group[k], d, p])
                sd = float(np.sqrt(variance)) * unit
                labels = {"annotator": annotators[k], "kind": kinds[group[k]], "dimension": dimension}
                figures = {"effect": effect, "sd": sd, "low": effect - reach * sd, "high": effect + reach * sd}
                table.append(labels | {"covariate": name} | figures)
    columns = {name: [row[name] for row in table] for name in table[0]} if table else {}
    return {name: np.array(column) if isinstance(column[0], float) else column for name, column in columns.items()}


class GroupFit(NamedTuple):
    """All learned numbers; after the annotators, `params` has one newcomer per group."""

    names: tuple[str, ...]  # G kinds, the reference first
    judges: tuple[bool, ...]  # whether each is a group of judges rather than people
    group: np.ndarray  # (K + G,) group of each annotator and newcomer
    reference: bool
    shared: np.ndarray  # (G,) share of the error assumed, or expected, to be common
    params: GroupParams
    theta_var: np.ndarray  # (R,)
    units: GroupUnits
    learned: Learned | None
    covariates: CovariateUnits = NO_COVARIATES
    effect_var: np.ndarray | None = None  # (G, D, P) variance of what a covariate does to a whole group


def annotator_places(ratings: Ratings, annotators: tuple[str, ...], fit: GroupFit) -> np.ndarray:
    """(J,) the annotator of each judgement as a row of the parameters; newcomers by their kind."""
    known = len(annotators)
    place = places_by_label(ratings, annotators)
    new = place == known
    if not new.any() or len(fit.names) == 1:
        return place
    kinds = ratings.kinds
    unknown = [ratings.annotators[k] for k in np.unique(ratings.annotator_of[new])]
    if kinds is None or not {kinds[ratings.annotators.index(name)] for name in unknown} <= set(fit.names):
        raise DataError(
            f"{ratings.source}: annotator {listed(unknown)} was not in the fit. "
            f"Say of which kind (one of {listed(fit.names)}) they are, in a column 'kind'."
        )
    of = np.array([known + fit.names.index(kind) if kind in fit.names else known for kind in kinds])
    return np.asarray(np.where(new, of[ratings.annotator_of], place))


def expectations(
    division: Division, units: GroupUnits, shared: float | None, shares: np.ndarray | None, labelled: int
) -> list[list[KindPrior]]:
    """Lists of what is expected of each group; labels choose where there is more than one.

    One share for all (`shared`), one for each group (`shares`), no reference, or so many labels that expectations do
    not matter: nothing is left to choose.
    """
    usual = [_usual(machine, own) for machine, own in zip(division.machines, units.own, strict=True)]
    if shared is not None:
        usual = [kind._replace(shared=shared) for kind in usual]
    if shares is not None:
        usual = [kind._replace(shared=float(share)) for kind, share in zip(usual, shares, strict=True)]
    if not division.reference:
        return [usual]
    usual[0] = REFERENCE
    if shared is not None or shares is not None or labelled >= MANY_LABELS:
        return [usual]
    return [
        [kind._replace(shared=share) for kind, share in zip(usual, each, strict=True)]
        for each in zip(*(kind.tried for kind in usual), strict=True)
    ]


def _usual(machine: bool, own_units: bool) -> KindPrior:
    """People are expected to be like the reference, unless they answer on another scale."""
    if machine:
        return JUDGES
    if own_units:
        return PEOPLE._replace(map_items=JUDGES.map_items, level_items=JUDGES.level_items)
    return PEOPLE


def reference_slopes(value: np.ndarray, item_of: np.ndarray, of_group: np.ndarray, M: int) -> tuple[Slope, ...]:
    """Of the items' mean ratings by group 0 on those by all others, dimension by dimension; ratings (J, D) with NaN."""
    own, others = (_means(value[chosen], item_of[chosen], M) for chosen in (of_group == 0, of_group != 0))
    return tuple(slope_on(others[:, d], own[:, d]) for d in range(value.shape[1]))


def _means(value: np.ndarray, item_of: np.ndarray, M: int) -> np.ndarray:
    """(M, D) means of the ratings of every item, NaN where there are none."""
    seen = ~np.isnan(value)
    count = np.stack([np.bincount(item_of, column, M) for column in seen.T.astype(float)], axis=1)
    total = np.stack([np.bincount(item_of, column, M) for column in np.where(seen, value, 0.0).T], axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
