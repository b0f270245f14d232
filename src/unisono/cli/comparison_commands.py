"""`unisono compare`, `cross-validate` and `score`: models against each other, and a truth against a reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli import table_options as tables
from unisono.cli.model_options import Jobs, jobs_options
from unisono.cli.option_groups import QUESTION, command, option, takes
from unisono.cli.setting_table import COPIES, ENGINE, SELECTION, SPLITTING
from unisono.cli.terminal import deliver, number, print_table, say, task_progress, tell
from unisono.tables.labels import counted, listed

if TYPE_CHECKING:
    from unisono.evaluate.comparison_results import Comparison, ModelRow
    from unisono.evaluate.cross_validation import CrossValidation, ModelResult
    from unisono.evaluate.scoring import CategoryScore, Scores


FIGURES = ("log_density", "log_density_se", "rmse", "rmse_se", "coverage", "agreement", "agreement_se")
HEAD = ["model", "log density", "s.e.", "RMSE", "s.e.", "90 % cover", "agreement", "s.e."]


@command("compare")
@tables.ratings_if_any
@tables.comparisons_option
@tables.reading_options
@option(QUESTION, "--reference FILE", "Known truth: item, then dimensions.", tables.TablePath())
@tables.features_option
@tables.models_option("all")
@takes("--set", *SPLITTING, *COPIES, *ENGINE)
@jobs_options
@tables.out_option
@tables.json_option
def compare_command(
    ratings: str | None,
    comparisons: str | None,
    reading: dict[str, Any],
    reference: str | None,
    features: str | None,
    out: Path | None,
    as_json: bool,
    jobs: Jobs,
    **settings: Any,
) -> None:
    """Compare all models on RATINGS, and say whether joint modelling helps on them.

    Every model is fitted with a part of the ratings hidden and predicts the hidden ones; every annotator is left out
    and correlated with the truth fused from the others. With --reference, models are scored against it too. Figures
    are in standard deviations of the ratings; docs/compare.md says how to read them. With --comparisons FILE instead,
    comparisons are left out and predicted, with annotators told apart and alike.

    \b
    Models: auto, joint, independent, paper-joint,
            paper-independent, mean, median, zscore-mean,
            ewe, weighted-mean,
            items alone: types, regions, curved, raykar
            traces alone: aligned-mean, lag-mi, dtw-mean,
            windowed-ewe, rank-mean, fpca, dpcca, dpctw
    """
    from unisono.api import compare
    from unisono.tables.reading.ratings_reader import read_ratings

    if comparisons is not None:
        split = {name: settings[name] for name in ("folds", "seed") if settings.get(name) is not None}
        deliver(compare(comparisons=comparisons, **split), out, as_json, click.echo)
        return
    table = read_ratings(ratings, **reading)
    known, described = tables.side_table(reference, reading), tables.side_table(features, reading, complete=True)
    with jobs.open() as workers, task_progress("Comparing") as on_task:
        found = compare(table, reference=known, features=described, jobs=workers, on_task=on_task, **settings)
    deliver(found, out, as_json, _print_comparison)


def _print_comparison(found: Comparison) -> None:
    what = "recording" if found.kind == "series" else "item"
    counts = [(found.items, what), (found.annotators, "annotator"), (found.judgements, "judgement")]
    tell(
        f"{found.source}: {', '.join(counted(n, one) for n, one in counts)}; {found.folds} folds, seed {found.seed}; "
        "figures in standard deviations of the ratings, s.e.: standard error of the figure before it"
    )
    against = [] if found.reference is None else ["CCC", "Pearson"]
    print_table([*HEAD, *against, "seconds", "iterations"], [_cells(row, bool(against)) for row in found.rows])
    tell(found.answer)


def _cells(row: ModelRow, referenced: bool) -> list[Any]:
    figures = [getattr(row, name) for name in FIGURES]
    against = [row.ccc, row.pearson] if referenced else []
    iterations = f"{row.iterations}" if row.converged else f"{row.iterations}, not converged"
    return [row.model, *figures, *against, number(row.seconds, 2), iterations if row.iterations else None]


METRICS = {"ccc": "CCC", "pearson": "Pearson"}


@command("cross-validate")
@tables.ratings_argument
@tables.reading_options
@option(QUESTION, "--reference FILE", "Known truth: item, dimensions.", tables.TablePath(), required=True)
@tables.features_option
@tables.models_option("paper-joint,paper-independent,auto,auto+gold,mean", suffix="+gold")
@takes("--set", *SPLITTING, *SELECTION, *ENGINE)
@jobs_options
@tables.out_option
@tables.json_option
def cross_validate_command(
    ratings: str,
    reading: dict[str, Any],
    reference: str,
    features: str | None,
    out: Path | None,
    as_json: bool,
    jobs: Jobs,
    **settings: Any,
) -> None:
    """Cross-validate models on RATINGS against a reference, with the paper's protocol.

    Items are dealt out to folds; each fold is tested once, the next one validates, the others train. After every EM
    iteration a model is scored on the validation items (CCC) and the best iteration is kept; the test items are then
    fused with fixed parameters. A model's name followed by +gold gets the validation labels as known truths.
    """
    from unisono.api import cross_validate
    from unisono.tables.reading.ratings_reader import read_ratings

    table = read_ratings(ratings, **reading)
    known, described = tables.side_table(reference, reading), tables.side_table(features, reading, complete=True)
    assert known is not None
    with jobs.open() as workers, task_progress("Cross-validating") as on_task:
        found = cross_validate(table, known, features=described, jobs=workers, on_task=on_task, **settings)
    deliver(found, out, as_json, _print_cross_validation)


def _print_cross_validation(found: CrossValidation) -> None:
    tell(
        f"{found.source} against {found.reference}: {counted(found.items, 'item')}, {found.folds} folds, "
        f"seed {found.seed}; "
        + ("iterations chosen on the validation items" if found.selected else "models as they converge")
    )
    rows = [[row.model, row.ccc, row.pearson, _iterations(row)] for row in found.models]
    print_table(["model", "CCC", "Pearson", "iteration"], rows)
    names = [row.model for row in found.models]
    print_table(["dimension", "", *names], list(_by_dimension(found)))
    for line in significance_lines(found):
        tell(line)


def _iterations(row: ModelResult) -> str:
    chosen = [iteration for fold in row.folds for iteration in fold.iterations]
    return f"{min(chosen)}" if min(chosen) == max(chosen) else f"{min(chosen)} to {max(chosen)}"


def _by_dimension(found: CrossValidation) -> Iterator[list[Any]]:
    for d, score in enumerate(found.models[0].dimensions):
        for metric, shown in METRICS.items():
            cells = [getattr(row.dimensions[d], metric) for row in found.models]
            yield [score.name if metric == "ccc" else "", shown, *cells]


def significance_lines(found: CrossValidation) -> Iterator[str]:
    """Who is significantly better than whom, and in what."""
    sure = [row for row in found.differences if row.better is not None]
    if not sure:
        yield "No difference between two models is significant."
    entries = [(row.better or "", row.second if row.better == row.first else row.first, row) for row in sure]
    pairs = sorted(entries, key=lambda entry: entry[:2])
    for (better, worse), rows in groupby(pairs, key=lambda entry: entry[:2]):
        what = ", ".join(f"{METRICS[row.metric]} of {row.dimension}" for _, _, row in rows)
        yield f"{better} is significantly better than {worse}: {what}."


@command("score")
@tables.table_argument("truth")
@tables.table_argument("reference")
@tables.item_options
@tables.category_option
@tables.json_option
def score_command(
    truth: str, reference: str, reading: dict[str, Any], categories: dict[str, str] | None, as_json: bool
) -> None:
    """Compare a fused TRUTH (the truth.csv of `fuse`) with a REFERENCE, dimension by dimension.

    Both are tables with a column for the item (and one for the time, in series) and one for each dimension. Prints
    the concordance correlation coefficient (CCC), Pearson's and Spearman's correlation and the root mean squared
    error, with the number of pairs. Series are scored with the frames of all recordings end to end, then with the lag
    taken out that suits best, then recording by recording. Classes of categories are compared by accuracy and macro
    F1, and by log loss and calibration where the categories.csv of `fuse` lies beside TRUTH.
    """
    from unisono.api import score

    found = score(truth, reference, categories=None if categories is None else list(categories), **reading)
    if found.dimensions:
        _tell_what_did_not_join(found)
    deliver(found, None, as_json, _print_scores)


def _print_scores(found: Scores) -> None:
    if found.dimensions:
        _print_numbers(found)
    if found.categories:
        _print_classes(found.categories)


def _print_classes(found: Sequence[CategoryScore]) -> None:
    rows = [
        [one.name, one.n, one.classes, one.accuracy, one.macro_f1, one.log_loss, one.calibration_error] for one in found
    ]
    print_table(["categories", "n", "classes", "accuracy", "macro F1", "log loss", "calibration error"], rows)
    for one in found:
        if one.not_in_truth:
            say(f"Nobody chose {listed(one.not_in_truth)} for '{one.name}', which the reference has.")


def _print_numbers(found: Scores) -> None:
    rows = [[row.name, row.n, row.ccc, row.pearson, row.rmse, row.spearman] for row in found.dimensions]
    print_table(["dimension", "n", "CCC", "Pearson", "RMSE", "Spearman"], rows)
    if found.at_best_lag:
        _print_series(found)


def _print_series(found: Scores) -> None:
    """What only series have: figures with the lag taken out, and recordings one by one."""
    lags = [[row.name, number(row.lag, 2), row.ccc, row.pearson] for row in found.at_best_lag]
    print_table(["at the best lag", "late by (s)", "CCC", "Pearson"], lags)
    if found.items > 1:
        rows = [[row.recording, row.name, row.n, row.ccc, row.pearson] for row in found.recordings]
        print_table(["recording", "dimension", "n", "CCC", "Pearson"], rows)


def _tell_what_did_not_join(found: Scores) -> None:
    _tell("only in the truth", found.only_in_truth)
    _tell("only in the reference", found.only_in_reference)
    _tell("only in the reference", found.dimensions_only_in_reference, "dimensions")
    if found.frames_without_partner:
        lie = "lies" if found.frames_without_partner == 1 else "lie"
        frames = counted(found.frames_without_partner, "frame")
        say(f"{frames} of the truth {lie} outside the times of the reference.")


def _tell(where: str, labels: Sequence[str], what: str = "items") -> None:
    if labels:
        say(f"{len(labels)} {what if len(labels) > 1 else what[:-1]} {where}: {listed(labels)}.")
