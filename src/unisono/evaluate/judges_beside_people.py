"""Automatic judges beside human raters: each judge, the panel, replacement, what to label next.

Every judge has a verdict on every dimension: may replace a person, helps, useless or harmful. Figures beside people are
marginal ones, of one dimension at a time; partial gains and leakage of the model of groups have names of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unisono.errors import DataError, SettingsError
from unisono.evaluate.judge_figures import JudgeRow, RepeatedAnswers, judge_rows, people_with_each_other
from unisono.evaluate.leaderboard_results import Leaderboard
from unisono.evaluate.system_leaderboard import measure_leaderboard
from unisono.fusers import fusion_results, group_fit
from unisono.fusers.grouped_annotators import Groups
from unisono.maths.groups.judge_tests import EPSILON, HARMFUL, USELESS, VERDICTS, change_probability, short_verdict
from unisono.maths.items.item_estimates import expected_reduction, rating_information
from unisono.tables import Introduced, Introduction, RatingNumbers, Ratings, counted, listed
from unisono.tables.annotator_kinds import divide
from unisono.tables.exporting.result_folder import write_results
from unisono.tables.reading import data_frames, scores_of_systems

FORMAT = "judges/1"  # of the plain values, as docs/schemas has it
CHANGED = 0.01  # p from which a correlation is not what it was
TARGET = 0.9  # correlation of estimate and truth that is reckoned enough
MOST_LETTERS = 36  # of a verdict in a line of 80 columns
MOST_PEOPLE = 5  # ratings by people per item up to which errors are foretold


@dataclass(frozen=True, eq=False, repr=False)
class JudgesReport(Introduced):
    """Judges beside people."""

    source: str
    reference: str
    annotators: fusion_results.Annotators
    rows: list[JudgeRow]
    people: np.ndarray  # (D,) correlation of a person with the mean of the others, on average
    groups: group_fit.GroupTable
    labelled: int
    rated: float  # ratings by people per item, on average
    foretold: np.ndarray  # (D,) share of the labels' variance that is foretold without them
    correlation: np.ndarray  # (MOST_PEOPLE + 1, D) expected of the estimate, by ratings of people on every item
    next_items: tuple[str, ...]  # those on which a person's rating tells most, first
    reduction: np.ndarray  # share of their uncertainty that it removes
    effects: dict[str, Any]  # of covariates, as columns; empty without any
    systems: Leaderboard | None = None
    frame_kind: str | None = None

    @property
    def judges(self) -> Any:
        """A frame with a row per judge and dimension, the best judge first: verdict and figures."""
        return data_frames.frame_like(self.frame_kind, self.judge_columns())

    def judge_columns(self) -> dict[str, Any]:
        """The columns of judges.csv."""
        return {
            name: [row[name] for row in map(self._columns_of, self.rows)] for name in self._columns_of(self.rows[0])
        }

    def _columns_of(self, row: JudgeRow) -> dict[str, Any]:
        who, k, d, beside = self.annotators, row.judge, row.dimension, row.beside
        strongest = int(np.argmax(np.abs(who.leakage[k, d])))
        named = {"judge": who.annotators[k], "dimension": who.dimensions[d], "verdict": row.verdict}
        marginal = {name: getattr(beside, name) for name in ("items", "correlation", "low", "high")}
        marginal |= {name: getattr(beside, name) for name in ("gain", "leniency", "skill")}
        tested = {"winning_rate": row.test.winning_rate, "advantage": row.test.advantage, "likeness": row.test.likeness}
        partial = {
            "favours": row.favours,
            "favours_family": row.favours_family,
            "consistency": row.consistency,
            "repeat_sd": row.repeat_sd,
            "noise": who.noise[k, d],
            "reliability": who.reliability[k, d],
            "partial_gain": who.gain[k, d],
            "strongest_leakage": who.leakage[k, d, strongest],
            "leakage_from": who.dimensions[strongest] if len(who.dimensions) > 1 else "",
        }
        return named | marginal | tested | {"people_compared": row.test.people} | partial

    def group_columns(self) -> dict[str, Any]:
        """The columns of groups.csv; correlation, gain and leniency are averages of the members', beside people.

        People define the truth: their gain is 1 and their leniency 0 on average; each is correlated with the others.
        """
        table = dict(self.groups.columns())
        kinds, dimensions = self.annotators.kind or (), self.annotators.dimensions
        table["gain"], table["leniency"] = (np.array(table[name], dtype=float) for name in ("gain", "leniency"))
        table["correlation"] = np.full(len(table["gain"]), np.nan)
        beside = [(kinds[row.judge], dimensions[row.dimension], row.beside) for row in self.rows]
        for at, place in enumerate(zip(table["kind"], table["dimension"], strict=True)):
            known = [one for *of, one in beside if (*of,) == place and np.isfinite(one.correlation)]
            for name in ("gain", "leniency", "correlation") if known else ():
                table[name][at] = np.mean([getattr(one, name) for one in known])
            if place[0] == self.reference:
                told = self.people[dimensions.index(place[1])]
                table["gain"][at], table["leniency"][at], table["correlation"][at] = 1.0, 0.0, told
        return table

    def tables(self) -> dict[str, dict[str, Any]]:
        """All tables by the names of their files."""
        found = {"judges.csv": self.judge_columns(), "groups.csv": self.group_columns()}
        found["next_items.csv"] = {"item": list(self.next_items), "expected_reduction": self.reduction}
        people = np.repeat(np.arange(len(self.correlation)), len(self.annotators.dimensions))
        found["people.csv"] = {
            "people": people,
            "dimension": list(self.annotators.dimensions) * len(self.correlation),
            "correlation": self.correlation.ravel(),
        }
        if self.effects:
            found["covariates.csv"] = self.effects
        if self.systems is not None:
            found |= {f"{name}.csv": columns for name, columns in self.systems.tables().items()}
        return found

    def judged(self) -> dict[str, list[JudgeRow]]:
        """The rows of every judge, the best judge first."""
        found: dict[str, list[JudgeRow]] = {}
        for row in self.rows:
            found.setdefault(self.annotators.annotators[row.judge], []).append(row)
        return found

    def verdict_rows(self) -> list[list[str]]:
        """Judge, verdict, and mean correlation, gain and leniency over dimensions: a line of 80 columns for each."""
        shown = []
        for name, rows in self.judged().items():
            each = ([getattr(row.beside, what) for row in rows] for what in ("correlation", "gain", "leniency"))
            figures = [np.mean([x for x in own if np.isfinite(x)] or [np.nan]) for own in each]
            shown.append([name, self._verdict(rows), *(f"{x:.2f}" if np.isfinite(x) else "–" for x in figures)])
        return shown

    def _verdict(self, rows: list[JudgeRow], whole: bool = False) -> str:
        """In one line, the best first, with where each part of it holds: by name, or by number where that is long."""
        parts: dict[str, list[str]] = {}
        for row in rows:
            parts.setdefault(short_verdict(row.verdict), []).append(self.annotators.dimensions[row.dimension])
        best_first = sorted(parts.items(), key=lambda part: VERDICTS.index(part[0]))
        if whole:
            return ", ".join(f"{said} on {listed(on)}" for said, on in best_first)
        if len(parts) == 1:
            return best_first[0][0]
        short = [(said.removesuffix(" a person"), on) for said, on in best_first]
        named = ", ".join(f"{said} on {on[0] if len(on) == 1 else len(on)}" for said, on in short)
        return named if len(named) <= MOST_LETTERS else ", ".join(f"{said} {len(on)}" for said, on in short)

    def _introduction(self) -> Introduction:
        title = f"{self.source}: judges beside '{self.reference}', who rated {counted(self.labelled, 'item')}"
        header = ("judge", "verdict", "r", "gain", "leniency")
        hint = "See .judges, .summary(), .tables() and .save(directory)."
        return Introduction.of(title, header, self.verdict_rows(), hint)

    def summary(self) -> str:
        """The result in words."""
        lines = [f"{self.source}: judges beside '{self.reference}', who rated {counted(self.labelled, 'item')}", ""]
        for name, rows in self.judged().items():
            r = np.mean([row.beside.correlation for row in rows])
            lines.append(f"{name}: {self._verdict(rows, whole=True)} (correlation with people {r:.2f})")
        return "\n".join([*lines, "", self.people_needed(TARGET)]) + "\n"

    def people_needed(self, target: float) -> str:
        """How many ratings by people on every item a correlation of estimate and truth takes, beside the judges."""
        each = []
        for name, column in zip(self.annotators.dimensions, self.correlation.T.tolist(), strict=True):
            enough = [n for n, reached in enumerate(column) if reached >= target]
            needed = str(enough[0]) if enough else f"more than {len(column) - 1}"
            each.append(f"{name} {needed}{' (judges alone suffice)' if enough[:1] == [0] else ''}")
        return (
            f"Ratings by people per item, counted from none and beside these judges, for a correlation of {target:g}: "
            f"{', '.join(each)}. There are {self.rated:.3g} per item now."
        )

    def doubtful(self) -> list[JudgeRow]:
        """Where judges are useless or harmful."""
        return [row for row in self.rows if row.verdict.startswith((USELESS, HARMFUL))]

    def lower_than(self, least: Mapping[str, float]) -> list[str]:
        """Judges with figures below these, by column of judges.csv, in words."""
        table, found = self.judge_columns(), []
        for name, bound in least.items():
            if name not in table or isinstance(table[name][0], str):
                raise SettingsError(f"judges have no figure '{name}'; they have correlation, skill, reliability, ...")
            for judge, dimension, value in zip(table["judge"], table["dimension"], table[name], strict=True):
                if not value >= bound:
                    found.append(f"{name} of {judge} on {dimension} is {value:.3g}, below {bound:g}.")
        return found

    def changed_since(self, earlier: Any) -> list[str]:
        """Judges whose correlation with people is not what it was in an earlier judges.csv, in words."""
        frame = data_frames.to_polars(earlier) if not isinstance(earlier, str | Path) else pl.read_csv(earlier)
        before = {(row["judge"], row["dimension"]): row for row in frame.iter_rows(named=True)}
        found = []
        for row in self.rows:
            judge, dimension = self.annotators.annotators[row.judge], self.annotators.dimensions[row.dimension]
            was = before.get((judge, dimension))
            if was is None or was["correlation"] is None or not np.isfinite(row.beside.correlation):
                continue
            p = change_probability(was["correlation"], was["items"], row.beside.correlation, row.beside.items)
            if p < CHANGED:
                said = f"was {was['correlation']:.2f}, is {row.beside.correlation:.2f} (p = {p:.2g})"
                found.append(f"Correlation of {judge} with people on {dimension} {said}.")
        return found

    def save(self, directory: str | Path) -> Path:
        """Writes all tables, summary.json and summary.txt into a folder; all or none."""
        tables = {name.removesuffix(".csv"): columns for name, columns in self.tables().items()}
        texts = {"summary.txt": self.summary()}
        if self.systems is not None and self.systems.page is not None:
            texts["report.html"] = self.systems.page(self.systems)
        write_results(Path(directory), tables, self.to_dict(), texts)
        return Path(directory)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        dimensions = self.annotators.dimensions
        per = {str(n): dict(zip(dimensions, row.tolist(), strict=True)) for n, row in enumerate(self.correlation)}
        return {
            "format": FORMAT,
            "reference": self.reference,
            "labelled_items": self.labelled,
            "ratings_by_people": self.rated,
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
    again: RepeatedAnswers | None = None,
    on_step: Callable[[int, float], None] | None = None,
) -> JudgesReport:
    """Fits the model of groups and reports on everybody who is not of the reference kind."""
    division = divide(ratings, reference_kind)
    if not division.reference:
        raise DataError(
            f"{ratings.source}: judges are looked at beside people, and here is one kind of annotators. "
            "Say who is who with a column 'kind', --kind or --humans. "
            "Means of systems need no people beside judges: see `unisono leaderboard`."
        )
    # What judges tell of a truth counts here, also of items whose truth is what people say.
    fuser = Groups(reference_kind=reference_kind, shared=shared, estimate="posterior")
    fuser.explain(covariates).fit(ratings, on_step=on_step)
    learned = fuser.fit_.learned
    assert learned is not None
    fused = fuser.fuse()
    people = np.flatnonzero(division.group == 0)
    judges = np.flatnonzero(division.group > 0)
    Q = _persons_information(fuser, people, ratings)
    reduction = expected_reduction(_standardised(fuser, fused), Q)
    share = reduction / np.trace(_standardised(fuser, fused), axis1=1, axis2=2)
    order = np.argsort(-share, kind="stable")
    scores = None if system_of is None else scores_of_systems.labelled_scores(ratings, system_of, cluster_of)
    given = np.isin(ratings.annotator_of, people)
    return JudgesReport(
        source=ratings.source,
        reference=division.names[0],
        annotators=fuser.describe(),
        rows=judge_rows(ratings, judges, people, epsilon, scores, again),
        people=people_with_each_other(ratings, people),
        groups=fuser.groups(),
        labelled=learned.labelled,
        rated=float(given.sum() / ratings.M),
        foretold=learned.foretold,
        correlation=_expected_correlation(fuser, fused, Q, np.bincount(ratings.item_of[given], minlength=ratings.M)),
        next_items=tuple(ratings.items[m] for m in order),
        reduction=share[order],
        effects=fuser.effects(),
        systems=None if scores is None else measure_leaderboard(scores, reference_kind=reference_kind, seed=seed),
        frame_kind=ratings.frame_kind,
    )


def _persons_information(fuser: Groups, people: np.ndarray, ratings: Ratings) -> np.ndarray:
    """(D, D) what one rating by a typical person adds to the precision of a truth."""
    given = np.bincount(ratings.annotator_of, minlength=ratings.K)[people].astype(float)
    Q = rating_information(fuser.parameters())[people]
    return np.asarray(np.einsum("k,kij->ij", given / given.sum(), Q))


def _standardised(fuser: Groups, fused: fusion_results.Fused) -> np.ndarray:
    scale = fuser.scaling_.scale
    return np.asarray(fused.cov / scale[:, None] / scale)


def _expected_correlation(fuser: Groups, fused: fusion_results.Fused, Q: np.ndarray, given: np.ndarray) -> np.ndarray:
    """(MOST_PEOPLE + 1, D) of estimate and truth with 0, 1, ... ratings by people on every item, beside the judges.

    Counted from none: items that people rated (`given` (M,) times) are used where there are no others, without what
    these ratings tell.
    """
    V = _standardised(fuser, fused)
    unrated = given == 0
    prior = np.linalg.inv(fuser.parameters().Sigma)
    P = np.linalg.inv(V[unrated]) if unrated.any() else np.linalg.inv(V) - given[:, None, None] * Q
    least = np.linalg.eigvalsh(P - prior * (1 - 1e-9))[:, 0]
    P = np.where((least < 0)[:, None, None], prior, P)  # never less than what is known of any item
    spread = np.diagonal(fuser.parameters().Sigma)
    rows = []
    for n in range(MOST_PEOPLE + 1):
        left = np.diagonal(np.linalg.inv(P + n * Q), axis1=1, axis2=2).mean(axis=0)
        rows.append(np.sqrt(np.clip(1 - left / spread, 0.0, 1.0)))
    return np.array(rows)


def _rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    plain = {name: value.tolist() if isinstance(value, np.ndarray) else list(value) for name, value in columns.items()}
    return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]
