"""Rating design from a finished fit: what to rate next, whom to ask, and how many ratings are enough.

Of items: which of them, by the expected reduction of uncertainty. Of traces: which recordings, and which stretches of
them, need another annotator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy.special import ndtr

from unisono.errors import DataError
from unisono.fusers import learned_arrays, trace_fuser, trace_model
from unisono.fusers.fuser import Fuser
from unisono.fusers.fusion_results import Fit
from unisono.maths.items.item_estimates import expected_error, expected_reduction, rating_information
from unisono.maths.series import trace_truth
from unisono.maths.series.trace_truth import Stretches, TraceDesign
from unisono.maths.structure_words import require_word
from unisono.tables.labels import Introduced, Introduction, counted, rows_of

Strategy = Literal["reduction", "uncertainty", "fewest"]
SHOWN = 3  # convention: annotators named in an introduction
SHOWN_RATINGS = (1, 2, 3, 5, 10)  # convention: per item, in an introduction
TARGET = 0.9  # convention: correlation that is reckoned enough unless another is named


@dataclass(frozen=True)
class Stretch:
    """A stretch of a recording, in seconds from its start."""

    recording: str
    begin: float
    end: float
    uncertainty: float  # root mean square of the posterior sds, in sds of the truth
    expected_reduction: float  # share of it that one typical annotator removes


@dataclass(frozen=True, eq=False, repr=False)
class NextRatings(Introduced):
    """Items and annotators, the most worthwhile first."""

    items: tuple[str, ...]
    item_sd: np.ndarray  # (M,) root mean square of the posterior sds, in sds of the truth
    item_reduction: np.ndarray  # (M,) share of the item's uncertainty that one typical rating removes
    annotators: tuple[str, ...]
    information: np.ndarray  # (K,) share of the truth's variance that one rating by them explains
    dimensions: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()  # dimensions on which annotators do not clearly agree; they are left out
    stretches: tuple[Stretch, ...] = ()  # of recordings, the most worthwhile first
    traces: bool = False  # whether the items are recordings

    def _introduction(self) -> Introduction:
        rows = [
            (item, f"{sd:.3f}", f"{less:.3f}")
            for item, sd, less in zip(self.items, self.item_sd.tolist(), self.item_reduction.tolist(), strict=True)
        ]
        people = ", ".join(
            f"{name} ({value:.3f})"
            for name, value in list(zip(self.annotators, self.information.tolist(), strict=True))[:SHOWN]
        )
        title = f"What to rate next, of {counted(len(self.items), 'recording' if self.traces else 'item')}"
        hint = f"Ask first: {people}. See .item_columns(), .annotator_columns() and .to_dict()."
        return Introduction.of(title, ("rate next", "uncertainty", "reduction"), rows, hint)

    def to_dict(self, count: int | None = None) -> dict[str, Any]:
        """Plain data for JSON, of the first `count` items and annotators."""
        tables = {"items": self.item_columns(), "annotators": self.annotator_columns()}
        found: dict[str, Any] = {name: rows_of(columns)[:count] for name, columns in tables.items()}
        if self.traces:
            found["stretches"] = [asdict(one) for one in self.stretches[:count]]
        return found | {"unclear": list(self.unclear)}

    def item_columns(self) -> dict[str, Any]:
        return {"item": list(self.items), "uncertainty": self.item_sd, "expected_reduction": self.item_reduction}

    def annotator_columns(self) -> dict[str, Any]:
        return {"annotator": list(self.annotators), "information": self.information}


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Introduced):
    """The error to expect by the number of ratings per item."""

    ratings: np.ndarray  # (n,) 1, 2, ...
    sd: np.ndarray  # (n, D) of the truth given that many ratings, in rating units
    correlation: np.ndarray  # (n, D) expected correlation of estimate and truth
    dimensions: tuple[str, ...]
    unclear: tuple[str, ...] = ()  # dimensions on which annotators do not clearly agree: NaN above
    asked: str = ""  # whose ratings these are, where not everybody's: " by 'human', beside those of 'judge'"
    traces: bool = False  # whether `ratings` are annotators per recording
    people: int = 0  # annotators of the fit; beyond them others are taken to be like these
    what: str = "ratings"  # or comparisons
    worth: Mapping[str, float] = field(default_factory=dict)  # comparisons that a rating is worth, where there are both

    @property
    def by(self) -> str:
        """What the numbers count, in words."""
        return "annotators per recording" if self.traces else f"{self.what} per item{self.asked}"

    def _introduction(self) -> Introduction:
        most = int(self.ratings[-1])
        one = "annotator" if self.traces else self.what[:-1]
        header = (
            "dimension",
            *(f"{n} {one}{'s' * (n != 1)}" for n in SHOWN_RATINGS if n <= most),
            f"r of {TARGET:g} with",
        )
        rows = [
            (
                name,
                *(f"{self.correlation[n - 1, d]:.3f}" for n in SHOWN_RATINGS if n <= most),
                f"{enough or f'more than {most}'}",
            )
            for d, (name, enough) in enumerate(self.enough_each(TARGET).items())
        ]
        title = f"Correlation of estimate and truth to expect, by {self.by}"
        return Introduction.of(
            title, header, rows, "See .columns(), .enough(correlation) and .enough_each(correlation)."
        )

    def to_dict(self, target: float) -> dict[str, Any]:
        """Plain data for JSON, with the ratings that reach a correlation of `target`."""
        table = {name: column.tolist() for name, column in self.columns().items()}
        each = self.enough_each(target)
        found = {"plan": table, "target": target, "enough": self.enough(target), "enough_each": each}
        return found | {"unclear": list(self.unclear)} | ({"worth": dict(self.worth)} if self.worth else {})

    def columns(self) -> dict[str, Any]:
        table: dict[str, Any] = {self.what: self.ratings}
        for d, name in enumerate(self.dimensions):
            table[f"{name}_sd"] = self.sd[:, d]
            table[f"{name}_r"] = self.correlation[:, d]
        return table

    def enough(self, correlation: float) -> int | None:
        """The fewest ratings per item with which every dimension reaches this correlation; None if none of these."""
        each = [n for n in self.enough_each(correlation).values() if n is not None]
        return max(each) if len(each) == len(self.dimensions) else None

    def enough_each(self, correlation: float) -> dict[str, int | None]:
        """The same for each dimension by itself."""
        found: dict[str, int | None] = {}
        for d, name in enumerate(self.dimensions):
            good = np.flatnonzero(self.correlation[:, d] >= correlation)
            found[name] = int(self.ratings[good[0]]) if len(good) else None
        return found


def next_ratings(fuser: Fuser, fit: Fit, strategy: Strategy = "reduction") -> NextRatings:
    """Items ranked by the expected reduction of uncertainty, annotators by information per rating.

    The other strategies are those of Sheng, Provost and Ipeirotis (2008), who have them for labels that are right or
    wrong: "uncertainty", the chance that a truth lies on the other side of the middle; "fewest", fewest ratings first.
    """
    require_word("strategy", strategy, get_args(Strategy))
    fuser.parameters()  # raises for models of traces
    if "item_cov" not in fit.arrays:
        raise DataError("This fit does not hold the uncertainty of its items. Fuse again with this version.")
    unclear = _unclear(fit)
    clear = np.array([name not in unclear for name in fit.dimensions])
    if not clear.any():
        return NextRatings((), np.zeros(0), np.zeros(0), (), np.zeros(0), fit.dimensions, unclear)
    Q, share, Sigma = _crowd(fuser, fit)
    scale = fuser.scaling_.scale
    V = fit.arrays["item_cov"] / scale[:, None] / scale
    Q, Sigma, V = (matrix[..., clear, :][..., clear] for matrix in (Q, Sigma, V))
    typical = np.einsum("k,kij->ij", share, Q)
    reduction = expected_reduction(V, typical)
    order = np.argsort(-_worth(strategy, reduction, V, fit, clear), kind="stable")
    spread = np.trace(Sigma)
    explained = np.array([expected_reduction(Sigma[None], q)[0] for q in Q]) / spread
    best = np.argsort(-explained, kind="stable")
    best = best[fuser.asked(np.ones(len(best)))[best] > 0]
    total = np.trace(V, axis1=1, axis2=2)
    return NextRatings(
        items=tuple(fit.items[m] for m in order),
        item_sd=np.sqrt(total / spread)[order],
        item_reduction=(reduction / total)[order],
        annotators=tuple(fit.annotators[k] for k in best),
        information=explained[best],
        dimensions=fit.dimensions,
        unclear=unclear,
    )


def _worth(strategy: Strategy, reduction: np.ndarray, V: np.ndarray, fit: Fit, clear: np.ndarray) -> np.ndarray:
    """(M,) what items are ranked by, the highest first."""
    if strategy == "reduction":
        return reduction
    if strategy == "fewest":
        if "item_judgements" not in fit.arrays:
            raise DataError("This fit does not hold how often items were rated. Fuse again with this version.")
        return -fit.arrays["item_judgements"]
    sd = np.sqrt(np.einsum("mdd->md", fit.arrays["item_cov"])[:, clear])
    return wrong_side(fit.arrays["item_mean"][:, clear], sd)


def wrong_side(mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """(M,) chance that a truth lies on the other side of the middle of all, mean over dimensions (M, D).   eq. D4

    Of labels with L right and wrong ones this is the tail min(I_.5(L1 + 1, L2 + 1), 1 - I_.5) of a beta.
    """
    away = np.abs(mean - np.median(mean, axis=0)) / sd
    return np.asarray(ndtr(-away).mean(axis=1))


def plan_ratings(fuser: Fuser, fit: Fit, *, most: int = 20, seed: int = 0) -> Plan:
    """The predicted error for 1 to `most` ratings per item by annotators like the fitted ones, asked as often."""
    Q, share, Sigma = _crowd(fuser, fit)
    counts = np.arange(1, most + 1)
    rng = np.random.default_rng(seed)
    before = fuser.known_before()
    variance = np.stack([expected_error(before, Q, share, int(n), rng) for n in counts])
    explained = np.clip(1 - variance / np.diagonal(Sigma), 0.0, 1.0)
    unclear = _unclear(fit)
    told = np.array([np.nan if name in unclear else 1.0 for name in fit.dimensions])
    sd, correlation = np.sqrt(variance) * fuser.scaling_.scale * told, np.sqrt(explained) * told
    return Plan(counts, sd, correlation, fit.dimensions, unclear, fuser.who_is_asked(), people=int((share > 0).sum()))


def _unclear(fit: Fit) -> tuple[str, ...]:
    """The dimensions on which the annotators of a fit do not clearly agree, as it was found then."""
    return tuple(fit.provenance.get("unclear", ()))


def _crowd(fuser: Fuser, fit: Fit) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Information per rating (K, D, D), shares of the ratings (K,) and covariance of the truth, standardised."""
    params = fuser.parameters()
    K = len(fit.annotators)
    given = fuser.asked(fit.arrays["judgements_here"].astype(float))
    Q = rating_information(params)[:K]
    return Q, given / given.sum(), params.Sigma


class Part(NamedTuple):
    """One model of the fit: its dimensions, what annotators tell, what is known of stretches."""

    dims: list[int]
    design: TraceDesign
    stretches: Stretches


def next_recordings(fuser: Fuser, fit: Fit) -> NextRatings:
    """Recordings, and stretches of them, ranked by how much uncertainty one more typical annotator would remove."""
    parts = _parts(fuser, fit)
    first = parts[0].stretches
    weight = (first.last - first.first).astype(float)
    spread = sum(float(np.sum(part.design.A + part.design.AB)) for part in parts)
    now, after = np.zeros(len(weight)), np.zeros(len(weight))
    for part in parts:
        more, more_level = trace_truth.typical(part.design.course), trace_truth.typical(part.design.level)
        Q, QL = part.stretches.course, part.stretches.level
        now += (trace_truth.course_error(Q, part.design) + trace_truth.level_error(QL, part.design)).sum(axis=1)
        after += (
            trace_truth.course_error(Q + more, part.design) + trace_truth.level_error(QL + more_level, part.design)
        ).sum(axis=1)
    of, M = first.recording, len(fit.items)
    frames = np.bincount(of, weight, minlength=M)
    before, left = (np.bincount(of, weight * v, minlength=M) / frames for v in (now, after))
    order = np.argsort(-(before - left), kind="stable")
    ranked = np.argsort(-(now - after), kind="stable")
    told = sum(
        np.nan_to_num(part.design.A + part.design.AB - _alone(part.design), nan=0.0).sum(axis=1) for part in parts
    )
    rated = ~np.all([np.isnan(part.design.course).all(axis=1) for part in parts], axis=0)
    best = np.argsort(-told, kind="stable")
    best = best[rated[best]]
    rate = _rate(fuser)
    return NextRatings(
        items=tuple(fit.items[m] for m in order),
        item_sd=np.sqrt(before / spread)[order],
        item_reduction=(1.0 - left / before)[order],
        annotators=tuple(fit.annotators[k] for k in best),
        information=(told / spread)[best],
        dimensions=fit.dimensions,
        stretches=tuple(
            Stretch(
                fit.items[of[i]],
                round(float(first.first[i] / rate), 3),
                round(float(first.last[i] / rate), 3),
                float(np.sqrt(now[i] / spread)),
                float(1.0 - after[i] / now[i]),
            )
            for i in ranked
        ),
        traces=True,
    )


def plan_annotators(fuser: Fuser, fit: Fit, *, most: int = 20, seed: int = 0) -> Plan:
    """The predicted error for 1 to `most` annotators per recording, like those of the fit."""
    parts = _parts(fuser, fit)
    D, people = len(fit.dimensions), max(int((~np.isnan(p.design.course).all(axis=1)).sum()) for p in parts)
    counts = np.arange(1, most + 1)
    sd, correlation = np.zeros((len(counts), D)), np.zeros((len(counts), D))
    for part in parts:
        variance = trace_truth.error_to_expect(part.design, counts, np.random.default_rng(seed))
        whole = part.design.A + part.design.AB
        sd[:, part.dims] = np.sqrt(variance) * fuser.scaling_.scale[part.dims]
        correlation[:, part.dims] = np.sqrt(np.clip(1.0 - variance / whole, 0.0, 1.0))
    return Plan(counts, sd, correlation, fit.dimensions, traces=True, people=people)


def _alone(design: TraceDesign) -> np.ndarray:
    """(K, D) variance of a truth that one annotator alone has told of."""
    return np.asarray(trace_truth.course_error(design.course, design) + trace_truth.level_error(design.level, design))


def _rate(fuser: Fuser) -> float:
    assert isinstance(fuser, trace_fuser.SeriesFuser)
    return fuser.rate_


def _parts(fuser: Fuser, fit: Fit) -> list[Part]:
    assert isinstance(fuser, trace_fuser.SeriesFuser)
    parts = getattr(fuser, "parts_", ())
    if not parts or any(part.model.levels is None for part in parts):
        raise DataError(
            "Advice on traces comes from the default, without features and without another structure: "
            "fuse with --model auto alone."
        )
    if "stretches0.recording" not in fit.arrays:
        raise DataError("This fit does not hold what is known of its recordings. Fuse again with this version.")
    return [_part(list(one.dims), one.model, fit, i) for i, one in enumerate(parts)]


def _part(dims: list[int], model: trace_model.SeriesModel, fit: Fit, number: int) -> Part:
    assert model.levels is not None
    known = learned_arrays.unpacked(Stretches, fit.arrays, f"stretches{number}")
    return Part(dims, trace_truth.trace_design(model.params, model.levels, model.noise), known)
