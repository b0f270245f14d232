"""Tools that record traces: CARMA, carma2, DARMA, AffectTracker, PAGAN (GTrace, BTrace, RankTrace), CoRVid in jsPsych.

CARMA and DARMA average what they sample in bins and write the time of the bin's end; carma2 writes its start. Times
are kept as written, and the difference is told: `--shift` moves them to the middle. Names in logs of PAGAN are not
quoted, so a comma in the name of a video makes a row longer; the log closes every session with a row of value 0 and
does not name the dimension. A trial of CoRVid holds the values in `response` and their times in `rt`, as lists.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from unisono.errors import DataError
from unisono.tables.importing.documents import raw_rows, records_of
from unisono.tables.importing.import_request import Request, file_facts, number_in, required, stem, step_of
from unisono.tables.importing.imported_answers import Answers
from unisono.tables.importing.json_mapper import SECONDS, name_at
from unisono.tables.importing.located_json import Node, TableRow
from unisono.tables.labels import as_number
from unisono.tables.reading.open_table import source_name

_END = "%%%%%%"  # the row under which data begin
Cells = tuple[TableRow, list[str]]
Facts = dict[str, str]


def read_carma(files: Sequence[str], answers: Answers, request: Request) -> None:
    """The rater is the file's name; the recording is the media file, or (carma2) in the path."""
    for file in files:
        rows = list(_cells(file))
        if [cell.strip().lower() for cell in rows[0][1]] == ["time", "rating"]:
            facts = file_facts(file, request.names, "{item}/{annotator}.csv")
            _add_bins(rows[1:], ("rating",), required(facts, "item", file), facts, file, answers, "start")
            continue
        head, data = _split(file, rows)
        facts = file_facts(file, request.names, "{annotator}.csv")
        low, high = _entry(head, "Minimum Value"), _entry(head, "Maximum Value")
        if low and high:
            answers.say(f"Scale: {low} to {high}, as the file says.")
        item = facts.get("item") or stem(required({"item": _entry(head, "Multimedia File")}, "item", file))
        _add_bins(data, (facts.get("dimension", "rating"),), item, facts, file, answers, "end")


def read_darma(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Two dimensions, named as the axes are labelled."""
    for file in files:
        head, data = _split(file, list(_cells(file)))
        place, columns = head[-1]
        if len(columns) < 3 or columns[0].strip() != "Second":
            raise DataError(f"{place}: expected 'Second' and the labels of two axes. Is this the right kind of file?")
        magnitude = _entry(head, "Magnitude")
        if magnitude:
            answers.say(f"Scale: -{magnitude} to {magnitude}, as the file says.")
        facts = file_facts(file, request.names, "{annotator}.csv")
        item = facts.get("item") or stem(required({"item": _entry(head, "Multimedia File")}, "item", file))
        names = tuple(column.strip() or f"axis {axis}" for axis, column in zip("XY", columns[1:3], strict=True))
        _add_bins(data, names, item, facts, file, answers, "end")


def read_affecttracker(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Rows of time, x and y without a header; NA while nobody touched the pad."""
    answers.say("Time: seconds, counted from the first row of each file (the log: from the program's start).")
    answers.say("Bins: none; moments of sampling. Scale: -1 to 1; x is valence, y is arousal.")
    for file in files:
        facts = file_facts(file, request.names, "{item}/{annotator}.txt")
        item, who = required(facts, "item", file), required(facts, "annotator", file)
        begin: float | None = None
        for place, cells in _cells(file):
            if len(cells) != 3:
                raise DataError(
                    f"{place}: {len(cells)} cells where 3 are expected (time, x, y). "
                    "A log with decimal commas cannot be told apart; set the program to decimal points."
                )
            time = number_in(cells[0], "time", place)
            begin = time if begin is None else begin
            for name, cell in zip(("valence", "arousal"), cells[1:], strict=True):
                answers.add(item, who, name, cell, place, time=round(time - begin, 6))


def _add_bins(
    data: Sequence[Cells], names: tuple[str, ...], item: str, facts: Facts, file: str, answers: Answers, edge: str
) -> None:
    who = required(facts, "annotator", file)
    times = []
    for place, cells in data:
        if len(cells) <= len(names):
            raise DataError(f"{place}: {len(cells)} cells, not {len(names) + 1} at least. Is the file whole?")
        time = number_in(cells[0], "time", place)
        times.append(time)
        for name, cell in zip(names, cells[1:], strict=False):
            answers.add(item, who, name, cell, place, time=time)
    step = step_of(times)
    if step:
        middle = -step / 2 if edge == "end" else step / 2
        answers.say(f"Time: seconds, the {edge} of bins of {step:g} s (--shift {middle:g} moves it to their middle).")


def _cells(file: str) -> Iterator[Cells]:
    name = source_name(file)
    for row, cells in raw_rows(file, ","):
        yield TableRow(name, row), cells


def _split(file: str, rows: list[Cells]) -> tuple[list[Cells], list[Cells]]:
    """What stands above the row of percent signs, and below."""
    for index, (_, cells) in enumerate(rows):
        if cells[0].strip() == _END and index:
            return rows[:index], rows[index + 1 :]
    raise DataError(f"{source_name(file)} row {rows[-1][0].row}: no row of {_END} came. Is it the right kind of file?")


def _entry(head: Sequence[Cells], name: str) -> str:
    return next((cells[1].strip() for _, cells in head if cells[0].strip() == name and len(cells) > 1), "")


_LOG = ["OriginalName", "DatabaseName", "Participant", "SessionID", "Timestamp", "VideoTime", "Value"]
_TEST = ["Timestamp", "VideoTime", "Value"]


class Sample(NamedTuple):
    """A row of the log."""

    place: TableRow
    item: str
    participant: str
    session: str
    time: float
    value: str


def _read_pagan_log(scale: str, files: Sequence[str], answers: Answers, request: Request) -> None:
    answers.say(f"Scale: {scale}")
    answers.say("Time: seconds, from milliseconds of the video; moments of change, irregular; no bins.")
    answers.usually(repeats="last")
    for file in files:
        facts = file_facts(file, request.names, "{dimension}.csv") if request.names else {}
        samples = list(_samples(file, facts))
        sessions = {(s.item, s.participant): set[str]() for s in samples}
        for sample in samples:
            sessions[sample.item, sample.participant].add(sample.session)
        last = {(s.item, s.participant, s.session): s.place for s in samples}
        for s in samples:
            if s.place is last[s.item, s.participant, s.session] and as_number(s.value) == 0:
                answers.drop(s.place, "the row of value 0 that closes a session")
                continue
            several = len(sessions[s.item, s.participant]) > 1
            who = f"{s.participant}/{s.session}" if several else s.participant
            answers.add(s.item, who, facts.get("dimension", "rating"), s.value, s.place, time=s.time)


read_pagan = functools.partial(_read_pagan_log, "GTrace -100 to 100, BTrace up and down; the log does not say which.")
# Of RankTrace only changes within a trace mean something.
read_ranktrace = functools.partial(_read_pagan_log, "none; a wheel without ends: levels and ranges differ by trace.")


def _samples(file: str, facts: Facts) -> Iterator[Sample]:
    name = source_name(file)
    header: list[str] | None = None
    for row, cells in raw_rows(file, ","):
        place = TableRow(name, row)
        if header is None:
            header = [cell.strip() for cell in cells]
            if header not in (_LOG, _TEST):
                raise DataError(f"{place}: expected the columns {','.join(_LOG)}. Is this the right kind of file?")
            continue
        if len(cells) < len(header):
            raise DataError(f"{place} has {len(cells)} cells where the header has {len(header)}. Is the file whole?")
        time = number_in(cells[-2], "VideoTime", place) / 1000
        if header == _TEST:
            item, who = required(facts, "item", file), required(facts, "annotator", file)
            yield Sample(place, item, who, "", time, cells[-1])
        else:
            # Commas in the name of the video: all that is too much belongs to it.
            item = ",".join(cells[: len(cells) - 6]).strip()
            yield Sample(place, item, cells[-5].strip(), cells[-4].strip(), time, cells[-1])


_PEOPLE = ("subject", "subject_id", "participant", "participant_id", "PROLIFIC_PID", "prolific_pid", "worker_id")


def read_jspsych(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Traces if any trial holds one, and else single answers; the annotator is in the trial or the file's name."""
    trials = [(file, trial) for file in files for trial in records_of(file, "trials")]
    traces = any(isinstance(_parsed(trial.at("response")), list) for _, trial in trials)
    if traces:
        unit = request.time_unit or "s"
        answers.say(f"Time: seconds (read as {unit}), since the trial began; moments of sampling. Scale: the slider's.")
    else:
        answers.say("Unit: responses as given; no time. Item: the stimulus.")
    for file, trial in trials:
        response, times = _parsed(trial.at("response")), _parsed(trial.at("rt"))
        if not _stimulus(trial) and request.item is None:
            answers.drop(trial, "a trial without stimulus")
        elif traces != isinstance(response, list):
            answers.drop(trial, "a trial without trace")
        else:
            _add_trial(file, trial, response, times if traces else None, answers, request)


def _add_trial(file: str, trial: Node, response: Any, times: Any, answers: Answers, request: Request) -> None:
    facts = file_facts(file, request.names, "{annotator}.json") or file_facts(file, request.names, "{annotator}.csv")
    item = name_at(trial, request.item, "item") if request.item else stem(_stimulus(trial))
    if request.annotator:
        who = name_at(trial, request.annotator, "annotator")
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
