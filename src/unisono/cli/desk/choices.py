"""What was chosen on the page: as the words of a command, as lines of Python; and the choices that a message advises.

Choices are the keyword arguments of `un.fuse` by name, as JSON has them. Imports the table of settings alone.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from unisono.cli.setting_table import LONG_AND_WIDE, READING
from unisono.errors import SettingsError

TEXTS = ("item", "annotator", "time", "humans", "model")  # options that take one text
MAPPINGS = {"dims": "--dim", "scale": "--scale", "kinds": "--kind", "categories": "--categories"}
WHOLE = ("scale", "categories")  # a text may stand for all dimensions
SETTINGS = {one.name: one for one in (*READING, *LONG_AND_WIDE)}
OF_COMPARISONS = ("model",)  # what holds for comparisons as well; their columns are recognised by themselves
FOLDER = "result"
Choices = dict[str, Any]


def checked(given: Any) -> Choices:
    """What a page may choose, without what is empty; anything else is an error."""
    if not isinstance(given, dict):
        raise SettingsError("Choices are a JSON object.")
    found: Choices = {}
    for name, value in given.items():
        if value in (None, "", {}, []):
            continue
        if (
            (name == "comparisons" and value is True)
            or (name == "without" and isinstance(value, list) and all(isinstance(one, str) for one in value))
            or (name in MAPPINGS and ((name in WHOLE and isinstance(value, str)) or _are_texts(value)))
        ):
            found[name] = value
        elif (name in TEXTS or name in SETTINGS) and isinstance(value, str | int | float):
            found[name] = str(value)
        else:
            raise SettingsError(f"'{name}' is nothing that can be chosen here.")
    return found


def _are_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


def reading_of(choices: Mapping[str, Any]) -> dict[str, Any]:
    """How to read the table: keyword arguments of `read_answers`."""
    found: dict[str, Any] = {}
    for name, value in choices.items():
        if name in SETTINGS and name != "without":
            found[name] = SETTINGS[name].values.convert(value, None, None)
        elif name in ("item", "annotator", "time", "dims", "scale", "categories", "without"):
            found[name] = value
    return found


def command_words(verb: str, table: str, choices: Mapping[str, Any]) -> list[str]:
    """The words of a command after `unisono`."""
    if choices.get("comparisons"):
        choices = {name: choices[name] for name in OF_COMPARISONS if name in choices}
        words = [verb, "--comparisons", table]
    else:
        words = [verb, table]
    for name, value in choices.items():
        if name in MAPPINGS:
            for text in _parts(name, value):
                words += _option(MAPPINGS[name], text)
        elif name == "without":
            words += _option("--read", f"without={','.join(value)}")
        elif name in SETTINGS:
            words += _option("--read", f"{name}={value}")
        elif not (name == "model" and verb != "fuse"):
            words += _option(f"--{name}", value)
    return words + (["--out", FOLDER] if verb == "fuse" else ["--out", f"{verb}.json"])


def _parts(name: str, value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [part if name != "kinds" and part == text else f"{part}={text}" for part, text in value.items()]


def _option(name: str, value: str) -> list[str]:
    """A value that begins with a dash is tied to its option, so that it is not taken for another one."""
    return [f"{name}={value}"] if value.startswith("-") else [name, value]


def as_command(words: Sequence[str]) -> str:
    """As it is typed."""
    return shlex.join(["unisono", *words])


def as_python(verb: str, table: str, choices: Mapping[str, Any]) -> str:
    """The lines of Python that do the same."""
    if choices.get("comparisons"):
        choices = {name: choices[name] for name in OF_COMPARISONS if name in choices}
        given = [f"comparisons={table!r}"]
    else:
        given = [repr(table)]
    given += [f"{name}={_literal(name, value)}" for name, value in choices.items() if verb == "fuse" or name != "model"]
    lines = ["import unisono as un", "", f"result = un.{verb}({', '.join(given)})"]
    lines += ["print(result.summary())", f'result.save("{FOLDER}")'] if verb == "fuse" else ["print(result)"]
    return "\n".join(lines)


def _literal(name: str, value: Any) -> str:
    setting = SETTINGS.get(name)
    if setting is None or name == "without":
        return repr(value)
    return repr(setting.values.convert(value, None, None))


class Way(NamedTuple):
    """A way out of a refusal: a button that makes choices, or that leads to the field where one is to be made."""

    label: str
    choices: dict[str, Any]
    field: str = ""


_OPTION = re.compile(r"--([a-z][a-z-]*)(?: ((?:\w+=)?\"[^\"]*\"|(?:\w+=)?'[^']*'|[^\s,;()\"']+(?:,[^\s,;()\"']+)*))?")
_SEVERAL = re.compile(r"holds \d+ \w+: (.*?)\. Say --sheet")
_ALTERNATIVES = re.compile(r"--duplicates ((?:\w+, )*\w+(?: or \w+)?)")
_LABELS = {
    "item": "The item is '{}'", "annotator": "The annotator is '{}'", "time": "The time is '{}'",
    "dimension": "Dimensions are named in '{}'", "value": "Numbers are in '{}'", "missing": "{} means missing",
    "scale": "The scale is {}", "labels": "Words mean: {}", "sheet": "Take '{}'", "duplicates": "Keep the {} answer",
    "time_unit": "Time is in {}", "annotators_in_columns": "Columns are annotators: {}", "rate": "{} frames per second",
    "items_in_columns": "Columns are items: {}", "dims": "Ratings are in '{}'", "categories": "Categories are in '{}'",
    "model": "Use the model '{}'", "comparisons": "Read it as comparisons of items", "kinds": "{}",
    "humans": "People are: {}",
}  # fmt: skip


def ways_out(message: str) -> list[Way]:
    """Buttons for the options that a message names; those side by side are one, those that need a word come last."""
    found: list[Way] = []
    if "`unisono import" in message:
        return found  # options of another command
    if listing := _SEVERAL.search(message):
        found += [_way([("sheet", name)]) for name in re.findall(r"'([^']*)'", listing[1])]
    if alternatives := _ALTERNATIVES.search(message):
        found += [_way([("duplicates", word)]) for word in re.split(r", | or ", alternatives[1])]
    done = {name for way in found for name in way.choices}
    group: list[tuple[str, str]] = []
    end = -1
    for option in _OPTION.finditer(message):
        name = {"dim": "dims", "kind": "kinds"}.get(option[1], option[1].replace("-", "_"))
        if name in done or name not in _LABELS:
            continue
        if group and option.start() != end + 1:
            found.append(_way(group))
            group = []
        value = (option[2] or "").rstrip(".:?")
        end = option.start(2) + len(value) if value else option.end()
        group.append((name, value))
    if group:
        found.append(_way(group))
    return sorted({way.label: way for way in found}.values(), key=lambda way: bool(way.field))


def _way(options: Sequence[tuple[str, str]]) -> Way:
    labels: list[str] = []
    choices: dict[str, Any] = {}
    field = ""
    for name, said in options:
        value = "".join(shlex.split(said)) if said.count('"') % 2 == said.count("'") % 2 == 0 else said
        if name == "comparisons":
            labels.append(_LABELS[name])
            choices[name] = True
        elif not value or re.search(r"\b[A-Z]{2,}\b|\.\.\.", value) or value in ("says", "calls", "for", "in", "or"):
            field = name
        else:
            labels.append(_LABELS[name].format("missing" if value.endswith("=") else value))
            if name == "labels":
                labels[-1] = _words_mean(value)
            choices[name] = _chosen(name, value)
    if field and not choices:
        return Way(f"Choose the {field}" if field in ("item", "annotator") else "Say it below", {}, field)
    return Way("; ".join(labels), choices)


def _words_mean(value: str) -> str:
    word, _, number = value.partition("=")
    if "," in value:
        return f"Words mean: {value}"
    return f"'{word}' means {number}" if number else f"'{word}' means missing"


def _chosen(name: str, value: str) -> Any:
    if name in ("dims", "kinds", "categories"):
        first, mark, rest = value.partition("=")
        return {first: rest if mark else first}
    return dict(part.split("=", 1) for part in value.split(",")) if name == "scale" and "=" in value else value
