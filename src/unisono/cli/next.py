"""`unisono next`: what to rate next, and whom to ask."""

from __future__ import annotations

from pathlib import Path

import click

from unisono.cli.options import json_option
from unisono.cli.talk import number, print_json, print_table, tell

NO_ADVICE = "the advice is about the other dimensions."
NOTHING = "which items to rate next, and whom to ask, cannot be told from these ratings."
UNITS = (
    "uncertainty: of the item's truth, in standard deviations of the truth over items. reduction: share of it that one "
    "more typical rating removes. information: share of the truth's variance that one rating explains."
)


@click.command("next")
@click.argument("fit", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--count", type=click.IntRange(min=1), default=10, show_default=True, help="Items and annotators shown.")
@json_option
def command(fit: Path, count: int, as_json: bool) -> None:
    """Say which items to rate next, and whose ratings tell most.

    FIT is the folder that `unisono fuse --out` wrote, or the fit/ in it. Items are ranked by how much uncertainty one
    more rating by a typical annotator would remove, annotators by how much of the truth's variance one rating explains.
    """
    from unisono.api import load
    from unisono.fusers.advice import next_ratings
    from unisono.io.saved import load_fit
    from unisono.report.alerts import nothing_shared
    from unisono.report.summary import TWO

    saved = load_fit(fit)
    found = next_ratings(load(fit), saved)
    items = list(zip(found.items, found.item_sd.tolist(), found.item_reduction.tolist(), strict=True))[:count]
    people = list(zip(found.annotators, found.information.tolist(), strict=True))[:count]
    if as_json:
        keys = ("item", "uncertainty", "expected_reduction")
        rows = [dict(zip(keys, row, strict=True)) for row in items]
        told = [{"annotator": k, "information": v} for k, v in people]
        print_json({"items": rows, "annotators": told, "unclear": found.unclear})
        return
    if found.unclear:
        tell(nothing_shared(found.unclear, saved.dimensions, NO_ADVICE if found.items else NOTHING))
    if not found.items:
        return
    print_table(["rate next", "uncertainty", "reduction"], [[m, number(sd), number(less)] for m, sd, less in items])
    print_table(["ask", "information"], [[k, number(value)] for k, value in people])
    tell(UNITS)
    if len(found.annotators) == 2:
        tell(TWO)
