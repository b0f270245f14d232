"""Scores of Ragas and of LangSmith's experiments, logs of OpenAI evals, and annotations of Potato.

Ragas and LangSmith write a row per sample with a column per metric; nothing in the file names who judged.
OpenAI evals write a line per event, the specification first. Potato writes a folder per annotator, with a line per
instance, whose schemes hold labels and what was entered for them; since version 2 its export is one file for all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from unisono.errors import DataError
from unisono.tables.importing.documents import header_of, json_values, looks_like_json, records_of
from unisono.tables.importing.import_request import Request, file_facts, required, stem
from unisono.tables.importing.imported_answers import Answers, Entry
from unisono.tables.importing.located_json import Node
from unisono.tables.labels import as_number

# What Ragas takes in, by its names before and since version 0.2.
_RAGAS_INPUTS = {
    *("user_input", "response", "retrieved_contexts", "reference", "reference_contexts", "rubrics", "multi_responses"),
    *("question", "answer", "contexts", "ground_truth", "ground_truths", "retrieved_context_ids", "persona_name"),
    *("reference_context_ids", "reference_tool_calls", "synthesizer_name", "query_style", "query_length"),
}


def read_ragas(files: Sequence[str], answers: Answers, request: Request) -> None:
    """A sample per row, a metric per column; several files are several runs, which judge for themselves."""
    answers.say("Unit: scores as given; no time. Nothing names the judge: annotators are called by their file.")
    for file in files:
        judge = request.annotator or required(file_facts(file, None, "{annotator}.csv"), "annotator", file)
        for row in records_of(file):
            name = row.label(request.item) if request.item else row.first("user_input", "question").text()
            if not name:
                raise DataError(f"{row}: there is no 'user_input'. Say what names a sample: --item COLUMN.")
            for metric, score in row.entries():
                if metric in _RAGAS_INPUTS or metric == request.item:
                    answers.pass_over(metric)
                else:
                    answers.add(name, judge, metric, score.value, score, kind="judge")


_EXPERIMENT = re.compile(
    r"(inputs?|outputs?|reference(_outputs?)?)([._].*)?|error|status|name|(execution|start|end)_time|latency|.*tokens"
    r"|.*cost|metadata|tags|(\w+_)?id|attachments|.*comment"
)


def is_experiment(file: str) -> bool:
    """Whether a table is an experiment of LangSmith, and no feedback."""
    names = [] if looks_like_json(file) else header_of(file)
    return "key" not in names and any(name.startswith(("feedback.", "inputs")) for name in names)


def read_experiment(file: str, several: bool, answers: Answers, request: Request) -> None:
    """A sample per row; scores are `feedback.*` (as `to_pandas` calls them), else what is no input, output or cost."""
    answers.say("Nothing in an experiment names who scored: the annotator is 'evaluators' (--annotator NAME).")
    system = stem(file)
    for row in records_of(file):
        asked = row.label(request.item) if request.item else row.first("example_id", "id").text()
        if not asked:
            raise DataError(f"{row}: there is no 'example_id'. Say what names a sample: --item COLUMN.")
        who = request.annotator or "evaluators"
        name = f"{system}/{asked}" if several else asked
        answers.describe(name, system=system, prompt=asked)
        named = any(metric.startswith("feedback.") for metric, _ in row.entries())
        for metric, score in row.entries():
            other = not (named or _EXPERIMENT.fullmatch(metric) or metric == request.item)
            if other or metric.startswith("feedback."):
                answers.add(name, who, metric.removeprefix("feedback."), score.value, score)
            else:
                answers.pass_over(metric)


_EVENTS = ("match", "metrics")


def read_openai_evals(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Events of type match and metrics: a reference, since nobody judged; items are models and samples."""
    answers.say("Unit: correct as 1 and 0, metrics as given; no time. Scores of an evaluation have no annotator.")
    found: list[Entry] = []
    for file in files:
        system = ""
        for event in json_values(file):
            spec = event.at("spec")
            if isinstance(spec.value, dict):
                functions = [one.text() for one in spec.each("completion_fns")]
                system = ",".join(functions)
            elif event.text("type") in _EVENTS:
                data = event.need("data")
                numbers = [(key, node) for key, node in data.entries() if isinstance(node.value, bool | int | float)]
                found += [((system, event.label("sample_id")), None, key, node, None) for key, node in numbers]
            elif event.at("final_report").value is None:
                answers.drop(event, f"an event of type '{event.text('type') or 'unknown'}'")
    answers.add_all(found, lambda parts: {"system": parts[0], "prompt": parts[1]})


def read_potato(files: Sequence[str], answers: Answers, request: Request) -> None:
    """`annotated_instances.jsonl` of every annotator, in a folder of that name, or `annotations.jsonl` of all."""
    answers.say("Unit: answers as given; no time. The answer is the label chosen, or the number entered for one.")
    lines = [(file, line) for file in files for line in json_values(file)]
    entered = _entered_schemes(line for _, line in lines)
    for file, line in lines:
        named = file_facts(file, request.names, "{annotator}/annotated_instances.jsonl")
        who = line.text("user_id") or required(named, "annotator", file)
        item = line.first("id", "instance_id").label()
        kind = _ORIGINS.get(line.text("annotator_origin", "kind"), "human")
        for scheme, held in _schemes_of(line).entries():
            for name, value in _potato_answers(scheme, held, numbers=scheme in entered):
                answers.add(item, who, name, value, held, kind=kind)
        if line.first("span_annotations", "spans").value:
            answers.drop(line, "annotations of spans")


_ORIGINS = {"llm": "judge", "tool": "code"}


def _schemes_of(line: Node) -> Node:
    return line.need("labels" if line.at("labels").value is not None else "label_annotations")


def _entered_schemes(lines: Iterable[Node]) -> set[str]:
    """Schemes under whose labels numbers were entered, not whether they were chosen."""
    found = set()
    for line in lines:
        for scheme, held in _schemes_of(line).entries():
            values = [str(node.value).lower() for label, node in held.entries() if as_number(label) is None]
            if any(as_number(value) is not None and value not in ("0", "1") for value in values):
                found.add(scheme)
    return found


def _potato_answers(scheme: str, held: Node, *, numbers: bool) -> list[tuple[str, Any]]:
    """The label that was chosen (`scale_3` is 3), or the number entered for every label."""
    cells = {label: node.value for label, node in held.entries()}
    points = {label: point[1] for label in cells if (point := re.fullmatch(r"scale_(-?\d+)", label))}
    if numbers and not points:
        return [(scheme if len(cells) == 1 else f"{scheme} {label}", value) for label, value in cells.items()]
    chosen = [label for label, value in cells.items() if str(value).lower() not in ("false", "0", "", "none")]
    return [(scheme, [points.get(label, label) for label in chosen])]
