"""`unisono judges`, `leaderboard`, `plan` and `next`: judges beside people, which system is best, what to rate next."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.model_options import covariate_option, kind_option
from unisono.cli.option_groups import FOLDER, NEW_FOLDER, QUESTION, RESULT, by_name, command, option, takes
from unisono.cli.setting_table import BOARD, DRAWN, FROM_ONE, JUDGING, WHO
from unisono.cli.table_options import TablePath, json_option, ratings_argument, reading_options
from unisono.cli.terminal import estimation_progress, number, print_json, print_table, say, tell
from unisono.errors import LeftOutWarning, taken
from unisono.tables.labels import counted

if TYPE_CHECKING:
    from unisono.evaluate.judges_beside_people import JudgesReport
    from unisono.evaluate.leaderboard_results import Leaderboard


named_numbers = functools.partial(by_name, read=float)
SHOWN = 10  # items named
PANEL = ("leniency", "gain", "shared_error", "share", "effective")
MEANINGS = (
    "r: correlation with the mean of people; gain: change of the answer per unit of truth; leniency: answer less "
    "people's. effective: independent judges that would be worth as much."
)
TARGET = 0.9  # correlation of estimate and truth that is reckoned enough


@command("judges")
@ratings_argument
@reading_options
@kind_option
@covariate_option
@option(QUESTION, "--by COLUMN", "Column that names the system of an item: means of systems, and ties.")
@option(QUESTION, "--prompt COLUMN", "Column that names the prompt of an item, to pair systems.")
@option(QUESTION, "--items FILE", "Table with these columns, if RATINGS has them not.", TablePath())
@takes("--set", *WHO, *JUDGING)
@option(
    RESULT, "--fail-under FIGURE=NUMBER", "Exit with code 1 if a figure of judges.csv is lower.", each=named_numbers
)
@option(RESULT, "--strict", "Exit with code 1 if a judge is useless or harmful, or has changed.", is_flag=True)
@option(QUESTION, "--earlier FILE", "An earlier judges.csv: whose correlation has changed?", TablePath())
@option(RESULT, "--out DIR", "Folder for the tables.", NEW_FOLDER)
@json_option
@click.pass_context
def judges_command(
    ctx: click.Context,
    /,
    ratings: str,
    reading: dict[str, Any],
    fail_under: dict[str, float] | None,
    strict: bool,
    earlier: str | None,
    out: Path | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Look at judges in RATINGS beside people: each judge, the panel, whether judges may replace people, what to label.

    Kinds come from a column 'kind', --kind or --humans. With --by it also gives the leaderboard of systems. --out DIR
    writes judges.csv, groups.csv, people.csv, next_items.csv and, with --covariate, covariates.csv, with --by, the
    tables of `unisono leaderboard`.
    """
    from unisono.api import judges

    # Systems and prompts are no ratings.
    with taken(LeftOutWarning), estimation_progress("Estimating") as watching:
        found = judges(ratings, reading=reading, on_step=watching, **asked)
    if out is not None:
        found.save(out)
    low = found.lower_than(fail_under or {})
    changed = found.changed_since(earlier) if earlier else []
    if as_json:
        print_json(found.to_dict() | {"failed": low, "changed": changed})
    else:
        _show(found)
        for line in (*low, *changed):
            tell(line)
    if out is not None:
        say(f"Written to {out}: {', '.join(found.tables())}")
    if low or (strict and (changed or found.doubtful())):
        ctx.exit(1)


def _show(found: JudgesReport) -> None:
    tell(f"Judges beside '{found.reference}', who rated {found.labelled} items; the best first")
    print_table(["judge", "verdict", "r", "gain", "leniency"], found.verdict_rows())
    tell(MEANINGS)
    panel, rows = found.group_columns(), []
    for at, kind in enumerate(panel["kind"]):
        if kind != found.reference:  # whose leniency is 0 and gain 1: they define the truth
            figures = [float(panel[name][at]) for name in PANEL]
            rows.append([f"{kind}, {panel['dimension'][at]}", *(number(figure, 2) for figure in figures)])
    print_table(["group", *(name.replace("_", " ") for name in PANEL)], rows)
    tell(found.people_needed(TARGET))
    _show_effects(found.effects)
    if found.systems is not None:
        show_leaderboard(found.systems)
    say(f"People should rate next: {', '.join(found.next_items[:SHOWN])}")


def _show_effects(effects: dict[str, Any]) -> None:
    """Those effects of covariates that are clearly not nothing."""
    if not effects:
        return
    limits = zip(effects["low"], effects["high"], strict=True)
    clear = [row for row, (low, high) in enumerate(limits) if low > 0 or high < 0]
    shown = f"{len(clear)} of {len(effects['effect'])} effects of covariates are clear of 0"
    click.echo(f"{shown}: change of the answer per unit, with 90 % intervals" if clear else f"{shown}.")
    if clear:
        names = ("annotator", "dimension", "covariate", "effect", "low", "high")
        print_table(names, [[effects[name][row] for name in names] for row in clear])


NO_PLAN = "how many ratings would be enough there cannot be told from these."


@command("plan")
@click.argument("fit", type=FOLDER)
@option(QUESTION, "--most", "Ratings per item, or annotators per recording, at most.", FROM_ONE, default=20)
@option(QUESTION, "--target", "Correlation with the truth to reach.", click.FloatRange(0, 1), default=TARGET)
@takes("--set", *DRAWN, title=QUESTION)
@json_option
def plan_command(fit: Path, most: int, target: float, as_json: bool, **settings: Any) -> None:
    """Predict the error for 1, 2, ... ratings per item by annotators like those of FIT.

    For each dimension: the correlation of estimate and truth to expect, and the sd of the truth that remains. Of
    traces: for 1, 2, ... annotators per recording; of comparisons: per item, and beside ratings what a rating is worth.
    """
    from unisono.api import plan
    from unisono.evaluate.alerts import nothing_shared

    found = plan(fit, most=most, **settings)
    if as_json:
        print_json(found.to_dict(target))
        return
    if found.unclear:
        tell(nothing_shared(found.unclear, found.dimensions, NO_PLAN))
    if len(found.unclear) == len(found.dimensions):
        return
    each, enough = found.enough_each(target), found.enough(target)
    # One quantity at a time: side by side, seven dimensions would not fit a screen.
    for what, values in (
        ("Correlation of estimate and truth to expect", found.correlation),
        ("Standard deviation of the truth that remains, in the units of the ratings", found.sd),
    ):
        tell(f"{what}, by {found.by}")
        rows = [[str(n), *row] for n, row in zip(found.ratings, values.tolist(), strict=True)]
        print_table(["annotators" if found.traces else found.what, *found.dimensions], rows)
    most_tried = int(found.ratings[-1])
    if most_tried > found.people:
        tell(f"Beyond {counted(found.people, 'annotator')} of the fit, others are taken to be like them.")
    if not found.unclear:
        many = enough or most_tried
        are = f"{found.by} are" if many != 1 else f"{found.by.replace('s per', ' per', 1)} is"
        tell(f"{many} {are}{'' if enough else ' not'} enough for a correlation of {target:g} in every dimension.")
    if len(each) > 1:
        needed = [f"{name} {n or f'more than {most_tried}'}" for name, n in each.items() if name not in found.unclear]
        tell(f"Needed: {', '.join(needed)}.")
    for name, worth in found.worth.items():
        tell(f"{name}: at what is known now, a rating is worth {worth:.2g} comparisons.")


NO_ADVICE = "the advice is about the other dimensions."
NOTHING = "which items to rate next, and whom to ask, cannot be told from these ratings."
FEWEST = "Items with the fewest ratings first would serve as well; whom you ask makes more of a difference."
UNITS = (
    "uncertainty: of the item's truth, in standard deviations of the truth over items. reduction: share of it that one "
    "more typical rating removes. information: share of the truth's variance that one rating explains."
)

TRACE_UNITS = (
    "uncertainty: of the recording's truth, in standard deviations of the truth over all recordings. reduction: share "
    "of it that one more typical annotator removes. information: share of the truth's variance that one annotator "
    "explains."
)


@command("next")
@click.argument("fit", type=FOLDER)
@option(QUESTION, "--count", "Items and annotators shown.", FROM_ONE, default=10)
@option(QUESTION, "--pairs N", "Of comparisons: so many pairs.", FROM_ONE)
@json_option
def next_command(fit: Path, count: int, pairs: int | None, as_json: bool) -> None:
    """Say which items to rate next, and whose ratings tell most.

    FIT is the folder that `unisono fuse --out` wrote, or the fit/ in it. Items are ranked by how much uncertainty one
    more rating by a typical annotator would remove, annotators by how much of the truth's variance one rating explains.
    Of traces it says which recordings, and which stretches of them, need another annotator; of comparisons, which
    pairs to show, each item in one of them.
    """
    from unisono.api import next_ratings
    from unisono.evaluate.alerts import nothing_shared, said

    advice = next_ratings(fit, pairs=pairs)
    found = advice.to_dict(count if pairs is None else pairs)
    if as_json:
        print_json(found)
        return
    if "pairs" in found:
        rows = [[one["left"], one["right"], one["information"]] for one in found["pairs"]]
        print_table(["left", "right", "information"], rows)
        tell("information: nats that one answer by a usual annotator is expected to tell.")
        return
    if advice.unclear:
        tell(nothing_shared(advice.unclear, advice.dimensions, NO_ADVICE if advice.items else NOTHING))
    if not advice.items:
        return
    items, people = ([list(row.values()) for row in found[what]] for what in ("items", "annotators"))
    print_table(["rate next", "uncertainty", "reduction"], items)
    print_table(["ask", "information"], people)
    if advice.traces:
        rows = [
            [one["recording"], f"{one['begin']:g} to {one['end']:g} s", one["uncertainty"], one["expected_reduction"]]
            for one in found["stretches"]
        ]
        print_table(["recording", "stretch", "uncertainty", "reduction"], rows)
    tell(TRACE_UNITS if advice.traces else f"{UNITS} {FEWEST}")
    if len(advice.annotators) == 2:
        tell(said("reliability", "two"))


@command("leaderboard")
@ratings_argument
@reading_options
@kind_option
@option(QUESTION, "--by COLUMN", "Column that names the system of a row.  [default: comparisons of systems]")
@option(QUESTION, "--prompt COLUMN", "Column that names what systems were asked, to pair them.")
@option(QUESTION, "--items FILE", "Table with these columns, if RATINGS has them not.", TablePath())
@option(
    QUESTION, "--weight NAME=NUMBER", "Weight of a dimension in an overall mean.", name="weights", each=named_numbers
)
@option(QUESTION, "--these WORD,...", "prompts, people: intervals for these very ones, not for others too.", default="")
@takes("--set", *WHO[:2], *BOARD)
@option(RESULT, "--strict", "Exit with code 1 if systems are confounded with annotators or prompts.", is_flag=True)
@option(RESULT, "--out DIR", "Folder for the tables.", NEW_FOLDER)
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
