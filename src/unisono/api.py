"""The library's front door: from ratings to a result in one call.

    result = fuse(read_ratings("ratings.csv"), features=read_item_table("features.csv"))
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

from unisono.data import ItemTable, Ratings
from unisono.data.checks import Alert, require_known_items, require_overlap
from unisono.data.introduction import Introduction
from unisono.errors import DataError, DataWarning
from unisono.fusers import Annotators, Fit, Fused, Fuser, Joint, make_fuser, revive
from unisono.fusers.copies import count_copies, described_one_by_one
from unisono.fusers.items.warm_start import prior_fit_of, with_earlier_annotators
from unisono.io.align import align_to
from unisono.io.reading.frames import frame_like
from unisono.io.saved import load_fit
from unisono.io.tables import read_item_table, read_ratings
from unisono.io.writing import csv_text, write_results
from unisono.report.alerts import NO_SIGNAL, TOLD_AT_ONCE, rating_alerts
from unisono.report.summary import summarise, summary_text
from unisono.version import __version__
from unisono.words import Counting

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
    copies: Counting = "merge",
    seed: int | None = None,
    on_step: Callable[[int, float], None] | None = None,
    **settings: Any,
) -> Fusion:
    """Fuses ratings (a `Ratings`, a path or a data frame) into one truth per item, or per frame of traces.

    `model` is a name (see `unisono.MODELS`) or a fuser; `settings` are keyword arguments of the fuser; `features` and
    `gold` are an `ItemTable`, a path or a data frame. `start` is an earlier fit (a fuser, or the directory of a saved
    one) whose annotators rate again: what it knows of them, and its scale, are taken over. `scale` is where answers
    end: (1, 7), "1:7", "none", or a mapping from dimensions to these; it is inferred where nothing is said. `copies`
    says how annotators count whose answers agree more than chance allows: "merge" as one opinion, "keep" each. `seed`
    decides everything random; by default the fuser's own, which is 0 for a model given by name. `on_step(iteration,
    objective)` is called after every iteration; if it has the methods `task(done, total)` and `phase(what, done,
    total)`, a fit of traces tells it also of starts and windows tried, and of what it does beside EM.
    """
    table = ratings.with_scale(scale) if isinstance(ratings, Ratings) else read_ratings(ratings, scale=scale)
    require_overlap(table)
    fuser = make_fuser(model, series=table.is_series, **settings) if isinstance(model, str) else model
    name = model if isinstance(model, str) else fuser.kind
    counted = count_copies(table, copies)
    if start is not None:
        table, counted = _continue_from(start, fuser, table, counted)
    if seed is not None and hasattr(fuser, "seed"):
        fuser.seed = seed
    described = on_clock(_item_table(features), table, complete=True)
    fuser.fit(counted, described, on_clock(_item_table(gold), table), on_step=on_step)
    result = Fusion(name, fuser, table, fuser.fuse(), int(getattr(fuser, "seed", seed or 0)), copies)
    for alert in (one for one in result.alerts if one.kind in TOLD_AT_ONCE):
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
    copies: Counting = "merge"

    def __repr__(self) -> str:
        return self._introduction().text()

    def _repr_html_(self) -> str:
        return self._introduction().html()

    def _introduction(self) -> Introduction:
        title = f"'{self.ratings.source}' fused with the model '{self.model}': truth"
        return self.fused.introduction(title, "See .truth, .annotators, .summary() and .save(directory).")

    @cached_property
    def truth(self) -> Any:
        """One row per item: estimate, sd and 90 % interval of every dimension; the kind of frame that came in."""
        return frame_like(self.ratings.frame_kind, self.fused.columns())

    @cached_property
    def annotators(self) -> Any:
        """One row per annotator, as a frame of the kind that came in."""
        return frame_like(self.ratings.frame_kind, self.described.columns())

    @cached_property
    def described(self) -> Annotators:
        """The same as plain arrays."""
        return described_one_by_one(self.fuser.describe(), self.ratings, self.copies)

    def describe_now(self, on_step: Callable[[int, float], None]) -> None:
        """Describes the annotators in somebody's view, not when it is asked for: of long traces it takes a while."""
        vars(self)["described"] = described_one_by_one(self.fuser.describe(on_step), self.ratings, self.copies)

    @cached_property
    def alerts(self) -> list[Alert]:
        """What in the ratings deserves a look, the gravest first."""
        return rating_alerts(self.ratings, self.copies)

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
            annotators=self.fuser.annotators_,
            dimensions=self.ratings.dimensions,
            features=self.fuser.feature_columns,
            arrays=self.fuser.arrays() | self._posterior(),
            trace=self.fuser.trace_,
            provenance={
                "unisono": __version__,
                "seed": self.seed,
                "source": self.ratings.source,
                "data_sha256": self.ratings.data_hash,
                "unclear": [alert.labels[0] for alert in self.alerts if alert.kind == NO_SIGNAL],
            },
        )

    def _posterior(self) -> dict[str, Any]:
        """What `unisono next` and `unisono plan` need to know of the items and of who rated."""
        if self.ratings.is_series:
            return {}
        given = np.bincount((fitted := self.fuser.fitted_ratings()).annotator_of, minlength=fitted.K)
        return {"item_mean": self.fused.mean, "item_cov": self.fused.cov, "judgements": given}

    def truth_csv(self) -> str:
        """The text of truth.csv."""
        return csv_text(self.fused.columns())

    def fused_rows(self) -> list[dict[str, Any]]:
        """The rows of truth.csv as plain values."""
        return pl.DataFrame(self.fused.columns()).to_dicts()

    def save(self, directory: str | Path) -> Path:
        """Writes truth.csv, annotators.csv, summary.json and fit/; all of them or none."""
        target = Path(directory)
        write_results(target, self.fused.columns(), self.described.columns(), self.summary_data, self.fit)
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
    copies: Counting = "merge",
    folds: int = 5,
    seed: int = 0,
    jobs: int = 1,
    on_task: Callable[[int, int], None] | None = None,
) -> Comparison:
    """The leaderboard of all models (or of `models`) on these ratings, and whether joint modelling helps on them.

    Tables are objects, paths or data frames, as in `fuse`, and so is `copies`. `jobs` processes work at once; the
    figures do not depend on how many. `on_task(done, total)` is called after every fit.
    """
    from unisono.evaluate.compare.models import compare_models  # SciPy's statistics take a while to load

    rated = ratings if isinstance(ratings, Ratings) else read_ratings(ratings)
    known = _item_table(reference)
    return compare_models(
        count_copies(rated, copies),
        reference=align_to(known, rated) if known is not None and rated.is_series else known,
        features=on_clock(_item_table(features), rated, complete=True),
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

    table = _item_table(reference)
    if table is None:
        raise DataError("Cross-validation needs a reference: a table of items whose truth is known.")
    rated = ratings if isinstance(ratings, Ratings) else read_ratings(ratings)
    return cross_validate_models(
        rated,
        align_to(table, rated) if rated.is_series else table,
        models=PROTOCOL if models is None else models,
        features=on_clock(_item_table(features), rated, complete=True),
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


def _continue_from(start: Any, fuser: Fuser, *tables: Ratings) -> list[Ratings]:
    """Tells the fuser what the earlier fit knows; the ratings with that fit's annotators among theirs."""
    earlier = start if isinstance(start, Fuser) else load(start)
    if not isinstance(fuser, Joint) or not isinstance(earlier, Joint):
        raise DataError(
            "Starting from an earlier fit works for ratings of items with the model 'auto' or 'joint'; "
            f"here the earlier fit is '{earlier.kind}' and the new one '{fuser.kind}'."
        )
    fuser.start_from(earlier)
    return [with_earlier_annotators(ratings, prior_fit_of(earlier)) for ratings in tables]


def on_clock(table: ItemTable | None, ratings: Ratings, *, complete: bool = False) -> ItemTable | None:
    """Features, gold or a reference at the frames of traces; tables of items, and of other recordings, as they are."""
    if table is None or not ratings.is_series:
        return table
    if complete:
        # The last frames of a recording often have no features any more: the last ones hold for a moment.
        return align_to(table, ratings, hold=1.0, complete=True)
    require_known_items(table, ratings)
    return align_to(table, ratings)


def _item_table(source: Any) -> ItemTable | None:
    return source if source is None or isinstance(source, ItemTable) else read_item_table(source)
