"""What is rated: every item of a study with all that is known of it, from files, from a table, or made here.

The researcher's own tables (texts, truth) are read as every other table of unisono is: any separator, quoted cells.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from unisono.collect.stimuli.colours import Colour, Pace, make_walk, practice_colours, reference_colours, regime_colours
from unisono.collect.studies.catalogue import Catalogue, Item, Role, choose_sets, set_of
from unisono.collect.studies.checks import reply_fault
from unisono.collect.studies.schema import Dimension, Media, Study, Value
from unisono.errors import DataError
from unisono.tables.labels import listed, meant_among, sort_labels

SUFFIXES: dict[str, tuple[str, ...]] = {
    "image": (".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif"),
    "video": (".mp4", ".webm", ".m4v", ".ogv"),
    "audio": (".mp3", ".wav", ".ogg", ".oga", ".opus", ".m4a", ".flac"),
    "text": (".txt",),
}
# Files that were meant to be shown and that browsers cannot show -> what to turn them into.
_UNSHOWABLE = {
    "image": ((".heic", ".heif", ".tif", ".tiff", ".raw", ".dng", ".psd"), "JPEG or PNG"),
    "video": ((".mov", ".avi", ".mkv", ".wmv", ".mpg", ".mpeg", ".flv"), "MP4 (H.264) or WebM"),
    "audio": ((".wma", ".aiff", ".aif", ".amr"), "MP3 or WAV"),
    "text": ((".doc", ".docx", ".rtf", ".odt", ".pdf"), "plain text (.txt)"),
}


def list_items(study: Study, folder: Path, *, all_there: bool = True) -> Catalogue:
    """Every item of the study that lives in `folder`.

    With `all_there` false, files that the study names and that are gone are left out instead of refused: what came in
    for them can still be looked at and exported.
    """
    if study.items.source == "walks":
        return _walks(study)
    if study.items.source == "colours":
        catalogue = _colours(study)
    else:
        found = _files(study, folder, all_there) if study.items.source == "files" else _table(study, folder)
        catalogue = _by_role(study, folder, found, all_there)
    return _in_sets(study, folder, catalogue, all_there) if study.mode == "compare" else catalogue


def _in_sets(study: Study, folder: Path, single: Catalogue, all_there: bool) -> Catalogue:
    members = single.items
    if len(members) < study.compare.together and not all_there:
        return Catalogue((), (), (), members)
    places = choose_sets([item.name for item in members], study.compare, study.seed, str(folder / "study.toml"))
    return Catalogue(tuple(set_of([members[at] for at in chosen]) for chosen in places), (), (), members)


def _colours(study: Study) -> Catalogue:
    made = study.items
    items = tuple(
        _colour(f"{regime}-{number:03d}", "item", colour, regime)
        for regime in made.regimes
        for number, colour in enumerate(regime_colours(regime, made.per_regime, made.fixed, study.seed), 1)
    )
    hidden = reference_colours(study.reference.values) if study.reference else []
    references = tuple(_colour(f"reference-{colour.hue}", "reference", colour) for colour in hidden)
    tried = practice_colours(study.practice.count, study.seed)
    practice = tuple(_colour(f"practice-{number}", "practice", colour) for number, colour in enumerate(tried, 1))
    return Catalogue(items, references, practice)


def _colour(name: str, role: Role, colour: Colour, group: str = "") -> Item:
    return Item(name, role, "colour", group=group, truth=colour.truth, colour=colour)


def _walks(study: Study) -> Catalogue:
    made = study.items
    pace = Pace(made.hold, made.move)
    names = [f"walk-{number:02d}" for number in range(1, made.count + 1)]
    hidden = _named(study.reference.items if study.reference else [], names, "reference.items")
    items = [
        Item(
            name,
            "reference" if name in hidden else "item",
            "walk",
            walk=make_walk(name, made.seconds, study.trace.rate, pace, study.seed),
        )
        for name in names
    ]
    tries = [f"practice-{number}" for number in range(1, study.practice.count + 1)]
    short = min(made.seconds, 15.0)
    practice = [
        Item(n, "practice", "walk", walk=make_walk(n, short, study.trace.rate, pace, study.seed)) for n in tries
    ]
    return Catalogue(_only(items, "item"), _only(items, "reference"), tuple(practice))


def _files(study: Study, folder: Path, all_there: bool) -> list[Item]:
    place = _inside(folder, study.items.folder, "items.folder")
    suffixes = SUFFIXES[study.items.media]
    if all_there and place.is_dir():
        _refuse_unshowable(place, study.items.media)
    files = place.rglob("*") if place.is_dir() else ()
    paths = [path for path in files if path.suffix.lower() in suffixes and not path.name.startswith("._")]
    if not paths and all_there:
        raise DataError(
            f"{folder / 'study.toml'}: items.folder is '{study.items.folder}', and {place} holds no "
            f"{study.items.media} ({', '.join(suffixes)}). Put the files there, or name the folder that has them."
        )
    by_name = {path.relative_to(place).as_posix(): path for path in paths}
    return [_file_item(study, folder, name, by_name[name]) for name in sort_labels(by_name)]


def _refuse_unshowable(place: Path, media: Media) -> None:
    """Left out without a word, such a file would be missed only when the study is over."""
    suffixes, better = _UNSHOWABLE[media]
    for path in sorted(place.rglob("*")):
        if path.name.startswith("._"):
            raise DataError(f"{path}: this is a leftover of macOS and no {media}. Delete it (`dot_clean {place}`).")
        if path.suffix.lower() in suffixes:
            raise DataError(f"{path}: browsers cannot show {path.suffix} files. Save it as {better}.")


def _file_item(study: Study, folder: Path, name: str, path: Path) -> Item:
    # A link out of the folder would publish whatever it points to.
    if not path.resolve().is_relative_to(folder.resolve()):
        raise DataError(f"{path}: this is a link out of {folder}. Copy the file into the study's folder.")
    if study.items.media == "text":
        try:
            return Item(name, "item", "text", text=path.read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: byte {error.start} is not UTF-8. Save the file with UTF-8 encoding.") from None
    return Item(name, "item", study.items.media, path=path)


def _table(study: Study, folder: Path) -> list[Item]:
    path = _inside(folder, study.items.table, "items.table")
    found: dict[str, Item] = {}
    for where, cells in read_rows(path, ("item", "text")):
        name = cells["item"].strip()
        if name in found or not name:
            raise DataError(f"{where}: item is '{name}'. Every row needs a name of its own.")
        found[name] = Item(name, "item", "text", text=cells["text"])
    return list(found.values())


def _by_role(study: Study, folder: Path, found: list[Item], all_there: bool) -> Catalogue:
    names = [item.name for item in found]
    hidden, tried = study.reference.items if study.reference else [], study.practice.items
    truth = _truth(study, folder, names if all_there else None)
    if all_there:
        _named(hidden, names, "reference.items")
        _named(tried, names, "practice.items")
    roles: dict[str, Role] = dict.fromkeys(names, "item")
    roles.update(dict.fromkeys(hidden, "reference"))
    roles.update(dict.fromkeys(tried, "practice"))
    items = [Item(i.name, roles[i.name], i.media, truth=truth.get(i.name, {}), path=i.path, text=i.text) for i in found]
    if all_there and not _only(items, "item"):
        raise DataError(f"{folder / 'study.toml'}: every item is a reference or practice. Leave some to be rated.")
    return Catalogue(_only(items, "item"), _only(items, "reference"), _only(items, "practice"))


def _truth(study: Study, folder: Path, names: list[str] | None) -> dict[str, dict[str, Value]]:
    if not study.items.truth:
        return {}
    path = _inside(folder, study.items.truth, "items.truth")
    rows = read_rows(path, ("item",))
    for column in rows[0].cells:
        if column not in ("item", *study.rated):
            hint = meant_among(column, study.rated, "dimensions")
            raise DataError(f"{path} row 1: the column '{column}' is no dimension. {hint}")
    table: dict[str, dict[str, Value]] = {}
    for where, cells in rows:
        if names is not None:
            _named([cells["item"]], names, f"{where}, item")
        table[cells["item"]] = {
            scale.name: _true_value(where, scale, cells[scale.name])
            for scale in study.dimensions
            if cells.get(scale.name, "").strip()
        }
    return table


def _true_value(where: str, scale: Dimension, cell: str) -> Value:
    if scale.kind == "choice":
        if cell.strip() not in scale.choices:
            raise DataError(f"{where}: {scale.name} is '{cell}'. The choices are {listed(scale.choices)}.")
        return cell.strip()
    try:
        # A comma can be here as the decimal mark only; as a separator it would have ended the cell.
        value = float(cell.replace(",", "."))
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise DataError(f"{where}: {scale.name} is '{cell}', which is no number. Leave the cell empty if not known.")
    if reply_fault(scale, value):
        low, high = scale.ends
        raise DataError(f"{where}: {scale.name} is {cell}. The scale runs from {low:g} to {high:g}.")
    return value


def _inside(folder: Path, name: str, key: str) -> Path:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise DataError(f"{folder / 'study.toml'}: {key} is '{name}', outside the study's folder. Move it inside.")
    return path


def _named(wanted: list[str], names: list[str], key: str) -> list[str]:
    for name in wanted:
        if name not in names:
            raise DataError(f"{key} is '{name}', which is not an item. {meant_among(name, names, 'items')}")
    return wanted


def _only(items: list[Item], role: Role) -> tuple[Item, ...]:
    return tuple(item for item in items if item.role == role)


class Row(NamedTuple):
    """One row: where the researcher finds it, and its cells by column."""

    where: str
    cells: dict[str, str]


def read_rows(path: Path, needed: tuple[str, ...]) -> list[Row]:
    """All rows of a table that has at least these columns."""
    # Polars takes its time to load, and most studies have no table.
    from unisono.tables.reading.open_table import open_table

    if not path.is_file():
        raise DataError(f"{path}: there is no such file. Write it, with the columns {', '.join(needed)}.")
    table = open_table(path)
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise DataError(f"{path} row 1: there is no column {listed(missing)}. Add it to the header.")
    rows = [
        Row(table.where(part.record(number)), dict(zip(table.columns, map(_text, cells), strict=True)))
        for part in (chunk.without_empty_rows(0) for chunk in table.parts())
        for number, cells in enumerate(part.frame.iter_rows())
    ]
    if not rows:
        raise DataError(f"{path}: no rows below the header. Add one row per item.")
    return rows


def _text(cell: object) -> str:
    return "" if cell is None else str(cell)
