"""JSON of annotation tools: Argilla, Prodigy, doccano."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from unisono.errors import DataError
from unisono.io.importing.answers import Answers
from unisono.io.importing.documents import is_zip, json_records, json_values, parsed, zip_members
from unisono.io.importing.naming import file_facts, required
from unisono.io.importing.nodes import JsonText, Node
from unisono.io.importing.paths import name_at, only, parse_path
from unisono.io.importing.request import Request
from unisono.io.reading.source import source_name

_RESPONSES = ".responses"


def read_argilla(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Submitted responses by people and suggestions by models, from flat or nested records."""
    answers.say("Unit: answers as given; no time. A record holds one suggestion per question, so one judge at most.")
    item = parse_path(request.item or "id")
    for file in files:
        for record in _argilla_records(file):
            name = name_at(record, item, "item")
            if isinstance(record.at("responses").value, dict):
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
        for node in json_records(file):
            yield user, node
        return
    for member, data in zip_members(file):
        name = f"{source_name(file)}/{member}"
        for number, line in enumerate(data.decode("utf-8-sig", errors="replace").splitlines(), 1):
            if line.strip():
                yield PurePath(member).stem, parsed(JsonText(name, line, number))


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
