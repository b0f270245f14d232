"""`unisono collect`: make a study, serve it, invite raters, see how it goes, export what came in."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import click

from unisono.cli.collect_reports import (
    choose_next,
    chooses,
    quality_of_study,
    show,
    show_estimate,
    show_quality,
    write_pay,
)
from unisono.cli.option_groups import NEW_FILE, NEW_FOLDER, takes
from unisono.cli.setting_table import PAYING
from unisono.cli.table_options import open_to_read
from unisono.cli.terminal import print_json
from unisono.errors import DataError

try:
    from unisono.collect.languages.sentences import INCLUDED
    from unisono.collect.studies.folder import STARTERS, write_starter
except ModuleNotFoundError as missing:
    raise click.UsageError(f"This needs one more package, {missing.name}: pip install 'unisono[collect]'.") from None


_folder = click.argument("folder", metavar="DIR", type=NEW_FOLDER)
_database = click.option(
    "--database",
    metavar="URL",
    envvar="UNISONO_DATABASE",
    help="PostgreSQL address; without it, the file collect.db in DIR. [env: UNISONO_DATABASE]",
)
_json = click.option("--json", "as_json", is_flag=True, help="All figures, for machines.")
_links_begin = click.option(
    "--public-url", metavar="URL", default="http://127.0.0.1:8400", show_default=True, help="Start of the links."
)
_port = click.option("--port", default=8400, show_default=True, type=click.IntRange(1, 65535))


@click.group(name="collect")
def command() -> None:
    """Run a rating study in the browser.

    \b
    unisono collect new my-study --template my-images
    unisono collect serve my-study
    unisono collect export my-study --out export
    """


@command.command()
@_folder
@click.option(
    "--template",
    type=click.Choice(list(STARTERS)),
    metavar="NAME",
    default="saturation-brightness-images",
    show_default=True,
    help="; ".join(f"{name}: {line}" for name, line in STARTERS.items()) + ".",
)
def new(folder: Path, template: str) -> None:
    """Write a study to start from into DIR."""
    for path in write_starter(folder, template):
        click.echo(path)
    click.echo(f"Edit {folder / 'study.toml'}, then: unisono collect serve {folder}", err=True)


@command.command()
@click.option("--language", type=click.Choice(INCLUDED), default="en", show_default=True, help="An included language.")
def sentences(language: str) -> None:
    """Print every sentence that raters read, to translate: save it as lang.toml in the folder of a study."""
    from unisono.collect.languages.sentences import language_file

    click.echo(language_file(language), nl=False)


@command.command()
@_folder
@click.option(
    "--seconds-per-answer", type=click.FloatRange(0), default=5.0, show_default=True, help="For one scale of one item."
)
@click.option("--pay-per-hour", type=click.FloatRange(0), default=0.0, help="What a rater is paid; tells the cost.")
@_json
def check(folder: Path, seconds_per_answer: float, pay_per_hour: float, as_json: bool) -> None:
    """Check the study in DIR: mistakes, items, files that are none, sentences still in English, minutes, cost."""
    from unisono.collect.studies import open_folder
    from unisono.collect.studies.estimate import estimate

    found = estimate(open_folder(folder), seconds_per_answer, pay_per_hour)._asdict()
    (print_json if as_json else show_estimate)(found)


@command.command()
@_folder
@_port
def preview(folder: Path, port: int) -> None:
    """Show the study in DIR as raters will see it; nothing is stored."""
    from unisono.collect.app.serve import Address
    from unisono.collect.app.serve import preview as run_preview
    from unisono.collect.studies import open_folder

    run_preview(open_folder(folder), Address(port=port))


@command.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=NEW_FOLDER)
@click.option(
    "--database",
    "databases",
    metavar="URL",
    multiple=True,
    envvar="UNISONO_DATABASE",
    help="PostgreSQL address, one per DIR; without it, the file collect.db in DIR. [env: UNISONO_DATABASE]",
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; the default is this machine."
)
@_port
@click.option(
    "--public-url", metavar="URL", default="", help="How raters reach it, when a reverse proxy stands before it."
)
@click.option("--proxies", metavar="ADDRESSES", default="", help="Reverse proxies to believe, such as 127.0.0.1.")
def serve(
    folders: tuple[Path, ...], databases: tuple[str, ...], host: str, port: int, public_url: str, proxies: str
) -> None:
    """Serve the study in DIR until Ctrl-C; several studies each below the name of its folder."""
    from unisono.collect.app.serve import Address
    from unisono.collect.app.serve import serve as run_server
    from unisono.collect.studies import open_folder

    if databases and len(databases) != len(folders):
        raise click.UsageError(f"Every study has a database of its own: give --database {len(folders)} times.")
    studies = [open_folder(folder) for folder in folders]
    urls = databases or [study.database_url for study in studies]
    run_server(list(zip(studies, urls, strict=True)), Address(host, port, public_url, proxies))


@command.command()
@_folder
@_database
@click.argument("names", nargs=-1)
@click.option("--count", type=click.IntRange(1, 10_000), help="So many links, without names.")
@click.option("--from", "source", type=NEW_FILE, help="A CSV file whose column `name` has the names.")
@_links_begin
def invite(
    folder: Path, database: str | None, names: tuple[str, ...], count: int | None, source: Path | None, public_url: str
) -> None:
    """Make personal links for raters: `name,link` lines; a name given before gets the same link."""
    from unisono.collect.app.signup import invitations

    if sum(map(bool, (names, count, source))) != 1:
        raise click.UsageError("Give either NAMES or --count or --from.")
    from unisono.collect.store.database import Database
    from unisono.collect.studies import open_folder

    study = open_folder(folder, all_there=False)
    store = Database(database or study.database_url)
    store.create()
    wanted = _words_in(source, "name") if source else names
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerows(invitations(study, store, wanted, count or 0, public_url))


@command.command()
@_folder
@click.argument("ids", nargs=-1)
@click.option("--from", "source", type=NEW_FILE, help="A CSV file whose column `id` has the ids.")
@click.option("--key", is_flag=True, help="Print the key that a platform signs ids with, and nothing else.")
@_links_begin
def links(folder: Path, ids: tuple[str, ...], source: Path | None, key: bool, public_url: str) -> None:
    """Print the address for the platform that raters come from; with ids, signed links as `id,link` lines."""
    from unisono.collect.app.signup import address_of, signed_links
    from unisono.collect.studies import Keys, open_folder

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


@command.command()
@_folder
@_database
@click.option("--out", type=NEW_FOLDER, help="Where to write.  [default: DIR/export]")
def export(folder: Path, database: str | None, out: Path | None) -> None:
    """Write ratings, truth, features, raters and the complete log as files."""
    from unisono.collect.export.write import export_study

    study, store = open_to_read(folder, database)
    for path in export_study(study, store, out or folder / "export"):
        click.echo(path)


@command.command()
@_folder
@_database
@_json
def status(folder: Path, database: str | None, as_json: bool) -> None:
    """Show how the study is doing."""
    from unisono.collect.export.raters import summary

    study, store = open_to_read(folder, database)
    found = store.read(lambda connection: summary(connection, study))
    (print_json if as_json else show)(found)


@command.command()
@_folder
@_database
@click.option(
    "--target",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.9,
    show_default=True,
    help="Correlation with the truth to reach.",
)
@_json
def quality(folder: Path, database: str | None, target: float, as_json: bool) -> None:
    """Show what the ratings are worth so far: agreement, ratings still needed, raters to look at, the truth.

    Where a study of comparisons says chosen = "next", those that tell most by the answers so far are handed out next,
    and shown; a server does so by itself as answers come in.
    """
    study, store = open_to_read(folder, database)
    found = quality_of_study(study, store, target)
    store.close()
    chosen = choose_next(study, database or study.database_url) if chooses(study) else None
    show_quality(found, chosen, as_json)


@command.command()
@_folder
@_database
@click.option("--out", type=NEW_FOLDER, help="Where to write.  [default: DIR/pay]")
@click.option("--max-failed", type=click.IntRange(0), help="Reject who failed more attention checks than this.")
@click.option(
    "--min-seconds",
    type=click.FloatRange(0),
    help="Reject whose confirmed seconds per item or trace (median) are below this.",
)
@click.option("--annotators", type=NEW_FILE, help="annotators_overall.csv of `unisono fuse`: reject likely spammers.")
@takes("--set", *PAYING, title="Options")
@click.option("--bonus", type=click.FloatRange(0), default=0.0, help="A bonus for everybody who is approved ...")
@click.option("--bonus-error", type=click.FloatRange(0), help="... and within so many percent of the references.")
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

    study, store = open_to_read(folder, database)
    rules = Rules(max_failed, min_seconds, max_spammer, Limits(max_broken, min_confirmed), bonus, bonus_error)
    write_pay(study, store, out or folder / "pay", rules, annotators)


def _words_in(path: Path, column: str) -> list[str]:
    from unisono.collect.studies.items import read_rows

    found = [(where, cells[column].strip()) for where, cells in read_rows(path, (column,))]
    seen: set[str] = set()
    for where, word in found:
        if not word or word in seen:
            raise DataError(f"{where}: {column} is '{word}'. Every row needs one of its own.")
        seen.add(word)
    return [word for _, word in found]
