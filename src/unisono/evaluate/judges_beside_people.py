"""Automatic judges beside human raters: each judge, the panel, replacement, what to label next.

The question of replacement is answered by the alternative annotator test on every dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono.errors import DataError
from unisono.evaluate.leaderboard_results import Leaderboard
from unisono.evaluate.system_leaderboard import measure_leaderboard
from unisono.fusers.fusion_results import Annotators, Fused
from unisono.fusers.group_tables import GroupTable
from unisono.fusers.grouped_annotators import Groups
from unisono.maths.groups.judge_tests import EPSILON, Alternative, alternative_test
from unisono.maths.items.item_estimates import expected_reduction, rating_information
from unisono.tables.annotator_kinds import divide
from unisono.tables.rating_covariates import RatingNumbers
from unisono.tables.ratings import Ratings
from unisono.tables.reading.scores_of_systems import labelled_scores


def alternatives(
    ratings: Ratings, judges: np.ndarray, people: np.ndarray, epsilon: float = EPSILON
) -> dict[tuple[str, str], Alternative]:
    """By judge and dimension; `judges` and `people` are places among the annotators."""
    found = {}
    for d, dimension in enumerate(ratings.dimensions):
        table = np.full((ratings.M, ratings.K), np.nan)
        table[ratings.item_of, ratings.annotator_of] = ratings.value[:, d]
        for k in judges:
            found[ratings.annotators[k], dimension] = alternative_test(table[:, k], table[:, people], epsilon)
    return found


MOST_PEOPLE = 5  # ratings by people per item up to which errors are foretold


@dataclass(frozen=True, eq=False)
class JudgesReport:
    """Judges beside people."""

    reference: str
    annotators: Annotators
    judges: np.ndarray  # places of the judges among the annotators
    groups: GroupTable
    alternative: dict[tuple[str, str], Alternative]  # by judge and dimension
    labelled: int
    foretold: np.ndarray  # (D,) share of the labels' variance that is foretold without them
    correlation: np.ndarray  # (MOST_PEOPLE + 1, D) expected of the estimate, by ratings of people on every item
    next_items: tuple[str, ...]  # those on which a person's rating tells most, first
    reduction: np.ndarray  # share of their uncertainty that it removes
    effects: dict[str, Any]  # of covariates, as columns; empty without any
    systems: Leaderboard | None = None

    def judge_columns(self) -> dict[str, Any]:
        """One row per judge and dimension."""
        who, rows = self.annotators, []
        for k in self.judges:
            name = who.annotators[k]
            for d, dimension in enumerate(who.dimensions):
                test = self.alternative[name, dimension]
                strongest = int(np.argmax(np.abs(who.leakage[k, d])))
                rows.append(
                    {
                        "judge": name,
                        "dimension": dimension,
                        "ratings": int(who.ratings[k]),
                        "bias": who.bias[k, d],
                        "gain": who.gain[k, d],
                        "noise": who.noise[k, d],
                        "reliability": who.reliability[k, d],
                        "strongest_leakage": who.leakage[k, d, strongest],
                        "leakage_from": who.dimensions[strongest] if len(who.dimensions) > 1 else "",
                        "winning_rate": test.winning_rate,
                        "advantage": test.advantage,
                        "people_compared": test.people,
                        "replaces_people": "" if np.isnan(test.winning_rate) else "yes" if test.passes else "no",
                    }
                )
        return {name: [row[name] for row in rows] for name in rows[0]}

    def tables(self) -> dict[str, dict[str, Any]]:
        """All tables by the names of their files."""
        found = {"judges.csv": self.judge_columns(), "groups.csv": self.groups.columns()}
        found["next_items.csv"] = {"item": list(self.next_items), "expected_reduction": self.reduction}
        if self.effects:
            found["covariates.csv"] = self.effects
        if self.systems is not None:
            found |= {f"{name}.csv": columns for name, columns in self.systems.tables().items()}
        return found

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        dimensions = self.annotators.dimensions
        per = {str(n): dict(zip(dimensions, row.tolist(), strict=True)) for n, row in enumerate(self.correlation)}
        return {
            "reference": self.reference,
            "labelled_items": self.labelled,
            "foretold": dict(zip(dimensions, self.foretold.tolist(), strict=True)),
            "expected_correlation": per,
            **{name.removesuffix(".csv"): _rows(columns) for name, columns in self.tables().items()},
        }


def measure_judges(
    ratings: Ratings,
    *,
    reference_kind: str | None = None,
    shared: float | None = None,
    covariates: RatingNumbers | None = None,
    system_of: Mapping[str, str] | None = None,
    cluster_of: Mapping[str, str] | None = None,
    epsilon: float = EPSILON,
    seed: int = 0,
    on_step: Callable[[int, float], None] | None = None,
) -> JudgesReport:
    """Fits the model of groups and reports on everybody who is not of the reference kind."""
    division = divide(ratings, reference_kind)
    if not division.reference:
        raise DataError(
            f"{ratings.source}: judges are looked at beside people, and here is one kind of annotators. "
            "Say who is who with a column 'kind', --kind or --humans."
        )
    fuser = Groups(reference_kind=reference_kind, shared=shared).explain(covariates).fit(ratings, on_step=on_step)
    learned = fuser.fit_.learned
    assert learned is not None
    fused = fuser.fuse()
    people = np.flatnonzero(division.group == 0)
    judges = np.flatnonzero(division.group > 0)
    Q = _persons_information(fuser, people, ratings)
    reduction = expected_reduction(_standardised(fuser, fused), Q)
    share = reduction / np.trace(_standardised(fuser, fused), axis1=1, axis2=2)
    order = np.argsort(-share, kind="stable")
    board = None
    if system_of is not None:
        board = measure_leaderboard(
            labelled_scores(ratings, system_of, cluster_of), reference_kind=reference_kind, seed=seed
        )
    return JudgesReport(
        reference=division.names[0],
        annotators=fuser.describe(),
        judges=judges,
        groups=fuser.groups(),
        alternative=alternatives(ratings, judges, people, epsilon),
        labelled=learned.labelled,
        foretold=learned.foretold,
        correlation=_expected_correlation(fuser, fused, Q, ratings, people),
        next_items=tuple(ratings.items[m] for m in order),
        reduction=share[order],
        effects=fuser.effects(),
        systems=board,
    )


def _persons_information(fuser: Groups, people: np.ndarray, ratings: Ratings) -> np.ndarray:
    """(D, D) what one rating by a typical person adds to the precision of a truth."""
    given = np.bincount(ratings.annotator_of, minlength=ratings.K)[people].astype(float)
    Q = rating_information(fuser.parameters())[people]
    return np.asarray(np.einsum("k,kij->ij", given / given.sum(), Q))


def _standardised(fuser: Groups, fused: Fused) -> np.ndarray:
    scale = fuser.scaling_.scale
    return np.asarray(fused.cov / scale[:, None] / scale)


def _expected_correlation(
    fuser: Groups, fused: Fused, Q: np.ndarray, ratings: Ratings, people: np.ndarray
) -> np.ndarray:
    """(MOST_PEOPLE + 1, D) of estimate and truth with 0, 1, ... ratings by people on every item, beside the judges."""
    rated = np.zeros(ratings.M, dtype=bool)
    rated[ratings.item_of[np.isin(ratings.annotator_of, people)]] = True
    V = _standardised(fuser, fused)
    V = V[~rated] if (~rated).any() else V
    spread = np.diagonal(fuser.parameters().Sigma)
    rows = []
    for n in range(MOST_PEOPLE + 1):
        after = np.linalg.inv(np.linalg.inv(V) + n * Q)
        left = np.diagonal(after, axis1=1, axis2=2).mean(axis=0)
        rows.append(np.sqrt(np.clip(1 - left / spread, 0.0, 1.0)))
    return np.array(rows)


def _rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    plain = {name: value.tolist() if isinstance(value, np.ndarray) else list(value) for name, value in columns.items()}
    return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]
