"""`unisono check`: what is in a file of ratings, how far annotators agree, what deserves a look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from unisono.cli.options import json_option, ratings_argument, reading_options
from unisono.cli.reading import read_quietly
from unisono.cli.talk import number, print_json, print_table, tell
from unisono.data.introduction import counted

if TYPE_CHECKING:
    from unisono.evaluate.overview import Overview

EXPLAINED = (
    "alpha: Krippendorff's, 1 is perfect, 0 is chance. ICC(A,1): reliability of one rating, ICC(A,k): of the mean of "
    "all. r others: correlation of an annotator with the mean of the others, median. In brackets: 95 % intervals. "
    "`unisono agreement` has more."
)


@click.command("check")
@ratings_argument
@reading_options
@click.option("--strict", is_flag=True, help="Exit with code 1 if anything deserves a look.")
@json_option
@click.pass_context
def command(ctx: click.Context, ratings: str, reading: dict[str, Any], strict: bool, as_json: bool) -> None:
    """Check a table of RATINGS: coverage, agreement between annotators, and what looks suspicious.

    RATINGS is a CSV, TSV or Parquet file, gzipped or not, or - for standard input.
    """
    from unisono.data.checks import require_overlap
    from unisono.evaluate.overview import overview

    table = read_quietly(ratings, reading)
    require_overlap(table)
    found = overview(table)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    if strict and found.alerts:
        ctx.exit(1)


def _print(found: Overview) -> None:
    from unisono.report.reading import reading_lines

    for line in reading_lines(found.reading):
        tell(line)
    what = "recording" if found.kind == "series" else "item"
    counts = [(found.items, what), (found.annotators, "annotator"), (len(found.dimensions), "dimension")]
    tell(f"{found.source}: {', '.join(counted(n, one) for n, one in [*counts, (found.judgements, 'judgement')])}")
    if found.rate is not None and found.seconds is not None:
        frames = "frame" if found.rate == 1 else "frames"
        tell(f"{found.seconds:.1f} seconds in all, brought to {found.rate:g} {frames} per second")
    tell(f"annotators per {what}: {_span(found.annotators_per_item)}")
    tell(f"{what}s per annotator: {_span(found.items_per_annotator)}")
    from unisono.report.agreement import in_brackets

    values = [
        [row.name, str(row.ratings), str(row.missing), *(f"{value:.4g}" for value in (row.low, row.mean, row.high))]
        for row in found.dimensions
    ]
    print_table(["dimension", "n", "missing", "min", "mean", "max"], values)
    agreed = [
        [row.name, *(in_brackets(one._asdict()) for one in (row.alpha, row.icc_a1, row.icc_ak)), number(row.others)]
        for row in found.dimensions
    ]
    print_table(["agreement", "alpha", "ICC(A,1)", "ICC(A,k)", "r others"], agreed)
    tell(EXPLAINED)
    tell("Nothing looks suspicious." if not found.alerts else "Worth a look:")
    for alert in found.alerts:
        tell(f"  {alert.severity}: {alert.message}")


def _span(counts: tuple[int, float, int]) -> str:
    least, median, most = counts
    return f"{least}" if least == most else f"{least} to {most}, median {median:g}"
