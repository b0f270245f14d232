"""Argilla: responses by people and suggestions by models, as flat, nested or pushed records, or by columns.

A ranking is a list of options, the best first, as several labels are: where all answers to a question hold the same
options, these were ranked. Version 1 wrote ranks beside the options.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from unisono.errors import DataError
from unisono.tables.importing import documents, import_request, imported_answers, json_mapper
from unisono.tables.importing.located_json import Node

_RESPONSES, _SUGGESTED = ".responses", "-suggestion"


class Given(NamedTuple):
    """What somebody answered to a question about a record, and whether it counts."""

    question: str
    who: str
    kind: str
    value: Node
    state: str = "submitted"


def read_argilla(files: Sequence[str], answers: imported_answers.Answers, request: import_request.Request) -> None:
    """Submitted responses by people and suggestions by models."""
    answers.say("Unit: answers as given; no time. A record holds one suggestion per question, so one judge at most.")
    given = list(_all_given(files, request))
    ranked = _rankings(given)
    for name, one in given:
        if one.state != "submitted":
            answers.drop(one.value, f"the response is {'a ' if one.state == 'draft' else ''}{one.state}")
        elif one.question in ranked:
            answers.say(f"Items ranked on {one.question}: the record and the option.")
            for option, rank in _options(one.value.value):
                who, item = (one.who, one.kind, None), (f"{name}/{option}",)
                answers.compare(item, who, one.question, rank, one.value, ranking=name)
        else:
            answers.add(name, one.who, one.question, one.value.value, one.value, kind=one.kind)


def _all_given(files: Sequence[str], request: import_request.Request) -> Iterator[tuple[str, Given]]:
    for file in files:
        for number, record in enumerate(_records(file), 1):
            known = request.item or ("external_id" if record.at("id").value is None else "id")
            pushed = _is_pushed(record)
            numbered = pushed and request.item is None and record.at(known).value is None
            name = f"record {number}" if numbered else json_mapper.name_at(record, known, "item")
            nested = isinstance(record.at("responses").value, dict)
            for one in (_pushed if pushed else _nested if nested else _flat)(record):
                yield name, one


def _records(file: str) -> Iterator[Node]:
    """Records, also where they were written as one list per column."""
    for node in documents.json_records(file, "records"):
        columns = node.value if isinstance(node.value, dict) else {}
        if isinstance(columns.get("id"), list):
            for index in range(len(columns["id"])):
                row = {key: column[index] for key, column in columns.items() if index < len(column)}
                yield Node(row, node.origin, (*node.path, "id", index))
        else:
            yield node


def _flat(record: Node) -> Iterator[Given]:
    """`quality.responses`, `.responses.users` and `.responses.status` are parallel lists."""
    for key, node in record.entries():
        if key.endswith(_RESPONSES):
            values, people = list(node.each()), list(record.each(f"{key}.users"))
            states = [state.text() for state in record.each(f"{key}.status")] or ["submitted"] * len(values)
            if not len(values) == len(people) == len(states):
                raise DataError(f"{node}: {key} has {len(values)} answers, {len(people)} users, {len(states)} states.")
            for value, person, state in zip(values, people, states, strict=True):
                yield Given(key.removesuffix(_RESPONSES), person.label(), "human", value, state)
        elif key.endswith(".suggestion") and node.value is not None:
            agent = record.text(f"{key}.agent") or "suggestion"
            yield Given(key.removesuffix(".suggestion"), agent, "judge", node)


def _nested(record: Node) -> Iterator[Given]:
    for question, node in record.entries("responses"):
        for response in node.each():
            person = response.first("user_id", "user", "username")
            state = response.text("status") or "submitted"
            yield Given(question, person.label(), "human", response.at("value"), state)
    for question, node in record.entries("suggestions"):
        yield Given(question, node.text("agent") or "suggestion", "judge", node.at("value"))


def _is_pushed(record: Node) -> bool:
    """Whether a record is as version 1 pushed it to the Hugging Face hub: a list of responses under every question."""
    held = record.value if isinstance(record.value, dict) else {}
    return any(f"{key}{_SUGGESTED}" in held or _are_responses(value) for key, value in held.items())


def _are_responses(value: Any) -> bool:
    told = value if isinstance(value, list) else []
    return bool(told) and all(isinstance(one, dict) and {"value", "status"} <= one.keys() for one in told)


def _pushed(record: Node) -> Iterator[Given]:
    for question, node in record.entries():
        if _are_responses(node.value):
            for response in node.each():
                person = response.first("user_id", "user").label()
                yield Given(question, person, "human", response.at("value"), response.text("status"))
        elif question.endswith(_SUGGESTED) and node.value is not None:
            agent = record.at(f"{question}-metadata")
            judge = agent.text("agent") if isinstance(agent.value, dict) else ""
            yield Given(question.removesuffix(_SUGGESTED), judge or "suggestion", "judge", node)


def _rankings(given: Sequence[tuple[str, Given]]) -> set[str]:
    """Questions whose answers all rank the same options, two at least."""
    options: dict[str, set[tuple[str, ...]]] = {}
    for _, one in given:
        if one.state == "submitted" and one.value.value is not None:
            names = tuple(sorted(option for option, _ in _options(one.value.value)))
            options.setdefault(one.question, set()).add(names)
    return {question for question, found in options.items() if len(found) == 1 and len(found.pop()) > 1}


def _options(value: Any) -> list[tuple[str, int]]:
    """The options of an answer with their ranks, where it may be a ranking."""
    if isinstance(value, dict) and isinstance(value.get("rank"), list) and isinstance(value.get("value"), list):
        return list(zip(map(str, value["value"]), value["rank"], strict=False))
    if not isinstance(value, list) or len(set(map(str, value))) < len(value):
        return []
    if all(isinstance(one, dict) and "value" in one for one in value):
        return [(str(one["value"]), one.get("rank", place)) for place, one in enumerate(value, 1)]
    return [(one, place) for place, one in enumerate(value, 1)] if all(isinstance(one, str) for one in value) else []
