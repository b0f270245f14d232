"""What a fit of the model of groups consists of, and what it makes tables of: annotators and groups in rating units.

Units are those of the reference, unless a group answers on another scale altogether: its mean is 0; one standard
deviation within groups is 1. A group whose answers spread three times as much, or a third, rates in units of its own (0
to 100 beside 1 to 7) and is standardised by itself. Newcomers are typical members of their kind. What is expected of
every kind before its labels are seen is a choice of several possibilities. A reference that rates against all others is
upside down, or they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.fusers import fusion_results, standardisation
from unisono.maths.gold_slope import Slope, slope_on
from unisono.maths.grouped_sums import grouped_correlation
from unisono.maths.groups.group_data import GroupData, GroupParams, Rows
from unisono.maths.groups.group_labels import Learned, effective_number, shared_share
from unisono.maths.groups.group_priors import JUDGES, MANY_LABELS, PEOPLE, REFERENCE, KindPrior
from unisono.maths.items.item_estimates import half_width
from unisono.tables import RatingNumbers, Ratings, listed
from unisono.tables.annotator_kinds import Division

OTHER_UNITS = 3.0  # convention: ratio of typical spreads from which two groups do not use the same scale


class GroupUnits(NamedTuple):
    """y = loc + scale * z for the ratings of each group; those of group 0 are the truth's."""

    loc: np.ndarray  # (G, D)
    scale: np.ndarray  # (G, D)

    @property
    def truth(self) -> standardisation.Scaling:
        """The units of the truth."""
        return standardisation.Scaling(self.loc[0], self.scale[0])

    @property
    def own(self) -> list[bool]:
        """Whether each group has units of its own."""
        return [bool((self.scale[g] != self.scale[0]).any()) for g in range(len(self.loc))]

    def standardise(self, value: np.ndarray, of_group: np.ndarray) -> np.ndarray:
        """(J, D) ratings by members of the groups `of_group` (J,)."""
        return np.asarray((value - self.loc[of_group]) / self.scale[of_group])


def group_units(value: np.ndarray, of_group: np.ndarray, G: int) -> GroupUnits:
    """Units of ratings (J, D), NaN where missing, by members of the groups `of_group` (J,)."""
    each = [standardisation.pooled_scaling(value[of_group == g]) for g in range(G)]
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
    place = standardisation.places_by_label(ratings, annotators)
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


@dataclass(frozen=True, eq=False)
class GroupTable:
    """What annotators of one kind do in common; one row per kind, per-dimension figures are (G, D)."""

    kinds: tuple[str, ...]
    dimensions: tuple[str, ...]
    reference: bool  # whether the first kind defines the truth
    annotators: np.ndarray  # (G,) members who rated
    ratings: np.ndarray  # (G, D) answers
    items: np.ndarray  # (G,) items that the group rated
    leniency: np.ndarray  # (G, D) answer less truth at the average item, in rating units
    gain: np.ndarray  # (G, D) change of the group's view per unit of truth on its own dimension
    leakage: np.ndarray  # (G, D, D) change of view d per unit of truth on dimension e, zero on the diagonal
    shared_error: np.ndarray  # (G, D) standard deviation of the error that members have in common, in rating units
    share: np.ndarray  # (G, D) of a member's error variance that is shared
    effective: np.ndarray  # (G, D) independent annotators who would be worth as much as the group

    def columns(self) -> dict[str, Any]:
        """The columns of groups.csv: one row per kind and dimension."""
        G, D = self.gain.shape
        table: dict[str, Any] = {
            "kind": [kind for kind in self.kinds for _ in range(D)],
            "dimension": list(self.dimensions) * G,
            "reference": ["yes" if self.reference and g == 0 else "no" for g in range(G) for _ in range(D)],
            "annotators": np.repeat(self.annotators, D),
            "items": np.repeat(self.items, D),
        }
        for name in ("ratings", "leniency", "gain", "shared_error", "share", "effective"):
            table[name] = getattr(self, name).reshape(-1)
        for e, leaked in enumerate(self.dimensions):
            table[f"from_{leaked}"] = self.leakage[:, :, e].reshape(-1)
        return table


def group_table(
    names: tuple[str, ...],
    dimensions: tuple[str, ...],
    reference: bool,
    data: GroupData,
    params: GroupParams,
    units: GroupUnits,
) -> GroupTable:
    """What every group does in common; leniency and gains are averages of its members'."""
    D = data.D
    noise, rated = params.noise(data.group), data.answers.sum(axis=1) > 0
    bias, raw = _own_figures(data.group, params, units)
    leniency, gains = np.full((data.G, D), np.nan), np.full((data.G, D, D), np.nan)
    share, effective = np.zeros((data.G, D)), np.zeros((data.G, D))
    members = np.zeros(data.G, dtype=np.int64)
    for g in range(data.G):
        own = data.members(g) & rated
        members[g] = own.sum()
        if members[g]:
            leniency[g], gains[g] = bias[own].mean(axis=0), raw[own].mean(axis=0)
            share[g] = shared_share(params.S[g], noise[own])
            effective[g] = effective_number(int(members[g]), share[g])
    return GroupTable(
        kinds=names,
        dimensions=dimensions,
        reference=reference,
        annotators=members,
        ratings=np.stack([data.answers[data.members(g)].sum(axis=0) for g in range(data.G)]),
        items=np.array([sum(len(block.panels[g].items) for block in data.blocks) for g in range(data.G)]),
        leniency=leniency,
        gain=np.diagonal(gains, axis1=1, axis2=2).copy(),
        leakage=gains * (1 - np.eye(D)),
        shared_error=np.sqrt(np.diagonal(params.S, axis1=1, axis2=2)) * units.scale,
        share=share,
        effective=effective,
    )


def annotator_table(
    ratings: Ratings,
    kinds: tuple[str, ...] | None,
    data: GroupData,
    params: GroupParams,
    units: GroupUnits,
    left_out: np.ndarray,
) -> fusion_results.Annotators:
    """Bias, gain, leakage, noise, reliability and agreement of every annotator against the truth.

    `left_out` (J, D): the truth of each judgement's item without it, in standardised units.
    """
    K, group = ratings.K, data.group[: ratings.K]
    f = params.rows.mean[:K, :, 0]
    F = f[:, :, None] * params.A[group]
    bias, raw = _own_figures(group, params, units)
    noise = params.noise(data.group)[:K] + f**2 * np.diagonal(params.S, axis1=1, axis2=2)[group]
    spread = params.Sigma + params.theta.T @ (data.scores.l[:, None] * params.theta) / max(data.M, 1)
    signal = np.einsum("kdi,ij,kdj->kd", F, spread, F)
    return fusion_results.Annotators(
        annotators=ratings.annotators,
        dimensions=ratings.dimensions,
        ratings=np.bincount(ratings.annotator_of, minlength=K),
        bias=bias,
        gain=np.diagonal(raw, axis1=1, axis2=2).copy(),
        leakage=raw * (1 - np.eye(ratings.D)),
        noise=np.sqrt(noise) * units.scale[group],
        reliability=signal / (signal + noise),
        agreement=grouped_correlation(
            units.standardise(ratings.value, group[ratings.annotator_of]), left_out, ratings.annotator_of, K
        ),
        kind=kinds,
    )


def _own_figures(group: np.ndarray, params: GroupParams, units: GroupUnits) -> tuple[np.ndarray, np.ndarray]:
    """Bias (K, D) at the average item, and gains and leakage (K, D, D), in rating units."""
    f, b = (params.rows.mean[: len(group), :, column] for column in (0, 1))
    answer = f * (params.A @ params.mu + params.t)[group] + b
    bias = units.loc[group] + units.scale[group] * answer - (units.loc[0] + units.scale[0] * params.mu)
    return bias, units.scale[group][:, :, None] * f[:, :, None] * params.A[group] / units.scale[0]
