"""Annotation tools and published panels: Label Studio, Prodigy, doccano; sureal, alt-test, MT-Bench.

In Label Studio the value of a control lies under its type: `{"type": "rating", "value": {"rating": 4}}`. In its table
controls and data fields stand side by side under their own names, so a column that never varies within a task counts
as a data field.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from unisono.errors import DataError
from unisono.tables.importing import documents
from unisono.tables.importing.import_request import Request, file_facts, required
from unisono.tables.importing.imported_answers import Answers, Entry
from unisono.tables.importing.json_mapper import name_at, only, parse_path
from unisono.tables.importing.located_json import JsonText, Node, label_of
from unisono.tables.reading.column_roles import plain_name, takes_no_dimension
from unisono.tables.reading.comparison_layouts import two_sides
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
    """Ratings, numbers, single choices, pairs; `--item data.FIELD` (JSON) or a column (CSV) names the item.

    Of pairs `--item data.FIELD,data.FIELD` names what was left and right.
    """
    answers.say("Unit: answers as given; no time. Stars count from 1.")
    for file in files:
        if documents.looks_like_json(file):
            for task in documents.json_records(file, "tasks"):
                _add_task(task, answers, request.item)
        else:
            _add_table(file, answers, request)


def _add_task(task: Node, answers: Answers, wanted: str | None) -> None:
    pair = wanted.split(",") if wanted is not None and "," in wanted else None
    item = name_at(task, "id" if wanted is None or pair else wanted, "item")
    sides = functools.partial(_sides, task, item, pair, answers)
    task.need("annotations")
    for annotation in task.each("annotations"):
        if annotation.at("was_cancelled").value is True:
            answers.drop(annotation, "the annotation was cancelled (skipped)")
            continue
        _add_results(annotation, item, (_person(annotation.need("completed_by")), "human"), answers, sides)
    for prediction in task.each("predictions"):
        if isinstance(prediction.value, dict):  # some exports hold the numbers of predictions alone
            judge = prediction.text("model_version") or "prediction"
            _add_results(prediction, item, (judge, "judge"), answers, sides)


def _person(node: Node) -> str:
    if isinstance(node.value, dict):
        return node.first("email", "username", "id").label()
    return node.label()


Sides = Callable[[Node], tuple[str, str]]  # the items on the left and on the right of a result


def _add_results(source: Node, item: str, who: tuple[str, str], answers: Answers, sides: Sides) -> None:
    for result in source.each("result"):
        name, form = result.text("from_name"), result.text("type")
        value = result.at("value")
        if form not in _TYPES:
            answers.drop(result, f"a result of type '{form or 'unknown'}', which is no rating")
        elif _REGION & set(value.value or {}):
            answers.drop(result, "a rating of a region, not of the task")
        elif form != "pairwise":
            answers.add(item, who[0], name, value.need(form).value, result, kind=who[1])
        elif (chosen := value.need("selected").text()) in ("left", "right"):
            answers.compare(sides(result), (*who, None), name, chosen, result)
        else:
            answers.drop(result, f"{name} is '{chosen}', neither left nor right")


def _sides(task: Node, item: str, pair: Sequence[str] | None, answers: Answers, result: Node) -> tuple[str, str]:
    """What was left and right, by the user's word, or by the data that the control is about."""
    if pair is None:
        data = {key: node for key, node in task.entries("data") if isinstance(node.value, str | int | float)}
        named = result.text("to_name").split(",")
        plain = {plain_name(key): key for key in data}
        pair = named if set(named) <= data.keys() else [plain[name] for name in two_sides(plain) or ()]
        pair = [f"data.{name}" for name in pair]
        said = f"are {' and '.join(pair)} of the task" if len(pair) == 2 else "have no names in the task but its own"
        answers.say(f"What was left and right: they {said} (--item data.A,data.B names others).")
    if len(pair) != 2:
        return f"{item}/left", f"{item}/right"
    left, right = (name_at(task, path, "item") for path in pair)
    return left, right


def _add_table(file: str, answers: Answers, request: Request) -> None:
    item = request.item or "id"
    rows = list(documents.table_rows(file, needed=("annotator", item)))
    columns = list(dict.fromkeys(column for row in rows for column, _ in row.entries()))
    columns = [column for column in columns if column not in answers.rename and not _is_label(column, item)]
    fields = [column for column in columns if _describes_task(rows, column, item)]
    for row in rows:
        for column, cell in row.entries():
            if column in _ABOUT_TASK and column not in answers.rename:
                answers.pass_over(column, "Columns about tasks and annotations, which --dim takes")
            elif column in fields:
                answers.pass_over(column, "Columns that do not vary within a task, its data, which --dim takes")
            elif column in answers.rename or column in columns:
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


def read_prodigy(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Accepted tasks; the rating is the option chosen in `accept`, or the fields named with `--dim`."""
    answers.say("Unit: options as given; no time. Item: the hash of the input, unless --item says otherwise.")
    answers.usually(repeats="last")
    fields = [source for _, source in request.dims] or ["accept"]
    for file in files:
        for task in documents.json_values(file):
            answer = task.need("answer").text()
            if answer != "accept":
                answers.drop(task, f"the answer is {answer}")
                continue
            who = task.first("_annotator_id", "_session_id")
            if who.value is None:
                raise DataError(f"{task}: there is no '_annotator_id'. Start Prodigy with named sessions.")
            item = name_at(task, request.item or "_input_hash", "item")
            for name in fields:
                node = only(task, parse_path(name))
                if node.value is None:
                    raise DataError(
                        f"{task}: there is no '{name}'. Name the field of the rating with --dim NAME=FIELD."
                    )
                answers.add(item, who.text(), name, node.value, node, kind="human")


def read_doccano(files: Sequence[str], answers: Answers, request: Request) -> None:
    """One file per user, named after the user; or their zip archive; or old exports that name users inside."""
    answers.say("Unit: labels as given; no time. Annotators: the users' files, as doccano names them.")
    for file in files:
        for user, node in _doccano_records(file, request.names):
            _doccano_add(user, node, answers)


def _doccano_records(file: str, names: str | None) -> Iterator[tuple[str, Node]]:
    if not documents.is_zip(file):
        user = required(file_facts(file, names, "{annotator}.jsonl"), "annotator", file)
        yield from _of_one_user(user, documents.json_records(file), named=names is not None)
        return
    for member, data in documents.zip_members(file):
        name = f"{source_name(file)}/{member}"
        for number, line in enumerate(data.decode("utf-8-sig", errors="replace").splitlines(), 1):
            if line.strip():
                yield PurePath(member).stem, documents.parsed(JsonText(name, line, number))


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
        if not documents.looks_like_json(file):
            raise DataError(
                f"{source_name(file)} line 1: this is not JSON. Datasets of sureal that are programs are not run;"
                " write them as JSON first."
            )
        for video in documents.json_document(file).need("dis_videos").each():
            scores = video.need("os")
            named = isinstance(scores.value, dict)
            people = scores.entries() if named else ((f"subject {n}", one) for n, one in enumerate(scores.each(), 1))
            for subject, node in people:
                # One score, or one per repetition.
                repeats = [node] if not isinstance(node.value, list) else list(node.each())
                for score in repeats:
                    answers.add(video.label("asset_id"), subject, "score", score.value, score, kind="human")


def read_alt_test(files: Sequence[str], answers: Answers, request: Request) -> None:
    """`{annotator: {item: value}}`; files called human... and llm... say what annotators are."""
    answers.say("Unit: answers as given; no time. A dimension may stand behind __ in the names of items.")
    found: list[tuple[str, str, str, Node]] = []
    for file in files:
        name = source_name(file).lower()
        kind = "human" if name.startswith("human") else "judge" if name.startswith(("llm", "model", "judge")) else ""
        for who, items in documents.json_document(file).entries():
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


_GAMES = (("winner", "model_a", "model_b"), ("g1_winner", "model_1", "model_2"), ("g2_winner", "model_2", "model_1"))


def read_mt_bench(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Single judgments, whose items are question, model and turn; or comparisons, whose items are the models.

    A pair is judged twice, with the second model first in the second game.
    """
    answers.say("Unit: scores 1 to 10 as given; -1 means that no score was found in the judge's answer; no time.")
    found: list[Entry] = []
    for file in files:
        for record in documents.json_values(file):
            games = [game for game in _GAMES if record.at(game[0]).value is not None]
            for game in games:
                _add_game(record, game, answers)
            if games:
                continue
            if record.need("score").value == -1:
                answers.drop(record, "the score is -1: none was found in the judge's answer")
            else:
                parts = (record.label("model"), f"turn {record.text('turn') or 1}", record.label("question_id"))
                judge = _judge_name(record.need("judge"))
                found.append((parts, judge, "score", record.at("score"), _judge_kind(judge)))
    answers.add_all(found, lambda parts: {"system": parts[0], "prompt": f"question {parts[2]}/{parts[1]}"})


def _add_game(record: Node, game: tuple[str, str, str], answers: Answers) -> None:
    said, *sides = game
    winner, judge = record.label(said), _judge_name(record.need("judge"))
    answer = dict(zip(sides, ("left", "right"), strict=True)).get(winner, winner)
    if winner.startswith("tie ("):  # a judge who said otherwise when sides were swapped
        answers.say(f"'{winner}' counts as a tie.")
        answer = "tie"
    if answer not in ("left", "tie", "right"):
        answers.drop(record, f"{said} is '{winner}', which is no winner")
        return
    prompt = f"question {record.label('question_id')}/turn {record.text('turn') or 1}"
    models = tuple(record.label(side) for side in sides)
    answers.compare(models, (judge, _judge_kind(judge), prompt), "winner", answer, record)


def _judge_kind(judge: str) -> str:
    return "human" if re.match(r"(expert|author|human)", judge) else "judge"


def _judge_name(node: Node) -> str:
    """The judge is a name, or a pair of model and prompt."""
    if isinstance(node.value, list) and node.value:
        return label_of(node.value[0])
    return node.label()
