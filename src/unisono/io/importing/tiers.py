"""Annotations along a timeline in XML: NOVA/SSI (samples at a fixed rate) and ELAN (values that hold for a while)."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from unisono.errors import DataError
from unisono.io.importing.answers import Answers
from unisono.io.importing.cells import number_in
from unisono.io.importing.documents import lines_of
from unisono.io.importing.naming import file_facts, required, stem
from unisono.io.importing.nodes import TableRow
from unisono.io.importing.request import Request
from unisono.io.importing.xml_files import Located, xml_root
from unisono.io.reading.source import source_name

RATE = 10.0  # samples per second of a tier; more than annotators can follow
_PAIR = struct.Struct("<ff")


def read_nova(files: Sequence[str], answers: Answers, request: Request) -> None:
    """Continuous schemes; the recording is the folder (session) and role, the dimension the scheme."""
    answers.say("Time: seconds, position / rate of the scheme; no bins. The confidence column is not read.")
    for file in files:
        root = xml_root(file)
        scheme, info, meta = _need(root, "scheme"), _need(root, "info"), _find(root, "meta")
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
    rate = request.rate or RATE
    answers.say(f"Time: seconds, from milliseconds; values that hold for a while, sampled {rate:g} times per second.")
    for file in files:
        root = xml_root(file)
        if root.tag != "ANNOTATION_DOCUMENT":
            raise DataError(f"{root.place}: the file holds '{root.tag}', not ANNOTATION_DOCUMENT. Is it an .eaf file?")
        media = _find(root, "HEADER/MEDIA_DESCRIPTOR")
        facts = file_facts(file, request.names, "{item}.eaf")
        item = facts["item"] if request.names and "item" in facts else ""
        item = item or (stem(unquote(media.get("MEDIA_URL", ""))) if media is not None else "") or facts.get("item", "")
        slots = _slots(root)
        for tier in _all(root, "TIER"):
            who = tier.get("ANNOTATOR") or (facts.get("annotator", "") if request.names else "")
            who = required({"annotator": who}, "annotator", file) if len(tier) else who
            _add_tier(tier, slots, required({"item": item}, "item", file), who, rate, answers)


def _slots(root: Located) -> dict[str, float]:
    """Seconds of the time slots that have a time."""
    found = {}
    for slot in _all(root, "TIME_SLOT"):
        if slot.get("TIME_VALUE") is not None:
            value = number_in(slot.get("TIME_VALUE", ""), "TIME_VALUE", slot.place)
            found[slot.get("TIME_SLOT_ID", "")] = value / 1000
    return found


def _add_tier(tier: Located, slots: dict[str, float], item: str, who: str, rate: float, answers: Answers) -> None:
    dimension = _without_annotator(tier.get("TIER_ID", ""), who)
    for entry in _all(tier, "REF_ANNOTATION"):
        answers.drop(entry.place, "it hangs on another annotation and has no time")
    for entry in _all(tier, "ALIGNABLE_ANNOTATION"):
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


def _need(root: Located, tag: str) -> Located:
    found = _find(root, tag)
    if found is None:
        raise DataError(f"{root.place}: there is no <{tag}> in it. Is this the right kind of file?")
    return found


def _find(root: Located, path: str) -> Located | None:
    found = root.find(path)
    return found if isinstance(found, Located) else None


def _all(root: Located, tag: str) -> Iterator[Located]:
    return (found for found in root.iter(tag) if isinstance(found, Located))
