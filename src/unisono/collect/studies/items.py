"""What is rated: every item of a study with all that is known of it, from files, from a table, or made here."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from unisono.collect.stimuli.colours import Colour, practice_colours, reference_colours, regime_colours
from unisono.collect.stimuli.walks import Pace, Walk, make_walk
from unisono.collect.studies.duration import clip_seconds
from unisono.collect.studies.schema import Media, Study
from unisono.data.labels import listed, nearest, sort_labels
from unisono.errors import DataError

Role = Literal["item", "reference", "practice"]
SUFFIXES: dict[str, tuple[str, ...]] = {
    "image": (".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif"),
    "video": (".mp4", ".webm", ".m4v", ".ogv"),
    "audio": (".mp3", ".wav", ".ogg", ".oga", ".opus", ".m4a", ".flac"),
    "text": (".txt",),
}


@dataclass(frozen=True)
class Item:
    """One thing to rate. Exactly one of colour, walk, path and text says what is shown."""

    name: str
    role: Role
    media: Literal["colour", "walk"] | Media
    group: str = ""
    truth: dict[str, float] = field(default_factory=dict)
    colour: Colour | None = None
    walk: Walk | None = None
    path: Path | None = None
    text: str = ""

    @property
    def seconds(self) -> float | None:
        """How long it plays, None where that is not known."""
        if self.walk is not None:
            return self.walk.seconds
        return clip_seconds(self.path) if self.path is not None else None

    @property
    def is_there(self) -> bool:
        """Whether it can be shown now: a file may have been taken away while the study runs."""
        return self.path is None or self.path.is_file()


@dataclass(frozen=True)
class Catalogue:
    """All items of a study, by role."""

    items: tuple[Item, ...]
    references: tuple[Item, ...]
    practice: tuple[Item, ...]

    def find(self, name: str) -> Item | None:
        """The item or reference of this name, if the study (still) has it."""
        return self._by_name.get(name)

    @property
    def _by_name(self) -> dict[str, Item]:
        found = self.__dict__.get("_index")
        if found is None:
            found = {item.name: item for item in (*self.items, *self.references)}
            object.__setattr__(self, "_index", found)
        return found


def list_items(study: Study, folder: Path, *, all_there: bool = True) -> Catalogue:
    """Every item of the study that lives in `folder`.

    With `all_there` false, files that the study names and that are gone are left out instead of refused: what came in
    for them can still be looked at and exported.
    """
    if study.items.source == "colours":
        return _colours(study)
    if study.items.source == "walks":
        return _walks(study)
    found = _files(study, folder, all_there) if study.items.source == "files" else _table(study, folder)
    return _by_role(study, folder, found, all_there)


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
    paths = [path for path in place.rglob("*") if path.suffix.lower() in suffixes] if place.is_dir() else []
    if not paths and all_there:
        raise DataError(
            f"{folder / 'study.toml'}: items.folder is '{study.items.folder}', and {place} holds no "
            f"{study.items.media} ({', '.join(suffixes)}). Put the files there, or name the folder that has them."
        )
    by_name = {path.relative_to(place).as_posix(): path for path in paths}
    return [_file_item(study, folder, name, by_name[name]) for name in sort_labels(by_name)]


def _file_item(study: Study, folder: Path, name: str, path: Path) -> Item:
    # A link out of the folder would publish whatever it points to.
    if not path.resolve().is_relative_to(folder.resolve()):
        raise DataError(f"{path}: this is a link out of {folder}. Copy the file into the study's folder.")
    if study.items.media == "text":
        return Item(name, "item", "text", text=path.read_text(encoding="utf-8"))
    return Item(name, "item", study.items.media, path=path)


def _table(study: Study, folder: Path) -> list[Item]:
    path = _inside(folder, study.items.table, "items.table")
    rows = _read_csv(path, ("item", "text"))
    names = [row["item"] for row in rows]
    for number, name in enumerate(names):
        if name in names[:number] or not name:
            raise DataError(f"{path} row {number + 2}: item is '{name}'. Every row needs a name of its own.")
    return [Item(row["item"], "item", "text", text=row["text"]) for row in rows]


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


def _truth(study: Study, folder: Path, names: list[str] | None) -> dict[str, dict[str, float]]:
    if not study.items.truth:
        return {}
    path = _inside(folder, study.items.truth, "items.truth")
    table: dict[str, dict[str, float]] = {}
    for number, row in enumerate(_read_csv(path, ("item",)), 2):
        if names is not None:
            _named([row["item"]], names, f"{path.name} row {number}, item")
        try:
            table[row["item"]] = {name: float(row[name]) for name in study.names if row.get(name)}
        except ValueError as error:
            raise DataError(f"{path} row {number}: {error}. Leave the cell empty if the value is not known.") from None
    return table


def _read_csv(path: Path, needed: tuple[str, ...]) -> list[dict[str, str]]:
    if not path.is_file():
        raise DataError(f"{path}: there is no such file. Write it, with the columns {', '.join(needed)}.")
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.DictReader(stream)
        missing = [name for name in needed if name not in (reader.fieldnames or ())]
        if missing:
            raise DataError(f"{path} row 1: there is no column {listed(missing)}. Add it to the header.")
        rows = [{key: value or "" for key, value in row.items() if key} for row in reader]
    if not rows:
        raise DataError(f"{path}: no rows below the header. Add one row per item.")
    return rows


def _inside(folder: Path, name: str, key: str) -> Path:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise DataError(f"{folder / 'study.toml'}: {key} is '{name}', outside the study's folder. Move it inside.")
    return path


def _named(wanted: list[str], names: list[str], key: str) -> list[str]:
    for name in wanted:
        if name not in names:
            close = nearest(name, names)
            hint = f"Did you mean '{close}'?" if close else f"The items are {listed(names)}."
            raise DataError(f"{key} is '{name}', which is not an item. {hint}")
    return wanted


def _only(items: list[Item], role: Role) -> tuple[Item, ...]:
    return tuple(item for item in items if item.role == role)
