"""Samples of other tools' files, written for the tests from the documented layouts, and how they are to be read."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

SAMPLES = Path(__file__).parent.parent / "samples" / "importing"


class Case(NamedTuple):
    """Words of `unisono import`, the shape of the table, and what has to be said."""

    kind: str
    files: list[str]
    rows: int
    columns: str
    said: list[str]
    options: tuple[str, ...] = ()


class Damage(NamedTuple):
    """A replacement in one file of a case, and what the error has to say."""

    case: str
    file: str
    old: str
    new: str
    words: list[str]


def arguments(case: Case, folder: Path) -> list[str]:
    """The command line of a case whose samples lie in `folder`."""
    return ["import", case.kind, *(str(folder / file) for file in case.files), *case.options]


CASES = {
    "mturk": Case(
        "mturk",
        ["mturk/batch.csv"],
        15,
        "item,annotator,kind,valence,arousal",
        ["Item: Input.id", "Dropped 1: the assignment was rejected (batch.csv row 17)", "comment is text", "no time"],
    ),
    "mturk several items": Case(
        "mturk",
        ["mturk/several.csv"],
        12,
        "item,annotator,kind,arousal",
        ["Input.clip1, Input.clip2", "Dropped nothing"],
    ),
    "mturk elements": Case(
        "mturk", ["mturk/elements.csv"], 15, "item,annotator,kind,arousal,calm,valence", ["Range: valence 1 to 5"]
    ),
    "toloka": Case(
        "toloka",
        ["toloka/assignments.tsv"],
        15,
        "item,annotator,kind,valence,arousal",
        ["is rejected (assignments.tsv row 17)", "a control task (assignments.tsv row 18)"],
    ),
    "prolific": Case(
        "prolific",
        ["prolific/ratings.csv", "prolific/export.csv"],
        15,
        "item,annotator,kind,valence,arousal",
        ["NOCODE", "status is rejected", "not in the export"],
    ),
    "crowd-kit": Case(
        "crowd-kit",
        ["crowd-kit/labels.csv"],
        15,
        "item,annotator,valence",
        ["Dropped 1: an exact copy (labels.csv row 17)", "Range: valence 1 to 5 (15 answers)"],
        ("--dim", "valence=label"),
    ),
    "label-studio": Case(
        "label-studio",
        ["label-studio/tasks.json"],
        20,
        "item,annotator,kind,valence,arousal",
        ["cancelled", "a rating of a region", "'textarea', which is no rating"],
        ("--item", "data.name"),
    ),
    "label-studio table": Case(
        "label-studio", ["label-studio/export.csv"], 15, "item,annotator,kind,arousal,valence", ["data: year"]
    ),
    "argilla": Case(
        "argilla", ["argilla/flat.json"], 20, "item,annotator,kind,quality,style", ["is a draft (flat.json line 88)"]
    ),
    "argilla columns": Case(
        "argilla", ["argilla/columns.json"], 20, "item,annotator,kind,quality,style", ["is a draft (columns.json line"]
    ),
    "argilla nested": Case("argilla", ["argilla/nested.json"], 15, "item,annotator,kind,quality", ["Dropped nothing"]),
    "prodigy": Case(
        "prodigy",
        ["prodigy/clips.jsonl"],
        15,
        "item,annotator,kind,valence,arousal",
        ["the answer is ignore (clips.jsonl line 16)", "the last one counts (clips.jsonl line 2"],
        ("--dim", "valence=accept", "--dim", "arousal"),
    ),
    "doccano": Case(
        "doccano",
        ["doccano/anna.jsonl", "doccano/ben.jsonl"],
        10,
        "item,annotator,kind,label",
        ["several answers (ben.jsonl line 6)", "no answer (ben.jsonl line 7)"],
    ),
    "doccano zip": Case(
        "doccano", ["doccano/export.zip"], 10, "item,annotator,kind,label", ["export.zip/ben.jsonl line 6"]
    ),
    "doccano old": Case("doccano", ["doccano/old.jsonl"], 15, "item,annotator,kind,label", ["Dropped nothing"]),
    "sureal": Case(
        "sureal",
        ["sureal/dataset.json"],
        17,
        "item,annotator,kind,score",
        ["averaged (10 answers)", "score is empty (dataset.json line 83)"],
    ),
}

DAMAGES = [
    Damage("mturk", "mturk/batch.csv", '"WorkerId"', '"Worker"', ["batch.csv row 1", "'WorkerId'"]),
    Damage("mturk", "mturk/batch.csv", '"fine","1"', '"fine","oops"', ["batch.csv row 2", "'oops'", "--labels"]),
    Damage("mturk elements", "mturk/elements.csv", "[{", "[[{", ["elements.csv row 2", "taskAnswers", "not JSON"]),
    Damage("toloka", "toloka/assignments.tsv", "ASSIGNMENT:status", "STATUS", ["assignments.tsv row 1", "no column"]),
    Damage("toloka", "toloka/assignments.tsv", "\tw02\t", "\t\t", ["assignments.tsv row 3", "worker_id"]),
    Damage("prolific", "prolific/export.csv", "Status", "State", ["export.csv row 1", "'Status'"]),
    Damage("prolific", "prolific/ratings.csv", "PROLIFIC_PID", "PID", ["ratings.csv row 1", "PROLIFIC_PID"]),
    Damage("crowd-kit", "crowd-kit/labels.csv", "worker", "person", ["labels.csv row 1", "'worker'"]),
    Damage(
        "crowd-kit", "crowd-kit/labels.csv", "clip2,w1,", "clip2,w1,x", ["labels.csv row 5", "where others are numbers"]
    ),
    Damage("label-studio", "label-studio/tasks.json", '"completed_by"', '"by"', ["tasks.json line 9", "completed_by"]),
    Damage("label-studio", "label-studio/tasks.json", '"result": [', '"result": "[', ["tasks.json line", "not JSON"]),
    Damage("label-studio", "label-studio/tasks.json", '"rating": 1', '"rating": {}', ["tasks.json line", "an object"]),
    Damage("label-studio table", "label-studio/export.csv", '"annotator"', '"by"', ["export.csv row 1", "'annotator'"]),
    Damage("argilla", "argilla/flat.json", '"id"', '"key"', ["flat.json line 2", "item"]),
    Damage("argilla", "argilla/flat.json", '"u-ben",', "", ["flat.json line", "3 answers, 2 users"]),
    Damage(
        "argilla nested",
        "argilla/nested.json",
        '"quality": [',
        '"quality": 3, "x": [',
        ["nested.json line", "not a list"],
    ),
    Damage("prodigy", "prodigy/clips.jsonl", '"_input_hash"', '"hash"', ["clips.jsonl line 1", "item"]),
    Damage("prodigy", "prodigy/clips.jsonl", '"accept": [1]', '"accept": {}', ["clips.jsonl line", "an object"]),
    Damage("doccano", "doccano/ben.jsonl", '"label"', '"lable"', ["ben.jsonl line 1", "'label'"]),
    Damage("doccano", "doccano/ben.jsonl", '{"id": 2', '[{"id": 2', ["ben.jsonl line 2", "not JSON"]),
    Damage("sureal", "sureal/dataset.json", '"os": {', '"os": "none", "x": {', ["dataset.json line", "not a list"]),
    Damage("sureal", "sureal/dataset.json", "dis_videos", "videos", ["dataset.json line 1", "'dis_videos'"]),
]
