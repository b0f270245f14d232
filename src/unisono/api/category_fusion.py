"""A finished fusion of categories, by itself or beside numbers: tables, words, files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from unisono.api.input_output import OnPhase, Saving, provenance, rating_table
from unisono.errors import DataError, DataWarning, spoken, warn
from unisono.fusers.category_models import (
    FusedCategories,
    find_category_model,
    fuse_categories,
    installed,
    takes_features,
)
from unisono.fusers.fuser import as_item_table
from unisono.report.category_summary import category_lines, reading_line, recognised_line, summarise_categories
from unisono.tables import Introduction, Ratings, listed
from unisono.tables.categories import Categories
from unisono.tables.exporting.result_folder import rounded_figures
from unisono.tables.reading import data_frames, table_layout
from unisono.tables.reading.categories_reader import Answers, read_answers

if TYPE_CHECKING:
    from unisono.report.report_categories import Chosen


@dataclass(frozen=True, eq=False)
class ChosenClasses:
    """Categories and what they were fused into."""

    answers: Categories
    fused: FusedCategories

    @cached_property
    def summary_data(self) -> dict[str, Any]:
        """By dimension, what summary.json says."""
        return summarise_categories(self.answers, self.fused)

    def summary(self) -> str:
        """The same in words."""
        return spoken("\n".join([*recognised_line(self.answers), *category_lines(self.summary_data)]))

    def frame(self, columns: dict[str, Any]) -> Any:
        """A table of the kind that came in."""
        return data_frames.frame_with_ids(columns, self.answers)

    def tables(self) -> dict[str, dict[str, Any]]:
        """The files that only categories have."""
        return {"categories": self.fused.class_columns(), "confusion": self.fused.confusion_columns()}

    def for_report(self) -> Chosen:
        """The same as reports take it."""
        from unisono.report.report_categories import Chosen

        return Chosen(self.answers, self.fused)


def answers_of(source: Any, categories: Any, scale: Any = None, **reading: Any) -> Answers:
    """Ratings and categories of what the user points at: a path, a data frame, `Ratings`, `Categories` or both."""
    if isinstance(source, Answers):
        return source._replace(ratings=None if source.ratings is None else source.ratings.with_scale(scale))
    if isinstance(source, Categories):
        names = [categories] if isinstance(categories, str) else categories
        return Answers(None, source if names is None else source.select_dimensions(names))
    if isinstance(categories, Categories) or isinstance(source, Ratings):
        if not (categories is None or categories == "none" or isinstance(categories, Categories)):
            raise DataError(
                "Ratings hold numbers alone. Give the table itself with categories=..., or read_categories(...) with "
                "them."
            )
        beside = categories if isinstance(categories, Categories) else None
        return Answers(rating_table(source, scale, **reading), beside)
    return read_answers(source, categories=categories, scale=scale, **reading)


def fused_answers(
    categories: Categories | None, model: str, seed: int, *, alone: bool, features: Any = None
) -> ChosenClasses | None:
    """Categories fused. Where nobody asked for them and there are numbers too, a missing crowd-kit only warns."""
    find_category_model(model)
    if categories is None:
        return None
    if categories.recognised and not alone and not installed():
        warn(
            f"{categories.source}: the categories {listed(categories.names)} were left out, since crowd-kit is not "
            'installed: pip install "unisono[categories]".',
            DataWarning,
            stacklevel=3,
        )
        return None
    known = as_item_table(features) if takes_features(model) else None
    return ChosenClasses(categories, fuse_categories(categories, model=model, seed=seed, features=known))


def refuse_beside_categories(source: str, **given: Any) -> None:
    """Features, gold and earlier fits belong to numbers."""
    names = [name for name, value in given.items() if value is not None]
    if names:
        raise DataError(f"{source} holds categories alone, and {listed(names)} works on numbers. Leave it out.")


class WithCategories:
    """What a fusion of numbers says of the categories beside them, if there are any."""

    chosen: ChosenClasses | None

    @property
    def categories(self) -> Any:
        """One row per item, dimension and class: its probability and its votes; None without categories."""
        return None if self.chosen is None else self.chosen.frame(self.chosen.fused.class_columns())

    @property
    def confusion(self) -> Any:
        """One row per annotator, dimension, true class and answer: how probable it is; None without categories."""
        return None if self.chosen is None else self.chosen.frame(self.chosen.fused.confusion_columns())

    def with_classes(self, columns: dict[str, Any], items: Sequence[str]) -> dict[str, Any]:
        """The columns of truth.csv with those that categories add, and with the items that have nothing else."""
        if self.chosen is None:
            return columns
        more = _missing(self.chosen.fused.items, items)
        return _longer(columns, "item", more) | self.chosen.fused.truth_columns([*items, *more])

    def with_accuracy(self, columns: dict[str, Any]) -> dict[str, Any]:
        """The columns of annotators.csv with rows for categories."""
        return columns if self.chosen is None else _stacked(columns, self.chosen.fused.annotator_columns())

    def with_overall_accuracy(self, columns: dict[str, Any]) -> dict[str, Any]:
        """The columns of annotators_overall.csv with those of categories, and with whoever answered nothing else."""
        if self.chosen is None:
            return columns
        people = columns["annotator"]
        more = _missing(self.chosen.fused.annotators, people)
        return _longer(columns, "annotator", more) | self.chosen.fused.overall_columns([*people, *more])

    @property
    def summary_of_categories(self) -> dict[str, Any]:
        return {} if self.chosen is None else {"categories": self.chosen.summary_data}

    @property
    def words_of_categories(self) -> str:
        return "" if self.chosen is None else f"\n\n{self.chosen.summary()}"

    @property
    def tables_of_categories(self) -> dict[str, dict[str, Any]]:
        return {} if self.chosen is None else self.chosen.tables()


@dataclass(frozen=True, eq=False, repr=False)
class CategoryFusion(WithCategories, Saving):
    """A finished fusion of a table that holds categories alone; the tables are those of `Fusion`.

    Examples
    --------
    >>> import unisono as un
    >>> table = {"item": [1, 1, 1, 2, 2, 2], "annotator": list("abcabc"), "mood": "joy joy fear fear fear joy".split()}
    >>> import pandas as pd
    >>> result = un.fuse(pd.DataFrame(table), category_model="majority")
    >>> result.truth["mood"].tolist()
    ['joy', 'fear']
    """

    chosen: ChosenClasses
    seed: int = 0

    def _introduction(self) -> Introduction:
        hint = "See .truth, .categories, .annotators, .confusion, .summary() and .save(directory)."
        return self.chosen.fused.introduction(f"'{self.chosen.answers.source}': fused categories", hint)

    @cached_property
    def truth(self) -> Any:
        """One row per item: the most probable class and its probability; the kind of frame that came in."""
        return self.chosen.frame(self._truth_columns())

    @cached_property
    def annotators(self) -> Any:
        """One row per annotator and dimension: answers, accuracy, agreement with the others."""
        return self.chosen.frame(self.chosen.fused.annotator_columns())

    @cached_property
    def annotators_overall(self) -> Any:
        """One row per annotator: answers, accuracy and agreement over all dimensions."""
        return self.chosen.frame(self._overall_columns())

    def _overall_columns(self) -> dict[str, Any]:
        return self.with_overall_accuracy({"annotator": list(self.chosen.fused.annotators)})

    def _truth_columns(self, *, rounded: bool = False) -> dict[str, Any]:
        columns = {"item": list(self.chosen.fused.items)} | self.chosen.fused.truth_columns()
        return table_layout.with_parts(columns, self.chosen.answers.reading) if rounded else columns

    @cached_property
    def summary_data(self) -> dict[str, Any]:
        """What summary.json holds."""
        answers = self.chosen.answers
        return {
            "source": answers.source,
            "items": len(answers.items),
            "annotators": len(answers.annotators),
            "dimensions": [],
            "categories": self.chosen.summary_data,
            "provenance": provenance(answers, self.seed),
        }

    def summary(self) -> str:
        """The result in words."""
        return spoken("\n".join([*reading_line(self.chosen.answers), self.chosen.summary()]))

    def files(self) -> dict[str, dict[str, Any]]:
        """The tables of the folder that `save` writes, by name."""
        return {
            "truth": self._truth_columns(rounded=True),
            "annotators": rounded_figures(self.chosen.fused.annotator_columns()),
            "annotators_overall": rounded_figures(self._overall_columns()),
        } | self.chosen.tables()

    def _report_files(self, command: str | None = None, on_phase: OnPhase | None = None) -> dict[str, str]:
        from unisono.report.report_page import category_report_files

        if on_phase is not None:
            on_phase("agreement")
        return category_report_files(self.chosen.for_report(), self.summary_data, command)


def _missing(labels: Sequence[str], known: Sequence[str]) -> list[str]:
    there = set(known)
    return [label for label in labels if label not in there]


def _longer(columns: dict[str, Any], key: str, more: Sequence[str]) -> dict[str, Any]:
    """A table with rows added that have a label and nothing else."""
    if not more:
        return columns
    empty = [None] * len(more)
    return {name: [*column, *(more if name == key else empty)] for name, column in columns.items()}


def _stacked(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Two tables, one below the other; what one of them has no column for is empty there."""
    rows, more = (len(next(iter(table.values()))) for table in (one, other))
    empty = {True: [None] * rows, False: [None] * more}
    names = [*one, *(name for name in other if name not in one)]
    return {name: [*one.get(name, empty[True]), *other.get(name, empty[False])] for name in names}
