"""`unisono leaderboard`: which system is best, which differences are real, what ranks systems may have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.model_options import kind_option
from unisono.cli.option_groups import NEW_FOLDER, QUESTION, RESULT, command, option, takes
from unisono.cli.setting_table import BOARD, WHO
from unisono.cli.table_options import TablePath, json_option, ratings_argument, reading_options
from unisono.cli.terminal import print_json, print_table, say, tell
from unisono.errors import LeftOutWarning, taken

if TYPE_CHECKING:
    from unisono.evaluate.leaderboard_results import Leaderboard


def named_numbers(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, float] | None:
    """NAME=NUMBER pairs as a mapping; None when there are none."""
    found: dict[str, float] = {}
    for text in given:
        name, mark, number = text.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            mark = ""
        if not mark:
            raise click.BadParameter(f"'{text}' is not NAME=NUMBER.", ctx, param)
    return found or None


@command("leaderboard")
@ratings_argument
@reading_options
@kind_option
@option(
    QUESTION, "--by", metavar="COLUMN", help="Column that names the system of a row.  [default: comparisons of systems]"
)
@option(QUESTION, "--prompt", metavar="COLUMN", help="Column that names what systems were asked, to pair them.")
@option(
    QUESTION, "--items", type=TablePath(), metavar="FILE", help="Table with these columns, if RATINGS has them not."
)
@option(
    QUESTION,
    "--weight",
    "weights",
    metavar="NAME=NUMBER",
    multiple=True,
    callback=named_numbers,
    help="Weight of a dimension in the overall mean. Repeatable.  [default: no overall mean]",
)
@option(
    QUESTION,
    "--these",
    default="",
    metavar="WORD,...",
    help="prompts, people: intervals for these very ones.  [default: for others of the kind]",
)
@takes("--set", *WHO[:2], *BOARD)
@option(RESULT, "--strict", is_flag=True, help="Exit with code 1 if systems are confounded with annotators or prompts.")
@option(RESULT, "--out", type=NEW_FOLDER, metavar="DIR", help="Folder for the tables.")
@json_option
@click.pass_context
def leaderboard_command(
    ctx: click.Context,
    /,
    ratings: str,
    reading: dict[str, Any],
    strict: bool,
    out: Path | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Rank the systems whose outputs are scored in RATINGS: means, differences that are clear, ranks they may have.

    A row names a system (--by), what it was asked (--prompt, or the item where systems share items) and who scored it,
    if anybody did; without --by it is a comparison of two systems. Annotators' leniency is taken out; people define the
    means where there are any, judges make them more precise. Intervals of differences and ranks hold together, in nine
    of ten tables. --out DIR writes systems.csv, differences.csv, variances.csv, a summary and report.html with a
    picture.
    """
    from unisono.api import leaderboard

    with taken(LeftOutWarning):  # other columns of an evaluation log are no ratings
        found = leaderboard(ratings, asked.pop("by"), asked.pop("prompt"), **asked, **reading)
    if out is not None:
        found.save(out)
        say(f"Written to {out}: {', '.join(f'{name}.csv' for name in found.tables())}, summary.txt, report.html")
    if as_json:
        print_json(found.to_dict())
    else:
        show_leaderboard(found)
    if strict and found.confounded:
        ctx.exit(1)


def show_leaderboard(found: Leaderboard) -> None:
    """A table for every dimension, and what can be concluded."""
    tell(f"{found.source}: {found.whose}; in brackets {found.level:.0%} intervals")
    table = found.system_columns()
    rows = list(zip(*table.values(), strict=True))
    for d, name in enumerate(found.dimensions):
        shown = [
            [system, f"{mean:.3g} [{low:.3g}, {high:.3g}]", f"{first}" if first == last else f"{first} to {last}"]
            + [f"{best:.2f}"]
            for dimension, system, mean, low, high, first, last, best in rows
            if dimension == name
        ]
        print_table([name, "mean", "rank", "best"], shown)
        for line in found.conclusions(d):
            tell(line)
    for note in found.notes:
        tell(note)
