"""Runs of evaluation tools that hold judges' scores: promptfoo, DeepEval, HELM."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from unisono.errors import DataError
from unisono.io.importing.answers import Answers
from unisono.io.importing.documents import json_document
from unisono.io.importing.naming import item_names
from unisono.io.importing.nodes import Node
from unisono.io.importing.request import Request

_GRADED = re.compile(
    r"llm-rubric|search-rubric|g-eval|factuality|model-graded|relevance|faithfulness|recall|select-best"
)
_SCORE_KEY = re.compile(r"(.+)_score")
Entry = tuple[tuple[str, ...], str, str, Node, str]  # parts of the item, annotator, dimension, value, kind
Found = list[Entry]


def read_promptfoo(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Components of every graded output: the assertion's provider judges its metric."""
    answers.say("Unit: scores 0 to 1 as given; no time. namedScores are sums of components and are not read.")
    found: Found = []
    for file in files:
        results = json_document(file).need("results")
        if results.at("results").value is None and results.at("table").value is not None:
            raise DataError(
                f"{results}: the layout of an old version (a table). Write it again with promptfoo 0.90 on."
            )
        for result in results.need("results").each():
            provider = result.at("provider")
            system = provider.first("label", "id").text() if isinstance(provider.value, dict) else provider.text()
            parts = (system, f"prompt {result.text('promptIdx')}", f"test {result.label('testIdx')}")
            components = list(result.each("gradingResult", "componentResults"))
            if not components:
                answers.drop(result, "no graded components")
            found += [entry for part in components for entry in _component(part, parts, answers)]
    _add_all(found, answers)


def _component(part: Node, parts: tuple[str, ...], answers: Answers) -> Iterator[Entry]:
    assertion = part.at("assertion")
    if not isinstance(assertion.value, dict):
        answers.drop(part, "a component without assertion")
        return
    form = assertion.text("type").removeprefix("not-")
    provider = assertion.at("provider")
    judge = provider.first("id", "label").text() if isinstance(provider.value, dict) else provider.text()
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
    found: Found = []
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
    _add_all(found, answers)


def read_helm(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Annotations of a jury: by annotator, judge and criterion, or (older) `<judge>_score`."""
    answers.say("Unit: scores as given; no time. Judges that failed are not in the file.")
    found: Found = []
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
    _add_all(found, answers)


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


def _add_all(found: Found, answers: Answers) -> None:
    if found:
        names = item_names([entry[0] for entry in found])
        for item, (_, annotator, dimension, node, kind) in zip(names, found, strict=True):
            answers.add(item, annotator, dimension, node.value, node, kind=kind)
