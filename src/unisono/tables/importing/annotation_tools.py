"""Annotation tools and published panels: Label Studio, Argilla, Prodigy, doccano; sureal, alt-test, MT-Bench.

In Label Studio the value of a control lies under its type: `{"type": "rating", "value": {"rating": 4}}`. In its table
controls and data fields stand side by side under their own names, so a column that never varies within a task counts
as a data field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from unisono.errors import DataError
from unisono.tables.importing.documents import (
    is_zip,
    json_document,
    json_records,
    json_values,
    looks_like_json,
    parsed,
    table_rows,
    zip_members,
)
from unisono.tables.importing.import_request import Request, file_facts, item_names, required
from unisono.tables.importing.imported_answers import Answers
from unisono.tables.importing.json_mapper import name_at, only, parse_path
from unisono.tables.importing.located_json import JsonText, Node, label_of
from unisono.tables.reading.column_roles import takes_no_dimension
from unisono.tables.reading.open_table import source_name

_TYPES = ("rating", "number", "choices", "pairwise")
_HELD = {"pairwise": "selected"}  # where the value of a type is not under its own name
# What Label Studio writes of a task or an annotation beside its controls.
_ABOUT_TASK = {
    *("agreement", "cancelled_annotations", "comment_count", "draft_exists", "file_upload", "ground_truth", "inner_id"),
    *("is_labeled", "last_comment_updated_at", "model_version", "overlap", "predictions_score", "project", "reviewed"),
    *("total_annotations", "total_predictions", "unresolved_comment_count", "was_cancelled", "updated_by", "reviews"),
}
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
            answers.add(item, who, name, value.need(_HELD.get(form, form)).value, result, kind=kind)


def _add_table(file: str, answers: Answers, request: Request) -> None:
    item = request.item or "id"
    rows = list(table_rows(file, needed=("annotator", item)))
    columns = list(dict.fromkeys(column for row in rows for column, _ in row.entries()))
    columns = [column for column in columns if column not in answers.rename and not _is_label(column, item)]
    about = [
        column for column in dict.fromkeys(name for row in rows for name, _ in row.entries()) if column in _ABOUT_TASK
    ]
    if about:
        answers.say(
            f"Columns about tasks and annotations, which are no ratings: {', '.join(about)} (--dim takes them)."
        )
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
    about = column in _ABOUT_TASK or column.startswith("_data_")
    return column == item or about or takes_no_dimension(column)


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
        held = [found[key] for form in _TYPES if (key := _HELD.get(form, form)) in found]
        return held[0] if held else text
    return found


_RESPONSES = ".responses"


def read_argilla(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Submitted responses by people and suggestions by models, from flat or nested records."""
    answers.say("Unit: answers as given; no time. A record holds one suggestion per question, so one judge at most.")
    for file in files:
        for number, record in enumerate(_argilla_records(file), 1):
            known = request.item or ("external_id" if record.at("id").value is None else "id")
            numbered = _is_argilla_1(record) and request.item is None and record.at(known).value is None
            name = f"record {number}" if numbered else name_at(record, parse_path(known), "item")
            if _is_argilla_1(record):
                _argilla_1(record, name, answers)
            elif isinstance(record.at("responses").value, dict):
                _argilla_nested(record, name, answers)
            else:
                _argilla_flat(record, name, answers)


def _argilla_records(file: str) -> Iterator[Node]:
    """Records, also where they were written as one list per column."""
    for node in json_records(file, "records"):
        columns = node.value if isinstance(node.value, dict) else {}
        if isinstance(columns.get("id"), list):
            for index in range(len(columns["id"])):
                row = {key: column[index] for key, column in columns.items() if index < len(column)}
                yield Node(row, node.origin, (*node.path, "id", index))
        else:
            yield node


def _argilla_flat(record: Node, item: str, answers: Answers) -> None:
    """`quality.responses`, `.responses.users` and `.responses.status` are parallel lists."""
    for key, node in record.entries():
        if key.endswith(_RESPONSES):
            values, people = list(node.each()), list(record.each(f"{key}.users"))
            states = [state.text() for state in record.each(f"{key}.status")] or ["submitted"] * len(values)
            if not len(values) == len(people) == len(states):
                raise DataError(
                    f"{node}: {key} has {len(values)} answers, {len(people)} users and {len(states)} states."
                )
            for value, person, state in zip(values, people, states, strict=True):
                _argilla_add(answers, item, person, key.removesuffix(_RESPONSES), value, state)
        elif key.endswith(".suggestion") and node.value is not None:
            agent = record.text(f"{key}.agent") or "suggestion"
            answers.add(item, agent, key.removesuffix(".suggestion"), node.value, node, kind="judge")


_SUGGESTED = "-suggestion"


def _is_argilla_1(record: Node) -> bool:
    """Whether a record is as version 1 pushed it to the Hugging Face hub: a list of responses under every question."""
    held = record.value if isinstance(record.value, dict) else {}
    return any(f"{key}{_SUGGESTED}" in held or _responses_1(value) for key, value in held.items())


def _responses_1(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(v, dict) and {"value", "status"} <= v.keys() for v in value)
    )


def _argilla_1(record: Node, item: str, answers: Answers) -> None:
    for question, node in record.entries():
        if _responses_1(node.value):
            for response in node.each():
                _argilla_add(
                    answers,
                    item,
                    response.first("user_id", "user"),
                    question,
                    response.at("value"),
                    response.text("status"),
                )
        elif question.endswith(_SUGGESTED) and node.value is not None:
            agent = record.at(f"{question}-metadata")
            judge = agent.text("agent") if isinstance(agent.value, dict) else ""
            answers.add(item, judge or "suggestion", question.removesuffix(_SUGGESTED), node.value, node, kind="judge")


def _argilla_nested(record: Node, item: str, answers: Answers) -> None:
    for question, node in record.entries("responses"):
        for response in node.each():
            person = response.first("user_id", "user", "username")
            _argilla_add(answers, item, person, question, response.at("value"), response.text("status") or "submitted")
    for question, node in record.entries("suggestions"):
        agent = node.text("agent") or "suggestion"
        answers.add(item, agent, question, node.at("value").value, node, kind="judge")


def _argilla_add(answers: Answers, item: str, person: Node, question: str, value: Node, state: str) -> None:
    if state != "submitted":
        answers.drop(value, f"the response is a {state}" if state == "draft" else f"the response is {state}")
    else:
        answers.add(item, person.label(), question, value.value, value, kind="human")


def read_prodigy(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Accepted tasks; the rating is the option chosen in `accept`, or the fields named with `--dim`."""
    answers.say("Unit: options as given; no time. Item: the hash of the input, unless --item says otherwise.")
    item = parse_path(request.item or "_input_hash")
    answers.usually(repeats="last")
    fields = {source: parse_path(source) for _, source in request.dims}
    for file in files:
        for task in json_values(file):
            answer = task.need("answer").text()
            if answer != "accept":
                answers.drop(task, f"the answer is {answer}")
                continue
            who = task.first("_annotator_id", "_session_id")
            if who.value is None:
                raise DataError(f"{task}: there is no '_annotator_id'. Start Prodigy with named sessions.")
            for name, path in fields.items() or {"accept": parse_path("accept")}.items():
                node = only(task, path)
                if node.value is None:
                    raise DataError(
                        f"{task}: there is no '{name}'. Name the field of the rating with --dim NAME=FIELD."
                    )
                answers.add(name_at(task, item, "item"), who.text(), name, node.value, node, kind="human")


def read_doccano(files: Sequence[str], answers: Answers, request: Request) -> None:
    """One file per user, named after the user; or their zip archive; or old exports that name users inside."""
    answers.say("Unit: labels as given; no time. Annotators: the users' files, as doccano names them.")
    for file in files:
        for user, node in _doccano_records(file, request.names):
            _doccano_add(user, node, answers)


def _doccano_records(file: str, names: str | None) -> Iterator[tuple[str, Node]]:
    if not is_zip(file):
        user = required(file_facts(file, names, "{annotator}.jsonl"), "annotator", file)
        yield from _of_one_user(user, json_records(file), named=names is not None)
        return
    for member, data in zip_members(file):
        name = f"{source_name(file)}/{member}"
        for number, line in enumerate(data.decode("utf-8-sig", errors="replace").splitlines(), 1):
            if line.strip():
                yield PurePath(member).stem, parsed(JsonText(name, line, number))


def _of_one_user(user: str, records: Iterator[Node], *, named: bool) -> Iterator[tuple[str, Node]]:
    """The records of a file for one user; a file of all users does not say who answered."""
    seen: set[str] = set()
    for node in records:
        told = isinstance(node.at("annotations").value, list)  # old exports name users inside
        twice = node.text("id") in seen
        if not told and (twice or (user.lower() in ("all", "unknown") and not named)):
            why = f"'{node.text('id')}' is there twice" if twice else f"it is called '{user}'"
            raise DataError(
                f"{node}: this looks like an export of all users in one file ({why}), which does not say who answered. "
                "Export one file per user, or say whose it is: --names '{annotator}.jsonl' takes the name of the file."
            )
        seen.add(node.text("id"))
        yield user, node


def _doccano_add(user: str, node: Node, answers: Answers) -> None:
    item = node.label("id")
    if isinstance(node.at("annotations").value, list):
        for entry in node.each("annotations"):
            answers.add(item, entry.label("user"), "label", entry.need("label").value, entry, kind="human")
        return
    labels = node.first("label", "labels", "cats")
    if labels.value is None:
        raise DataError(f"{node}: there is no 'label'. Is this the right kind of file?")
    answers.add(item, user, "label", labels.value, labels, kind="human")


def read_sureal(files: Sequence[str], answers: Answers, request: Request) -> None:
    """`dis_videos` with opinion scores `os` by subject; subjects who scored a video again count by their mean."""
    answers.say("Unit: opinion scores as given; no time. Item: asset_id.")
    answers.usually(repeats="mean")
    for file in files:
        if not looks_like_json(file):
            raise DataError(
                f"{source_name(file)} line 1: this is not JSON. Datasets of sureal that are programs are not run;"
                " write them as JSON first."
            )
        for video in json_document(file).need("dis_videos").each():
            scores = video.need("os")
            people = scores.entries() if isinstance(scores.value, dict) else _by_position(scores)
            for subject, node in people:
                # One score, or one per repetition.
                repeats = [node] if not isinstance(node.value, list) else list(node.each())
                for score in repeats:
                    answers.add(video.label("asset_id"), subject, "score", score.value, score, kind="human")


def _by_position(scores: Node) -> list[tuple[str, Node]]:
    return [(f"subject {index + 1}", node) for index, node in enumerate(scores.each())]


def read_alt_test(files: Sequence[str], answers: Answers, request: Request) -> None:
    """`{annotator: {item: value}}`; files called human... and llm... say what annotators are."""
    answers.say("Unit: answers as given; no time. A dimension may stand behind __ in the names of items.")
    found: list[tuple[str, str, str, Node]] = []
    for file in files:
        name = source_name(file).lower()
        kind = "human" if name.startswith("human") else "judge" if name.startswith(("llm", "model", "judge")) else ""
        for who, items in json_document(file).entries():
            found += [(who, kind, item, node) for item, node in items.entries()]
    names = {item for _, _, item, _ in found}
    split = _dimensions_behind(names)
    for who, kind, item, node in found:
        base, dimension = item.rsplit("__", 1) if split else (item, "rating")
        answers.add(base, who, dimension, node.value, node, kind=kind or None)


def _dimensions_behind(names: set[str]) -> bool:
    """Whether `item__dimension` is what names mean: all have it, and few endings serve many items."""
    if not names or not all("__" in name for name in names):
        return False
    ends = {name.rsplit("__", 1)[1] for name in names}
    return len(ends) < len({name.rsplit("__", 1)[0] for name in names})


def read_mt_bench(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Single judgments: question, model and turn make the item, the judge's model the annotator."""
    answers.say("Unit: scores 1 to 10 as given; -1 means that no score was found in the judge's answer; no time.")
    found: list[tuple[tuple[str, str, str], str, Node]] = []
    for file in files:
        for record in json_values(file):
            if record.at("winner").value is not None or record.at("g1_winner").value is not None:
                answers.drop(record, "a comparison of two models, not a rating")
            elif record.need("score").value == -1:
                answers.drop(record, "the score is -1: none was found in the judge's answer")
            else:
                parts = (record.label("model"), f"turn {record.text('turn') or 1}", record.label("question_id"))
                found.append((parts, _judge_name(record.need("judge")), record))
    if found:
        names = item_names([parts for parts, _, _ in found])
        for item, ((model, turn, question), judge, record) in zip(names, found, strict=True):
            answers.describe(item, system=model, prompt=f"question {question}/{turn}")
            person = re.match(r"(expert|author|human)", judge)
            answers.add(item, judge, "score", record.at("score").value, record, kind="human" if person else "judge")


def _judge_name(node: Node) -> str:
    """The judge is a name, or a pair of model and prompt."""
    if isinstance(node.value, list) and node.value:
        return label_of(node.value[0])
    return node.label()
