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
    from unisono.errors import NoNumbersError

    classes = _class_scores(truth, reference, reading, categories)
    try:
        found = _number_scores(truth, reference, reading, [one.name for one in classes])
    except NoNumbersError:
        if not classes:
            raise
        found = None
    if found is not None:
        _tell_what_did_not_join(found)
    if as_json:
        data = {} if found is None else found.to_dict()
        print_json(data | ({"categories": [one.to_dict() for one in classes]} if classes else {}))
        return
    if found is not None:
        _print_numbers(found)
    if classes:
        _print_classes(classes)


def _number_scores(truth: str, reference: str, reading: dict[str, Any], words: Sequence[str]) -> Scores:
    from unisono.cli.reading import number_table
    from unisono.evaluate.scoring import score_tables
    from unisono.io.align import align_to

    tables = [number_table(source, reading, words) for source in (truth, reference)]
    return score_tables(*tables, align=align_to)


def _class_scores(
    truth: str, reference: str, reading: dict[str, Any], categories: dict[str, str] | None
) -> tuple[CategoryScore, ...]:
    from unisono.evaluate.category_scoring import score_categories
    from unisono.io.item_classes import read_item_classes, read_probabilities

    names = None if categories is None else list(categories)
    if "-" in (truth, reference) or names == ["none"]:
        return ()  # standard input is read once, by the numbers
    ours, theirs = (
        read_item_classes(one, item=reading["item"], names=names, sheet=reading["sheet"]) for one in (truth, reference)
    )
    return score_categories(ours.of, theirs.of, read_probabilities(truth))


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
