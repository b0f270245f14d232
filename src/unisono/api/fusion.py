"""From ratings to a result in one call.

result = fuse(read_ratings("ratings.csv"), features=read_item_table("features.csv"))
result.truth, result.annotators, print(result.summary()), result.save("out")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unisono.api import category_fusion, input_output
from unisono.api.category_fusion import CategoryFusion, ChosenClasses, WithCategories
from unisono.api.comparison_fusion import ComparisonFusion, fuse_comparisons
from unisono.errors import AlertWarning, DataError, SettingsError, spoken, warn
from unisono.evaluate.alerts import KIND_WARNINGS, NO_SIGNAL, gold_alerts, kind_alerts, rating_alerts, urgent_alerts
from unisono.fusers import (
    Annotators,
    Fit,
    Fused,
    Fuser,
    Groups,
    Joint,
    category_models,
    crowd,
    fuser_settings,
    make_fuser,
    revive,
    saved_fit,
    trace_data,
    warm_start,
)
from unisono.fusers.fusion_results import as_frame, dimension_columns, overall_columns
from unisono.fusers.learned_arrays import packed
from unisono.fusers.model_registry import model_for
from unisono.maths.structure_words import BENT, Counting
from unisono.report.notebook_progress import watching_phases, watching_steps
from unisono.report.summary import summarise, summary_text
from unisono.scale.executors import Executor
from unisono.tables import RatingNumbers, Ratings, coverage_and_outliers, labels, rating_checks
from unisono.tables.annotator_kinds import with_kinds
from unisono.tables.exporting.result_folder import rounded_figures
from unisono.tables.reading.table_layout import split_label, with_parts

if TYPE_CHECKING:
    from unisono.evaluate.agreement_measure import Estimate
    from unisono.evaluate.leaderboard_results import Leaderboard


def fuse(
    ratings: Any = None,
    *,
    comparisons: Any = None,
    model: str | Fuser = "auto",
    features: Any = None,
    gold: Any = None,
    start: Any = None,
    scale: Any = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    humans: str | Sequence[str] | None = None,
    covariates: str | Sequence[str] | RatingNumbers | None = None,
    copies: Counting = "merge",
    categories: Any = None,
    category_model: str = "auto",
    seed: int | None = None,
    on_step: Callable[[int, float], None] | None = None,
    executor: Executor | None = None,
    **settings: Any,
) -> Fusion | CategoryFusion | ComparisonFusion:
    """Fuses ratings into one truth per item, or per frame of traces.

    Parameters
    ----------
    ratings : Ratings, path or data frame
        What people answered; may be missing where there are comparisons.
    comparisons : path, data frame or Comparisons, optional
        Which of two items has more, or rankings, wins, best-worst choices; see `read_comparisons`.
    model : str or Fuser
        A name (see `unisono.MODELS`) or a fuser of `unisono.items` or `unisono.series`, which is fitted.
    features, gold : ItemTable, path or data frame, optional
        What describes the items, and items whose truth is known. Gold that cannot mean what ratings mean (upside down,
        in another unit) is refused with the figures, unless the setting `gold_anyway` is true.
    start : Fuser or path, optional
        An earlier fit whose annotators rate again: what it knows of them, and its scale, are taken over.
    scale : (low, high), str or mapping, optional
        Where answers end: (1, 7), "1:7", "none", or a mapping from dimensions to these; inferred by default.
    kinds : mapping, optional
        Who is what, by patterns of names: {"judge": "gpt-*,llama*"}. With several kinds 'auto' is 'groups', whose
        settings are `reference_kind` and `shared`.
    humans : str or sequence of str, optional
        Patterns of the names of people; all others are judges.
    covariates : str or sequence of str, optional
        Columns about single ratings (length, position, batch), which are no answers; for the model 'groups'.
    copies : {"merge", "keep"}
        How annotators count whose answers agree more than chance allows: as one, or each.
    categories : str, sequence, mapping or Categories, optional
        Columns whose answers are categories, or 'none'; by default columns of words are recognised.
    category_model : str
        What fuses them: auto, glad, mace, dawid-skene, smyth, raykar, regions, majority; raykar and
        regions know of features.
    seed : int, optional
        Decides everything random; by default the fuser's own, 0.
    on_step : callable, optional
        Called with iteration and objective; without it a notebook shows a bar. Its methods `task(done, total)` and
        `phase(what, done, total)`, if it has them, hear what a fit of traces does beside EM.
    executor : Executor, optional
        Who works on traces, recording by recording (`unisono.scale.executors.open_engine`); numbers stay the same.
    **settings
        Keyword arguments of the fuser, or of `read_ratings`, which say how to read a table.

    Returns
    -------
    Fusion, CategoryFusion or ComparisonFusion
        The truth, the annotators and the fit; a `CategoryFusion` where a table holds categories alone, a
        `ComparisonFusion` where there are comparisons alone.

    Raises
    ------
    DataError
        The ratings, or known truths, cannot be used; the message says where, what, and the way out.
    SettingsError
        A model or a setting that there is not.

    Examples
    --------
    >>> import unisono as un
    >>> result = un.fuse(un.load_dataset("squality"))
    >>> list(result.truth.columns[:5])
    ['item', 'correctness', 'correctness_sd', 'correctness_low', 'correctness_high']
    """
    fuser_settings.require_asked(seed=seed)
    if comparisons is not None:
        beside: dict[str, Any] = {"features": features, "gold": gold, "start": start, "kinds": kinds, "humans": humans}
        beside |= {"copies": copies, "scale": scale, "refused": {"covariates": covariates}, "on_step": on_step}
        return fuse_comparisons(comparisons, ratings, model=model, seed=seed or 0, **beside, **settings)
    if ratings is None:
        raise DataError("There is nothing to fuse: give ratings, or comparisons=...")
    reading = {name: settings.pop(name) for name in input_output.READING if name in settings}
    table, answers = category_fusion.answers_of(ratings, categories, scale, **reading)
    if table is None and answers is not None:
        described = None if category_models.takes_features(category_model) else features
        category_fusion.refuse_beside_categories(
            answers.source, features=described, gold=gold, start=start, scale=scale
        )
    chosen = category_fusion.fused_answers(answers, category_model, seed or 0, alone=table is None, features=features)
    if table is None:
        assert chosen is not None  # a table without either is refused when it is read
        return CategoryFusion(chosen, seed or 0)
    table, numbers = with_kinds(table, kinds, humans), input_output.covariate_table(ratings, covariates, reading)
    table = input_output.without_covariates(table, numbers)
    rating_checks.require_overlap(table)
    model = model_for(model, table, settings, explained=numbers is not None) if isinstance(model, str) else model
    fuser = make_fuser(model, series=table.is_series, **settings) if isinstance(model, str) else model
    name = model if isinstance(model, str) and fuser.kind != BENT else fuser.kind
    if numbers is not None:
        if not isinstance(fuser, Groups):
            raise SettingsError(f"Covariates of ratings belong to the model 'groups', not to '{name}'.")
        fuser.explain(numbers)
        copies = "keep"  # numbers about a rating are not those of its copies
    if executor is not None and table.is_series:
        crowd.crowd_copies(table, executor)
    counted = crowd.count_copies(table, copies)
    if start is not None:
        table, counted = _continue_from(start, fuser, table, counted)
    if seed is not None and hasattr(fuser, "seed"):
        fuser.seed = seed
    used = int(getattr(fuser, "seed", seed or 0))
    described = input_output.on_clock(input_output.item_table(features, table), table, complete=True)
    with watching_steps("Estimating", on_step) as watcher, trace_data.works_on(executor, fuser):
        fuser.fit(
            counted, described, input_output.on_clock(input_output.item_table(gold, table), table), on_step=watcher
        )
        origin = None if isinstance(ratings, Ratings) or (isinstance(ratings, str) and ratings == "-") else ratings
        result = Fusion(name, fuser, table, fuser.fuse(), used, chosen, copies, origin, on_step)
        if executor is not None:  # later it may be closed
            _ = result.described
    for alert in result.alerts_at_once():
        warn(f"{table.source}: {alert.message}", AlertWarning, stacklevel=2)
    return result


@dataclass(frozen=True, eq=False, repr=False)
class Fusion(WithCategories, input_output.Saving):
    """A finished fusion: the truth, the annotators, and the fitted model behind them.

    Examples
    --------
    >>> import unisono as un
    >>> result = un.fuse(un.load_dataset("squality"))
    >>> result.annotators_overall.shape[0]
    4
    """

    model: str
    fuser: Fuser
    ratings: Ratings
    fused: Fused
    seed: int = 0
    chosen: ChosenClasses | None = None  # categories beside the numbers
    copies: Counting = "merge"
    origin: Any = None  # the table that ratings were read from, for columns that are no ratings
    watching: Callable[[int, float], None] | None = None  # who watched the fit, and the description of annotators

    def _introduction(self) -> labels.Introduction:
        title = f"'{self.ratings.source}' fused with the model '{self.model}': truth"
        see = "See .truth, .annotators, .annotators_overall, .summary() and .save(directory)."
        return self.fused.introduction(title, see)

    @cached_property
    def truth(self) -> Any:
        """One row per item: estimate, sd and 90 % interval of every dimension.

        A frame of the kind that came in, with its ids under its name for them, so that it joins onto that frame.
        """
        return as_frame(self.with_classes(self.fused.columns(), self.fused.items), self.ratings)

    def difference(self, one: Any, other: Any) -> pl.DataFrame:
        """By how much the truth of one item is above that of another: difference, sd and 90 % interval by dimension.

        The level of all items, which the interval of one item allows for, is no part of a difference.
        """
        return pl.DataFrame(self.fused.difference(str(one), str(other)).columns())

    @cached_property
    def annotators(self) -> Any:
        """One row per annotator and dimension, as a frame of the kind that came in."""
        return as_frame(self.with_accuracy(dimension_columns(self.described)), self.ratings)

    @cached_property
    def annotators_overall(self) -> Any:
        """One row per annotator, as a frame of the kind that came in."""
        return as_frame(self.with_overall_accuracy(overall_columns(self.described)), self.ratings)

    @cached_property
    def described(self) -> Annotators:
        """What is known of the annotators, as plain arrays."""
        with watching_steps("Describing annotators", self.watching) as watcher:
            found = self.fuser.describe(watcher)
        each = crowd.described_one_by_one(found, self.ratings, self.copies)
        return replace(each, answered=coverage_and_outliers.answers_given(self.ratings))

    @cached_property
    def estimate(self) -> Estimate:
        """The truth with what the fit says of its reliability."""
        from unisono.evaluate.agreement_measure import estimate_of

        return estimate_of(self.fuser, self.fused)

    @cached_property
    def alerts(self) -> list[rating_checks.Alert]:
        """What in the ratings deserves a look, the gravest first."""
        notes = self.fuser.notes()
        return [*kind_alerts(notes), *gold_alerts(notes), *rating_alerts(self.ratings, self.copies)]

    def alerts_at_once(self) -> list[rating_checks.Alert]:
        """Those of the alerts that are warned of as soon as the fit is done."""
        notes = self.fuser.notes()
        kinds = [alert for alert in kind_alerts(notes) if alert.kind in KIND_WARNINGS]
        return [*kinds, *gold_alerts(notes), *urgent_alerts(self.ratings, self.copies)]

    @cached_property
    def summary_data(self) -> dict[str, Any]:
        """What summary.json holds."""
        data = summarise(self.fit, self.ratings, self.described, self.alerts, self.fuser.notes())
        return data | self.summary_of_categories

    def summary(self) -> str:
        """The result in words."""
        return spoken(summary_text(self.summary_data) + self.words_of_categories)

    @cached_property
    def fit(self) -> Fit:
        """The fitted model with its provenance, as it is saved."""
        unclear = [alert.labels[0] for alert in self.alerts if alert.kind == NO_SIGNAL]
        about = input_output.provenance(self.ratings, self.seed) | {"unclear": unclear}
        return self.fuser.as_fit(self.model, self.ratings.items, self._posterior(), about)

    def _posterior(self) -> dict[str, Any]:
        """What `unisono next`, `plan` and `agreement` need to know of the items and of who rated."""
        if self.ratings.is_series:
            return {}
        fitted = self.fuser.fitted_ratings()
        given = np.bincount(fitted.annotator_of, minlength=fitted.K)
        drawn = self.estimate.correlations
        known = {} if drawn is None else {"reliability_draws": drawn}
        known["item_judgements"] = np.bincount(self.ratings.item_of, minlength=self.ratings.M)
        known |= packed(self.fused.level, "item_level")
        return {"item_mean": self.fused.mean, "item_cov": self.fused.cov, "judgements_here": given} | known

    def _truth_columns(self, *, rounded: bool = False) -> dict[str, Any]:
        """Names made of several columns are there in one piece and in parts."""
        columns = self.fused.rounded_columns() if rounded else self.fused.columns()
        return with_parts(self.with_classes(columns, self.fused.items), self.ratings.reading)

    def leaderboard(
        self, by: str | Mapping[str, str], prompt: str | Mapping[str, str] | None = None, **how: Any
    ) -> Leaderboard:
        """Which system is best, by the ratings that were fused.

        Parameters
        ----------
        by, prompt : str or mapping
            Columns of the fused table, parts of the items' names, or mappings from items.
        **how
            Other keyword arguments of `leaderboard`.

        Returns
        -------
        Leaderboard
            As of `leaderboard`.
        """
        from unisono.api.score_and_judges import leaderboard

        items = how.pop("items", None)
        given = [self._item_words(one, items) if isinstance(one, str) else one for one in (by, prompt)]
        assert given[0] is not None
        return leaderboard(self.ratings, given[0], given[1], **how)

    def _item_words(self, column: str, items: Any) -> Mapping[str, str]:
        """What a column says of every item."""
        from unisono.tables.reading.side_information import read_item_labels

        reading = self.ratings.reading
        if items is None and reading is not None and column in reading.item_parts:
            at = reading.item_parts.index(column)
            return {item: split_label(item)[at] for item in self.ratings.items}
        told = self.origin if items is None else items
        if told is None:
            raise DataError(f"'{column}' is a column of a table: give items=, or a mapping from items.")
        name = None if reading is None or items is not None else list(reading.item_parts) or reading.item
        return read_item_labels(told, column, item=name)

    def files(self) -> dict[str, dict[str, Any]]:
        """The tables of the folder that `save` writes, by name; where annotators are of several kinds, groups too."""
        more = {name: rounded_figures(columns) for name, columns in self.fuser.tables().items()}
        return (
            {
                "truth": self._truth_columns(rounded=True),
                "annotators": self.with_accuracy(rounded_figures(dimension_columns(self.described))),
                "annotators_overall": rounded_figures(self.with_overall_accuracy(overall_columns(self.described))),
            }
            | self.tables_of_categories
            | more
        )

    def _report_files(self, command: str | None = None, on_phase: input_output.OnPhase | None = None) -> dict[str, str]:
        from unisono.report.report_data import Subject
        from unisono.report.report_page import report_files

        words = None if self.chosen is None else self.chosen.for_report()
        whole = Subject(self.model, self.fuser, self.ratings, self.estimate, self.described, self.summary_data, words)
        with watching_phases("Writing the report", on_phase) as watcher:
            return report_files(whole, command=command, on_phase=watcher)


def load(directory: str | Path) -> Fuser:
    """The fuser of a saved fit, ready for `fuse`, `predict` and `score` on other data.

    Parameters
    ----------
    directory : path
        The folder of a saved fusion.

    Returns
    -------
    Fuser
        As it was fitted, without its ratings.

    Raises
    ------
    DataError
        The folder holds no fit.

    Examples
    --------
    >>> import tempfile, unisono as un
    >>> folder = un.fuse(un.load_dataset("squality")).save(tempfile.mkdtemp(), report=False)
    >>> un.load(folder).dimensions_
    ('correctness', 'selection', 'overall')
    """
    return revive(saved_fit.load_fit(Path(directory)))


def _continue_from(start: Any, fuser: Fuser, *tables: Ratings) -> list[Ratings]:
    """Tells the fuser what the earlier fit knows; the ratings with that fit's annotators among theirs."""
    earlier = start if isinstance(start, Fuser) else load(start)
    if not isinstance(fuser, Joint) or not isinstance(earlier, Joint):
        raise DataError(
            "Starting from an earlier fit works for ratings of items with the model 'auto' or 'joint'; "
            f"here the earlier fit is '{earlier.kind}' and the new one '{fuser.kind}'."
        )
    fuser.start_from(earlier)
    return [warm_start.with_earlier_annotators(ratings, warm_start.prior_fit_of(earlier)) for ratings in tables]
