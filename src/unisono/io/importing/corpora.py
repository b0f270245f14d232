"""Traces as corpora of affect keep them: a table per dimension and recording, annotators side by side.

MuSe-Toolbox, RECOLA; and the gold standards of AVEC and MuSe, which become a reference without annotators.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence

from unisono.errors import DataError
from unisono.io.importing.answers import Answers
from unisono.io.importing.cells import number_in
from unisono.io.importing.documents import checked_header, lines_of, raw_rows
from unisono.io.importing.naming import file_facts, required
from unisono.io.importing.nodes import TableRow
from unisono.io.importing.request import Request
from unisono.io.reading.source import source_name

_NAMES = "{dimension}/{item}.csv"


def read_muse(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Raw: `timestamp` in seconds, a column per annotator. Fused: one column `value`, in milliseconds."""
    for file in files:
        facts = file_facts(file, request.names, _NAMES)
        header, rows = _table(file, ",")
        fused = "value" in header
        if fused:
            answers.say("Time: seconds, from milliseconds (fused labels); no bins. A reference: there is no annotator.")
        else:
            answers.say("Time: seconds as written; moments of sampling. Annotators: the columns.")
        columns = ["value"] if fused else header[1:]
        _add(file, facts, header, rows, columns, answers, 1000.0 if fused else 1.0, named=not fused)


def read_recola(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Semicolons between columns; names of annotators have blanks behind them."""
    answers.say("Time: seconds as written, every 40 ms; moments of sampling. Scale: -1 to 1. Annotators: the columns.")
    for file in files:
        header, rows = _table(file, ";")
        _add(file, file_facts(file, request.names, _NAMES), header, rows, header[1:], answers, 1.0, named=True)


def read_avec(files: Sequence[str], answers: Answers, request: Request) -> None:
    """ARFF with Instance_name, frameTime and GoldStandard: a reference for `fuse --gold` and `score`."""
    answers.say("Time: seconds as written (frameTime); no bins. A reference: there is no annotator.")
    for file in files:
        facts = file_facts(file, request.names, "{dimension}/{item}.arff")
        dimension = facts.get("dimension") or "GoldStandard"
        header, rows = _arff(file)
        for place, cells in rows:
            row = dict(zip(header, cells, strict=True))
            item = row.get("instance_name", "") or required(facts, "item", file)
            time = number_in(row["frametime"], "frameTime", place)
            answers.add(item, None, dimension, row["goldstandard"], place, time=time)


def _add(
    file: str,
    facts: dict[str, str],
    header: list[str],
    rows: Sequence[tuple[TableRow, list[str]]],
    columns: Sequence[str],
    answers: Answers,
    per_second: float,
    *,
    named: bool,
) -> None:
    item, dimension = required(facts, "item", file), required(facts, "dimension", file)
    places = [(column, header.index(column)) for column in columns if column]
    for place, cells in rows:
        time = number_in(cells[0], header[0], place) / per_second
        for column, index in places:
            answers.add(item, column if named else None, dimension, cells[index], place, time=time)


def _table(file: str, separator: str) -> tuple[list[str], list[tuple[TableRow, list[str]]]]:
    """Header and rows of a table whose first column is the time."""
    name = source_name(file)
    rows = [(TableRow(name, row), cells) for row, cells in raw_rows(file, separator)]
    header = checked_header(name, rows[0][1], ())
    if header[0].lower() not in ("time", "timestamp") or len(header) < 2:
        raise DataError(
            f"{rows[0][0]}: the first column is '{header[0]}', not the time. Is this the right kind of file?"
        )
    for place, cells in rows[1:]:
        if len(cells) != len(header):
            raise DataError(f"{place} has {len(cells)} cells where the header has {len(header)}. Is the file whole?")
    return header, rows[1:]


def _arff(file: str) -> tuple[list[str], list[tuple[TableRow, list[str]]]]:
    """Names of the attributes in small letters, and the rows of data."""
    name = source_name(file)
    header: list[str] = []
    rows: list[tuple[TableRow, list[str]]] = []
    data = False
    for number, line in lines_of(file):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if data:
            cells = [cell.strip().strip("'\"?") for cell in next(csv.reader([text], quotechar="'"))]
            if len(cells) != len(header):
                raise DataError(f"{name} line {number}: {len(cells)} values for {len(header)} attributes.")
            rows.append((TableRow(name, number), cells))
        elif text.lower().startswith("@attribute"):
            header.append(text.split()[1].strip("'\"").lower())
        elif text.lower().startswith("@data"):
            data = True
    missing = [attribute for attribute in ("frametime", "goldstandard") if attribute not in header]
    if missing or not data:
        raise DataError(
            f"{name} line 1: there is no {missing[0] if missing else '@data'}. Is this the right kind of file?"
        )
    return header, rows
