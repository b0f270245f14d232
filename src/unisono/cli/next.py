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

TRACE_UNITS = (
    "uncertainty: of the recording's truth, in standard deviations of the truth over all recordings. reduction: share "
    "of it that one more typical annotator removes. information: share of the truth's variance that one annotator "
    "explains."
)


@click.command("next")
@click.argument("fit", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--count", type=click.IntRange(min=1), default=10, show_default=True, help="Items and annotators shown.")
@json_option
def command(fit: Path, count: int, as_json: bool) -> None:
    """Say which items to rate next, and whose ratings tell most.

    FIT is the folder that `unisono fuse --out` wrote, or the fit/ in it. Items are ranked by how much uncertainty one
    more rating by a typical annotator would remove, annotators by how much of the truth's variance one rating explains.
    Of traces it says which recordings, and which stretches of them, need another annotator.
    """
    from unisono.api import next_ratings
    from unisono.report.alerts import nothing_shared
    from unisono.report.summary import TWO

    advice = next_ratings(fit)
    found = advice.to_dict(count)
    if as_json:
        print_json(found)
        return
    if advice.unclear:
        tell(nothing_shared(advice.unclear, advice.dimensions, NO_ADVICE if advice.items else NOTHING))
    if not advice.items:
        return
    items, people = ([list(row.values()) for row in found[what]] for what in ("items", "annotators"))
    print_table(["rate next", "uncertainty", "reduction"], [[m, number(sd), number(less)] for m, sd, less in items])
    print_table(["ask", "information"], [[k, number(value)] for k, value in people])
    if advice.traces:
        rows = [
            [one["recording"], f"{one['begin']:g} to {one['end']:g} s"]
            + [number(one[what]) for what in ("uncertainty", "expected_reduction")]
            for one in found["stretches"]
        ]
        print_table(["recording", "stretch", "uncertainty", "reduction"], rows)
    tell(TRACE_UNITS if advice.traces else UNITS)
    if len(advice.annotators) == 2:
        tell(TWO)
