"""Judges beside people, and means of systems: `un.judges`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unisono.api.tables import covariate_table, rating_table, without_covariates
from unisono.data import Ratings
from unisono.data.kinds import with_kinds
from unisono.data.rating_numbers import RatingNumbers
from unisono.errors import DataError
from unisono.io.reading.item_labels import read_item_labels
from unisono.notebook import watching_steps

if TYPE_CHECKING:
    from unisono.evaluate.judges.measure import JudgesReport


def judges(
    ratings: Any,
    *,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    humans: str | Sequence[str] | None = None,
    reference_kind: str | None = None,
    by: str | Mapping[str, str] | None = None,
    prompt: str | Mapping[str, str] | None = None,
    items: Any = None,
    covariates: str | Sequence[str] | RatingNumbers | None = None,
    reading: Mapping[str, Any] | None = None,
    shared: float | None = None,
    epsilon: float = 0.2,
    folds: int = 5,
    seed: int = 0,
    on_step: Callable[[int, float], None] | None = None,
    on_task: Callable[[int, int], None] | None = None,
) -> JudgesReport:
    """Judges beside people: each judge, the panel, whether they may replace people, what to label next.

    `ratings`, `kinds` and `humans` as in `fuse`. `by` names the column that says which system an item belongs to, in
    the ratings or in the table `items`, or maps items to systems; it adds prediction-powered means of systems, with
    labels cross-fitted in `folds` by `seed`. `prompt` likewise says which items answer the same prompt.
    `covariates` as in `fuse`: effects of length or position on every judge; a column that names batches shows drift.
    `reference_kind` and `shared` are settings of the model of groups, `epsilon` of the alternative annotator test;
    `reading` are keyword arguments of `read_ratings`.
    """
    from unisono.evaluate.judges.measure import measure_judges

    how = dict(reading or {})
    table = rating_table(ratings) if isinstance(ratings, Ratings) else rating_table(ratings, **how)
    told = items if items is not None else ratings

    def labels(column: str | Mapping[str, str] | None, what: str) -> Mapping[str, str] | None:
        if column is None or not isinstance(column, str):
            return column
        if isinstance(told, Ratings) or (isinstance(told, str) and told == "-"):
            raise DataError(f"The {what} of items is a column of a table: give items=, or a mapping from items.")
        return read_item_labels(told, column, item=how.get("item"), sheet=how.get("sheet"))

    if prompt is not None and by is None:
        raise DataError("prompt= says which items of different systems belong together: give by= as well.")
    numbers = covariate_table(ratings, covariates, how)
    with watching_steps("Estimating", on_step) as watcher:
        return measure_judges(
            with_kinds(without_covariates(table, numbers), kinds, humans),
            covariates=numbers,
            reference_kind=reference_kind,
            shared=shared,
            system_of=labels(by, "system"),
            cluster_of=labels(prompt, "prompt"),
            epsilon=epsilon,
            folds=folds,
            seed=seed,
            on_step=watcher,
            on_task=on_task,
        )
