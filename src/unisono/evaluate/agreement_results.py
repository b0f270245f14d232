"""The result of a study of agreement: figures by dimension and by annotator, notes, and sentences for a paper.

`Agreement` holds plain values. Its words (notes on reading the figures, a paragraph in APA style, a fragment for the
Human Evaluation Datasheet) are made from the plain data of `Agreement.to_dict` and compute nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unisono.evaluate.alerts import said
from unisono.maths.agreement.agreement_bootstrap import Interval
from unisono.maths.agreement.intraclass_reliability import NAMES
from unisono.maths.agreement.rater_agreement import Spread
from unisono.tables.labels import Introduced, Introduction, counted, rows_of

DOMINANT = 0.8  # share of one answer from which chance-corrected figures collapse
FIRST = ("ICC(A,1)", "ICC(A,k)")
FUSED = "the fused estimate"  # what 'reliability' is of, if not of the mean rating


def agreement_notes(data: dict[str, Any]) -> list[str]:
    """What to keep in mind when reading the figures."""
    notes = [note for one in data["dimensions"] for note in _dimension_notes(one, data)]
    of_mean = "" if data["reliability_of"] == FUSED else said("agreement", "under_this_design")
    told = {
        "groups": data["groups"] > 1,
        "nested": data["design"] == "nested",
        "incomplete": data["design"] == "incomplete",
        "traces": data["kind"] == "traces",
        "no_draws": data["draws"] < 1,
    }
    return notes + [said("agreement", name, of_mean=of_mean, **data) for name, so in told.items() if so]


def apa_sentences(data: dict[str, Any]) -> str:
    """A paragraph for the results section."""
    percent = f"{100 * data['level']:g}"
    things = _count(data["items"], "item" if data["kind"] == "items" else "recording")
    about = {"people": _count(data["annotators"], "annotator"), "things": things, "sampled": _sampled(data)}
    opening = said("agreement", "opening", percent=percent, **about, **data)
    corrected = {one["name"]: one for one in data["lag_corrected"]}
    sentences = [_apa_sentence(one, corrected.get(one["name"]), percent, data) for one in data["dimensions"]]
    return " ".join([opening, *sentences])


def _sampled(data: dict[str, Any]) -> str:
    """What the intervals generalise to, and how they were made."""
    bootstrap = said("agreement", "bootstrap", **data)
    return said("agreement", "these" if data["these_annotators"] else "others", bootstrap=bootstrap, **data)


def heds_fragment(data: dict[str, Any]) -> dict[str, Any]:
    """Per quality criterion: how agreement was measured, and the scores."""
    method = said("agreement", "method", percent=f"{100 * data['level']:g}", sampled=_sampled(data), **data)
    criteria = []
    for one in data["dimensions"]:
        shown = [name for name in (*FIRST, "alpha (interval)", "alpha (ordinal)", *_ac2(one)) if _known(one, name)]
        scores = {_named(name, one): in_brackets(one["figures"][name]) for name in shown}
        criteria.append(
            {
                "criterion_name": one["name"],
                "rating_scale": f"{one['low']:g} to {one['high']:g} as used",
                "number_of_evaluators": one["annotators"],
                "ratings": one["ratings"],
                "inter_annotator_agreement_measured": "yes",
                "inter_annotator_agreement_method": method,
                "inter_annotator_agreement_scores": scores,
                "intra_annotator_agreement_measured": "no",
            }
        )
    return {"heds_version": "3.0", "section": "4.3", "quality_criteria": criteria}


def _apa_sentence(one: dict[str, Any], corrected: dict[str, Any] | None, percent: str, data: dict[str, Any]) -> str:
    if not _known(one, FIRST[0]):
        return said("agreement", "no_icc", **one)
    first = [_with_interval(name, one, percent) for name in FIRST if _known(one, name)]
    alphas = [
        f"Krippendorff's {name.replace('(', 'for ').replace(')', ' data')} = {in_brackets(one['figures'][name])}"
        for name in ("alpha (interval)", "alpha (ordinal)")
        if _known(one, name)
    ]
    rest = [*alphas, *(f"Gwet's AC2 = {in_brackets(one['figures']['AC2'])}" for _ in _ac2(one))]
    sentence = f"For {one['name']}, {' and '.join(first)} (k = {one['k']:.2g}); {', '.join(rest)}" if rest else first[0]
    reliability = one["figures"]["reliability"]
    if math.isfinite(reliability["value"]):
        sentence += f"; the reliability of {data['reliability_of']} was {in_brackets(reliability)}"
    if math.isfinite(one["figures"]["SEM"]["value"]):
        sentence += f", and the standard error of measurement of a single rating {one['figures']['SEM']['value']:.3g}"
    if corrected is not None and _known(corrected, FIRST[0]):
        sentence += f"; with relative delays removed, {_with_interval(FIRST[0], corrected, percent)}"
    return sentence + "."


def _dimension_notes(one: dict[str, Any], data: dict[str, Any]) -> list[str]:
    if one["ratings"] and one["low"] == one["high"]:
        return [said("agreement", "equal", **one)]
    first, known = one["figures"][FIRST[0]], _known(one, FIRST[0])
    told = {
        "unknown": not known,
        "negative": known and first["value"] < 0,
        "few": known and first["value"] >= 0 and data["draws"] > 0 and not math.isfinite(first["low"]),
        "truncated": one["truncated"],
        "dominant": one["dominant"] >= DOMINANT and _known(one, "AC2"),
    }
    slots = one | {"resampled": data["resampled"], "share": 100 * one["dominant"]}
    return [said("agreement", name, **slots) for name, so in told.items() if so]


def _with_interval(name: str, one: dict[str, Any], percent: str) -> str:
    figure = one["figures"][name]
    text = f"{_named(name, one)} = {without_zero(figure['value'])}"
    return f"{text}, {percent}% CI {_ends(figure)}" if math.isfinite(figure["low"]) else f"{text}, CI not available"


def _named(name: str, one: dict[str, Any]) -> str:
    """A figure under both names where there are two."""
    also = one["figures"][name]["also"]
    return f"{name} [Shrout and Fleiss: {also}]" if also else name


def _ac2(one: dict[str, Any]) -> tuple[str, ...]:
    return ("AC2",) if one["dominant"] >= DOMINANT and _known(one, "AC2") else ()


def _known(one: dict[str, Any], name: str) -> bool:
    return math.isfinite(one["figures"][name]["value"])


def in_brackets(figure: dict[str, Any]) -> str:
    """'.52 [.44, .60]'; a dash where the figure is not defined, a question mark where its interval is not."""
    if not math.isfinite(figure["value"]):
        return "–"
    return f"{without_zero(figure['value'])} {_ends(figure)}"


def _ends(figure: dict[str, Any]) -> str:
    return f"[{without_zero(figure['low'])}, {without_zero(figure['high'])}]" if math.isfinite(figure["low"]) else "[?]"


def without_zero(value: float) -> str:
    """Two decimals, without the zero before the point, as APA writes what cannot exceed 1."""
    text = f"{round(value, 2) + 0.0:.2f}"
    return text.replace("0.", ".", 1) if abs(value) < 0.995 else text


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


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


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Introduced):
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
        words = {"notes": self.notes, "apa": self.apa(), "heds": self.heds()}
        return found | {"annotator_table": rows_of(self.annotator_columns())} | words

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
