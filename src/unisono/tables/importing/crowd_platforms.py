"""Crowd platforms: batches of Mechanical Turk, Toloka, a study on Prolific, tables of crowd-kit.

Mechanical Turk writes one row per assignment, answers in columns `Answer.*`, inputs in `Input.*`. A HIT may hold
several items (`Input.text1`, `Answer.valence1`, ...), a question may be spread over columns of true and false
(`Answer.valence.1` to `.5`), and crowd-html-elements put all answers into one cell of JSON.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unisono.errors import DataError
from unisono.tables.importing.documents import header_of, table_rows
from unisono.tables.importing.import_request import Request, detect
from unisono.tables.importing.imported_answers import Answers
from unisono.tables.importing.located_json import Node
from unisono.tables.labels import listed
from unisono.tables.reading.column_roles import takes_no_dimension
from unisono.tables.reading.open_table import source_name

_TURK_COLUMNS = ("HITId", "WorkerId", "AssignmentStatus")
_JSON = "taskAnswers"


def read_mturk(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Assignments that were not rejected; `--item` is an input's column, with or without `Input.`."""
    answers.say("Unit: answers as given; no time. Entities such as &#44; were turned back into characters.")
    for file in files:
        header = header_of(file)
        items, groups = _turk_items(file, header, request)
        answers.say(f"Item: {', '.join(items.values())}; annotator: {request.annotator or 'WorkerId'}.")
        for row in table_rows(file, needed=_TURK_COLUMNS, may_lack=("Approve", "Reject")):
            if row.text("AssignmentStatus").lower() == "rejected":
                answers.drop(row, "the assignment was rejected")
                continue
            _add_assignment(row, items, groups, answers, request.annotator or "WorkerId")


def _add_assignment(
    row: Node, items: Mapping[str, str], groups: Mapping[str, set[str]], answers: Answers, annotator: str
) -> None:
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


def _turk_items(file: str, header: Sequence[str], request: Request) -> tuple[dict[str, str], dict[str, set[str]]]:
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
    return {"": _item_among(inputs, "Input.") or "HITId"}, {}


def _item_among(inputs: Sequence[str], prefix: str) -> str | None:
    """The input that names the item: the only one, or the one that is called so."""
    named = detect([column.removeprefix(prefix) for column in inputs], "item")
    return inputs[0] if len(inputs) == 1 else f"{prefix}{named}" if named else None


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


_PARTICIPANT, _STATUS = "Participant id", "Status"
_COUNTED = {"APPROVED", "AWAITING REVIEW", "COMPLETED"}
_PROLIFIC_IDS = {"prolific_pid", "study_id", "session_id"}


def read_toloka(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Assignments that were not rejected, without control tasks; `--item` is an input, with or without `INPUT:`."""
    answers.say("Unit: answers as given; no time. Backslashes before commas were taken away.")
    for file in files:
        header = header_of(file, "\t")
        item = _toloka_item(file, header, request.item)
        answers.say(f"Item: {item}; annotator: ASSIGNMENT:worker_id.")
        needed = ("ASSIGNMENT:worker_id", "ASSIGNMENT:status", item)
        for row in table_rows(file, "\t", needed):
            status = row.text("ASSIGNMENT:status").upper()
            if status not in ("", "APPROVED", "SUBMITTED", "ACCEPTED"):
                answers.drop(row, f"the assignment is {status.lower()}")
            elif any(column.startswith("GOLDEN:") for column, _ in row.entries()):
                answers.drop(row, "a control task")
            else:
                name, who = row.label(item).replace("\\,", ","), row.label("ASSIGNMENT:worker_id")
                for column, cell in row.entries():
                    if column.startswith("OUTPUT:"):
                        value = cell.text().replace("\\,", ",")
                        answers.add(name, who, column.removeprefix("OUTPUT:"), value, row, kind="human")


def _toloka_item(file: str, header: Sequence[str], wanted: str | None) -> str:
    inputs = [column for column in header if column.startswith("INPUT:")]
    if wanted is not None:
        return wanted if wanted in header else f"INPUT:{wanted}"
    if (found := _item_among(inputs, "INPUT:")) is not None:
        return found
    raise DataError(f"{source_name(file)} row 1: which input names the item? Say --item, one of {listed(inputs)}.")


def read_prolific(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Ratings (with a column PROLIFIC_PID) of those whom the export of submissions counts as having taken part."""
    exports = [file for file in files if _PARTICIPANT in header_of(file)]
    ratings = [file for file in files if file not in exports]
    if not exports or not ratings:
        raise DataError(
            f"{source_name(files[0])} row 1: expected a table of ratings and Prolific's export of submissions, "
            f"which has the columns '{_PARTICIPANT}' and '{_STATUS}'."
        )
    state: dict[str, str] = {}
    codes = 0
    for file in exports:
        for row in table_rows(file, needed=(_PARTICIPANT, _STATUS)):
            person = row.label(_PARTICIPANT)
            if state.get(person) not in _COUNTED:  # who came back after a return took part
                state[person] = row.label(_STATUS).upper()
            codes += row.text("Completion code").upper() == "NOCODE"
    answers.say("Unit: answers as given; no time. Annotators are participants of Prolific.")
    if codes:
        answers.say(f"Finished without a completion code (NOCODE) and kept, if their status counts: {codes}.")
    for file in ratings:
        _add_ratings(file, state, answers, request)


def _add_ratings(file: str, state: dict[str, str], answers: Answers, request: Request) -> None:
    header = header_of(file)
    who = request.annotator or next((column for column in header if column.upper() == "PROLIFIC_PID"), "PROLIFIC_PID")
    item = request.item or detect([column for column in header if column.lower() not in _PROLIFIC_IDS], "item")
    if item is None:
        raise DataError(f"{source_name(file)} row 1: no column looks like the item. Say which one with --item COLUMN.")
    for row in table_rows(file, needed=(who, item)):
        person = row.label(who)
        if state.get(person) not in _COUNTED:
            known = f"the participant's status is {state[person].lower()}" if person in state else "not in the export"
            answers.drop(row, known)
            continue
        for column, cell in row.entries():
            label = column in (who, item) or column.lower() in _PROLIFIC_IDS or takes_no_dimension(column)
            if not label or column in answers.rename:
                answers.add(row.label(item), person, column, cell.value, row, kind="human")


def read_crowd_kit(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Rows of task, worker and label; the labels have to be numbers, or be given numbers."""
    answers.say("Unit: labels as given; no time. crowd-kit's labels are categories: only an order makes them ratings.")
    for file in files:
        for row in table_rows(file, needed=("task", "worker", "label")):
            answers.add(row.label("task"), row.label("worker"), "label", row.at("label").value, row)
