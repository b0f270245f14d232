"""`unisono import`: the files of other tools become a table of ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.options import TablePath
from unisono.cli.talk import say

if TYPE_CHECKING:
    from unisono.io.importing.answers import Imported


def _list_kinds(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from unisono.io.importing.registry import KINDS

    for name, kind in KINDS.items():
        click.echo(f"{name:<14} {kind.about}")
    ctx.exit()


def _pairs(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """NAME=SOURCE; several sources may share a name."""
    found = []
    for text in given:
        name, _, source = text.partition("=")
        if not name.strip():
            raise click.BadParameter(f"'{text}' has no name before the equals sign.", ctx, param)
        found.append((name.strip(), source.strip() or name.strip()))
    return tuple(found)


def _words(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, float | None]:
    """WORD=NUMBER, several between commas; nothing behind the equals sign means missing."""
    found: dict[str, float | None] = {}
    for text in (part for entry in given for part in entry.split(",") if part.strip()):
        word, mark, number = text.rpartition("=")
        try:
            found[word.strip()] = float(number) if number.strip() else None
        except ValueError:
            mark = ""
        if not mark or not word.strip():
            raise click.BadParameter(f"'{text.strip()}' is not of the form WORD=NUMBER.", ctx, param)
    return found


_WHERE = [
    click.option("--item", metavar="PATH", help="Column or path that names the item; several between commas."),
    click.option("--annotator", metavar="PATH", help="Column or path that names the annotator."),
    click.option(
        "--dim", "dims", metavar="NAME[=SOURCE]", multiple=True, callback=_pairs, help="Dimension to take. Repeatable."
    ),
    click.option("--records", metavar="PATH", help="json: where the records are.  [default: the elements of the list]"),
    click.option("--dimension", metavar="PATH", help="json: where a record names its dimension (with --value)."),
    click.option("--value", metavar="PATH", help="json: where its number is."),
    click.option("--kind", metavar="PATH", help="json: where it says what the annotator is; =judge for all."),
    click.option("--time", metavar="PATH", help="json: where its time is; makes traces."),
    click.option("--time-unit", type=click.Choice(("s", "ms", "us", "min")), help="Unit of time.  [default: s]"),
    click.option("--names", metavar="TEMPLATE", help="What paths of files say, as in '{dimension}/{item}.csv'."),
    click.option("--shift", type=float, metavar="SECONDS", help="Added to every time of traces."),
    click.option(
        "--rate", type=click.FloatRange(min=0, min_open=True), metavar="HZ", help="Samples per second of elan's tiers."
    ),
]


def _where_options(command: Any) -> Any:
    for option in reversed(_WHERE):
        command = option(command)
    return command


@click.command("import")
@click.argument("tool", metavar="KIND")
@click.argument("files", type=TablePath(), nargs=-1, required=True, metavar="FILE...")
@_where_options
@click.option(
    "--labels", metavar="WORD=NUMBER,...", multiple=True, callback=_words, help="Numbers of words; none: missing."
)
@click.option(
    "--duplicates",
    type=click.Choice(("error", "first", "last", "mean")),
    help="Which of several answers in one place counts.  [default: error, or as the kind has it]",
)
@click.option(
    "--dropped", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="CSV of what was left out."
)
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="CSV file to write.")
@click.option("--list", is_flag=True, is_eager=True, expose_value=False, callback=_list_kinds, help="Name all kinds.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    tool: str,
    files: tuple[str, ...],
    labels: dict[str, float | None],
    duplicates: str | None,
    dropped: Path | None,
    out: Path | None,
    **words: Any,
) -> None:
    """Make a table of ratings from FILEs that another tool wrote; KIND says which one.

    The table has the columns item, annotator, kind (human, judge, code; where the tool knows it), time (traces, in
    seconds) and one per dimension. It goes to standard output without -o. Units, ranges and everything left out are
    told on standard error. See docs/importing.md for the kinds; `unisono import --list` names them.
    """
    from unisono.io.importing.answers import Answers
    from unisono.io.importing.registry import import_files
    from unisono.io.importing.request import Request

    try:
        found = import_files(tool, files, Answers(labels, duplicates), Request(**words))
    except ValueError as error:
        from unisono.errors import DataError

        if isinstance(error, DataError):
            raise
        raise click.UsageError(str(error), ctx) from None
    _write(found, out, dropped)
    _tell(found, out)


def _write(found: Imported, out: Path | None, dropped: Path | None) -> None:
    import polars as pl

    from unisono.io.atomic import atomic_path

    if dropped is not None:
        with atomic_path(dropped) as temporary:
            rows = {"place": [str(entry.place) for entry in found.dropped]}
            pl.DataFrame(rows | {"reason": [entry.reason for entry in found.dropped]}).write_csv(temporary)
    if out is None:
        click.echo(found.frame.write_csv(), nl=False)
        return
    with atomic_path(out) as temporary:
        found.frame.write_csv(temporary)


def _tell(found: Imported, out: Path | None) -> None:
    from unisono.io.importing.answers import dropped_lines

    for line in [*found.facts, *dropped_lines(found.dropped)]:
        say(line)
    if not found.dropped:
        say("Dropped nothing.")
    if out is not None:
        say(f"Written to {out}: {found.frame.height} rows, columns {', '.join(found.frame.columns)}.")
