"""`unisono import`, `export` and `features`: files of other tools, and features of texts, images, sounds and films."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.option_groups import NEW_FILE, RESULT, TABLE, command, option, pairs, takes
from unisono.cli.setting_table import IMPORTING, POSITIVE
from unisono.cli.table_options import TablePath
from unisono.cli.terminal import say, task_progress, tell
from unisono.errors import DataError, in_shell
from unisono.tables.atomic_files import atomic_path
from unisono.tables.labels import counted

if TYPE_CHECKING:
    from unisono.tables.importing.imported_answers import Imported
    from unisono.tables.media.media_features import Measured


def _list_kinds(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from unisono.tables.importing.import_kinds import KINDS

    for name, kind in KINDS.items():
        tell(f"{name:<14} {kind.about}")
    ctx.exit()


_OUT = option(RESULT, "-o, --out FILE", "CSV file to write.", NEW_FILE)


@command("import")
@click.argument("tool", metavar="KIND")
@click.argument("files", type=TablePath(), nargs=-1, required=True, metavar="FILE...")
@option(TABLE, "--item PATH", "Column or path that names the item; several between commas.")
@option(TABLE, "--annotator PATH", "Column or path that names the annotator.")
@option(TABLE, "--dim NAME[=SOURCE]", "Dimension to take.", name="dims", each=pairs)
@option(TABLE, "--time PATH", "json: where its time is; makes traces.")
@option(TABLE, "--names TEMPLATE", "What paths of files say, as in '{dimension}/{item}.csv'.")
@takes("--read", *IMPORTING, title=TABLE)
@option(RESULT, "--dropped FILE", "CSV of what was left out.", NEW_FILE)
@_OUT
@option(RESULT, "--list", "Name all kinds.", is_flag=True, is_eager=True, expose_value=False, callback=_list_kinds)
@click.pass_context
def import_command(
    ctx: click.Context,
    /,
    tool: str,
    files: tuple[str, ...],
    dropped: Path | None,
    out: Path | None,
    labels: dict[str, float | None] | None = None,
    duplicates: str | None = None,
    **words: Any,
) -> None:
    """Make a table of ratings from FILEs that another tool wrote; KIND says which one.

    The table has the columns item, annotator, kind (human, judge, code; where the tool knows it), time (traces, in
    seconds) and one per dimension. It goes to standard output without -o. Units, ranges and everything left out are
    told on standard error. See docs/importing.md for the kinds; `unisono import --list` names them.
    """
    from unisono.tables.importing.import_kinds import import_files
    from unisono.tables.importing.import_request import Request
    from unisono.tables.importing.imported_answers import Answers

    try:
        found = import_files(tool, files, Answers(labels or {}, duplicates), Request(**words))
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise click.UsageError(in_shell(error), ctx) from None
    _write_imported(found, out, dropped)
    _tell(found, out)


def _write_imported(found: Imported, out: Path | None, dropped: Path | None) -> None:
    import polars as pl

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
    from unisono.tables.importing.imported_answers import dropped_lines

    for line in [*found.facts, *dropped_lines(found.dropped)]:
        say(line)
    if not found.dropped:
        say("Dropped nothing.")
    if out is not None:
        say(f"Written to {out}: {found.frame.height} rows, columns {', '.join(found.frame.columns)}.")


EXPORT_KINDS = ("label-studio", "inspect", "crowd-kit", "nova", "elan")


@command("export")
@click.argument("kind", type=click.Choice(EXPORT_KINDS))
@click.argument("fused", type=click.Path(exists=True, path_type=Path), metavar="DIR")
@option("Options", "-o, --out PATH", "File or folder to write.", click.Path(path_type=Path), required=True)
@option("Options", "--dim NAME", "Dimension to export; all by default.", name="dims", multiple=True)
@option("Options", "--to-name NAME", "label-studio: the object that is rated.  [default: item]")
@option(
    "Options", "--as", "label-studio: its control.  [default: number]", click.Choice(("number", "rating")), name="form"
)
@option("Options", "--rate HZ", "elan: intervals per second.  [default: 1]", POSITIVE)
@click.pass_context
def export_command(
    ctx: click.Context, /, kind: str, fused: Path, out: Path, dims: tuple[str, ...], **options: Any
) -> None:
    """Write the truth in DIR (the folder that `unisono fuse --out` wrote) as KIND.

    \b
    label-studio  tasks with predictions (JSON)
    inspect       scores for precomputed_scores (JSON lines)
    crowd-kit     task, label of one dimension (CSV)
    nova          traces: annotations with confidence
                  (a folder)
    elan          traces: tiers of means per interval
                  (a folder)
    """
    from unisono.tables.exporting.truth_export import export_truth, read_truth

    truth = read_truth(fused, dims)
    try:
        export_truth(kind, truth, out, options)
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise click.UsageError(in_shell(error), ctx) from None
    say(f"Written to {out}: {counted(len(truth.items), 'item')}, {', '.join(truth.dimensions)}.")


MEDIA = ("text", "image", "audio", "video")


@command("features")
@click.argument("kind", type=click.Choice(MEDIA))
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@option(TABLE, "--item COLUMN", "text: column that names the item.", default="item")
@option(TABLE, "--text COLUMN", "text: column that holds the text.", default="text")
@option(TABLE, "--rate HZ", "audio, video: rows per second; any clock will do for `fuse`.", POSITIVE, default=4.0)
@option(TABLE, "--window SECONDS", "audio, video: how far back every row looks.", POSITIVE, default=5.0)
@option(RESULT, "-o, --out FILE", "CSV to write.", NEW_FILE, required=True)
def features_command(
    kind: str, files: tuple[Path, ...], item: str, text: str, rate: float, window: float, out: Path
) -> None:
    """Make a table of features from what was rated, for `fuse --features` and `predict`.

    Items and recordings are named after their files, without the ending.

    \b
    text   sentence embeddings (256 numbers) of .txt files,
           one item each, or of a table with a row per item
    image  mean colours, luminance and histograms of hue,
           saturation and value (29 numbers)
    audio  openSMILE's emotion set under eight statistics;
           WAV, FLAC, OGG, and with ffmpeg others and films
    video  colours, luminance, histograms and optical flow,
           averaged (31 numbers)

    Text and audio need the extra of that name, images and films the extra `video`.
    """
    from unisono.tables.media import media_features

    if kind == "text":
        _write_features(out, _embedded(files, item, text))
        return
    measures: dict[str, Callable[[Path], Measured]] = {
        "image": media_features.image_features,
        "audio": lambda path: media_features.sound_features(path, rate, window),
        "video": lambda path: media_features.film_features(path, rate, window),
    }
    _write_features(out, _measure(files, measures[kind]))


def _embedded(files: tuple[Path, ...], item: str, text: str) -> dict[str, Measured]:
    from unisono.tables.media import media_features
    from unisono.tables.reading.side_information import read_item_texts

    media_features.require_embeddings()
    if all(path.suffix.lower() == ".txt" for path in files):
        texts = {media_features.item_name(path, list(files)): path.read_text(encoding="utf-8-sig") for path in files}
    elif len(files) == 1:
        texts = read_item_texts(files[0], item, text)
    else:
        raise click.UsageError("Give .txt files, or one table with a column of texts.")
    rows = media_features.sentence_embeddings(list(texts.values()))
    names = media_features.embedding_names(rows.shape[1])
    return {name: media_features.Measured(names, row) for name, row in zip(texts, rows, strict=True)}


def _measure(files: tuple[Path, ...], measure: Callable[[Path], Measured]) -> dict[str, Measured]:
    from unisono.tables.media.media_features import item_name

    names = [item_name(path, list(files)) for path in files]  # before the work, since it may refuse
    found: dict[str, Any] = {}
    with task_progress("Measuring") as tell:
        for name, path in zip(names, files, strict=True):
            found[name] = measure(path)
            tell(len(found), len(files))
    return found


def _write_features(out: Path, things: dict[str, Measured]) -> None:
    import polars as pl

    from unisono.tables.media.media_features import feature_columns

    columns = feature_columns(things)
    with atomic_path(out) as temporary:
        pl.DataFrame(columns).write_csv(temporary)
    labels = sum(name in columns for name in ("item", "recording", "time"))
    what = "items" if labels == 1 else "recordings"
    say(f"Written to {out}: {len(columns) - labels} features of {len(things)} {what}.")
