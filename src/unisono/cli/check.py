"""`unisono check`: what is in a file of ratings, how far annotators agree, what deserves a look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from unisono.cli.options import category_option, json_option, ratings_argument, reading_options
from unisono.cli.reading import read_answers_quietly
from unisono.cli.talk import number, print_json, print_table, tell
from unisono.data.introduction import counted

if TYPE_CHECKING:
    from unisono.data.categories import Categories
    from unisono.evaluate.category_overview import CategoryOverview
    from unisono.evaluate.overview import Overview

EXPLAINED = (
    "alpha: Krippendorff's, 1 is perfect, 0 is chance. ICC(A,1): reliability of one rating, ICC(A,k): of the mean of "
    "all. r others: correlation of an annotator with the mean of the others, median. In brackets: 95 % intervals. "
    "`unisono agreement` has more."
)


@click.command("check")
@ratings_argument
@reading_options
@category_option
@click.option("--strict", is_flag=True, help="Exit with code 1 if anything deserves a look.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    ratings: str,
    reading: dict[str, Any],
    categories: dict[str, str] | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Check a table of RATINGS: coverage, agreement between annotators, and what looks suspicious.

    RATINGS is a table of any shape (CSV, XLSX, JSON, Parquet, packed or not), or - for standard input.
    """
    from unisono.api import check

    read = read_answers_quietly(ratings, reading, categories)
    found = check(read)
    if as_json:
        print_json(found.to_dict())
    else:
        if found.dimensions:
            _print(found)
        if read.categories is not None:
            _print_categories(read.categories, found.categories, alone=not found.dimensions)
    if strict and (found.alerts or any(one.alerts for one in found.categories)):
        ctx.exit(1)


def _print_categories(answers: Categories, chosen: tuple[CategoryOverview, ...], *, alone: bool) -> None:
    from unisono.report.agreement import in_brackets
    from unisono.report.categories import reading_line, recognised_line

    for line in [*(reading_line(answers) if alone else []), *recognised_line(answers)]:
        click.echo(line)
    counts = [
        [one.name, str(one.answers), str(one.items), str(one.annotators), str(len(one.classes)), _common(one.classes)]
        for one in chosen
    ]
    print_table(["categories", "answers", "items", "annotators", "classes", "most chosen"], counts)
    agreed = [
        [one.name, in_brackets(one.alpha._asdict()), in_brackets(one.ac1._asdict()), number(one.others, 2)]
        for one in chosen
    ]
    print_table(["agreement", "alpha (nominal)", "AC1", "with most others"], agreed)
    for one in chosen:
        for alert in one.alerts:
            click.echo(f"  {alert.severity}: {alert.message}")


def _common(classes: dict[str, int]) -> str:
    name = max(classes, key=lambda label: classes[label])
    return f"{name} ({100 * classes[name] / max(sum(classes.values()), 1):.0f} %)"


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
