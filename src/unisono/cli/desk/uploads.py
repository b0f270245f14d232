"""Tables that were dropped on the desk: files in a folder of their own, and what a study says of them."""

from __future__ import annotations

import contextlib
import getpass
import shutil
import tempfile
import zipfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from unisono.errors import DataError
from unisono.tables.reading.collected_folder import COMPARISONS, RATINGS, STUDY, TRIALS, words_of_study

OF_STUDY = (RATINGS, COMPARISONS, TRIALS, STUDY)


@contextlib.contextmanager
def own_folder(port: int) -> Iterator[Path]:
    """A folder for everything, removed at the end. Who has the port owns it: what a killed desk left is removed."""
    place = Path(tempfile.gettempdir()) / f"unisono-app-{getpass.getuser()}-{port}"
    shutil.rmtree(place, ignore_errors=True)
    try:
        place.mkdir(mode=0o700)
    except OSError:
        raise DataError(f"{place} is in the way. Remove it, or choose another --port.") from None
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def safe_name(name: str) -> str:
    """The name of a file without folders, and never one that a command could take for an option."""
    plain = name.replace("\\", "/").rpartition("/")[2]
    return "".join(sign for sign in plain if sign.isprintable()).lstrip("-.~")[:120].strip() or "table"


async def keep(folder: Path, name: str, content: AsyncIterator[bytes]) -> Path:
    """Writes what comes in, piece by piece."""
    path = folder / safe_name(name)
    with path.open("wb") as file:
        async for piece in content:
            file.write(piece)
    return path


def table_among(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The table to fuse among the files of one drop, and what it is known to be: of an export, what its study says."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    if len(files) == 1 and zipfile.is_zipfile(files[0]) and _unpack_export(files[0], folder):
        files = sorted(folder / name for name in OF_STUDY if (folder / name).is_file())
    names = {path.name: path for path in files}
    if RATINGS in names:
        return names[RATINGS], _said_by_study(folder)
    if COMPARISONS in names:
        return names[COMPARISONS], {"comparisons": True}
    if not files:
        raise DataError("Nothing came in.")
    return max(files, key=lambda path: path.stat().st_size), {}


def _unpack_export(archive: Path, folder: Path) -> bool:
    """Takes the tables of an export out of its archive; False where it is none."""
    with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(archive) as packed:
        found = {Path(name).name: name for name in packed.namelist() if Path(name).name in OF_STUDY}
        if RATINGS not in found and COMPARISONS not in found:
            return False
        for plain, name in found.items():
            with packed.open(name) as source, (folder / plain).open("wb") as target:
                shutil.copyfileobj(source, target)
        return True
    return False


def _said_by_study(folder: Path) -> dict[str, Any]:
    words = words_of_study(folder)
    found = {name: words[name] for name in ("dims", "categories") if words.get(name)}
    if words.get("scale"):
        found["scale"] = dict(text.split("=", 1) for text in words["scale"])
    return found | ({"rate": f"{words['rate']:g}"} if "rate" in words else {})
