"""The comparison of models: every model on the same splits, with and without a reference.

    found = compare_models(ratings, reference=reference)
    print(found.answer)

Every model sees the same hidden judgements and the same left-out annotators, so differences are paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from unisono.evaluate import alerts, comparison_results, held_out_ratings, scoring
from unisono.evaluate.comparison_results import Comparison, Contrast, Findings, Question
from unisono.evaluate.held_out_ratings import annotator_folds, judgement_folds
from unisono.fusers import Fused, crowd, held_out_stretches, joint_traces, make_fuser, model_registry
from unisono.maths.metrics import RESAMPLES, better_share, paired_t, resample_counts, resampled_scores
from unisono.scale.executors import OnTask, Workers, run_tasks
from unisono.tables import Ratings, item_table, rating_checks

QUESTIONS: tuple[tuple[Question, str, str], ...] = (("joint", "joint", "independent"), ("default", "auto", "mean"))
SLOW = ("paper-joint", "paper-independent")
UNKNOWN = (float("nan"), float("nan"))


class _Splits(NamedTuple):
    """What every model is tried on."""

    hidden: list[np.ndarray]  # of (J,) judgements, for traces of (S,) rows
    people: list[np.ndarray]  # annotators left out together


def compare_models(
    ratings: Ratings,
    *,
    reference: item_table.ItemTable | None = None,
    features: item_table.ItemTable | None = None,
    models: Sequence[str] | None = None,
    folds: int = 5,
    seed: int = 0,
    jobs: Workers = 1,
    on_task: OnTask | None = None,
) -> Comparison:
    """Tries every model on the same splits; the result does not depend on `jobs`, apart from the seconds."""
    rating_checks.require_overlap(ratings)
    names = distinct_models(models, series=ratings.is_series)
    # Cut to what was rated at once: a reference of other items is an error before anything is computed.
    known = None if reference is None else scoring.rated_reference(ratings, reference)[0]
    splits = _draw(ratings, folds, seed)
    found = _try_all(names, ratings, features, splits, jobs, on_task)
    rows = [comparison_results.model_row(name, found[name], known) for name in names]
    contrasts = _contrasts(found, splits, known, seed, ratings.is_series)
    unclear = alerts.unclear_dimensions(ratings.dimensions, crowd.crowd_signal(ratings))
    return Comparison(
        source=ratings.source,
        kind="series" if ratings.is_series else "items",
        items=ratings.M,
        annotators=ratings.K,
        judgements=ratings.J,
        folds=folds,
        seed=seed,
        reference=None if reference is None else reference.source,
        rows=comparison_results.best_first(rows, "log_density" if reference is None else "ccc"),
        contrasts=contrasts,
        answer=comparison_results.answer(contrasts, ratings.dimensions, unclear),
        unclear=unclear,
    )


def distinct_models(models: Sequence[str] | None = None, *, series: bool = False) -> list[str]:
    """The names asked for, or one name for every different model there is: `joint` is left out while it is `auto`.

    Of traces the published models are tried only when asked for: every width from every start takes its time.
    """
    if models:
        for name in models:
            make_fuser(name, series=series)  # a wrong name is an error before anything is computed
        return list(dict.fromkeys(models))
    names: list[str] = []
    for name in model_registry.models_for(series):
        if series and name in SLOW:
            continue
        if not any(same_model(name, other, series=series) for other in names):
            names.append(name)
    return names


def same_model(one: str, other: str, *, series: bool = False) -> bool:
    """Whether two names stand for the same class with the same settings."""
    a, b = make_fuser(one, series=series), make_fuser(other, series=series)
    return type(a) is type(b) and a.get_params() == b.get_params()


def _draw(ratings: Ratings, folds: int, seed: int) -> _Splits:
    rng = np.random.default_rng(seed)
    series = ratings.is_series
    fold_of = (
        held_out_stretches.stretch_folds(ratings, joint_traces.WINDOW, folds, rng)
        if series
        else judgement_folds(ratings, folds, rng)
    )
    hidden = [fold_of == f for f in range(folds) if (fold_of == f).any()]
    return _Splits(hidden, annotator_folds(ratings, folds, rng))


def _try_all(
    names: Sequence[str],
    ratings: Ratings,
    features: item_table.ItemTable | None,
    splits: _Splits,
    jobs: Workers,
    on_task: OnTask | None,
) -> dict[str, Findings]:
    parts = [("whole", None), *(("hidden", h) for h in splits.hidden), *(("people", p) for p in splits.people)]
    tasks = [(name, kind, which) for name in names for kind, which in parts]
    results = run_tasks(_try_one, tasks, jobs, on_task, common=(ratings, features))
    people = 1 + len(splits.hidden)  # where the results about left-out annotators begin
    found = {}
    for i, name in enumerate(names):
        own = results[i * len(parts) : (i + 1) * len(parts)]
        effort, fused = own[0]
        found[name] = Findings(effort, fused, own[1:people], np.concatenate([np.zeros(0), *own[people:]]))
    return found


def _try_one(name: str, kind: str, which: Any, ratings: Ratings, features: item_table.ItemTable | None) -> Any:
    """One fit: of everything, without some judgements, or without some annotators."""
    fuser = make_fuser(name, series=ratings.is_series)
    if kind == "hidden":
        return held_out_ratings.score_hidden(fuser, ratings, features, which)
    if kind == "people":
        return held_out_ratings.left_out_agreement(fuser, ratings, features, which)
    effort = held_out_ratings.timed_fit(fuser, ratings, features)
    return effort, fuser.fuse()


def _contrasts(
    found: Mapping[str, Findings], splits: _Splits, reference: item_table.ItemTable | None, seed: int, series: bool
) -> tuple[Contrast, ...]:
    """The two questions, as far as the models that they are about were tried."""
    hidden = float(np.mean([part.mean() for part in splits.hidden]))
    answered = []
    for question, first, second in QUESTIONS:
        one = next((name for name in found if name == first or same_model(name, first, series=series)), None)
        if one is None or second not in found:
            continue
        a, b = found[one], found[second]
        density = [x.log_density - y.log_density for x, y in zip(a.held_out, b.held_out, strict=True)]
        answered.append(
            comparison_results.contrast(
                question,
                (one, second),
                paired_t(np.array(density), overlap=hidden / (1 - hidden)),
                paired_t(a.agreement - b.agreement),
                # Frames of a recording are not drawn anew one by one.
                UNKNOWN if reference is None or series else _reference_shares(a.fused, b.fused, reference, seed),
            )
        )
    return tuple(answered)


def _reference_shares(first: Fused, second: Fused, reference: item_table.ItemTable, seed: int) -> tuple[float, float]:
    """Shares of resamples of the reference's items in which the first has the higher mean CCC, mean Pearson."""
    counts = resample_counts(reference.M, RESAMPLES, np.random.default_rng(seed))
    a, b = (
        resampled_scores(
            comparison_results.truth_table(fused).select_items(reference.items).select_columns(reference.columns).value,
            reference.value,
            counts,
        )
        for fused in (first, second)
    )
    ccc = better_share(a.ccc.mean(axis=1, keepdims=True), b.ccc.mean(axis=1, keepdims=True))
    pearson = better_share(a.pearson.mean(axis=1, keepdims=True), b.pearson.mean(axis=1, keepdims=True))
    return float(ccc[0]), float(pearson[0])
