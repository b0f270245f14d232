"""Questions asked of ratings before any fit: what is in a table, how far annotators agree, which model is best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unisono.api import category_fusion, fusion, input_output
from unisono.errors import DataError
from unisono.fusers import Fused, Fuser, crowd, fuser_settings, revive, saved_fit
from unisono.maths.structure_words import Counting
from unisono.report.notebook_progress import watching_tasks
from unisono.scale.executors import Executor
from unisono.tables.rating_checks import require_overlap
from unisono.tables.reading import clock_alignment, comparisons_reader

if TYPE_CHECKING:
    from unisono.evaluate.agreement_measure import Estimate
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
    """What is in the ratings, how far annotators agree, and what deserves a look.

    Parameters
    ----------
    ratings : Ratings, path or data frame
        What people answered.
    comparisons : path, data frame or Comparisons, optional
        Instead of ratings: how they are read, what no comparison connects, whether sides were drawn.
    scale : (low, high), str or mapping, optional
        Where answers end, as in `read_ratings`.
    categories : str, sequence or mapping, optional
        Which dimensions are categories, as in `fuse`.
    trials : path, optional
        A table of how long answers took (item, annotator, position, response_seconds): who is too fast and who tires is
        pointed out.
    **reading
        How to read a table: the keyword arguments of `read_ratings`.

    Returns
    -------
    Overview or ComparisonOverview
        It prints itself; `.alerts` are what deserves a look, `.categories` has an overview of every dimension of
        categories, `.to_dict()` is what `unisono check --json` prints.

    Raises
    ------
    DataError
        The ratings cannot be used.

    Examples
    --------
    >>> import unisono as un
    >>> un.check(un.load_dataset("squality")).alerts
    ()
    """
    if comparisons is not None:
        from unisono.evaluate.comparison_overview import comparison_overview

        return comparison_overview(comparisons_reader.read_comparisons(comparisons))
    from unisono.evaluate.overview import overview

    table, answers = category_fusion.answers_of(ratings, categories, scale, **reading)
    if table is not None:
        require_overlap(table)
    found = overview(table, answers)
    if trials is None:
        return found
    from unisono.tables.reading.collected_folder import read_trials
    from unisono.tables.response_times import time_alerts

    alerts = (*found.alerts, *time_alerts(read_trials(Path(trials)), table))
    return replace(found, alerts=tuple(sorted(alerts, key=lambda alert: alert.severity != "warning")))


def agreement(
    ratings: Any = None,
    *,
    comparisons: Any = None,
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
) -> Any:
    """How far annotators agree: intraclass correlations, alpha, AC2, pairs, fit of annotators; intervals by bootstrap.

    Parameters
    ----------
    ratings : Ratings, path or data frame
        What people answered.
    comparisons : path, data frame or Comparisons, optional
        Instead of ratings: alpha of answers about the same pair with sides aligned, circular triads, Kendall's zeta.
    fit : Fusion, Fused or path, optional
        A fusion of the same items: the figure 'reliability' is then that of its estimate, not of the mean rating.
    draws : int
        How often items are drawn again for the intervals; 0 for none.
    level : float
        Of the intervals.
    these_annotators : bool
        Whether nobody else counts; otherwise annotators are a sample of those who might have rated.
    seed : int
        Of the draws.
    matrices : bool
        Whether the figures of every pair of annotators are kept.
    window : float, optional
        Seconds that delays of traces may lie apart; 3 by default.
    on_task : callable, optional
        Called with tasks done and their number after every dimension.
    scale : (low, high), str or mapping, optional
        Where answers end, as in `read_ratings`.
    **reading
        How to read a table: the keyword arguments of `read_ratings`.

    Returns
    -------
    Agreement or PairAgreement
        It prints itself; see `.columns()`, `.annotator_columns()`, of ratings `.apa()`, `.heds()` and `.notes`.

    Raises
    ------
    DataError
        The ratings cannot be used.

    Examples
    --------
    >>> import unisono as un
    >>> found = un.agreement(un.load_dataset("squality"), draws=0)
    >>> sorted(set(found.columns()["dimension"]))
    ['correctness', 'overall', 'selection']
    """
    from unisono.evaluate.agreement_measure import Drawing, measure_agreement

    fuser_settings.require_asked(draws=draws, level=level, seed=seed)
    drawing = Drawing(draws, level, seed, these_annotators)
    if comparisons is not None:
        from unisono.evaluate.pair_agreement import pair_agreement

        return pair_agreement(comparisons_reader.read_comparisons(comparisons), drawing)
    table = input_output.rating_table(ratings, scale, **reading)
    require_overlap(table)
    asked: dict[str, Any] = {"matrices": matrices, "window": window}
    with watching_tasks("Measuring agreement", on_task) as watcher:
        return measure_agreement(table, drawing=drawing, estimate=_estimate_of(fit), on_task=watcher, **asked)


def compare(
    ratings: Any = None,
    *,
    comparisons: Any = None,
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
) -> Any:
    """Models beside each other on held-out ratings, and whether joint modelling helps.

    Parameters
    ----------
    ratings : Ratings, path or data frame
        What people answered.
    comparisons : path, data frame or Comparisons, optional
        Instead of ratings: left out in turn and predicted, with annotators told apart and alike.
    reference : ItemTable, path or data frame, optional
        Items whose truth is known; models are then compared by it too.
    features : ItemTable, path or data frame, optional
        What describes the items.
    models : sequence of str, optional
        Their names; all by default.
    copies : {"merge", "keep"}
        As in `fuse`.
    folds : int
        Parts that are hidden in turn.
    seed : int
        Of the parts.
    jobs : int or Executor
        Processes at once, or who works (`unisono.scale.executors.open_engine`); the figures do not depend on it.
    on_task : callable, optional
        Called with tasks done and their number after every fit.
    scale : (low, high), str or mapping, optional
        Where answers end, as in `read_ratings`.
    **reading
        How to read a table: the keyword arguments of `read_ratings`.

    Returns
    -------
    Comparison or ComparisonsLeftOut
        `.rows` by model, `.answer` in words.

    Raises
    ------
    DataError
        The ratings cannot be used.

    Examples
    --------
    >>> import unisono as un
    >>> all_of_it = un.load_dataset("squality")
    >>> some = all_of_it.select_items(all_of_it.items[:40])
    >>> [row.model for row in un.compare(some, models=["mean", "median"], folds=2).rows]
    ['mean', 'median']
    """
    fuser_settings.require_asked(folds=folds, seed=seed)
    if comparisons is not None:
        from unisono.evaluate.held_out_comparisons import compare_left_out

        return compare_left_out(comparisons_reader.read_comparisons(comparisons), folds=folds, seed=seed)
    from unisono.evaluate.model_comparison import compare_models  # SciPy's statistics take a while to load

    rated = input_output.rating_table(ratings, scale, **reading)
    known = input_output.item_table(reference, rated)
    with watching_tasks("Comparing", on_task) as watcher:
        return compare_models(
            crowd.count_copies(rated, copies),
            reference=clock_alignment.align_to(known, rated) if known is not None and rated.is_series else known,
            features=input_output.on_clock(input_output.item_table(features, rated), rated, complete=True),
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

    Parameters
    ----------
    ratings : Ratings, path or data frame
        What people answered.
    reference : ItemTable, path or data frame
        Items whose truth is known.
    models : sequence of str or mapping, optional
        Names, or fusers by a name of your own; several fusers under one name (windows, starts) are chosen from on the
        validation items. A name that ends in `+gold` gets the validation labels as gold items instead.
    features : ItemTable, path or data frame, optional
        What describes the items.
    folds : int
        Parts that are test items in turn.
    seed : int
        Of the parts.
    select_iteration : bool
        Whether the iteration that is best on the validation items is kept, as in the paper; otherwise the last.
    jobs : int or Executor
        Processes at once, or who works.
    on_task : callable, optional
        Called with tasks done and their number after every fold.

    Returns
    -------
    CrossValidation
        Figures by model and dimension, and the predictions of test items.

    Raises
    ------
    DataError
        There is no reference, or its items are not those of the ratings.

    Examples
    --------
    >>> import unisono as un
    >>> made = un.simulate_items(items=40, annotators=4, features=3)
    >>> found = un.cross_validate(made.ratings, made.truth, models=["mean"], folds=3)
    >>> list(found.predictions)
    ['mean']
    """
    from unisono.evaluate.cross_validation import PROTOCOL, cross_validate_models

    fuser_settings.require_asked(folds=folds, seed=seed)
    table = input_output.item_table(reference)
    if table is None:
        raise DataError("Cross-validation needs a reference: a table of items whose truth is known.")
    rated = input_output.rating_table(ratings)
    with watching_tasks("Cross-validating", on_task) as watcher:
        return cross_validate_models(
            rated,
            clock_alignment.align_to(table, rated) if rated.is_series else table,
            models=PROTOCOL if models is None else models,
            features=input_output.on_clock(input_output.item_table(features, rated), rated, complete=True),
            folds=folds,
            seed=seed,
            select_iteration=select_iteration,
            jobs=jobs,
            on_task=watcher,
        )


def _estimate_of(fit: Any) -> Estimate | None:
    """An estimate with what is known of its reliability."""
    from unisono.evaluate.agreement_measure import Estimate

    if fit is None:
        return None
    if isinstance(fit, Fused):
        return Estimate(fit)
    if isinstance(fit, fusion.Fusion):
        return fit.estimate
    saved = saved_fit.load_fit(Path(fit))
    return Estimate(saved.fused(), revive(saved).gives_posterior_means(), saved.arrays.get("reliability_draws"))
