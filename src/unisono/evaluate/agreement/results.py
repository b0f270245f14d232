"""What a study of agreement comes to: figures by dimension and by annotator, in words when asked. Plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unisono.data.introduction import Introduction, counted
from unisono.maths.agreement.bootstrap import Interval
from unisono.maths.agreement.icc import NAMES
from unisono.maths.agreement.pairs import Spread
from unisono.report.agreement import agreement_notes, apa_sentences, heds_fragment, in_brackets

RATER_FIGURES = ("severity", "infit", "outfit", "r_others", "ccc_others", "exact", "adjacent")


@dataclass(frozen=True, eq=False)
class DimensionAgreement:
    """One dimension. Figures are by name: 'ICC(A,1)', 'alpha (interval)', 'SEM', ..."""

    name: str
    ratings: int
    units: int  # items, or frames, with a rating
    annotators: int
    k: float  # harmonic mean of the ratings per unit
    q: float  # weight of the variance of annotators in the error of a unit's mean
    low: float  # lowest and highest answer, and their shares
    high: float
    at_low: float
    at_high: float
    dominant: float  # share of the most frequent answer
    figures: dict[str, Interval]
    truncated: bool  # an error variance was estimated below zero and counted as none
    pairs: dict[str, Spread] = field(default_factory=dict)  # over pairs of annotators: 'CCC', 'Pearson', 'kappa'
    matrices: dict[str, np.ndarray] | None = None  # (K, K) of the same, on request

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in _NOT_PLAIN}
        figures = {name: {"also": NAMES.get(name, ""), **one._asdict()} for name, one in self.figures.items()}
        pairs = {name: one._asdict() for name, one in self.pairs.items()}
        matrices = {} if self.matrices is None else {name: one.tolist() for name, one in self.matrices.items()}
        return plain | {"figures": figures, "pairs": pairs} | ({"matrices": matrices} if matrices else {})


_NOT_PLAIN = ("figures", "pairs", "matrices")


@dataclass(frozen=True, eq=False)
class Agreement:
    """What `unisono agreement` prints. See `.columns()`, `.annotator_columns()`, `.apa()`, `.heds()`, `.notes`."""

    source: str
    kind: str  # items or traces
    items: int
    judgements: int
    annotators: tuple[str, ...]
    design: str  # crossed, nested or incomplete
    groups: int  # of annotators who share no item with each other
    filled: float  # share of all pairs of item and annotator that were rated
    per_item: tuple[int, float, int]  # annotators: least, median, most
    per_annotator: tuple[int, float, int]
    dimensions: tuple[DimensionAgreement, ...]
    multivariate: dict[str, Interval]  # empty with one dimension
    given: np.ndarray  # (K,) items rated
    by_annotator: dict[str, np.ndarray]  # (K, D) each, by the names of RATER_FIGURES
    reliability_of: str  # what the figure 'reliability' is about
    resampled: str  # what the bootstrap drew
    draws: int
    level: float
    seed: int
    these_annotators: bool = False  # intervals as if nobody else could have rated
    lag_corrected: tuple[DimensionAgreement, ...] = ()  # traces alone
    delay: np.ndarray | None = None  # (K, D) seconds taken out for that

    def __repr__(self) -> str:
        return self._introduction().text()

    def _repr_html_(self) -> str:
        return self._introduction().html()

    def _introduction(self) -> Introduction:
        things = counted(self.items, "item" if self.kind == "items" else "recording")
        title = f"Agreement of {counted(len(self.annotators), 'annotator')} on {things} of '{self.source}'"
        shown = ("ICC(A,1)", "ICC(A,k)", "alpha (interval)")
        rows = [(one.name, *(in_brackets(one.figures[name]._asdict()) for name in shown)) for one in self.dimensions]
        hint = f"{self.level:.0%} intervals. See .columns(), .annotator_columns(), .apa(), .heds() and .notes."
        return Introduction.of(title, ("dimension", *shown), rows, hint)

    def columns(self) -> dict[str, list[Any]]:
        """One row per dimension and figure; of traces also lag-corrected."""
        table: dict[str, list[Any]] = {name: [] for name in ("dimension", "figure", "also_called", "value")}
        table |= {"low": [], "high": [], "lag_corrected": []}
        for corrected, dimensions in ((False, self.dimensions), (True, self.lag_corrected)):
            for one in dimensions:
                for name, found in one.figures.items():
                    row = (one.name, name, NAMES.get(name, ""), *found, corrected)
                    for column, cell in zip(table.values(), row, strict=True):
                        column.append(cell)
        return table

    def annotator_columns(self) -> dict[str, Any]:
        """One row per annotator."""
        table: dict[str, Any] = {"annotator": list(self.annotators), "items": self.given}
        for d, dimension in enumerate(self.dimensions):
            table |= {f"{dimension.name}_{name}": self.by_annotator[name][:, d] for name in RATER_FIGURES}
        return table

    @property
    def notes(self) -> list[str]:
        """What to keep in mind when reading the figures."""
        return agreement_notes(self._plain())

    def apa(self) -> str:
        """A paragraph for a paper, in APA style: one sentence or two per dimension."""
        return apa_sentences(self._plain())

    def heds(self) -> dict[str, Any]:
        """What section 4 of the Human Evaluation Datasheet asks about agreement, criterion by criterion."""
        return heds_fragment(self._plain())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data for JSON."""
        found = self._plain()
        columns = {name: np.asarray(column).tolist() for name, column in self.annotator_columns().items()}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        words = {"notes": self.notes, "apa": self.apa(), "heds": self.heds()}
        return found | {"annotator_table": rows} | words

    def _plain(self) -> dict[str, Any]:
        own = ("source", "kind", "items", "judgements", "design", "groups", "filled", "per_item", "per_annotator")
        made = ("reliability_of", "resampled", "draws", "level", "seed", "these_annotators")
        return {
            **{name: getattr(self, name) for name in own},
            "annotators": len(self.annotators),
            "dimensions": [one.to_dict() for one in self.dimensions],
            "lag_corrected": [one.to_dict() for one in self.lag_corrected],
            "multivariate": {name: one._asdict() for name, one in self.multivariate.items()},
            **{name: getattr(self, name) for name in made},
        }
