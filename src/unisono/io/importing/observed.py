"""Feedback on traces of language applications: Langfuse, LangSmith, MLflow, Phoenix.

All hold long records: one number, with its name, of one trace by one source. Their tables have the same columns, with
objects as JSON inside a cell or as dotted names (`result.score`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from unisono.io.importing.answers import Answers
from unisono.io.importing.documents import json_records, records_of
from unisono.io.importing.mapper import kind_named
from unisono.io.importing.nodes import Node
from unisono.io.importing.paths import name_at, parse_path
from unisono.io.importing.request import Request

_JUDGE_KEYS = ("model", "judge", "evaluator", "model_name")


def read_langfuse(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Scores: annotators are authors of annotations, or the judge that the metadata name."""
    answers.say("Unit: scores as given, booleans as 1 and 0; no time. userId is the application's user, not the rater.")
    answers.say("A dimension under two names (human_fluency, fluency) becomes one with --dim fluency=human_fluency ...")
    for file in files:
        for record in records_of(file, "data"):
            source = record.text("source").upper()
            kind = {"ANNOTATION": "human", "EVAL": "judge"}.get(source)
            unnamed = {"human": "human", "judge": "judge"}.get(kind or "", source.lower() or "api")
            who = record.text("authorUserId") if kind == "human" else _model(record)
            value = record.at("value")
            if value.value is None:
                value = record.at("stringValue")
            item = record.first("observationId", "traceId", "sessionId", "datasetRunId")
            _add(record, item, who or unnamed, record.label("name"), value, kind, answers, request)


def read_langsmith(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Feedback on runs; of several entries for one key by one source the newest counts."""
    answers.say("Unit: scores as given; no time. Of several entries for one key and source the newest counts.")
    answers.usually(repeats="last")
    records = [record for file in files for record in records_of(file, "feedback")]
    for record in sorted(records, key=lambda record: record.text("created_at")):
        source = _object(record, "feedback_source")
        form = source.text("type")
        kind = {"app": "human", "model": "judge"}.get(form)
        who = source.first("user_name", "user_id").text() or _model(source)
        value = record.at("score") if record.at("score").value is not None else record.at("value")
        name = record.label("key")
        _add(record, record.at("run_id"), who or form or "api", name, value, kind, answers, request)


def read_mlflow(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Feedback among the assessments of traces; what was overridden, or is an expectation, is left out."""
    answers.say("Unit: values as given, yes and no as 1 and 0; no time.")
    answers.usually(words={"yes": 1.0, "no": 0.0})
    for file in files:
        for trace in json_records(file, "traces"):
            info = trace.at("info") if trace.at("info").value is not None else trace
            item = info.first("trace_id", "request_id").label()
            held = list(info.each("assessments"))
            overridden = {entry.text("overrides") for entry in held} - {""}
            for entry in held:
                reason = _mlflow_reason(entry, overridden)
                if reason:
                    answers.drop(entry, reason)
                    continue
                source = entry.need("source")
                name = entry.first("assessment_name", "name").label()
                kind = kind_named(source.text("source_type"))
                who = source.text("source_id") or source.text("source_type").lower()
                answers.add(item, who, name, entry.at("feedback", "value").value, entry, kind=kind)


def _mlflow_reason(entry: Node, overridden: set[str]) -> str | None:
    if entry.at("feedback").value is None:
        return "an expectation, not a rating" if entry.at("expectation").value is not None else "no feedback"
    if entry.at("valid").value is False or entry.text("assessment_id") in overridden:
        return "overridden by a later assessment"
    return "the judge failed" if entry.at("feedback", "error").value is not None else None


def read_phoenix(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Annotations of spans (traces, sessions): annotators are identifiers, users, or the judge's model."""
    answers.say("Unit: scores as given; labels without score only with --labels; no time.")
    for file in files:
        for record in records_of(file, "data", "annotations"):
            kind = kind_named(record.text("annotator_kind"))
            result = _object(record, "result")
            value = result.at("score") if result.at("score").value is not None else result.at("label")
            who = record.first("identifier", "user_id").text() or _model(record)
            name = record.first("name", "annotation_name").label()
            item = record.first("span_id", "context.span_id", "trace_id", "session_id")
            _add(record, item, who or record.text("annotator_kind").lower(), name, value, kind, answers, request)


def _add(
    record: Node, item: Node, who: str, name: str, value: Node, kind: str | None, answers: Answers, request: Request
) -> None:
    if request.item is not None:
        named = "/".join(name_at(record, parse_path(part), "item") for part in request.item.split(","))
    else:
        named = item.label()
    if request.annotator is not None:
        who = name_at(record, parse_path(request.annotator), "annotator")
    answers.add(named, who, name, value.value, value if value.value is not None else record, kind=kind)


def _object(record: Node, key: str) -> Node:
    """An object inside a record; in tables it is JSON in a cell, or spread over dotted columns."""
    node = record.at(key)
    if isinstance(node.value, str):
        try:
            found: Any = json.loads(node.value)
        except json.JSONDecodeError:
            raise node.unlike("an object") from None
        return Node(found, node.origin, node.path, record)
    if node.value is None and isinstance(record.value, dict):
        spread = {
            name.removeprefix(f"{key}."): cell for name, cell in record.value.items() if name.startswith(f"{key}.")
        }
        return Node(spread or None, node.origin, record.path, record)
    return node


def _model(record: Node) -> str:
    """The judge's model, where the metadata name it."""
    metadata = _object(record, "metadata")
    return metadata.first(*_JUDGE_KEYS).text() if isinstance(metadata.value, dict) else ""
