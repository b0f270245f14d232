"""The library's front door: from ratings to a result in one call.

    result = fuse(read_ratings("ratings.csv"), features=readitem_table("features.csv"))
    result.truth, result.annotators, print(result.summary()), result.save("out")

Sits above io and fusers; the command line calls nothing else.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unisono.category_fusion import (
    CategoryFusion,
    ChosenClasses,
    WithCategories,
    answers_of,
    fused_answers,
    refuse_beside_categories,
)
from unisono.data import Ratings
from unisono.data.checks import Alert, check_ratings, require_overlap
from unisono.data.introduction import Introduction
from unisono.errors import DataError, DataWarning
from unisono.fusers import Annotators, Fit, Fused, Fuser, make_fuser, revive
from unisono.fusers.signal import crowd_signal
from unisono.inputs import continue_from, item_table, on_clock
from unisono.io.align import align_to
from unisono.io.reading.frames import frame_like
from unisono.io.reading.ids import with_parts
from unisono.io.saved import load_fit
from unisono.io.tables import read_ratings
from unisono.io.writing import csv_text, write_results
from unisono.report.alerts import NO_SIGNAL, signal_alerts
from unisono.report.summary import summarise, summary_text
from unisono.version import __version__

if TYPE_CHECKING:
    from unisono.evaluate.agreement.results import Agreement
    from unisono.evaluate.compare.leaderboard import Comparison
    from unisono.evaluate.protocol.results import CrossValidation


def fuse(
    ratings: Any,
    *,
    model: str | Fuser = "auto",
    features: Any = None,
    gold: Any = None,
    start: Any = None,
    scale: Any = None,
    categories: Any = None,
    category_model: str = "auto",
    seed: int | None = None,
    on_step: Callable[[int, float], None] | None = None,
    **settings: Any,
) -> Fusion | CategoryFusion:
    """Fuses ratings (a `Ratings`, a path or a data frame) into one truth per item, or per frame of traces.

    `model` is a name (see `unisono.MODELS`) or a fuser; `settings` are keyword arguments of the fuser; `features` and
    `gold` are an `ItemTable`, a path or a data frame. `start` is an earlier fit (a fuser, or the directory of a saved
    one) whose annotators rate again: what it knows of them, and its scale, are taken over. `scale` is where answers
    end: (1, 7), "1:7", "none", or a mapping from dimensions to these; it is inferred where nothing is said.
    `categories` names columns whose answers are categories (or is a `Categories`, or 'none'), fused by
    `category_model`; by default columns of words are recognised; a table of them alone gives a `CategoryFusion`.
    `seed` decides everything random; by default the fuser's own, which is 0 for a model given by name.
    `on_step(iteration, objective)` is called after every iteration; if it has the methods `task(done, total)` and
    `phase(what, done, total)`, a fit of traces tells it also of starts, windows and what it does beside EM.
    """
    table, answers = answers_of(ratings, categories, scale)
    if table is None and answers is not None:
        refuse_beside_categories(answers.source, features=features, gold=gold, start=start, scale=scale)
    chosen = fused_answers(answers, category_model, seed or 0, alone=table is None)
    if table is None:
        assert chosen is not None  # a table without either is refused when it is read
        return CategoryFusion(chosen, seed or 0)
    require_overlap(table)
    fuser = make_fuser(model, series=table.is_series, **settings) if isinstance(model, str) else model
    name = model if isinstance(model, str) else fuser.kind
    if start is not None:
        table = continue_from(start, fuser, table)
    if seed is not None and hasattr(fuser, "seed"):
        fuser.seed = seed
    used = int(getattr(fuser, "seed", seed or 0))
    described = on_clock(item_table(features), table, complete=True)
    fuser.fit(table, described, on_clock(item_table(gold), table), on_step=on_step)
    result = Fusion(name, fuser, table, fuser.fuse(), used, chosen)
    for alert in result.alerts:
        if alert.kind == NO_SIGNAL:
            warnings.warn(f"{table.source}: {alert.message}", DataWarning, stacklevel=2)
    return result


@dataclass(frozen=True, eq=False)
class Fusion(WithCategories):
    """A finished fusion: the truth, the annotators, and the fitted model behind them."""

    model: str
    fuser: Fuser
    ratings: Ratings
    fused: Fused
    seed: int = 0
    chosen: ChosenClasses | None = None  # categories beside the numbers

    @cached_property
    def truth_columns(self) -> dict[str, Any]:
        """The columns of truth.csv; names made of several columns are there in one piece and in parts."""
        return with_parts(self.with_classes(self.fused.columns(), self.fused.items), self.ratings.reading)

    @cached_property
    def annotator_columns(self) -> dict[str, Any]:
        """The columns of annotators.csv."""
        return self.with_accuracy(self.described.columns(), self.described.annotators)

    def __repr__(self) -> str:
        return self._introduction().text()

    def _repr_html_(self) -> str:
        return self._introduction().html()

    def _introduction(self) -> Introduction:
        title = f"'{self.ratings.source}' fused with the model '{self.model}': truth"
        return self.fused.introduction(title, "See .truth, .annotators, .summary() and .save(directory).")

    @cached_property
    def truth(self) -> Any:
        """One row per item: estimate, sd, 90 % interval of dimensions; classes. The kind of frame that came in."""
        return frame_like(self.ratings.frame_kind, self.truth_columns)

    @cached_property
    def annotators(self) -> Any:
        """One row per annotator, as a frame of the kind that came in."""
        return frame_like(self.ratings.frame_kind, self.annotator_columns)

    @cached_property
    def described(self) -> Annotators:
        """The same as plain arrays."""
        return self.fuser.describe()

    def describe_now(self, on_step: Callable[[int, float], None]) -> None:
        """Describes the annotators in somebody's view, not when it is asked for: of long traces it takes a while."""
        vars(self)["described"] = self.fuser.describe(on_step)

    @cached_property
    def alerts(self) -> list[Alert]:
        """What in the ratings deserves a look, the gravest first."""
        return [*signal_alerts(self.ratings.dimensions, crowd_signal(self.ratings)), *check_ratings(self.ratings)]

    @cached_property
    def summary_data(self) -> dict[str, Any]:
        """What summary.json holds."""
        data = summarise(self.fit, self.ratings, self.described, self.alerts, self.fuser.notes())
        return data | self.summary_of_categories

    def summary(self) -> str:
        """The result in words."""
        return summary_text(self.summary_data) + self.words_of_categories

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

    def truth_csv(self) -> str:
        """The text of truth.csv."""
        return csv_text(self.truth_columns)

    def fused_rows(self) -> list[dict[str, Any]]:
        """The rows of truth.csv as plain values."""
        return pl.DataFrame(self.truth_columns).to_dicts()

    def save(self, directory: str | Path) -> Path:
        """Writes truth.csv, annotators.csv, summary.json and fit/; all of them or none."""
        target = Path(directory)
        tables = self.truth_columns, self.annotator_columns
        write_results(target, *tables, self.summary_data, self.fit, self.files_of_categories)
        return target


def agreement(
    ratings: Any,
    *,
    fit: Any = None,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    matrices: bool = False,
    window: float | None = None,
    on_task: Callable[[int, int], None] | None = None,
) -> Agreement:
    """How far annotators agree: intraclass correlations, alpha, AC2, pairs, fit of annotators; intervals by bootstrap.

    `fit` is a `Fusion`, a `Fused` or the directory of a saved fusion of the same items: the figure 'reliability' is
    then that of its estimate, otherwise that of the mean rating. Items are drawn again `draws` times for the `level`
    intervals (0: none), with `seed`. `matrices` keeps the figures of every pair of annotators. For traces, `window` is
    how many seconds apart delays may lie (3 by default). `on_task(done, total)` is called after every dimension.
    """
    from unisono.evaluate.agreement.figures import Drawing
    from unisono.evaluate.agreement.measure import measure_agreement

    table = ratings if isinstance(ratings, Ratings) else read_ratings(ratings)
    require_overlap(table)
    fused, shrunk = (None, False) if fit is None else _estimate_of(fit)
    drawing = Drawing(draws, level, seed)
    asked: dict[str, Any] = {"matrices": matrices, "window": window, "on_task": on_task}
    return measure_agreement(table, drawing=drawing, fused=fused, shrunk=shrunk, **asked)


def compare(
    ratings: Any,
    *,
    reference: Any = None,
    features: Any = None,
    models: Sequence[str] | None = None,
    folds: int = 5,
    seed: int = 0,
    jobs: int = 1,
    on_task: Callable[[int, int], None] | None = None,
) -> Comparison:
    """The leaderboard of all models (or of `models`) on these ratings, and whether joint modelling helps on them.

    Tables are objects, paths or data frames, as in `fuse`. `jobs` processes work at once; the figures do not depend
    on how many. `on_task(done, total)` is called after every fit.
    """
    from unisono.evaluate.compare.models import compare_models  # SciPy's statistics take a while to load

    rated = ratings if isinstance(ratings, Ratings) else read_ratings(ratings)
    known = item_table(reference)
    return compare_models(
        rated,
        reference=align_to(known, rated) if known is not None and rated.is_series else known,
        features=on_clock(item_table(features), rated, complete=True),
        models=models,
        folds=folds,
        seed=seed,
        jobs=jobs,
        on_task=on_task,
    )


def cross_validate(
    ratings: Any,
    reference: Any,
    *,
    models: Sequence[str] | Mapping[str, Fuser | Sequence[Fuser]] | None = None,
    features: Any = None,
    folds: int = 5,
    seed: int = 0,
    select_iteration: bool = True,
    jobs: int = 1,
    on_task: Callable[[int, int], None] | None = None,
) -> CrossValidation:
    """The paper's protocol: train, validation and test items, an iteration chosen on the validation labels.

    `models` are names, or fusers by a name of your own; several fusers under one name (windows, starts) are chosen
    from on the validation items. A name that ends in `+gold` gets the validation labels as gold items instead.
    """
    from unisono.evaluate.protocol.cross_validate import PROTOCOL, cross_validate_models

    table = item_table(reference)
    if table is None:
        raise DataError("Cross-validation needs a reference: a table of items whose truth is known.")
    rated = ratings if isinstance(ratings, Ratings) else read_ratings(ratings)
    return cross_validate_models(
        rated,
        align_to(table, rated) if rated.is_series else table,
        models=PROTOCOL if models is None else models,
        features=on_clock(item_table(features), rated, complete=True),
        folds=folds,
        seed=seed,
        select_iteration=select_iteration,
        jobs=jobs,
        on_task=on_task,
    )


def load(directory: str | Path) -> Fuser:
    """The fuser of a saved fit, ready for `fuse`, `predict` and `score` on other data."""
    return revive(load_fit(Path(directory)))


def _estimate_of(fit: Any) -> tuple[Fused, bool]:
    """An estimate with its uncertainty, and whether it is a posterior mean, which is drawn to the middle."""
    if isinstance(fit, Fused):
        return fit, False
    if isinstance(fit, Fusion):
        return fit.fused, fit.fuser.gives_posterior_means()
    saved = load_fit(Path(fit))
    return saved.fused(), revive(saved).gives_posterior_means()
