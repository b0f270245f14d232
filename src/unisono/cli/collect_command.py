"""`unisono collect`: make a study, serve it, invite raters, see how it goes, export what came in."""

from __future__ import annotations

import csv
import functools
import sys
from pathlib import Path

import click

from unisono.cli import collect_reports, option_groups, setting_table, table_options, terminal
from unisono.errors import DataError

try:
    from unisono.collect.languages.sentences import INCLUDED
    from unisono.collect.studies import Keys, open_folder
    from unisono.collect.studies.folder import STARTERS, write_starter
except ModuleNotFoundError as missing:
    raise click.UsageError(f"This needs one more package, {missing.name}: pip install 'unisono[collect]'.") from None


_option = functools.partial(option_groups.option, "Options")
_ENV = "UNISONO_DATABASE"
_folder = click.argument("folder", metavar="DIR", type=option_groups.NEW_FOLDER)
_database = _option("--database URL", "PostgreSQL address; else DIR/collect.db. [env: UNISONO_DATABASE]", envvar=_ENV)
_json = _option("--json", "All figures, for machines.", name="as_json", is_flag=True)
_links_begin = _option("--public-url URL", "Start of the links.", default="http://127.0.0.1:8400")
_port = _option("--port", "", click.IntRange(1, 65535), default=8400)


@click.group(name="collect")
def collect_command() -> None:
    """Run a rating study in the browser.

    \b
    unisono collect new my-study --template my-images
    unisono collect serve my-study
    unisono collect export my-study --out export
    """


@collect_command.command()
@_folder
@_option(
    "--template NAME",
    "; ".join(f"{name}: {line}" for name, line in STARTERS.items()) + ".",
    click.Choice(list(STARTERS)),
    default="saturation-brightness-images",
)
def new(folder: Path, template: str) -> None:
    """Write a study to start from into DIR."""
    for path in write_starter(folder, template):
        click.echo(path)
    click.echo(f"Edit {folder / 'study.toml'}, then: unisono collect serve {folder}", err=True)


@collect_command.command()
@_option("--language", "An included language.", click.Choice(INCLUDED), default="en")
def sentences(language: str) -> None:
    """Print every sentence that raters read, to translate: save it as lang.toml in the folder of a study."""
    from unisono.collect.languages.sentences import language_file

    click.echo(language_file(language), nl=False)


@collect_command.command()
@_folder
@_option("--seconds-per-answer", "For one scale of one item.", click.FloatRange(0), default=5.0)
@_option("--pay-per-hour", "What a rater is paid, for the cost.", click.FloatRange(0), default=0.0, show_default=False)
@_json
def check(folder: Path, seconds_per_answer: float, pay_per_hour: float, as_json: bool) -> None:
    """Check the study in DIR: mistakes, items, files that are none, sentences still in English, minutes, cost."""
    from unisono.collect.studies.estimate import estimate

    found = estimate(open_folder(folder), seconds_per_answer, pay_per_hour)
    (terminal.print_json if as_json else collect_reports.show_estimate)(found)


@collect_command.command()
@_folder
@_port
def preview(folder: Path, port: int) -> None:
    """Show the study in DIR as raters will see it; nothing is stored."""
    from unisono.collect.app.serve import Address
    from unisono.collect.app.serve import preview as run_preview

    run_preview(open_folder(folder), Address(port=port))


@collect_command.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=option_groups.NEW_FOLDER)
@_option(
    "--database URL",
    "PostgreSQL address of each DIR. [env: UNISONO_DATABASE]",
    name="databases",
    multiple=True,
    envvar=_ENV,
)
@_option("--host", "Address to listen on; the default is this machine.", default="127.0.0.1")
@_port
@_option("--public-url URL", "How raters reach it, when a reverse proxy stands before it.", default="")
@_option("--proxies ADDRESSES", "Reverse proxies to believe, such as 127.0.0.1.", default="")
def serve(
    folders: tuple[Path, ...], databases: tuple[str, ...], host: str, port: int, public_url: str, proxies: str
) -> None:
    """Serve the study in DIR until Ctrl-C; several studies each below the name of its folder."""
    from unisono.collect.app.serve import Address
    from unisono.collect.app.serve import serve as run_server

    if databases and len(databases) != len(folders):
        raise click.UsageError(f"Every study has a database of its own: give --database {len(folders)} times.")
    studies = [open_folder(folder) for folder in folders]
    urls = databases or [study.database_url for study in studies]
    run_server(list(zip(studies, urls, strict=True)), Address(host, port, public_url, proxies))


@collect_command.command()
@_folder
@_database
@click.argument("names", nargs=-1)
@_option("--count", "So many links, without names.", click.IntRange(1, 10_000))
@_option("--from", "A CSV file whose column `name` has the names.", option_groups.NEW_FILE, name="source")
@_links_begin
def invite(
    folder: Path, database: str | None, names: tuple[str, ...], count: int | None, source: Path | None, public_url: str
) -> None:
    """Make personal links for raters: `name,link` lines; a name given before gets the same link."""
    from unisono.collect.app.signup import invitations

    if sum(map(bool, (names, count, source))) != 1:
        raise click.UsageError("Give either NAMES or --count or --from.")
    from unisono.collect.store.database import Database

    study = open_folder(folder, all_there=False)
    store = Database(database or study.database_url)
    store.create()
    wanted = _words_in(source, "name") if source else names
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerows(invitations(study, store, wanted, count or 0, public_url))


@collect_command.command()
@_folder
@click.argument("ids", nargs=-1)
@_option("--from", "A CSV file whose column `id` has the ids.", option_groups.NEW_FILE, name="source")
@_option("--key", "Print the key that a platform signs ids with, and nothing else.", is_flag=True)
@_links_begin
def links(folder: Path, ids: tuple[str, ...], source: Path | None, key: bool, public_url: str) -> None:
    """Print the address for the platform that raters come from; with ids, signed links as `id,link` lines."""
    from unisono.collect.app.signup import address_of, signed_links

    study = open_folder(folder, all_there=False)
    signs = study.study.raters.source == "signed"
    if (ids or source or key) and not signs:
        raise click.UsageError(f'{folder / "study.toml"} signs no ids. Write source = "signed" below [raters].')
    if key:
        click.echo(Keys.of(folder).link_key)
    elif ids or source:
        wanted = _words_in(source, "id") if source else ids
        csv.writer(sys.stdout, lineterminator="\n").writerows(signed_links(study, wanted, public_url))
    else:
        click.echo(address_of(study, public_url))


@collect_command.command()
@_folder
@_database
@_option("--out", "Where to write.  [default: DIR/export]", option_groups.NEW_FOLDER)
def export(folder: Path, database: str | None, out: Path | None) -> None:
    """Write ratings, truth, features, raters and the complete log as files."""
    from unisono.collect.export.write import export_study

    study, store = table_options.open_to_read(folder, database)
    for path in export_study(study, store, out or folder / "export"):
        click.echo(path)


@collect_command.command()
@_folder
@_database
@_json
def status(folder: Path, database: str | None, as_json: bool) -> None:
    """Show how the study is doing."""
    from unisono.collect.export.raters import summary

    study, store = table_options.open_to_read(folder, database)
    found = store.read(lambda connection: summary(connection, study))
    (terminal.print_json if as_json else collect_reports.show)(found)


@collect_command.command()
@_folder
@_database
@_option("--target", "Correlation with the truth to reach.", click.FloatRange(0, 1, max_open=True), default=0.9)
@_json
def quality(folder: Path, database: str | None, target: float, as_json: bool) -> None:
    """Show what the ratings are worth so far: agreement, ratings still needed, raters to look at, the truth.

    Where a study of comparisons says chosen = "next", those that tell most by the answers so far are handed out next,
    and shown; a server does so by itself as answers come in.
    """
    study, store = table_options.open_to_read(folder, database)
    found, chosen = collect_reports.quality_of_study(study, store, target)
    store.close()
    collect_reports.store_next(database or study.database_url, chosen)
    collect_reports.show_quality(found, chosen, as_json)


@collect_command.command()
@_folder
@_database
@_option("--out", "Where to write.  [default: DIR/pay]", option_groups.NEW_FOLDER)
@_option("--max-failed", "Reject who failed more attention checks than this.", click.IntRange(0))
@_option("--min-seconds", "Reject whose confirmed median seconds per item or trace are fewer.", click.FloatRange(0))
@_option("--annotators", "annotators_overall.csv of `unisono fuse`: reject likely spammers.", option_groups.NEW_FILE)
@option_groups.takes("--set", *setting_table.PAYING, title="Options")
@_option("--bonus", "A bonus for everybody who is approved ...", click.FloatRange(0), default=0.0, show_default=False)
@_option("--bonus-error", "... and within so many percent of the references.", click.FloatRange(0))
def pay(
    folder: Path,
    database: str | None,
    out: Path | None,
    max_failed: int | None,
    min_seconds: float | None,
    annotators: Path | None,
    bonus: float,
    bonus_error: float | None,
    max_spammer: float = 0.9,
    max_broken: float = 10.0,
    min_confirmed: float = 50.0,
) -> None:
    """Write lists of finished raters to approve, to reject, to look at first (with the reason) and to give a bonus."""
    from unisono.collect.export.doubts import Limits
    from unisono.collect.export.pay import Rules

    study, store = table_options.open_to_read(folder, database)
    rules = Rules(max_failed, min_seconds, max_spammer, Limits(max_broken, min_confirmed), bonus, bonus_error)
    collect_reports.write_pay(study, store, out or folder / "pay", rules, annotators)


def _words_in(path: Path, column: str) -> list[str]:
    from unisono.collect.studies.items import read_rows

    found = [(where, cells[column].strip()) for where, cells in read_rows(path, (column,))]
    seen: set[str] = set()
    for where, word in found:
        if not word or word in seen:
            raise DataError(f"{where}: {column} is '{word}'. Every row needs one of its own.")
        seen.add(word)
    return [word for _, word in found]
