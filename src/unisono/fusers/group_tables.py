"""Annotators and groups in the units they rated in: what each makes of the truth, alone and together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono.fusers.fusion_results import Annotators
from unisono.fusers.group_fit import GroupUnits
from unisono.maths.grouped_sums import grouped_correlation
from unisono.maths.groups.group_data import GroupData, GroupParams
from unisono.maths.groups.group_labels import effective_number, shared_share
from unisono.tables.ratings import Ratings


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
) -> Annotators:
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
    return Annotators(
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
