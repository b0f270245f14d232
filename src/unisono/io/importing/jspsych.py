"""Trials of jsPsych: traces that CoRVid records while a video plays, or single answers of slider trials.

A trial of CoRVid holds the values in `response` and their times in `rt`, both as lists (in tables: JSON in a cell).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from unisono.errors import DataError
from unisono.io.importing.answers import Answers
from unisono.io.importing.documents import records_of
from unisono.io.importing.mapper import SECONDS
from unisono.io.importing.naming import file_facts, required, stem
from unisono.io.importing.nodes import Node
from unisono.io.importing.paths import name_at, parse_path
from unisono.io.importing.request import Request

_PEOPLE = ("subject", "subject_id", "participant", "participant_id", "PROLIFIC_PID", "prolific_pid", "worker_id")


def read_jspsych(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Traces if any trial holds one, and else single answers; the annotator is in the trial or the file's name."""
    trials = [(file, trial) for file in files for trial in records_of(file, "trials")]
    traces = any(isinstance(_parsed(trial.at("response")), list) for _, trial in trials)
    if traces:
        unit = request.time_unit or "s"
        answers.say(
            f"Time: seconds (read as {unit}), since the trial began; moments of sampling. Scale: as the slider's."
        )
    else:
        answers.say("Unit: responses as given; no time. Item: the stimulus.")
    for file, trial in trials:
        response, times = _parsed(trial.at("response")), _parsed(trial.at("rt"))
        if not _stimulus(trial) and request.item is None:
            answers.drop(trial, "a trial without stimulus")
        elif traces != isinstance(response, list):
            answers.drop(trial, "a trial without trace")
        else:
            _add(file, trial, response, times if traces else None, answers, request)


def _add(file: str, trial: Node, response: Any, times: Any, answers: Answers, request: Request) -> None:
    facts = file_facts(file, request.names, "{annotator}.json") or file_facts(file, request.names, "{annotator}.csv")
    item = name_at(trial, parse_path(request.item), "item") if request.item else stem(_stimulus(trial))
    if request.annotator:
        who = name_at(trial, parse_path(request.annotator), "annotator")
    else:
        who = trial.first(*_PEOPLE).text() or required(facts, "annotator", file)
    dimension = facts.get("dimension", "rating")
    if times is None:
        answers.add(item, who, dimension, response, trial, kind="human")
        return
    if not isinstance(times, list) or len(times) != len(response):
        raise DataError(f"{trial}: rt and response must be lists of the same length. Is the file whole?")
    scale = SECONDS[request.time_unit or "s"]
    for time, value in zip(times, response, strict=True):
        if not isinstance(time, int | float):
            raise DataError(f"{trial}: rt holds '{time}', not a time.")
        answers.add(item, who, dimension, value, trial, time=time * scale)


def _stimulus(trial: Node) -> str:
    """The address of the video; of several sources the first."""
    found = _parsed(trial.at("stimulus"))
    return str(found[0] if isinstance(found, list) and found else found or "")


def _parsed(node: Node) -> Any:
    """A value, or what the JSON in a cell holds."""
    if isinstance(node.value, str) and node.value.lstrip().startswith(("[", "{")):
        try:
            return json.loads(node.value)
        except json.JSONDecodeError as error:
            raise DataError(f"{node}: this is not JSON ({error.msg}). Is the file whole?") from None
    return node.value
