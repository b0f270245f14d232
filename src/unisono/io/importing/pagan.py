"""Logs of PAGAN: GTrace (bounded), BTrace (better or worse) and RankTrace (a wheel without ends).

Names in the log are not quoted, so a comma in the name of a video makes a row longer; the log closes every session with
a row of value 0. The log does not say which dimension it is: a project has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from unisono.errors import DataError
from unisono.io.importing.answers import Answers
from unisono.io.importing.cells import number_in
from unisono.io.importing.documents import raw_rows
from unisono.io.importing.naming import file_facts, required
from unisono.io.importing.nodes import TableRow
from unisono.io.importing.request import Request
from unisono.io.reading.source import source_name

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


def read_pagan(files: Sequence[str], answers: Answers, request: Request) -> None:
    """GTrace and BTrace."""
    answers.say("Scale: GTrace -100 to 100, BTrace steps up and down; the log does not say which.")
    _read(files, answers, request)


def read_ranktrace(files: Sequence[str], answers: Answers, request: Request) -> None:
    """RankTrace: only changes within a trace mean something."""
    answers.say("Scale: none; a wheel without ends, so levels and ranges differ from trace to trace.")
    _read(files, answers, request)


def _read(files: Sequence[str], answers: Answers, request: Request) -> None:
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
            if s.place is last[s.item, s.participant, s.session] and _is_zero(s.value):
                answers.drop(s.place, "the row of value 0 that closes a session")
                continue
            several = len(sessions[s.item, s.participant]) > 1
            who = f"{s.participant}/{s.session}" if several else s.participant
            answers.add(s.item, who, facts.get("dimension", "rating"), s.value, s.place, time=s.time)


def _samples(file: str, facts: dict[str, str]) -> Iterator[Sample]:
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


def _is_zero(text: str) -> bool:
    try:
        return float(text) == 0
    except ValueError:
        return False
