"""The sentences of one study: those of its language, with the researcher's own in their place, English for the rest.

A language is a flat TOML file, `key = "sentence"`; `{name}` in a sentence is filled in. Every file beside this one is
an included language. `lang.toml` in the folder of a study adds another, or says single things in other words.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from unisono.errors import DataError
from unisono.tables.labels import nearest

_FILES = sorted(path.name for path in resources.files(__package__).iterdir() if path.name.endswith(".toml"))
INCLUDED = tuple(name.removesuffix(".toml") for name in _FILES)
OWN_FILE = "lang.toml"
# Languages, and scripts, that are written from right to left.
_RIGHT_TO_LEFT = {"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi", "arab", "hebr"}
_GAP = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Sentences:
    """What is said to raters, by key."""

    language: str
    texts: dict[str, str]
    # Keys that nobody has put into this language; what they say is English.
    missing: tuple[str, ...] = ()

    def __getitem__(self, key: str) -> str:
        return self.texts[key]

    @property
    def direction(self) -> str:
        """`rtl` or `ltr`, as pages call it."""
        return "rtl" if _RIGHT_TO_LEFT & set(self.language.lower().split("-")) else "ltr"


@cache
def included(language: str) -> dict[str, str]:
    """The sentences of an included language: `de` for `de-AT` too, and none for a language that is not included."""
    name = language.lower().partition("-")[0]
    if name not in INCLUDED:
        return {}
    return tomllib.loads(language_file(name))


def language_file(name: str) -> str:
    """The file of an included language, as it is."""
    return (resources.files(__package__) / f"{name}.toml").read_text(encoding="utf-8")


def sentences_of(language: str, folder: Path) -> Sentences:
    """The sentences of the study in `folder`."""
    english = included("en")
    known = included(language) | own_sentences(folder / OWN_FILE)
    missing = tuple(key for key in english if key not in known)
    return Sentences(language, english | known, missing)


def own_sentences(path: Path) -> dict[str, str]:
    """What the researcher's file says; nothing where there is none."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {error.start} is not UTF-8. Save the file as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise DataError(f'{path}: not valid TOML: {error}. Write one line per sentence: key = "sentence".') from None
    for key, value in raw.items():
        _check(path, key, value)
    return raw


def _check(path: Path, key: str, value: object) -> None:
    english = included("en")
    if key not in english:
        close = nearest(key, list(english))
        way_out = f"Did you mean '{close}'?" if close else "`unisono collect sentences` prints all keys."
        raise DataError(f"{path}: the key {key} is not known. {way_out}")
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{path}: {key} is {value!r}. Write the sentence in quotes: {english[key]!r} in English.")
    gaps = set(_GAP.findall(english[key]))
    for gap in _GAP.findall(value):
        if gap not in gaps:
            filled = f"may hold {', '.join(f'{{{one}}}' for one in sorted(gaps))}" if gaps else "has nothing to fill in"
            raise DataError(f"{path}: {key} is {value!r}, with {{{gap}}} in it. This sentence {filled}.")
