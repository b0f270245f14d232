"""From ratings to a result in one call.

result = fuse(read_ratings("ratings.csv"), features=read_item_table("features.csv"))
result.truth, result.annotators, print(result.summary()), result.save("out")
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unisono.api.tables import READING, covariate_table, item_table, on_clock, rating_table, without_covariates
from unisono.data import Ratings
from unisono.data.checks import Alert, check_ratings, require_overlap
from unisono.data.coverage import answers_given
from unisono.data.introduction import Introduction
from unisono.data.kinds import with_kinds
from unisono.data.rating_numbers import RatingNumbers
from unisono.errors import DataError, DataWarning, SettingsError
from unisono.fusers import Annotators, Fit, Fused, Fuser, Groups, Joint, make_fuser, revive
from unisono.fusers.annotator_columns import dimension_columns, overall_columns
from unisono.fusers.groups.choice import model_for
from unisono.fusers.items.warm_start import prior_fit_of, with_earlier_annotators
from unisono.fusers.signal import crowd_signal
from unisono.io.reading.ids import with_parts
from unisono.io.saved import load_fit
from unisono.io.writing import csv_text, rounded_figures, write_results
from unisono.reader import as_frame
from unisono.report.alerts import NO_SIGNAL, signal_alerts
from unisono.report.kinds import KIND_WARNINGS, kind_alerts
from unisono.report.summary import summarise, summary_text
from unisono.version import __version__


def fuse(
    ratings: Any,
    *,
    model: str | Fuser = "auto",
    features: Any = None,
    gold: Any = None,
    start: Any = None,
    scale: Any = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    humans: str | Sequence[str] | None = None,
    covariates: str | Sequence[str] | RatingNumbers | None = None,
    seed: int | None = None,
    on_step: Callable[[int, float], None] | None = None,
    **settings: Any,
) -> Fusion:
    """Fuses ratings (a `Ratings`, a path or a data frame) into one truth per item, or per frame of traces.

    `model` is a name (see `unisono.MODELS`) or a fuser; `settings` are keyword arguments of the fuser, or those of
    `read_ratings` that say how to read a table (`item`, `annotator`, `time`, `dims`, ...). `features` and `gold` are an
    `ItemTable`, a path or a data frame. `start` is an earlier fit (a fuser, or the directory of a saved one) whose
    annotators rate again: what it knows of them, and its scale, are taken over. `scale` is where answers end: (1, 7),
    "1:7", "none", or a mapping from dimensions to these; it is inferred where nothing is said. `kinds` says who is what
    by patterns of names ({"judge": "gpt-*,llama*"}), `humans` who is a person; with several kinds 'auto' is 'groups',
    whose settings are `reference_kind` and `shared`; it also takes `covariates`, columns of the ratings that are
    numbers about single ratings (length, position) and no answers. `seed` decides everything random; by default the
    fuser's own, which is 0 for a model given by name. `on_step(iteration, objective)` is called after every iteration;
    if it has the methods `task(done, total)` and `phase(what, done, total)`, a fit of traces tells it also of starts
    and windows tried, and of what it does beside EM.
    """
    reading = {name: settings.pop(name) for name in READING if name in settings}
    table = with_kinds(rating_table(ratings, scale, **reading), kinds, humans)
    numbers = covariate_table(ratings, covariates, reading)
    table = without_covariates(table, numbers)
    require_overlap(table)
    model = model_for(model, table, settings, explained=numbers is not None) if isinstance(model, str) else model
    fuser = make_fuser(model, series=table.is_series, **settings) if isinstance(model, str) else model
    name = model if isinstance(model, str) else fuser.kind
    if numbers is not None:
        if not isinstance(fuser, Groups):
            raise SettingsError(f"Covariates of ratings belong to the model 'groups', not to '{name}'.")
        fuser.explain(numbers)
    if start is not None:
        table = _continue_from(start, fuser, table)
    if seed is not None and hasattr(fuser, "seed"):
        fuser.seed = seed
    used = int(getattr(fuser, "seed", seed or 0))
    described = on_clock(item_table(features), table, complete=True)
    fuser.fit(table, described, on_clock(item_table(gold), table), on_step=on_step)
    result = Fusion(name, fuser, table, fuser.fuse(), used)
    for alert in result.alerts:
        if alert.kind in (NO_SIGNAL, *KIND_WARNINGS):
            warnings.warn(f"{table.source}: {alert.message}", DataWarning, stacklevel=2)
    return result


@dataclass(frozen=True, eq=False)
class Fusion:
    """A finished fusion: the truth, the annotators, and the fitted model behind them."""

    model: str
    fuser: Fuser
    ratings: Ratings
    fused: Fused
    seed: int = 0

    def __repr__(self) -> str:
        return self._introduction().text()

    def _repr_html_(self) -> str:
        return self._introduction().html()

    def _introduction(self) -> Introduction:
        title = f"'{self.ratings.source}' fused with the model '{self.model}': truth"
        return self.fused.introduction(
            title, "See .truth, .annotators, .annotators_overall, .summary() and .save(directory)."
        )

    @cached_property
    def truth(self) -> Any:
        """One row per item: estimate, sd and 90 % interval of every dimension.

        A frame of the kind that came in, with its ids under its name for them, so that it joins onto that frame.
        """
        return as_frame(self.fused.columns(), self.ratings)

    @cached_property
    def annotators(self) -> Any:
        """One row per annotator and dimension, as a frame of the kind that came in."""
        return as_frame(dimension_columns(self.described), self.ratings)

    @cached_property
    def annotators_overall(self) -> Any:
        """One row per annotator, as a frame of the kind that came in."""
        return as_frame(overall_columns(self.described), self.ratings)

    @cached_property
    def described(self) -> Annotators:
        """What is known of the annotators, as plain arrays."""
        return self._counted(self.fuser.describe())

    def _counted(self, found: Annotators) -> Annotators:
        return replace(found, answered=answers_given(self.ratings))

    def describe_now(self, on_step: Callable[[int, float], None]) -> None:
        """Describes the annotators in somebody's view, not when it is asked for: of long traces it takes a while."""
        vars(self)["described"] = self._counted(self.fuser.describe(on_step))

    @cached_property
    def alerts(self) -> list[Alert]:
        """What in the ratings deserves a look, the gravest first."""
        found = signal_alerts(self.ratings.dimensions, crowd_signal(self.ratings))
        return [*kind_alerts(self.fuser.notes()), *found, *check_ratings(self.ratings)]

    @cached_property
    def summary_data(self) -> dict[str, Any]:
        """What summary.json holds."""
        return summarise(self.fit, self.ratings, self.described, self.alerts, self.fuser.notes())

    def summary(self) -> str:
        """The result in words."""
        return summary_text(self.summary_data)

    @cached_property
    def fit(self) -> Fit:
        """The fitted model with its provenance, as it is saved."""
        return Fit(
            model=self.model,
            kind=self.fuser.kind,
            settings=self.fuser.saved_params(),
            items=self.ratings.items,
            annotators=self.ratings.annotators,
            dimensions=self.ratings.dimensions,
            features=self.fuser.feature_columns,
            arrays=self.fuser.arrays() | self._posterior(),
            trace=self.fuser.trace_,
            provenance={
                "unisono": __version__,
                "seed": self.seed,
                "source": self.ratings.source,
                "data_sha256": self.ratings.data_hash,
            },
        )

    def _posterior(self) -> dict[str, Any]:
        """What `unisono next` and `unisono plan` need to know of the items and of who rated."""
        if self.ratings.is_series:
            return {}
        given = np.bincount(self.ratings.annotator_of, minlength=self.ratings.K)
        return {"item_mean": self.fused.mean, "item_cov": self.fused.cov, "judgements": given}

    def _rounded(self) -> dict[str, Any]:
        """The columns of truth.csv; names made of several columns are there in one piece and in parts."""
        return with_parts(self.fused.rounded_columns(), self.ratings.reading)

    def truth_csv(self) -> str:
        """The text of truth.csv."""
        return csv_text(self._rounded())

    def fused_rows(self) -> list[dict[str, Any]]:
        """The rows of truth.csv as plain values."""
        return pl.DataFrame(with_parts(self.fused.columns(), self.ratings.reading)).to_dicts()

    def save(self, directory: str | Path) -> Path:
        """Writes truth.csv, annotators.csv, annotators_overall.csv, summary.json and fit/; all of them or none.

        Where annotators are of several kinds, groups.csv too.
        """
        target = Path(directory)
        tables = {
            "truth": self._rounded(),
            "annotators": rounded_figures(dimension_columns(self.described)),
            "annotators_overall": rounded_figures(overall_columns(self.described)),
        }
        tables |= {name: rounded_figures(columns) for name, columns in self.fuser.tables().items()}
        write_results(target, tables, self.summary_data, self.fit)
        return target


def load(directory: str | Path) -> Fuser:
    """The fuser of a saved fit, ready for `fuse`, `predict` and `score` on other data."""
    return revive(load_fit(Path(directory)))


def _continue_from(start: Any, fuser: Fuser, ratings: Ratings) -> Ratings:
    """Tells the fuser what the earlier fit knows; the ratings with that fit's annotators among theirs."""
    earlier = start if isinstance(start, Fuser) else load(start)
    if not isinstance(fuser, Joint) or not isinstance(earlier, Joint):
        raise DataError(
            "Starting from an earlier fit works for ratings of items with the model 'auto' or 'joint'; "
            f"here the earlier fit is '{earlier.kind}' and the new one '{fuser.kind}'."
        )
    fuser.start_from(earlier)
    return with_earlier_annotators(ratings, prior_fit_of(earlier))
