"""Options that say how tables are read, as decorators, and the reading of ratings for commands that say how it went.

@command("name")
@ratings_argument
@reading_options
@json_option
def name_command(ratings: str, reading: dict[str, Any], as_json: bool) -> None:
    table = read_ratings(ratings, **reading)

The few that people use daily are options; the rest are `--read name=value`, of `setting_table`.
A folder in place of a table is an
export of `unisono collect`, or the study itself, exported meanwhile.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.option_groups import MODEL, NEW_FILE, RESULT, TABLE, WORK, by_name, option, takes, with_options
from unisono.cli.setting_table import LONG_AND_WIDE, READING
from unisono.errors import InterpretedWarning, LeftOutWarning, taken

if TYPE_CHECKING:
    from unisono.collect.store.database import Database
    from unisono.collect.studies import StudyFolder
    from unisono.tables.item_table import ItemTable
    from unisono.tables.reading.categories_reader import Answers


class TablePath(click.Path):
    """A file to read, or `-` for standard input; a misspelt name is answered with the nearest one beside it.

    `stands` says which other paths (folders, patterns) stand for a table, `lacking` what any other folder lacks.
    """

    def __init__(self, stands: Callable[[Path], bool] = lambda path: False, lacking: str = "") -> None:
        super().__init__(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=str)
        self._stands, self._lacking = stands, lacking

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(str(value))
        if self._stands(path):
            return str(value)
        if path.is_dir() and self._lacking:
            self.fail(f"'{value}' is a folder without {self._lacking}", param, ctx)
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            from unisono.tables.labels import nearest

            if not path.exists() and path.parent.is_dir():
                beside = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
                close = nearest(path.name, beside)
                if close:
                    hint = f"{error.message} Did you mean '{path.parent / close}'?"
                    raise click.BadParameter(hint, ctx, param) from None
            raise


def is_rating_folder(folder: Path) -> bool:
    """Whether ratings can be had from this folder: an export, or a study."""
    if not folder.is_dir():
        return False
    from unisono.tables.reading.collected_folder import is_export, is_study

    return is_export(folder) or is_study(folder)


RATINGS_TABLE = TablePath(is_rating_folder, "ratings.csv or study.toml.")


def table_argument(name: str) -> Callable[[Any], Any]:
    """A table to read."""
    return click.argument(name, type=TablePath(), metavar=name.upper())


ratings_argument = click.argument("ratings", type=RATINGS_TABLE, metavar="RATINGS")
ratings_if_any = click.argument("ratings", type=RATINGS_TABLE, metavar="RATINGS", required=False)
comparisons_option = option(
    TABLE,
    "--comparisons FILE",
    "Comparisons of items: annotator, left, right, and left, tie or right by dimension; or rankings, wins, ...",
    TablePath(lambda path: (path / "comparisons.csv").is_file()),
)


features_option = option(MODEL, "--features FILE", "Features of the items: item, then one column each.", TablePath())
seed_option = option(WORK, "--seed", "Seed of everything random.", int, default=0)
out_option = option(RESULT, "--out FILE", "JSON file to write the result to.", NEW_FILE)
json_option = option(RESULT, "--json", "Print the result as JSON.", name="as_json", is_flag=True)


def models_option(default: str, suffix: str = "") -> Callable[[Any], Any]:
    """Names of models between commas; each may end in `suffix`."""

    def names(ctx: click.Context, param: click.Parameter, text: str | None) -> list[str] | None:
        from unisono.fusers.model_registry import find_model

        found = [name.strip() for name in (text or "").split(",") if name.strip()]
        for name in found:
            find_model(name.removesuffix(suffix))
        return found or None

    about = f"Models to try.  [default: {default}]"
    return option(MODEL, "--models NAME,NAME,...", about, callback=names)


def reading_options(decorated: Any) -> Any:
    """How to read ratings, handed to the command as the keywords `reading` of `read_ratings`."""
    return _gathered(decorated, [*_LABELS, dim_option, _SCALE, _TIME], (*READING, *LONG_AND_WIDE))


def item_options(decorated: Any) -> Any:
    """How to read tables of items, handed to the command as the keywords `reading` of `read_item_table`."""
    return _gathered(decorated, [_LABELS[0], _TIME], READING)


OF_ITEMS = ("item", "labels", "missing", "duplicates", "time", "time_unit", "rate", "max_gap")


def of_items(reading: dict[str, Any]) -> dict[str, Any]:
    """The keywords of `reading` that hold for features, gold and references too."""
    return {name: reading[name] for name in OF_ITEMS if name in reading}


def side_table(path: str | None, reading: dict[str, Any], *, complete: bool = False) -> ItemTable | None:
    """Features, gold or a reference, read as the ratings are; None where there is none."""
    from unisono.tables.reading.ratings_reader import read_item_table

    return read_item_table(path, **of_items(reading), complete=complete) if path else None


def _gathered(decorated: Any, options: Sequence[Callable[[Any], Any]], settings: Sequence[Any]) -> Any:
    """The command with these options and `--read`; what was given arrives together as the argument `reading`."""

    @functools.wraps(decorated)
    def gathered(read: dict[str, Any], **given: Any) -> Any:
        columns = {name: given.pop(name) for name in ("item", "annotator", "dims", "scale", "time") if name in given}
        reading = {n: value for n, value in columns.items() if value is not None} | read
        take_folder(given, reading)
        if "comparisons" in given and given["ratings"] is given["comparisons"] is None:
            raise click.UsageError("Missing argument 'RATINGS', or --comparisons FILE.", click.get_current_context())
        return decorated(reading=reading, **given)

    return with_options(takes("--read", *settings, title=TABLE, into="read")(gathered), options)


def _scale_words(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words as they are, once they make sense; None when there are none, so that the scale is inferred."""
    from unisono.tables.answer_scale import said_scale

    said_scale(given or None)
    return given or None


_LABELS = [
    option(TABLE, "--item COLUMN,...", "Column that names the item (or recording), or several columns."),
    option(TABLE, "--annotator COLUMN,...", "Column that names the annotator, or several columns."),
]
dim_option = option(
    TABLE,
    "--dim NAME[=COLUMN]",
    "Dimension to use, and its column if that is called differently.",
    name="dims",
    each=by_name,
)
_SCALE = option(TABLE, "--scale LOW:HIGH", "Scale: 1:7, valence=1:9, or none.  [default: inferred]", each=_scale_words)
_TIME = option(TABLE, "--time COLUMN", "Column that holds the time of traces; none for no traces.")
category_option = option(
    TABLE,
    "--categories NAME[=COLUMN]",
    "Dimension of categories, and its column if that is called differently; none for none.  [default: recognised]",
    each=by_name,
)


def read_answers_quietly(source: str, reading: dict[str, Any], categories: dict[str, str] | None) -> Answers:
    """Ratings and categories; which columns were left out is for the command to say."""
    from unisono.tables.reading.categories_reader import read_answers

    with taken(LeftOutWarning, InterpretedWarning):
        return read_answers(source, categories=categories, **reading)


def take_folder(given: dict[str, Any], reading: dict[str, Any]) -> None:
    """Puts the table in the folder's place, and what the study says of it where the command line says nothing."""
    text = given.get("ratings")
    if not isinstance(text, str) or not is_rating_folder(Path(text)):
        return
    from unisono.tables.reading.collected_folder import COMPARISONS, RATINGS, is_export, ratings_in, words_of_study

    folder = Path(text)
    export = folder if is_export(folder) else _exported(folder)
    if given.get("comparisons", "") is None and not (export / RATINGS).is_file():
        given["ratings"], given["comparisons"] = None, str(export / COMPARISONS)  # a study that shows pairs
        return
    given["ratings"] = str(ratings_in(export))
    words = words_of_study(folder)
    chosen = words.pop("categories", None)
    said = any(
        reading.get(name) for name in ("dims", "dimension", "value", "items_in_columns", "annotators_in_columns")
    )
    if said or given.get("categories"):
        words.pop("dims", None)
        words.pop("scale", None)
    elif "categories" in given:
        given["categories"] = chosen
    reading |= {name: value for name, value in words.items() if not reading.get(name)}


def _exported(folder: Path) -> Path:
    """The export of a study as it is now, in a folder that is gone when the command is over."""
    from unisono.collect.export.write import export_study

    study, store = open_to_read(folder, os.environ.get("UNISONO_DATABASE"))
    place = tempfile.TemporaryDirectory(prefix="unisono-study-")
    click.get_current_context().call_on_close(place.cleanup)
    export_study(study, store, Path(place.name) / "export")
    store.close()
    return Path(place.name) / "export"


def open_to_read(folder: Path, database: str | None) -> tuple[StudyFolder, Database]:
    """The study and its database to look at, beside a running server or without one; nothing is changed."""
    from unisono.collect.store.agree import check_meaning
    from unisono.collect.store.database import Database
    from unisono.collect.studies import open_folder

    study = open_folder(folder, all_there=False)
    store = Database.to_read(database or study.database_url)
    check_meaning(store, study)
    return study, store
