"""Options that say how tables are read, as decorators, and the reading of ratings for commands that say how it went.

@click.command()
@ratings_argument
@reading_options
@json_option
def command(ratings: str, reading: dict[str, Any], as_json: bool) -> None:
    table = read_ratings(ratings, **reading)
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from unisono.cli.rating_folders import is_rating_folder, take_folder
from unisono.errors import InterpretedWarning, LeftOutWarning
from unisono.maths.structure_words import COPY_WORDS
from unisono.tables.labels import nearest

if TYPE_CHECKING:
    from unisono.tables.ratings import Ratings
    from unisono.tables.reading.categories_reader import Answers


DUPLICATES = ("error", "first", "last", "mean")
UNITS = ("s", "ms", "us", "ns", "min", "h", "frames")
TIME_WORDS = ("time", "time_unit", "rate", "max_gap")
SHAPE_WORDS = ("dimension", "value", "annotators_in_columns", "items_in_columns")
CELL_WORDS = ("labels", "duplicates", "sheet")
Command = TypeVar("Command", bound=Callable[..., Any])


class TablePath(click.Path):
    """A file to read, or `-` for standard input; a misspelt name is answered with the nearest one beside it."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=str)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            path = Path(str(value))
            if not path.exists() and path.parent.is_dir():
                beside = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
                close = nearest(path.name, beside)
                if close:
                    hint = f"{error.message} Did you mean '{path.parent / close}'?"
                    raise click.BadParameter(hint, ctx, param) from None
            raise


class RatingsTable(TablePath):
    """A table of ratings, or the folder of a study or of its export; see `rating_folders`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if Path(str(value)).is_dir():
            if is_rating_folder(str(value)):
                return str(value)
            self.fail(f"'{value}' is a folder without ratings.csv or study.toml.", param, ctx)
        return super().convert(value, param, ctx)


def table_argument(name: str) -> Callable[[Command], Command]:
    """A table to read."""
    return click.argument(name, type=TablePath(), metavar=name.upper())


ratings_argument = click.argument("ratings", type=RatingsTable(), metavar="RATINGS")

features_option = click.option(
    "--features", type=TablePath(), metavar="FILE", help="Features of the items: item, then one column each."
)
seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
out_option = click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="JSON file to write the result to."
)

copies_option = click.option(
    "--copies",
    type=click.Choice(COPY_WORDS),
    default="merge",
    show_default=True,
    help="Annotators whose answers agree more than chance allows: one opinion, or each by themselves.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def models_option(default: str, suffix: str = "") -> Callable[[Command], Command]:
    """Names of models between commas; each may end in `suffix`."""

    def names(ctx: click.Context, param: click.Parameter, text: str | None) -> list[str] | None:
        from unisono.fusers.model_registry import find_model

        found = [name.strip() for name in (text or "").split(",") if name.strip()]
        for name in found:
            find_model(name.removesuffix(suffix))
        return found or None

    about = f"Models to try.  [default: {default}]"
    return click.option("--models", metavar="NAME,NAME,...", callback=names, help=about)


def reading_options(command: Command) -> Command:
    """How to read ratings, handed to the command as the keywords `reading` of `read_ratings`."""
    words = ("item", "annotator", "dims", "scale", *SHAPE_WORDS, *CELL_WORDS, *TIME_WORDS)
    return _gathered(command, words, [*_LABELS, _DIM, _SCALE, *_SHAPE, *_CELLS, *_TIME])


def category_option(command: Command) -> Command:
    """Which columns hold categories, handed to the command as the argument `categories`."""
    return _CATEGORIES(command)


def item_options(command: Command) -> Command:
    """How to read tables of items, handed to the command as the keywords `reading` of `read_item_table`."""
    return _gathered(command, ("item", *CELL_WORDS, *TIME_WORDS), [_LABELS[0], *_CELLS, *_TIME])


def of_items(reading: dict[str, Any]) -> dict[str, Any]:
    """The keywords of `reading` that hold for features, gold and references too."""
    return {name: reading[name] for name in ("item", "labels", "duplicates", *TIME_WORDS)}


def _gathered(command: Command, names: Sequence[str], options: Sequence[Callable[[Any], Any]]) -> Command:
    """The command with these options, whose values arrive together as the argument `reading`."""

    @functools.wraps(command)
    def gathered(**given: Any) -> Any:
        reading = {name: given.pop(name) for name in names}
        take_folder(given, reading)
        return command(reading=reading, **given)

    decorated: Any = gathered
    for option in reversed(options):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _named_columns(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """NAME=COLUMN pairs as a mapping; None when there are none, so that columns are recognised by themselves."""
    found: dict[str, str] = {}
    for text in given:
        name, _, column = text.partition("=")
        if not name.strip():
            raise click.BadParameter(f"'{text}' has no name before the equals sign.", ctx, param)
        if name.strip() in found:
            raise click.BadParameter(f"'{name.strip()}' is given twice.", ctx, param)
        found[name.strip()] = column.strip() or name.strip()
    return found or None


def _word_numbers(ctx: click.Context, param: click.Parameter, text: str | None) -> dict[str, float | None] | None:
    if text is None:
        return None
    from unisono.tables.reading.cell_meanings import parse_labels

    return parse_labels(text)


def _scale_words(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words as they are, once they make sense; None when there are none, so that the scale is inferred."""
    from unisono.tables.answer_scale import said_scale

    said_scale(given or None)
    return given or None


_LABELS = [
    click.option("--item", metavar="COLUMN,...", help="Column that names the item (or recording), or several columns."),
    click.option("--annotator", metavar="COLUMN,...", help="Column that names the annotator, or several columns."),
]
_DIM = click.option(
    "--dim",
    "dims",
    metavar="NAME[=COLUMN]",
    multiple=True,
    callback=_named_columns,
    help="Dimension to use, and its column if that is called differently. Repeatable.",
)
_CATEGORIES = click.option(
    "--categories",
    metavar="NAME[=COLUMN]",
    multiple=True,
    callback=_named_columns,
    help="Dimension whose answers are categories, and its column if that is called differently. Repeatable; none for "
    "none.  [default: columns of words that look like it]",
)
_SHAPE = [
    click.option("--dimension", metavar="COLUMN", help="Column that names the dimension, where rows hold one number."),
    click.option("--value", metavar="COLUMN", help="Column that holds that number."),
    click.option(
        "--annotators-in-columns",
        metavar="PATTERN",
        help="Columns that are annotators: names, 'A*', or a form such as '{dimension}_{annotator}'.",
    ),
    click.option("--items-in-columns", metavar="PATTERN", help="Columns that are items, likewise."),
]
_CELLS = [
    click.option(
        "--labels",
        metavar="WORD=NUMBER,...",
        callback=_word_numbers,
        help="What words in cells mean; nothing behind the equals sign: missing.",
    ),
    click.option(
        "--duplicates",
        type=click.Choice(DUPLICATES),
        help="What holds where somebody rated something twice.  [default: error]",
    ),
    click.option("--sheet", metavar="NAME", help="Sheet of a workbook, or file of a zip archive."),
]
_SCALE = click.option(
    "--scale",
    metavar="LOW:HIGH",
    multiple=True,
    callback=_scale_words,
    help="Where answers end: 1:7, valence=1:9, or none. Repeatable.  [default: inferred]",
)
_POSITIVE = click.FloatRange(min=0, min_open=True)
_TIME = [
    click.option("--time", metavar="COLUMN", help="Column that holds the time of a series."),
    click.option("--time-unit", type=click.Choice(UNITS), help="Unit of the time column.  [default: s]"),
    click.option("--rate", type=_POSITIVE, metavar="HZ", help="Frames per second of a series.  [default: median rate]"),
    click.option(
        "--max-gap",
        type=_POSITIVE,
        metavar="SECONDS",
        help="Longest gap in a trace to bridge by a line.  [default: 1.5 steps]",
    ),
]


def read_quietly(source: str, reading: dict[str, Any]) -> Ratings:
    """The ratings; how the table was read is for the command to say instead of a warning."""
    from unisono.tables.reading.ratings_reader import read_ratings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        warnings.simplefilter("ignore", InterpretedWarning)
        return read_ratings(source, **reading)


def read_answers_quietly(source: str, reading: dict[str, Any], categories: dict[str, str] | None) -> Answers:
    """Ratings and categories; which columns were left out is for the command to say."""
    from unisono.tables.reading.categories_reader import read_answers

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        warnings.simplefilter("ignore", InterpretedWarning)
        return read_answers(source, categories=categories, **reading)
