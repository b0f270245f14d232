"""Studies to start from: `unisono collect new` copies one of these files into a new folder."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from unisono.errors import DataError
from unisono.tables.atomic_files import atomic_path

# name -> one line for --help
STARTERS = {
    "saturation-brightness-images": "colours of known saturation and brightness, rated one by one",
    "saturation-brightness-video": "colours that move, each dimension traced with a slider",
    "my-images": "your own images, several dimensions at once",
    "my-videos": "your own videos, traced while they play",
    "my-texts": "your own texts, several dimensions at once",
    "my-questions": "your own texts, with Likert scales, choices and free words, and a questionnaire",
    "my-pairs": "your own images, two at a time: which has more?",
}
_TEXTS = """item,text
letter-1,"I waited for you all afternoon, and then the rain came."
letter-2,"We got the flat! Come over tonight, bring everyone."
letter-3,"The meeting has been moved to Thursday at ten."
"""
_MEDIA = {"my-images": "images", "my-videos": "videos", "my-pairs": "images"}


def write_starter(folder: Path, name: str) -> list[Path]:
    """Writes a study to start from; refuses to touch a folder that already has one."""
    path = folder / "study.toml"
    if path.exists():
        raise DataError(f"{path}: there is a study here already. Name a new folder, or edit this file.")
    text = (resources.files(__package__) / "starters" / f"{name}.toml").read_text(encoding="utf-8")
    written = [_write(path, text)]
    if name in _MEDIA:
        (folder / "media").mkdir(exist_ok=True)
        note = f"Put your {_MEDIA[name]} into this folder; every file becomes an item, named after it.\n"
        written.append(_write(folder / "media" / "README", note))
    if name in ("my-texts", "my-questions"):
        written.append(_write(folder / "texts.csv", _TEXTS))
    return written


def _write(path: Path, text: str) -> Path:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
