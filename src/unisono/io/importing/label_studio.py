"""Label Studio: the JSON of tasks with their annotations and predictions, and the table (CSV, TSV) of annotations.

The value of a control lies under its type: `{"type": "rating", "value": {"rating": 4}}`. In the table controls and data
fields stand side by side under their own names, so a column that never varies within a task counts as a data field.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from unisono.io.importing.answers import Answers
from unisono.io.importing.documents import json_records, looks_like_json, table_rows
from unisono.io.importing.nodes import Node
from unisono.io.importing.paths import name_at, parse_path
from unisono.io.importing.request import Request
from unisono.io.reading.columns import takes_no_dimension

_TYPES = ("rating", "number", "choices")
_REGION = {"start", "end", "x", "y", "width", "height", "points", "startOffset"}


def read_label_studio(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Ratings, numbers and single choices; `--item data.FIELD` (JSON) or a column (CSV) names the item."""
    answers.say("Unit: answers as given; no time. Stars count from 1.")
    for file in files:
        if looks_like_json(file):
            for task in json_records(file, "tasks"):
                _add_task(task, answers, request.item)
        else:
            _add_table(file, answers, request)


def _add_task(task: Node, answers: Answers, wanted: str | None) -> None:
    item = name_at(task, parse_path(wanted or "id"), "item")
    task.need("annotations")
    for annotation in task.each("annotations"):
        if annotation.at("was_cancelled").value is True:
            answers.drop(annotation, "the annotation was cancelled (skipped)")
            continue
        _add_results(annotation, item, _person(annotation.need("completed_by")), "human", answers)
    for prediction in task.each("predictions"):
        if isinstance(prediction.value, dict):  # some exports hold the numbers of predictions alone
            judge = prediction.text("model_version") or "prediction"
            _add_results(prediction, item, judge, "judge", answers)


def _person(node: Node) -> str:
    if isinstance(node.value, dict):
        return node.first("email", "username", "id").label()
    return node.label()


def _add_results(source: Node, item: str, who: str, kind: str, answers: Answers) -> None:
    for result in source.each("result"):
        name, form = result.text("from_name"), result.text("type")
        value = result.at("value")
        if form not in _TYPES:
            answers.drop(result, f"a result of type '{form or 'unknown'}', which is no rating")
        elif _REGION & set(value.value or {}):
            answers.drop(result, "a rating of a region, not of the task")
        else:
            answers.add(item, who, name, value.need(form).value, result, kind=kind)


def _add_table(file: str, answers: Answers, request: Request) -> None:
    item = request.item or "id"
    rows = list(table_rows(file, needed=("annotator", item)))
    columns = list(dict.fromkeys(column for row in rows for column, _ in row.entries()))
    columns = [column for column in columns if column not in answers.rename and not _is_label(column, item)]
    fields = [column for column in columns if _describes_task(rows, column, item)]
    if fields:
        answers.say(
            f"Columns that do not vary within a task, taken for its data: {', '.join(fields)} (--dim takes them)."
        )
    for row in rows:
        for column, cell in row.entries():
            if column in answers.rename or (column in columns and column not in fields):
                answers.add(row.label(item), row.label("annotator"), column, _cell(cell.text()), row, kind="human")


def _is_label(column: str, item: str) -> bool:
    # A data field that is called like a control is written as _data_ and its name.
    return column == item or takes_no_dimension(column) or column.startswith("_data_")


def _describes_task(rows: Sequence[Node], column: str, item: str) -> bool:
    """Whether a column is the same for all annotators of every task, over several tasks with several annotators."""
    seen: dict[str, list[str]] = {}
    for row in rows:
        seen.setdefault(row.text(item), []).append(row.text(column))
    shared = [values for values in seen.values() if len(values) > 1]
    return len(shared) > 1 and all(len(set(values)) == 1 for values in shared)


def _cell(text: str) -> Any:
    """A plain cell, or the value inside a cell of JSON."""
    if not text.startswith(("[", "{")):
        return text
    try:
        found: Any = json.loads(text)
    except json.JSONDecodeError:
        return text
    found = found[0] if isinstance(found, list) and len(found) == 1 else found
    if isinstance(found, dict):
        held = [found[form] for form in _TYPES if form in found]
        return held[0] if held else text
    return found
