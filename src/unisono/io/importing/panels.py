"""Small files that are nothing but who gave what to which: sureal, alt-test, MT-Bench."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unisono.errors import DataError
from unisono.io.importing.answers import Answers
from unisono.io.importing.documents import json_document, json_values, looks_like_json
from unisono.io.importing.naming import item_names
from unisono.io.importing.nodes import Node, label_of
from unisono.io.importing.request import Request
from unisono.io.reading.source import source_name


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
    found: list[tuple[tuple[str, ...], str, Node]] = []
    for file in files:
        for record in json_values(file):
            if record.at("winner").value is not None or record.at("g1_winner").value is not None:
                answers.drop(record, "a comparison of two models, not a rating")
            elif record.need("score").value == -1:
                answers.drop(record, "the score is -1: none was found in the judge's answer")
            else:
                parts = (record.label("model"), f"turn {record.text('turn') or 1}", record.label("question_id"))
                found.append((parts, _judge(record.need("judge")), record))
    if found:
        names = item_names([parts for parts, _, _ in found])
        for item, (_, judge, record) in zip(names, found, strict=True):
            person = re.match(r"(expert|author|human)", judge)
            answers.add(item, judge, "score", record.at("score").value, record, kind="human" if person else "judge")


def _judge(node: Node) -> str:
    """The judge is a name, or a pair of model and prompt."""
    if isinstance(node.value, list) and node.value:
        return label_of(node.value[0])
    return node.label()
