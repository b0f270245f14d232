"""A finished fusion of comparisons: the truth in logits, the annotators, probabilities of answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from unisono.api.input_output import READING, OnPhase, Saving, item_table, provenance, rating_table
from unisono.errors import DataError, SettingsError, spoken
from unisono.evaluate.comparison_overview import ComparisonOverview, comparison_overview
from unisono.fusers import Annotators, Fit, Fused, Fuser, Pairwise, revive
from unisono.fusers.compared_copies import CopiedAnswers, find_copies, merged
from unisono.fusers.compared_items import Preference
from unisono.fusers.comparison_knowledge import without_ratings
from unisono.fusers.fusion_results import as_frame, dimension_columns
from unisono.fusers.model_registry import make_fuser
from unisono.fusers.saved_fit import load_fit
from unisono.maths.structure_words import COPY_WORDS, Counting, require_word
from unisono.report.comparison_summary import summarise_comparisons, summary_lines
from unisono.report.notebook_progress import watching_steps
from unisono.tables import Introduction, Ratings, listed
from unisono.tables.annotator_kinds import divide, with_kinds
from unisono.tables.comparisons import SIDES, Comparisons
from unisono.tables.exporting.result_folder import rounded_figures
from unisono.tables.reading.comparisons_reader import read_comparisons, rows_to_predict
from unisono.tables.reading.data_frames import frame_like, kind_of

if TYPE_CHECKING:
    from unisono.evaluate.leaderboard_results import Leaderboard


class WithComparisons:
    """What a fusion says of comparisons."""

    fuser: Any

    def probability(self, left: str, right: str, dimension: str | None = None) -> Preference:
        """How probable it is that the average annotator finds more in `left` than in `right`.

        Returns the probability, ties and order effects aside, and the ends of its 90 % interval; `dimension` may be
        left out where there is one.
        """
        found: Preference = self.fuser.probability(left, right, dimension)
        return found

    def predict_comparisons(self, table: Any) -> Any:
        """Probabilities of the answers to other comparisons, by the annotators who are asked.

        `table` (a path or a data frame) has annotator, left and right; answers are not looked at. One row per row, in
        its order, with the columns left, tie and right; with several dimensions `<dimension>_left` and so on.
        Annotators and items that were not in the fit are predicted like newcomers.
        """
        chances = self.fuser.answer_chances(*rows_to_predict(table))
        names = self.fuser.dimensions_
        several = len(names) > 1
        columns = {
            f"{name}_{side}" if several else side: chances[:, d, i]
            for d, name in enumerate(names)
            for i, side in enumerate(SIDES)
        }
        return frame_like(kind_of(table), columns)


def fuse_comparisons(
    comparisons: Any,
    ratings: Any = None,
    *,
    features: Any = None,
    gold: Any = None,
    start: Any = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    humans: str | Sequence[str] | None = None,
    reference_kind: str | None = None,
    copies: Counting = "merge",
    scale: Any = None,
    refused: Mapping[str, Any] = MappingProxyType({}),
    model: str | Any = "auto",
    seed: int = 0,
    on_step: Callable[[int, float], None] | None = None,
    **settings: Any,
) -> ComparisonFusion:
    """Fuses comparisons, alone or with ratings of the same items; `refused` is what works on ratings alone."""
    if names := [name for name, value in refused.items() if value is not None]:
        raise DataError(f"{listed(names)} cannot be used together with comparisons yet. Leave them out.")
    if model not in ("auto", "pairwise") and isinstance(model, str):
        raise SettingsError(f"The model '{model}' is for ratings; comparisons are fused by 'pairwise'.")
    reading = {name: settings.pop(name) for name in READING if name in settings}
    rated = None if ratings is None else rating_table(ratings, scale, **reading)
    described, known = item_table(features, rated), item_table(gold, rated)
    pairs = read_comparisons(comparisons)
    require_word("copies", copies, COPY_WORDS)
    if rated is not None and (kinds is not None or humans is not None):
        raise DataError("Kinds of annotators are known to comparisons alone, or to ratings alone. Leave them out.")
    fuser = make_fuser("pairwise", **settings) if isinstance(model, str) else model
    assert isinstance(fuser, Pairwise)
    earlier = None if start is None else _earlier(start, rated)

    def fit(seen: Comparisons) -> None:
        told = kinds is not None or humans is not None
        division = divide(with_kinds(without_ratings(seen), kinds, humans), reference_kind) if told else None
        fuser.compare(seen, division)
        if earlier is not None:
            fuser.start_from(earlier)
        with watching_steps("Estimating", on_step) as watcher:
            fuser.fit(without_ratings(seen) if rated is None else rated, described, known, on_step=watcher)

    fit(pairs)
    sets = find_copies(fuser, pairs) if copies == "merge" else ()
    if sets:
        fit(merged(pairs, sets))
    return ComparisonFusion(fuser, pairs, fuser.fuse(), seed, rated, sets)


def _earlier(start: Any, rated: Ratings | None) -> Pairwise:
    earlier = start if isinstance(start, Fuser) else revive(load_fit(Path(start)))
    if rated is not None or not isinstance(earlier, Pairwise):
        raise DataError(
            "Comparisons start from an earlier fit of comparisons, without ratings. Leave it out, or fuse all at once."
        )
    return earlier


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonFusion(WithComparisons, Saving):
    """A finished fusion of comparisons, alone or with ratings.

    Parameters
    ----------
    fuser : Fuser
        The fitted model.
    comparisons : Comparisons
        What was fused.
    fused : Fused
        The truth: on the scale of the ratings; of dimensions without ratings in logits of the average usual annotator,
        with mean 0 in each component.
    seed : int
        The seed of everything random.
    ratings : Ratings, optional
        The ratings that were fused with them.
    copies : tuple of CopiedAnswers
        Annotators who were merged, since their answers agree more than the model expects.

    Examples
    --------
    >>> import pandas as pd, unisono as un
    >>> rows = {"left": ["a", "b", "c", "a"], "right": ["b", "c", "a", "c"], "mood": ["left", "left", "right", "tie"]}
    >>> result = un.fuse(comparisons=pd.DataFrame(rows))
    >>> list(result.truth.columns)
    ['item', 'mood', 'mood_sd', 'mood_low', 'mood_high', 'component']
    >>> result.probability("a", "c").probability > 0.5
    True
    """

    fuser: Pairwise
    comparisons: Comparisons
    fused: Fused
    seed: int = 0
    ratings: Ratings | None = None
    copies: tuple[CopiedAnswers, ...] = ()

    def _introduction(self) -> Introduction:
        hint = "See .truth, .annotators, .probability(left, right), .predict_comparisons(table) and .save(directory)."
        title = f"'{self.comparisons.source}' fused: truth in logits"
        if self.ratings is not None:
            title = f"'{self.ratings.source}' and '{self.comparisons.source}' fused: truth"
        return self.fused.introduction(title, hint)

    @cached_property
    def overview(self) -> ComparisonOverview:
        """How the table was read, components, order of sides."""
        return comparison_overview(self.comparisons)

    @cached_property
    def truth(self) -> Any:
        """One row per item: estimate, sd and 90 % interval of every dimension; without ratings the component too.

        Without ratings estimates are logits with mean 0 in each component: only differences inside are known.
        """
        return self._frame(self._truth_columns())

    @cached_property
    def annotators(self) -> Any:
        """One row per annotator who rated and dimension; without ratings those who compared."""
        if self.ratings is None:
            return self.comparison_annotators
        return as_frame(dimension_columns(self.described), self.ratings)

    @cached_property
    def comparison_annotators(self) -> Any:
        """One row per annotator who compared: how often, gain, order effect, threshold of ties, probabilities."""
        return self._frame(self.fuser.comparison_columns())

    @cached_property
    def described(self) -> Annotators:
        """What is known of those who rated."""
        return self.fuser.describe()

    def _truth_columns(self, *, rounded: bool = False) -> dict[str, Any]:
        columns = self.fused.rounded_columns() if rounded else self.fused.columns()
        return columns if self.ratings is not None else columns | {"component": self.overview.component + 1}

    def _frame(self, columns: dict[str, Any]) -> Any:
        """A frame of the kind that came in, with its ids."""
        if self.ratings is not None:
            return as_frame(columns, self.ratings)
        whole = {"item": self.comparisons.whole_items, "annotator": self.comparisons.whole_annotators}
        typed = {name: np.array(columns[name], dtype=np.int64) for name in columns if whole.get(name)}
        return frame_like(self.comparisons.frame_kind, {**columns, **typed})

    @cached_property
    def fit(self) -> Fit:
        """The fitted model with its provenance, as it is saved."""
        found = {"item_mean": self.fused.mean, "item_cov": self.fused.cov}
        return self.fuser.as_fit("pairwise", self.fuser.items_, found, provenance(self.comparisons, self.seed))

    @cached_property
    def summary_data(self) -> dict[str, Any]:
        """What summary.json holds."""
        found = summarise_comparisons(self.overview, self.fuser, self.fused, self.copies)
        return found | {"provenance": self.fit.provenance}

    def summary(self) -> str:
        """The result in words."""
        return spoken("\n".join(summary_lines(self.summary_data)))

    def leaderboard(self, by: Mapping[str, str] | None = None, **how: Any) -> Leaderboard:
        """Which system is preferred in the comparisons, and which differences are real, as of `leaderboard`.

        `by` maps items to systems; by default the items are the systems.
        """
        from unisono.api.score_and_judges import leaderboard

        return leaderboard(self.comparisons, by, **how)

    def files(self) -> dict[str, dict[str, Any]]:
        """The tables of the folder that `save` writes, by name."""
        compared, truth = rounded_figures(self.fuser.comparison_columns()), self._truth_columns(rounded=True)
        if self.ratings is None:
            return {"truth": truth, "annotators": compared}
        rated = rounded_figures(dimension_columns(self.described))
        return {"truth": truth, "annotators": rated, "comparison_annotators": compared}

    def _report_files(self, command: str | None = None, on_phase: OnPhase | None = None) -> dict[str, str]:
        from unisono.report.comparison_report import build_comparison_dossier
        from unisono.report.report_page import files_of

        about = self.comparisons, self.overview, self.fuser, self.fused, self.summary_data
        return files_of(build_comparison_dossier(*about, command=command))
