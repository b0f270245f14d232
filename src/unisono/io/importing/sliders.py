"""Traces of slider and joystick tools, one file per rater and recording: CARMA, carma2, DARMA, AffectTracker.

CARMA and DARMA average what they sample in bins and write the time of the bin's END; carma2 writes its START. Times are
kept as written, and the difference is said: `--shift` moves them to the middle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unisono.errors import DataError
from unisono.io.importing.answers import Answers
from unisono.io.importing.cells import number_in, step_of
from unisono.io.importing.documents import raw_rows
from unisono.io.importing.naming import file_facts, required, stem
from unisono.io.importing.nodes import TableRow
from unisono.io.importing.request import Request
from unisono.io.reading.source import source_name

_END = "%%%%%%"  # the row under which data begin
Cells = tuple[TableRow, list[str]]


def read_carma(files: Sequence[str], answers: Answers, request: Request) -> None:
    """The rater is the file's name; the recording is the media file, or (carma2) in the path."""
    for file in files:
        rows = list(_cells(file))
        if [cell.strip().lower() for cell in rows[0][1]] == ["time", "rating"]:
            facts = file_facts(file, request.names, "{item}/{annotator}.csv")
            _add(rows[1:], ("rating",), required(facts, "item", file), facts, file, answers, "start")
            continue
        head, data = _split(file, rows)
        facts = file_facts(file, request.names, "{annotator}.csv")
        low, high = _entry(head, "Minimum Value"), _entry(head, "Maximum Value")
        if low and high:
            answers.say(f"Scale: {low} to {high}, as the file says.")
        item = facts.get("item") or stem(required({"item": _entry(head, "Multimedia File")}, "item", file))
        _add(data, (facts.get("dimension", "rating"),), item, facts, file, answers, "end")


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
        _add(data, names, item, facts, file, answers, "end")


def read_affecttracker(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Rows of time, x and y without a header; NA while nobody touched the pad."""
    answers.say(
        "Time: seconds, counted from the first row of each file (the log counts from the start of the program)."
    )
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


def _add(
    data: Sequence[Cells],
    names: tuple[str, ...],
    item: str,
    facts: dict[str, str],
    file: str,
    answers: Answers,
    edge: str,
) -> None:
    who = required(facts, "annotator", file)
    times = []
    for place, cells in data:
        if len(cells) <= len(names):
            raise DataError(
                f"{place}: {len(cells)} cells where at least {len(names) + 1} are expected. Is the file whole?"
            )
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
    raise DataError(
        f"{source_name(file)} row {rows[-1][0].row}: no row of {_END} came. Is this the right kind of file?"
    )


def _entry(head: Sequence[Cells], name: str) -> str:
    return next((cells[1].strip() for _, cells in head if cells[0].strip() == name and len(cells) > 1), "")
