"""Tables of crowd tools: Toloka, a study on Prolific, crowd-kit."""

from __future__ import annotations

from collections.abc import Sequence

from unisono.data.labels import listed
from unisono.errors import DataError
from unisono.io.importing.answers import Answers
from unisono.io.importing.documents import header_of, table_rows
from unisono.io.importing.naming import detect
from unisono.io.importing.request import Request
from unisono.io.reading.columns import takes_no_dimension
from unisono.io.reading.source import source_name

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
    named = detect([column.removeprefix("INPUT:") for column in inputs], "item")
    if named or len(inputs) == 1:
        return inputs[0] if len(inputs) == 1 else f"INPUT:{named}"
    raise DataError(
        f"{source_name(file)} row 1: which input names the item? There are {listed(inputs)}; say it with --item COLUMN."
    )


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
