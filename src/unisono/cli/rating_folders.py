"""A folder in place of a table of ratings: an export of `unisono collect`, or the study itself, exported meanwhile."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from unisono.collect.store.database import Database
    from unisono.collect.studies import StudyFolder


def is_rating_folder(text: str) -> bool:
    """Whether ratings can be had from this folder."""
    folder = Path(text)
    if not folder.is_dir():
        return False
    from unisono.tables.reading.collected_folder import is_export, is_study

    return is_export(folder) or is_study(folder)


def take_folder(given: dict[str, Any], reading: dict[str, Any]) -> None:
    """Puts the table in the folder's place, and what the study says of it where the command line says nothing."""
    text = given.get("ratings")
    if not isinstance(text, str) or not is_rating_folder(text):
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
