"""Traces along a timeline: NOVA/SSI and ELAN, and the corpora MuSe, RECOLA and AVEC.

NOVA holds samples at a fixed rate, ELAN values that hold for a while. Corpora have a table per dimension and recording
with annotators in columns; the gold standards of AVEC and MuSe become a reference without annotators.
"""

from __future__ import annotations

import csv
import math
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from unisono.errors import DataError
from unisono.tables.importing.documents import Located, checked_header, lines_of, raw_rows, xml_root
from unisono.tables.importing.import_request import Request, file_facts, number_in, required, stem
from unisono.tables.importing.imported_answers import Answers
from unisono.tables.importing.located_json import TableRow
from unisono.tables.reading.open_table import source_name

ELAN_RATE = 10.0  # samples per second of a tier; more than annotators can follow
_PAIR = struct.Struct("<ff")


def read_nova(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Continuous schemes; the recording is the folder (session) and role, the dimension the scheme."""
    answers.say("Time: seconds, position / rate of the scheme; no bins. The confidence column is not read.")
    for file in files:
        root = xml_root(file)
        scheme, info, meta = _needed_element(root, "scheme"), _needed_element(root, "info"), _element(root, "meta")
        if scheme.get("type") != "CONTINUOUS":
            answers.drop(scheme.place, f"a scheme of type {scheme.get('type')}: intervals, no trace")
            continue
        rate = number_in(scheme.get("sr", ""), "sr", scheme.place)
        if rate <= 0:
            raise DataError(f"{scheme.place}: sr is {rate:g}. A rate is more than nothing.")
        answers.say(f"Scale: {scheme.get('name')} {scheme.get('min')} to {scheme.get('max')} at {rate:g} per second.")
        facts = _nova_facts(file, meta, scheme, request.names)
        for index, (place, score) in enumerate(_nova_scores(file, info)):
            answers.add(facts["item"], facts["annotator"], facts["dimension"], score, place, time=index / rate)


def _nova_facts(file: str, meta: Located | None, scheme: Located, names: str | None) -> dict[str, str]:
    """The file says who and what; its folder is the session, and `role.scheme.annotator` its name."""
    facts = file_facts(file, names, "{item}/{dimension}.annotation")
    role = "" if meta is None else meta.get("role", "")
    if names is None and "item" in facts and role:
        facts["item"] += f"/{role}"
    who = "" if meta is None else meta.get("annotator", "")
    facts["annotator"] = who or facts.get("annotator", "")
    facts["dimension"] = scheme.get("name") or facts.get("dimension", "")
    return {field: required(facts, field, file) for field in ("item", "annotator", "dimension")}


def _nova_scores(file: str, info: Located) -> Iterator[tuple[object, str]]:
    beside = f"{file}~"
    name = source_name(beside)
    if not Path(beside).is_file():
        raise DataError(f"{info.place}: its data file {name} is missing. Put it beside.")
    expected = int(number_in(info.get("size", ""), "size", info.place))
    found = 0
    for place, score in _nova_binary(beside) if info.get("ftype") == "BINARY" else _nova_text(beside):
        found += 1
        yield place, score
    if found != expected:
        raise DataError(f"{name} line {found}: {found} samples where the header says {expected}. Is the file whole?")


def _nova_text(path: str) -> Iterator[tuple[object, str]]:
    name = source_name(path)
    for number, line in lines_of(path):
        if line.strip():
            cells = line.split(";")
            if len(cells) < 2:
                raise DataError(f"{name} line {number}: expected score;confidence, found '{line[:40]}'.")
            yield TableRow(name, number), cells[0]


def _nova_binary(path: str) -> Iterator[tuple[object, str]]:
    name = source_name(path)
    data = Path(path).read_bytes()
    for index, (score, _) in enumerate(_PAIR.iter_unpack(data[: len(data) // _PAIR.size * _PAIR.size])):
        yield TableRow(name, index + 1), str(score)


def read_elan(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Tiers whose annotations are numbers; a value holds from the beginning of its interval to the end."""
    rate = request.rate or ELAN_RATE
    answers.say(f"Time: seconds, from milliseconds; values that hold for a while, sampled {rate:g} times per second.")
    for file in files:
        root = xml_root(file)
        if root.tag != "ANNOTATION_DOCUMENT":
            raise DataError(f"{root.place}: the file holds '{root.tag}', not ANNOTATION_DOCUMENT. Is it an .eaf file?")
        media = _element(root, "HEADER/MEDIA_DESCRIPTOR")
        facts = file_facts(file, request.names, "{item}.eaf")
        item = facts["item"] if request.names and "item" in facts else ""
        item = item or (stem(unquote(media.get("MEDIA_URL", ""))) if media is not None else "") or facts.get("item", "")
        slots = _slots(root)
        for tier in _elements(root, "TIER"):
            who = tier.get("ANNOTATOR") or (facts.get("annotator", "") if request.names else "")
            who = required({"annotator": who}, "annotator", file) if len(tier) else who
            _add_tier(tier, slots, required({"item": item}, "item", file), who, rate, answers)


def _slots(root: Located) -> dict[str, float]:
    """Seconds of the time slots that have a time."""
    found = {}
    for slot in _elements(root, "TIME_SLOT"):
        if slot.get("TIME_VALUE") is not None:
            value = number_in(slot.get("TIME_VALUE", ""), "TIME_VALUE", slot.place)
            found[slot.get("TIME_SLOT_ID", "")] = value / 1000
    return found


def _add_tier(tier: Located, slots: dict[str, float], item: str, who: str, rate: float, answers: Answers) -> None:
    dimension = _without_annotator(tier.get("TIER_ID", ""), who)
    for entry in _elements(tier, "REF_ANNOTATION"):
        answers.drop(entry.place, "it hangs on another annotation and has no time")
    for entry in _elements(tier, "ALIGNABLE_ANNOTATION"):
        begin, end = (slots.get(entry.get(f"TIME_SLOT_REF{side}", "")) for side in "12")
        if begin is None or end is None:
            answers.drop(entry.place, "its interval has no time")
            continue
        value = entry.findtext("ANNOTATION_VALUE") or ""
        for tick in range(math.ceil(begin * rate - 1e-9), math.ceil(end * rate - 1e-9)):
            answers.add(item, who, dimension, value, entry.place, time=tick / rate)


def _without_annotator(tier: str, who: str) -> str:
    """`valence@anna`, `valence_anna` and `valence` are one dimension for anna."""
    for mark in "@_- ":
        tier = tier.removesuffix(f"{mark}{who}")
    return tier


def _needed_element(root: Located, tag: str) -> Located:
    found = _element(root, tag)
    if found is None:
        raise DataError(f"{root.place}: there is no <{tag}> in it. Is this the right kind of file?")
    return found


def _element(root: Located, path: str) -> Located | None:
    found = root.find(path)
    return found if isinstance(found, Located) else None


def _elements(root: Located, tag: str) -> Iterator[Located]:
    return (found for found in root.iter(tag) if isinstance(found, Located))


_NAMES = "{dimension}/{item}.csv"


def read_muse(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Raw: `timestamp` in seconds, a column per annotator. Fused: one column `value`, in milliseconds."""
    for file in files:
        table = _table(file, ",")
        if "value" in table[0]:
            answers.say("Time: seconds, from milliseconds (fused labels); no bins. A reference: there is no annotator.")
            _add_columns(file, table, answers, request, 1000.0, "value")
        else:
            answers.say("Time: seconds as written; moments of sampling. Annotators: the columns.")
            _add_columns(file, table, answers, request)


def read_recola(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Semicolons between columns; names of annotators have blanks behind them."""
    answers.say("Time: seconds as written, every 40 ms; moments of sampling. Scale: -1 to 1. Annotators: the columns.")
    for file in files:
        _add_columns(file, _table(file, ";"), answers, request)


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


Rows = tuple[list[str], list[tuple[TableRow, list[str]]]]  # header and rows


def _add_columns(
    file: str, table: Rows, answers: Answers, request: Request, per_second: float = 1.0, fused: str | None = None
) -> None:
    """Traces of the annotators in columns, or the `fused` one of none of them."""
    facts, (header, rows) = file_facts(file, request.names, _NAMES), table
    item, dimension = required(facts, "item", file), required(facts, "dimension", file)
    columns = header[1:] if fused is None else [fused]
    places = [(column, header.index(column)) for column in columns if column]
    for place, cells in rows:
        time = number_in(cells[0], header[0], place) / per_second
        for column, index in places:
            answers.add(item, column if fused is None else None, dimension, cells[index], place, time=time)


def _table(file: str, separator: str) -> Rows:
    """Header and rows of a table whose first column is the time."""
    name = source_name(file)
    rows = [(TableRow(name, row), cells) for row, cells in raw_rows(file, separator)]
    header = checked_header(name, rows[0][1], ())
    if header[0].lower() not in ("time", "timestamp") or len(header) < 2:
        raise DataError(f"{rows[0][0]}: the first column is '{header[0]}', not the time. Is it the right kind of file?")
    for place, cells in rows[1:]:
        if len(cells) != len(header):
            raise DataError(f"{place} has {len(cells)} cells where the header has {len(header)}. Is the file whole?")
    return header, rows[1:]


def _arff(file: str) -> Rows:
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
        raise DataError(f"{name} line 1: there is no {missing[0] if missing else '@data'}. Is it the right file?")
    return header, rows
