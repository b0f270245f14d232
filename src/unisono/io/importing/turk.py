"""Batch results of Mechanical Turk: one row per assignment, answers in columns `Answer.*`, inputs in `Input.*`.

A HIT may hold several items (`Input.text1`, `Answer.valence1`, ...), a question may be spread over columns of true and
false (`Answer.valence.1` to `.5`), and crowd-html-elements put all answers into one cell of JSON.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unisono.errors import DataError
from unisono.io.importing.answers import Answers
from unisono.io.importing.documents import header_of, table_rows
from unisono.io.importing.naming import detect
from unisono.io.importing.nodes import Node
from unisono.io.importing.request import Request
from unisono.io.reading.source import source_name

NEEDED = ("HITId", "WorkerId", "AssignmentStatus")
_JSON = "taskAnswers"


def read_mturk(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Assignments that were not rejected; `--item` is an input's column, with or without `Input.`."""
    answers.say("Unit: answers as given; no time. Entities such as &#44; were turned back into characters.")
    for file in files:
        header = header_of(file)
        items, groups = _items(file, header, request)
        answers.say(f"Item: {', '.join(items.values())}; annotator: {request.annotator or 'WorkerId'}.")
        for row in table_rows(file, needed=NEEDED):
            if row.text("AssignmentStatus").lower() == "rejected":
                answers.drop(row, "the assignment was rejected")
                continue
            _add(row, items, groups, answers, request.annotator or "WorkerId")


def _add(row: Node, items: Mapping[str, str], groups: Mapping[str, set[str]], answers: Answers, annotator: str) -> None:
    who = row.label(annotator)
    given = _merged(dict(_given(row)))
    for number, column in items.items():
        item = html.unescape(row.text(column))
        if not item:
            answers.drop(row, f"{column} is empty")
            continue
        for name, value in given.items():
            base, index = _numbered(name)
            if not number:
                answers.add(item, who, name, value, row, kind="human")
            elif base in groups and index == number:
                answers.add(item, who, base, value, row, kind="human")


def _items(file: str, header: Sequence[str], request: Request) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Columns that name the item by their number ('' for one item per HIT), and the answers that are numbered too."""
    inputs = [column for column in header if column.startswith("Input.")]
    if request.item is not None:
        wanted = request.item if request.item in header else f"Input.{request.item}"
        if wanted not in header:
            several = {number: c for c in inputs for base, number in [_numbered(c)] if number and base == wanted}
            if len(several) > 1:
                return several, _groups(header, set(several))
            raise DataError(f"{source_name(file)} row 1: there is no column '{wanted}'.")
        return {"": wanted}, {}
    series: dict[str, dict[str, str]] = {}
    for column in inputs:
        base, number = _numbered(column)
        if number:
            series.setdefault(base, {})[number] = column
    for columns in series.values():
        groups = _groups(header, set(columns))
        if len(columns) > 1 and "1" in columns and groups:
            return columns, groups
    named = detect([column.removeprefix("Input.") for column in inputs], "item")
    if len(inputs) == 1 or named:
        return {"": inputs[0] if len(inputs) == 1 else f"Input.{named}"}, {}
    return {"": "HITId"}, {}


def _groups(header: Sequence[str], numbers: set[str]) -> dict[str, set[str]]:
    """Answers that come once per item of a HIT."""
    found: dict[str, set[str]] = {}
    for column in header:
        if column.startswith("Answer."):
            base, number = _numbered(_name(column))
            if number:
                found.setdefault(base, set()).add(number)
    return {base: have for base, have in found.items() if have >= numbers}


def _numbered(column: str) -> tuple[str, str]:
    found = re.fullmatch(r"(.*?\D)[_-]?(\d+)", column)
    return (found[1].rstrip("_-"), found[2].lstrip("0") or "0") if found else (column, "")


def _name(column: str) -> str:
    while column.startswith("Answer."):  # some batches have it twice
        column = column.removeprefix("Answer.")
    return column


def _given(row: Node) -> Iterator[tuple[str, Any]]:
    for column, cell in row.entries():
        if column.startswith("Answer."):
            if _name(column) == _JSON:
                yield from _from_json(row, cell.text())
            else:
                yield _name(column), html.unescape(cell.text())


def _from_json(row: Node, text: str) -> Iterator[tuple[str, Any]]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{row}: {_JSON} is not JSON ({error.msg}). Is the file whole?") from None
    for form in found if isinstance(found, list) else [found]:
        if not isinstance(form, dict):
            raise DataError(f"{row}: {_JSON} is not a list of objects. Is this the right kind of file?")
        for name, value in form.items():
            if isinstance(value, dict):
                chosen = [key for key, state in value.items() if state is True]
                value = value.get("label", chosen[0] if len(chosen) == 1 else chosen)
            yield name, value


def _merged(given: dict[str, Any]) -> dict[str, Any]:
    """Questions spread over columns of true and false as one answer: the one that is true."""
    spread: dict[str, dict[str, str]] = {}
    for name, value in given.items():
        base, _, option = name.rpartition(".")
        if base and re.fullmatch(r"-?\d+", option) and str(value).lower() in ("true", "false"):
            spread.setdefault(base, {})[option] = str(value).lower()
    merged = {name: value for name, value in given.items() if name.rpartition(".")[0] not in spread}
    for base, options in spread.items():
        merged[base] = [option for option, state in options.items() if state == "true"]
    return merged
