"""Logs of Inspect AI, as JSON or as the zip archive `.eval`: every scorer is an annotator.

The same scorer used twice is called `name`, `name1`, ... in the order of `eval.scorers`, whose options may hold the
model that judges. A sample run several times (epochs) has several outputs, so every epoch is an item of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from unisono.errors import DataError
from unisono.io.importing.answers import Answers
from unisono.io.importing.documents import is_zip, json_document, parsed, zip_members
from unisono.io.importing.naming import item_names
from unisono.io.importing.nodes import JsonText, Node
from unisono.io.importing.request import Request
from unisono.io.reading.source import source_name

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
    found: list[tuple[tuple[str, ...], Scorer, str, Node]] = []
    for file in files:
        header, samples = _log(file)
        about = header.need("eval")
        scorers = _scorers(about)
        for sample in samples:
            epoch = f"epoch {sample.text('epoch') or 1}"
            parts = (about.text("task"), about.text("model"), sample.label("id"), epoch)
            if sample.at("scores").value is None:
                answers.drop(sample, "the sample has no scores")
            for key, score in sample.entries("scores"):
                scorer = scorers.get(key) or Scorer(key, key, "judge" if key.startswith("model_graded") else "code")
                found += [(parts, scorer, name, node) for name, node in _values(score, scorer)]
    if found:
        for item, (_, scorer, name, node) in zip(
            item_names([entry[0] for entry in found], always=2), found, strict=True
        ):
            if isinstance(node.value, list):
                answers.drop(node, "a list of scores, whose places do not tell the judges apart")
            else:
                answers.add(item, scorer.annotator, name, node.value, node, kind=scorer.kind)


def _log(file: str) -> tuple[Node, Iterator[Node]]:
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
        raise DataError(f"{error} Convert it first: inspect log convert --to json {name} --output-dir json") from None
    if "header.json" not in members:
        raise DataError(f"{name} line 1: there is no header.json in it. Is it a whole .eval log?")
    read = {
        inner: parsed(JsonText(f"{name}/{inner}", data.decode("utf-8", errors="replace")))
        for inner, data in members.items()
        if inner.endswith(".json")
    }
    return read.pop("header.json"), iter(read.values())


def _scorers(about: Node) -> dict[str, Scorer]:
    """Scorers by the key under which their scores stand."""
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
        judges = bool(judge) or isinstance(model.value, list) or name.startswith("model_graded")
        found[key] = Scorer(judge or key, name, "judge" if judges else "code")
    return found


def _values(score: Node, scorer: Scorer) -> Iterator[tuple[str, Node]]:
    value = score.at("value") if isinstance(score.value, dict) else score
    if isinstance(value.value, dict):
        yield from value.entries()
    else:
        yield scorer.dimension, value
