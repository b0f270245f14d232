"""`unisono features`: numbers that describe what was rated, from the texts, images, sounds and films themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.progress import task_progress
from unisono.cli.talk import say

if TYPE_CHECKING:
    from unisono.media.tables import Measured

_FILES = click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
_OUT = click.option(
    "-o", "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="CSV to write."
)
_RATE = click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), default=4.0, show_default=True, metavar="HZ",
    help="Rows per second; any clock will do, `fuse` brings features onto that of the ratings.",
)  # fmt: skip
_WINDOW = click.option(
    "--window", type=click.FloatRange(min=0, min_open=True), default=5.0, show_default=True, metavar="SECONDS",
    help="How far back every row looks.",
)  # fmt: skip


@click.group("features")
def command() -> None:
    """Make a table of features from what was rated, for `fuse --features` and `predict`.

    Items and recordings are named after their files, without the ending.
    """


@command.command("text")
@_FILES
@_OUT
@click.option("--item", default="item", show_default=True, metavar="COLUMN", help="Column that names the item.")
@click.option("--text", default="text", show_default=True, metavar="COLUMN", help="Column that holds the text.")
def text(files: tuple[Path, ...], out: Path, item: str, text: str) -> None:
    """Sentence embeddings (256 numbers) of texts.

    FILES are .txt files, one item each, or one table with a row per item. Needs the extra `text`.
    """
    from unisono.io.texts import read_item_texts
    from unisono.media.tables import Measured, item_name
    from unisono.media.texts import embedding_names, require_embeddings, sentence_embeddings

    require_embeddings()
    if all(path.suffix.lower() == ".txt" for path in files):
        texts = {item_name(path, list(files)): path.read_text(encoding="utf-8-sig") for path in files}
    elif len(files) == 1:
        texts = read_item_texts(files[0], item, text)
    else:
        raise click.UsageError("Give .txt files, or one table with a column of texts.")
    rows = sentence_embeddings(list(texts.values()))
    names = embedding_names(rows.shape[1])
    _write(out, {name: Measured(names, row) for name, row in zip(texts, rows, strict=True)})


@command.command("image")
@_FILES
@_OUT
def image(files: tuple[Path, ...], out: Path) -> None:
    """Mean colours, luminance and histograms of hue, saturation and value of images (29 numbers).

    Needs the extra `video`.
    """
    from unisono.media.images import image_features

    _write(out, _measure(files, image_features))


@command.command("audio")
@_FILES
@_OUT
@_RATE
@_WINDOW
def audio(files: tuple[Path, ...], out: Path, rate: float, window: float) -> None:
    """openSMILE's emotion set of sounds, under mean, max, min, std, range, kurtosis, skewness and interquartile range.

    WAV, FLAC and OGG are read as they are, other formats and films if ffmpeg is installed. Needs the extra `audio`.
    """
    from unisono.media.sounds import sound_features

    _write(out, _measure(files, lambda path: sound_features(path, rate, window)))


@command.command("video")
@_FILES
@_OUT
@_RATE
@_WINDOW
def video(files: tuple[Path, ...], out: Path, rate: float, window: float) -> None:
    """Colours, luminance, histograms and optical flow of films, averaged (31 numbers).

    Needs the extra `video`.
    """
    from unisono.media.films import film_features

    _write(out, _measure(files, lambda path: film_features(path, rate, window)))


def _measure(files: tuple[Path, ...], measure: Callable[[Path], Measured]) -> dict[str, Measured]:
    from unisono.media.tables import item_name

    names = [item_name(path, list(files)) for path in files]  # before the work, since it may refuse
    found: dict[str, Any] = {}
    with task_progress("Measuring") as tell:
        for name, path in zip(names, files, strict=True):
            found[name] = measure(path)
            tell(len(found), len(files))
    return found


def _write(out: Path, things: dict[str, Measured]) -> None:
    import polars as pl

    from unisono.io.atomic import atomic_path
    from unisono.media.tables import feature_columns

    columns = feature_columns(things)
    with atomic_path(out) as temporary:
        pl.DataFrame(columns).write_csv(temporary)
    labels = sum(name in columns for name in ("item", "recording", "time"))
    what = "items" if labels == 1 else "recordings"
    say(f"Written to {out}: {len(columns) - labels} features of {len(things)} {what}.")
