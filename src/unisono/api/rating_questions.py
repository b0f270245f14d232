"""Questions asked of ratings before any fit: what is in a table, how far annotators agree, which model is best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unisono.api.category_fusion import answers_of
from unisono.api.fusion import Fusion
from unisono.api.input_output import item_table, on_clock, rating_table
from unisono.errors import DataError
from unisono.fusers import Fused, Fuser, revive
from unisono.fusers.crowd import count_copies
from unisono.fusers.saved_fit import load_fit
from unisono.maths.structure_words import Counting
from unisono.report.notebook_progress import watching_tasks
from unisono.scale.executors import Executor
from unisono.tables.rating_checks import require_overlap
from unisono.tables.reading.clock_alignment import align_to

if TYPE_CHECKING:
    from unisono.evaluate.agreement_results import Agreement
    from unisono.evaluate.comparison_results import Comparison
    from unisono.evaluate.cross_validation import CrossValidation


def check(
    ratings: Any = None,
    *,
    comparisons: Any = None,
    scale: Any = None,
    categories: Any = None,
    trials: Any = None,
    **reading: Any,
) -> Any:
    """What is in the ratings (a `Ratings`, a path or a data frame), how far annotators agree, what deserves a look.

    `scale` and `reading` say how to read a table, as in `read_ratings`, and `categories` which of its dimensions are
    categories, as in `fuse`. `trials` is a table of how long answers took (item, annotator, position,
    response_seconds): who is too fast and who tires is pointed out. The result prints itself; `.alerts` are what
    deserves a look, `.categories` has an overview of every dimension of categories, `.to_dict()` is what `unisono check
    --json` prints. `comparisons` (a path or a data frame, instead of ratings) have an overview of their own:
    how they were read, components that nothing connects, sides.
    """
    if comparisons is not None:
        from unisono.evaluate.comparison_overview import comparison_overview
        from unisono.tables.reading.comparisons_reader import read_comparisons

        return comparison_overview(read_comparisons(comparisons))
    from unisono.evaluate.overview import overview

    table, answers = answers_of(ratings, categories, scale, **reading)
    if table is not None:
        require_overlap(table)
    found = overview(table, answers)
    if trials is None:
        return found
    from unisono.tables.reading.trials_reader import read_trials
    from unisono.tables.response_times import time_alerts

    alerts = (*found.alerts, *time_alerts(read_trials(Path(trials)), table))
    return replace(found, alerts=tuple(sorted(alerts, key=lambda alert: alert.severity != "warning")))


def agreement(
    ratings: Any,
    *,
    fit: Any = None,
    draws: int = 1000,
    level: float = 0.95,
    these_annotators: bool = False,
    seed: int = 0,
    matrices: bool = False,
    window: float | None = None,
    on_task: Callable[[int, int], None] | None = None,
    scale: Any = None,
    **reading: Any,
) -> Agreement:
    """How far annotators agree: intraclass correlations, alpha, AC2, pairs, fit of annotators; intervals by bootstrap.

    `fit` is a `Fusion`, a `Fused` or the directory of a saved fusion of the same items: the figure 'reliability' is
    then that of its estimate, otherwise that of the mean rating. Items are drawn again `draws` times for the `level`
    intervals (0: none), with `seed`; annotators count as a sample of those who might have rated, or as
    `these_annotators` and nobody else. `matrices` keeps the figures of every pair of annotators. For traces, `window`
    is how many seconds apart delays may lie (3 by default). `on_task(done, total)` is called after every dimension.
    `scale` and `reading` say how to read a table of ratings, as in `read_ratings`.
    """
    from unisono.evaluate.agreement_figures import Drawing
    from unisono.evaluate.agreement_measure import measure_agreement

    table = rating_table(ratings, scale, **reading)
    require_overlap(table)
    fused, shrunk = (None, False) if fit is None else _estimate_of(fit)
    drawing = Drawing(draws, level, seed, these_annotators)
    asked: dict[str, Any] = {"matrices": matrices, "window": window}
    with watching_tasks("Measuring agreement", on_task) as watcher:
        return measure_agreement(table, drawing=drawing, fused=fused, shrunk=shrunk, on_task=watcher, **asked)


def compare(
    ratings: Any,
    *,
    reference: Any = None,
    features: Any = None,
    models: Sequence[str] | None = None,
    copies: Counting = "merge",
    folds: int = 5,
    seed: int = 0,
    jobs: int | Executor = 1,
    on_task: Callable[[int, int], None] | None = None,
    scale: Any = None,
    **reading: Any,
) -> Comparison:
    """The leaderboard of all models (or of `models`) on these ratings, and whether joint modelling helps on them.

    Tables are objects, paths or data frames, as in `fuse`, and so is `copies`; `scale` and `reading` say how to read
    ratings. `jobs` processes work at once, or an executor (`unisono.scale.parallel_tasks.open_engine`) does; the
    figures do not depend on it. `on_task(done, total)` is called after every fit.
    """
    from unisono.evaluate.model_comparison import compare_models  # SciPy's statistics take a while to load

    rated = rating_table(ratings, scale, **reading)
    known = item_table(reference, rated)
    with watching_tasks("Comparing", on_task) as watcher:
        return compare_models(
            count_copies(rated, copies),
            reference=align_to(known, rated) if known is not None and rated.is_series else known,
            features=on_clock(item_table(features, rated), rated, complete=True),
            models=models,
            folds=folds,
            seed=seed,
            jobs=jobs,
            on_task=watcher,
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
    jobs: int | Executor = 1,
    on_task: Callable[[int, int], None] | None = None,
) -> CrossValidation:
    """The paper's protocol: train, validation and test items, an iteration chosen on the validation labels.

    `models` are names, or fusers by a name of your own; several fusers under one name (windows, starts) are chosen
    from on the validation items. A name that ends in `+gold` gets the validation labels as gold items instead.
    """
    from unisono.evaluate.cross_validation import PROTOCOL, cross_validate_models

    table = item_table(reference)
    if table is None:
        raise DataError("Cross-validation needs a reference: a table of items whose truth is known.")
    rated = rating_table(ratings)
    with watching_tasks("Cross-validating", on_task) as watcher:
        return cross_validate_models(
            rated,
            align_to(table, rated) if rated.is_series else table,
            models=PROTOCOL if models is None else models,
            features=on_clock(item_table(features, rated), rated, complete=True),
            folds=folds,
            seed=seed,
            select_iteration=select_iteration,
            jobs=jobs,
            on_task=watcher,
        )


def _estimate_of(fit: Any) -> tuple[Fused, bool]:
    """An estimate with its uncertainty, and whether it is a posterior mean, which is drawn to the middle."""
    if isinstance(fit, Fused):
        return fit, False
    if isinstance(fit, Fusion):
        return fit.fused, fit.fuser.gives_posterior_means()
    saved = load_fit(Path(fit))
    return saved.fused(), revive(saved).gives_posterior_means()
