"""`unisono score`: how close a fused truth comes to a reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.options import category_option, item_options, json_option, table_argument
from unisono.cli.talk import number, print_json, print_table, say
from unisono.data.introduction import counted
from unisono.data.labels import listed

if TYPE_CHECKING:
    from unisono.evaluate.category_scoring import CategoryScore
    from unisono.evaluate.scoring import Scores


@click.command("score")
@table_argument("truth")
@table_argument("reference")
@item_options
@category_option
@json_option
def command(
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
    if as_json:
        print_json(found.to_dict())
        return
    if found.dimensions:
        _print_numbers(found)
    if found.categories:
        _print_classes(found.categories)


def _print_classes(found: Sequence[CategoryScore]) -> None:
    rows = [
        [one.name, str(one.n), str(one.classes), *(number(x) for x in (one.accuracy, one.macro_f1, one.log_loss))]
        + [number(one.calibration_error)]
        for one in found
    ]
    print_table(["categories", "n", "classes", "accuracy", "macro F1", "log loss", "calibration error"], rows)
    for one in found:
        if one.not_in_truth:
            say(f"Nobody chose {listed(one.not_in_truth)} for '{one.name}', which the reference has.")


def _print_numbers(found: Scores) -> None:
    rows = [
        [row.name, str(row.n), *(number(value) for value in (row.ccc, row.pearson, row.rmse, row.spearman))]
        for row in found.dimensions
    ]
    print_table(["dimension", "n", "CCC", "Pearson", "RMSE", "Spearman"], rows)
    if found.at_best_lag:
        _print_series(found)


def _print_series(found: Scores) -> None:
    """What only series have: figures with the lag taken out, and recordings one by one."""
    lags = [[row.name, number(row.lag, 2), number(row.ccc), number(row.pearson)] for row in found.at_best_lag]
    print_table(["at the best lag", "late by (s)", "CCC", "Pearson"], lags)
    if found.items > 1:
        rows = [[row.recording, row.name, str(row.n), number(row.ccc), number(row.pearson)] for row in found.recordings]
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
