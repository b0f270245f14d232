"""Evaluation and tracing of language models: promptfoo, DeepEval, HELM, Inspect, Langfuse, LangSmith, MLflow, Phoenix.

In logs of Inspect AI (JSON, or the zip archive `.eval`) every scorer is an annotator. The same scorer used twice is
called `name`, `name1`, ... in the order of `eval.scorers`, whose options may hold the model that judges; every epoch
of a sample is an item of its own. Tracing tools hold long records: one number, with its name, of one trace by one
source; in their tables objects are JSON inside a cell or dotted names (`result.score`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from unisono.errors import DataError, in_shell
from unisono.tables.importing.documents import is_zip, json_document, json_records, parsed, records_of, zip_members
from unisono.tables.importing.import_request import Request, item_names
from unisono.tables.importing.imported_answers import Answers, Entry
from unisono.tables.importing.json_mapper import kind_named, name_at
from unisono.tables.importing.located_json import JsonText, Node
from unisono.tables.importing.tables_of_scores import is_experiment, read_experiment
from unisono.tables.reading.open_table import source_name

_GRADED = re.compile(
    r"llm-rubric|search-rubric|g-eval|factuality|model-graded|relevance|faithfulness|recall|select-best"
)
_SCORE_KEY = re.compile(r"(.+)_score")


def read_promptfoo(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Components of every graded output: the assertion's provider judges its metric.

    Results of the first versions have numbers neither of the test nor of the prompt: variables and text tell them.
    """
    answers.say("Unit: scores 0 to 1 as given; no time. namedScores are sums of components and are not read.")
    found: list[Entry] = []
    for file in files:
        results = json_document(file).need("results")
        if isinstance(results.value, dict) and "results" not in results.value and "table" in results.value:
            raise DataError(f"{results}: the layout of an old version (a table). Write it with promptfoo 0.30 on.")
        outputs = results if isinstance(results.value, list) else results.need("results")
        numbered = isinstance(results.value, dict) and int(results.text("version") or 1) > 2
        seen: dict[tuple[str, str], int] = {}
        for result in outputs.each():
            system = _named(result.at("provider"), "label", "id")
            if numbered:
                parts = (system, f"prompt {result.text('promptIdx')}", f"test {result.label('testIdx')}")
            else:
                prompt, test = (_place(seen, what, result.at(what)) for what in ("prompt", "vars"))
                parts = (system, f"prompt {prompt}", f"test {test}")
            components = _components(result)
            if not components:
                answers.drop(result, "no graded components")
            found += _apart([entry for part in components for entry in _component(part, parts, answers)])
    answers.add_all(found, lambda parts: {"system": parts[0], "prompt": "/".join(parts[1:])})


def _components(result: Node) -> list[Node]:
    """The graded assertions of an output; an output with one alone may be it itself."""
    graded = result.at("gradingResult")
    if not isinstance(graded.value, dict):
        return []
    alone = [graded] if graded.at("assertion").value is not None else []
    return list(graded.each("componentResults")) or alone


def _named(node: Node, *keys: str) -> str:
    """The first of the names of an object that is not empty, or the text that stands in its place."""
    if not isinstance(node.value, dict):
        return node.text()
    return next((name for key in keys if (name := node.text(key))), "")


def _place(seen: dict[tuple[str, str], int], what: str, node: Node) -> int:
    """The number of what is known by its content alone, counted as it first comes."""
    return seen.setdefault((what, json.dumps(node.value, sort_keys=True)), sum(key[0] == what for key in seen))


def _apart(entries: list[Entry]) -> list[Entry]:
    """Assertions of one output with the same judge and name get numbers: two regular expressions are two."""
    count: dict[tuple[str | None, str], int] = {}
    told = []
    for parts, judge, name, node, kind in entries:
        n = count[judge, name] = count.get((judge, name), 0) + 1
        told.append((parts, judge, name if n == 1 else f"{name} {n}", node, kind))
    return told


def _component(part: Node, parts: tuple[str, ...], answers: Answers) -> Iterator[Entry]:
    assertion = part.at("assertion")
    if not isinstance(assertion.value, dict):
        answers.drop(part, "a component without assertion")
        return
    form = assertion.text("type").removeprefix("not-")
    judge = _named(assertion.at("provider"), "id", "label")
    kind = "human" if form == "human" else "judge" if judge or _GRADED.search(form) else "code"
    criterion = assertion.at("value")
    # The criterion of a judge names what is judged; that of code may be the code.
    shown = criterion.text()[:60] if isinstance(criterion.value, str) and kind == "judge" else ""
    named = list(part.entries("namedScores"))
    for name, score in named or [(assertion.text("metric") or shown or form, part.need("score"))]:
        yield parts, judge or form, name, score, kind


def read_deepeval(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Metrics of every test case: the evaluation model judges the metric."""
    answers.say("Unit: scores 0 to 1 as given; no time. [GEval] behind the name of a metric is left out.")
    found: list[Entry] = []
    for file in files:
        document = json_document(file)
        run = document.at("testRunData") if document.at("testRunData").value is not None else document
        cases = [*run.first("testCases", "test_cases").each(), *run.each("conversationalTestCases")]
        if not cases:
            raise DataError(f"{run}: there are no 'testCases'. Is this the right kind of file?")
        for case in cases:
            name = case.first("name", "input").label()
            for metric in case.first("metricsData", "metrics_data").each():
                if metric.at("score").value is None:
                    answers.drop(metric, "the metric has no score")
                    continue
                judge = metric.first("evaluationModel", "evaluation_model").text()
                dimension = re.sub(r"\s*\[\w+\]$", "", metric.label("name"))
                kind = "judge" if judge else "code"
                found.append(((name,), judge or dimension, dimension, metric.at("score"), kind))
    answers.add_all(found)


def read_helm(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Annotations of a jury: by annotator, judge and criterion, or (older) `<judge>_score`."""
    answers.say("Unit: scores as given; no time. Judges that failed are not in the file.")
    found: list[Entry] = []
    for file in files:
        document = json_document(file)
        system = document.text("adapter_spec", "model")
        for state in document.need("request_states").each():
            parts = (system, state.text("train_trial_index"), state.at("instance").label("id"))
            if state.at("annotations").value is None:
                answers.drop(state, "no annotations")
            for annotator, held in state.entries("annotations"):
                if isinstance(held.value, dict):
                    found += [
                        (parts, judge, name, node, "judge") for judge, name, node in _helm_scores(annotator, held)
                    ]
    answers.add_all(found, lambda parts: {"system": parts[0], "prompt": parts[2], "sample": f"trial {parts[1] or 0}"})


def _helm_scores(annotator: str, held: Node) -> Iterator[tuple[str, str, Node]]:
    for key, node in held.entries():
        older = _SCORE_KEY.fullmatch(key)
        if isinstance(node.value, dict):
            for criterion, verdict in node.entries():
                score = verdict.at("score") if isinstance(verdict.value, dict) else verdict
                if isinstance(verdict.value, dict) or criterion == "score":
                    yield key, annotator if criterion == "score" else criterion, score
        elif older:
            yield older[1], annotator, node


LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


class Scorer(NamedTuple):
    """What an entry among a sample's scores means."""

    annotator: str
    dimension: str  # of a plain value; values of several dimensions name them
    kind: str


def read_inspect(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Scores of all samples; items are told apart by task, model, id and epoch as far as these vary."""
    answers.say("Unit: scores as given, letters C P I N as 1 0.5 0 0; no time. Epochs are items of their own.")
    answers.usually(words=LETTERS)
    found: list[tuple[tuple[str, str, str, str], Scorer, str, Node]] = []
    other = (request.kind or "=code").removeprefix("=")
    if other not in ("code", "judge"):
        raise ValueError(f"--kind says what unknown scorers are: =judge or =code, not '{request.kind}'")
    for file in files:
        header, samples = _inspect_log(file)
        about = header.need("eval")
        scorers = _scorers(about, answers, other)
        for sample in samples:
            epoch = f"epoch {sample.text('epoch') or 1}"
            parts = (about.text("task"), about.text("model"), sample.label("id"), epoch)
            if sample.at("scores").value is None:
                answers.drop(sample, "the sample has no scores")
            for key, score in sample.entries("scores"):
                scorer = scorers.get(key) or Scorer(key, key, "judge" if key.startswith("model_graded") else "code")
                found += [(parts, scorer, name, node) for name, node in _values(score, scorer)]
    if found:
        for item, ((task, model, asked, epoch), scorer, name, node) in zip(
            item_names([entry[0] for entry in found], always=2), found, strict=True
        ):
            answers.describe(item, system=model, prompt="/".join(filter(None, (task, asked))), sample=epoch)
            if isinstance(node.value, list):
                answers.drop(node, "a list of scores, whose places do not tell the judges apart")
            else:
                answers.add(item, scorer.annotator, name, node.value, node, kind=scorer.kind)


def _inspect_log(file: str) -> tuple[Node, Iterator[Node]]:
    if not is_zip(file):
        document = json_document(file)
        document.need("samples")
        return document, document.each("samples")
    name = source_name(file)
    try:
        members = dict(zip_members(file, ("header.json", "samples/")))
    except DataError as error:
        if "cannot unpack" not in str(error):
            raise
        raise DataError(f"{in_shell(error)} Convert: inspect log convert --to json {name} --output-dir json") from None
    if "header.json" not in members:
        raise DataError(f"{name} line 1: there is no header.json in it. Is it a whole .eval log?")
    read = {
        inner: parsed(JsonText(f"{name}/{inner}", data.decode("utf-8", errors="replace")))
        for inner, data in members.items()
        if inner.endswith(".json")
    }
    return read.pop("header.json"), iter(read.values())


_OWN_SCORERS = {"match", "includes", "pattern", "answer", "exact", "f1", "choice", "math", "precomputed_scores"}


def _scorers(about: Node, answers: Answers, other: str) -> dict[str, Scorer]:
    """Scorers by the key under which their scores stand; `other` is the kind of those that nothing is known of."""
    names: dict[str, int] = {}
    found: dict[str, Scorer] = {}
    taken: set[tuple[str, str]] = set()
    for entry in about.each("scorers"):
        name = entry.label("name")
        count = names[name] = names.get(name, -1) + 1
        key = name if not count else f"{name}{count}"
        model = entry.at("options", "model")
        judge = model.text() if isinstance(model.value, str) else ""
        if (judge, name) in taken:  # one model twice under one name: the keys tell the two apart
            judge = f"{judge} {key}".strip()
        taken.add((judge, name))
        graded = name.split("/")[-1].startswith("model_graded")
        judge = judge or (_grader(about) if graded and not isinstance(model.value, list) else "")
        judges = bool(judge) or isinstance(model.value, list) or graded
        own = name.split("/")[-1] in _OWN_SCORERS
        if not judges and not own:
            answers.say(f"Nothing says what scorer '{name}' is: it counts as {other} (--kind =judge or --kind =code).")
        found[key] = Scorer(judge or key, name, "judge" if judges else "code" if own else other)
    return found


def _grader(about: Node) -> str:
    """The model that grades where a scorer names none: the role `grader`, else the model that is evaluated."""
    role = about.at("model_roles", "grader")
    return _named(role, "model", "name") or about.text("model")


def _values(score: Node, scorer: Scorer) -> Iterator[tuple[str, Node]]:
    value = score.at("value") if isinstance(score.value, dict) else score
    if isinstance(value.value, dict):
        yield from value.entries()
    else:
        yield scorer.dimension, value


_JUDGE_KEYS = ("model", "judge", "evaluator", "model_name")


# As the API and the exports of tables write them, and as exports to blob storage do.
_AUTHORS = ("authorUserId", "author_user_id", "authorUserName", "author_user_name", "author")
_RATED = (
    *("observation_id", "observationId", "trace_id", "traceId"),
    *("session_id", "sessionId", "dataset_run_id", "datasetRunId"),
)


def read_langfuse(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Scores: annotators are authors of annotations, or the judge that the metadata name."""
    answers.say("Unit: scores as given, booleans as 1 and 0; no time. userId is the application's user, not the rater.")
    answers.say("A dimension under two names (human_fluency, fluency) becomes one with --dim fluency=human_fluency ...")
    for file in files:
        for record in records_of(file, "data"):
            source = record.text("source").upper()
            kind = {"ANNOTATION": "human", "EVAL": "judge"}.get(source)
            unnamed = {"human": "human", "judge": "judge"}.get(kind or "", source.lower() or "api")
            judge = _model(record) or record.first("evaluatorId", "evaluator_id").text()
            who = record.first(*_AUTHORS).text() if kind == "human" else judge
            value = record.first("value", "stringValue", "string_value")
            item = record.first(*_RATED)
            _add_feedback(record, item, who or unnamed, record.label("name"), value, kind, answers, request)


def read_langsmith(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Feedback on runs, of which the newest counts by key and source; or experiments, a file per system."""
    experiments = [file for file in files if is_experiment(file)]
    for file in experiments:
        read_experiment(file, len(experiments) > 1, answers, request)
    answers.say("Unit: scores as given; no time. Of several entries for one key and source the newest counts.")
    answers.usually(repeats="last")
    records = [record for file in files if file not in experiments for record in records_of(file, "feedback")]
    for record in sorted(records, key=lambda record: record.text("created_at")):
        source = _object(record, "feedback_source")
        form = source.text("type")
        kind = {"app": "human", "model": "judge"}.get(form)
        who = source.first("user_name", "user_id").text() or _model(source)
        value = record.at("score") if record.at("score").value is not None else record.at("value")
        name = record.label("key")
        _add_feedback(record, record.at("run_id"), who or form or "api", name, value, kind, answers, request)


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
            _add_feedback(
                record, item, who or record.text("annotator_kind").lower(), name, value, kind, answers, request
            )


def _add_feedback(
    record: Node, item: Node, who: str, name: str, value: Node, kind: str | None, answers: Answers, request: Request
) -> None:
    if request.item is not None:
        named = "/".join(name_at(record, part, "item") for part in request.item.split(","))
    else:
        named = item.label()
    if request.annotator is not None:
        who = name_at(record, request.annotator, "annotator")
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
