"""`unisono collect pay`: the lists of who is approved, rejected and given a bonus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unisono.errors import DataError

if TYPE_CHECKING:
    from unisono.collect.export.pay import Rules
    from unisono.collect.store.database import Database
    from unisono.collect.studies import StudyFolder


def write_pay(study: StudyFolder, store: Database, out: Path, rules: Rules, annotators: Path | None) -> None:
    """Writes the lists, and says how many are on each."""
    from unisono.collect.export.pay import verdicts, write_lists

    spammers = spammer_probabilities(annotators) if annotators else {}
    found = store.read(lambda connection: verdicts(connection, study, rules, spammers))
    for path in write_lists(found, study.study.raters.source, out):
        click.echo(path)
    look = sum(one.is_doubtful for one in found)
    bad = sum(bool(one.reason) for one in found) - look
    paid = sum(one.bonus > 0 for one in found)
    counts = f"{len(found) - bad - look} to approve, {bad} to reject, {look} to look at first, {paid} with a bonus"
    click.echo(f"{counts}. Nothing was sent.", err=True)


def spammer_probabilities(path: Path) -> dict[str, float]:
    """The column `spammer` of the annotators_overall.csv that `unisono fuse` writes."""
    from unisono.collect.studies.tables import read_rows
    from unisono.io.reading.source import open_table

    if path.is_file() and {"annotator", "dimension"} <= set(open_table(path).columns):
        raise DataError(
            f"{path} has one row per annotator and dimension. Give annotators_overall.csv, which `unisono fuse` writes "
            "beside it: it says of each annotator how likely they are a spammer."
        )
    found: dict[str, float] = {}
    for where, cells in read_rows(path, ("annotator", "spammer")):
        try:
            found[cells["annotator"]] = float(cells["spammer"] or 0)
        except ValueError:
            raise DataError(f"{where}: spammer is '{cells['spammer']}'. It is a probability from 0 to 1.") from None
    return found
