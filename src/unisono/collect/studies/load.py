"""Reading a study file: TOML in, `Study` out, or a message that says where, what, and the way out."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec

from unisono.collect.studies.checks import check_study
from unisono.collect.studies.schema import Study
from unisono.errors import DataError
from unisono.tables.labels import nearest

_PATH = re.compile(r" - at `\$(?P<path>.*)`$")
_UNKNOWN = re.compile(r"unknown field `(?P<name>.*)`")
_MISSING = re.compile(r"missing required field `(?P<name>.*)`")
_TYPE = re.compile(r"Expected `(?P<wanted>.*)`, got `(?P<got>.*)`")
_STEP = re.compile(r"\.(?P<key>[^.\[]+)|\[(?P<index>\d+|\.\.\.)\]")

_WORDS = {"int": "a whole number", "float": "a number", "str": "text in quotes", "bool": "true or false"} | {
    "array": "a list in [ ]",
    "object": "a table",
    "int | float": "a number",
    "float | str": "a number or text in quotes",
}


def load_study(path: Path) -> Study:
    """The study that the file describes."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(
            f"{path}: there is no study file here. `unisono collect new {path.parent}` writes one to start from."
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {error.start} is not UTF-8. Save the file as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise DataError(
            f"{path}: not valid TOML: {error}. Text goes in quotes, and long text between three quotes."
        ) from None
    return parse_study(raw, path)


def parse_study(raw: dict[str, Any], path: Path) -> Study:
    """The study in an already parsed file; `path` is named in messages."""
    try:
        study = msgspec.convert(raw, Study)
    except msgspec.ValidationError as error:
        raise DataError(f"{path}: {_explain(str(error), raw)}") from None
    check_study(study, path)
    return study


def _explain(message: str, raw: dict[str, Any]) -> str:
    """msgspec's words in the words of the file: key, value, way out."""
    found = _PATH.search(message)
    keys = _keys(found["path"]) if found else []
    text = message[: found.start()] if found else message
    where = _spell(keys)
    if unknown := _UNKNOWN.search(text):
        return _unknown(unknown["name"], where, keys)
    if missing := _MISSING.search(text):
        full = f"{where}.{missing['name']}" if where else missing["name"]
        return f"the key {full} is missing. Add it; docs/collect.md shows each key."
    value = _value_at(raw, keys)
    if wrong := _TYPE.search(text):
        wanted = _WORDS.get(wrong["wanted"], wrong["wanted"])
        return f"{where} is {value!r}, which is not {wanted}. Write {wanted} there."
    return f"{where} is {value!r}. {_choices(keys) or text + '.'}"


def _keys(path: str) -> list[str | int]:
    steps = _STEP.finditer(path)
    return [step["key"] or (int(step["index"]) if step["index"].isdigit() else "...") for step in steps]


def _spell(keys: list[str | int]) -> str:
    """`dimensions[2].min`, counted from 1 as people count."""
    text = ""
    for key in keys:
        number = f"[{key + 1}]" if isinstance(key, int) else ""
        text += number or (f".{key}" if text else str(key))
    return text


def _unknown(name: str, where: str, keys: list[str | int]) -> str:
    known = _fields_at(keys)
    close = nearest(name, known)
    full = f"{where}.{name}" if where else name
    hint = f"Did you mean '{close}'?" if close else f"Known keys here: {', '.join(known)}."
    return f"the key {full} is not known. {hint}"


def _fields_at(keys: list[str | int]) -> list[str]:
    """Names of the keys that the table at this place may have."""
    kind: type[Any] = Study
    for key in keys:
        if isinstance(key, str) and (inner := _TABLES.get(key)):
            kind = inner
    return [item.name for item in msgspec.structs.fields(kind)]


def _choices(keys: list[str | int]) -> str:
    name = keys[-1] if keys else None
    for item in msgspec.structs.fields(_table_of(keys)):
        literal = getattr(item.type, "__args__", ()) if item.name == name else ()
        words = [f"'{choice}'" for choice in literal if isinstance(choice, str)]
        if words:
            return f"Choose one of {', '.join(words)}."
    return ""


def _table_of(keys: list[str | int]) -> type[Any]:
    tables = [key for key in keys[:-1] if isinstance(key, str)]
    return _TABLES.get(tables[-1], Study) if tables else Study


def _value_at(raw: Any, keys: list[str | int]) -> Any:
    for key in keys:
        try:
            raw = raw[key]
        except (KeyError, IndexError, TypeError):
            return raw
    return raw


def _tables_in(kind: Any) -> Iterator[tuple[str, type[Any]]]:
    """Keys of a table that hold tables themselves, or lists of them, with what these may say; those inside too."""
    for item in msgspec.structs.fields(kind):
        for inner in _structs_in(item.type):
            yield item.name, inner
            yield from _tables_in(inner)


def _structs_in(kind: Any) -> Iterator[type[Any]]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for part in get_args(kind):
        yield from _structs_in(part)


_TABLES = dict(_tables_in(Study))
