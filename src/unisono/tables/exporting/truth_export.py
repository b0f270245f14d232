"""The truth of a fusion in the formats of other tools: Label Studio, Inspect AI, crowd-kit, NOVA and ELAN.

Estimates and their uncertainty are read back by item and dimension. Tools that hold records get items; tools with a
timeline get traces, as a folder of files.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables import atomic_files, item_table
from unisono.tables.labels import listed
from unisono.tables.reading.ratings_reader import read_item_table

NAME = "unisono"  # what annotators and models are called in the files of others


@dataclass(frozen=True)
class Truth:
    """S rows (frames of all recordings end to end; items) of D dimensions."""

    source: str
    items: tuple[str, ...]
    length: np.ndarray  # (M,) rows of each item
    clock: item_table.Clock | None  # None for items
    dimensions: tuple[str, ...]
    mean: np.ndarray  # (S, D)
    sd: np.ndarray  # (S, D)
    low: np.ndarray  # (S, D)
    high: np.ndarray  # (S, D)

    def parts(self) -> Iterator[tuple[int, str, slice]]:
        """Number, name and rows of every item."""
        end = np.cumsum(self.length)
        for index, item in enumerate(self.items):
            yield index, item, slice(int(end[index] - self.length[index]), int(end[index]))


def read_truth(path: Path, wanted: Sequence[str] = ()) -> Truth:
    """Truth from the folder that `unisono fuse --out` wrote, or from its truth.csv."""
    file = path / "truth.csv" if path.is_dir() else path
    if not file.is_file():
        raise DataError(f"{path.name} holds no truth.csv. Give the folder that unisono fuse --out wrote.")
    table = read_item_table(file, companions=True)
    known = [name for name in table.columns if f"{name}_sd" in table.columns]
    missing = [name for name in wanted if name not in known]
    if missing or not known:
        raise DataError(f"{file.name} has no {listed(missing or ['estimates with their sd'])}; it has {listed(known)}.")
    names = tuple(wanted) or tuple(known)

    figures = (table.select_columns([name + end for name in names]).value for end in ("", "_sd", "_low", "_high"))
    return Truth(file.name, table.items, np.asarray(table.length), table.clock, names, *figures)


_EPOCH = re.compile(r"(.+)/epoch (\d+)")


def write_label_studio(truth: Truth, path: Path, options: dict[str, Any]) -> None:
    """Tasks with predictions: a number (or stars) per dimension, whose control has the dimension's name."""
    form, to_name = options.get("form") or "number", options.get("to_name") or "item"
    tasks = []
    for _, item, rows in truth.parts():
        results = [
            {
                "from_name": name,
                "to_name": to_name,
                "type": form,
                "value": {form: round(mean) if form == "rating" else mean},
                "meta": {"sd": sd, "low": low, "high": high},
            }
            for name, mean, sd, low, high in _numbers(truth, rows.start)
        ]
        data: dict[str, Any] = {"item": item}
        tasks.append({"data": data, "predictions": [{"model_version": NAME, "result": results}]})
    path.write_text(json.dumps(tasks, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_inspect(truth: Truth, path: Path, options: dict[str, Any]) -> None:
    """Lines for `precomputed_scores`: the value of a sample, by dimension if there are several."""
    lines = []
    for _, item, rows in truth.parts():
        found = _EPOCH.fullmatch(item)
        entry: dict[str, Any] = {"id": found[1] if found else item}
        if found:
            entry["epoch"] = int(found[2])
        numbers = list(_numbers(truth, rows.start))
        values = {name: mean for name, mean, *_ in numbers}
        entry["value"] = values if len(values) > 1 else numbers[0][1]
        entry["metadata"] = {name: {"sd": sd, "low": low, "high": high} for name, _, sd, low, high in numbers}
        lines.append(json.dumps(entry, ensure_ascii=False) + "\n")
    path.write_text("".join(lines), encoding="utf-8")


def write_crowd_kit(truth: Truth, path: Path, options: dict[str, Any]) -> None:
    """The table task, label that crowd-kit's metrics take; of one dimension."""
    if len(truth.dimensions) > 1:
        known = ", ".join(truth.dimensions)
        raise DataError(f"{truth.source}: crowd-kit knows one label per task. Choose one of {known} with --dim.")
    pl.DataFrame({"task": truth.items, "label": truth.mean[:, 0]}).write_csv(path)


def _numbers(truth: Truth, row: int) -> list[tuple[str, float, float, float, float]]:
    """Name, mean, sd, low and high of every dimension of an item."""
    columns = (column[row].tolist() for column in (truth.mean, truth.sd, truth.low, truth.high))
    return list(zip(truth.dimensions, *columns, strict=True))


ELAN_RATE = 1.0  # intervals per second on a tier of ELAN


def write_nova(truth: Truth, folder: Path, options: dict[str, Any]) -> None:
    """An annotation per recording and dimension; confidence is the share of variance that is not uncertainty.

    With the variance v of the estimate over all frames, a frame of standard deviation sd has confidence v / (v + sd^2):
    1 where the truth is certain, 1/2 where it is as uncertain as it varies.
    """
    clock = truth.clock
    assert clock is not None
    variance = np.nanvar(truth.mean, axis=0)
    for index, item, rows in truth.parts():
        session, _, role = item.rpartition("/")
        place = folder / _file_name(session or role)
        place.mkdir(parents=True, exist_ok=True)
        # NOVA counts from zero: what lies before the first frame is empty.
        ahead = max(0, round(float(clock.start[index]) * clock.rate))
        for d, name in enumerate(truth.dimensions):
            sd = truth.sd[rows, d]
            sure = variance[d] / np.maximum(variance[d] + sd**2, np.finfo(float).tiny)
            lines = ["nan;0\n"] * ahead
            lines += [f"{mean:.6g};{conf:.4f}\n" for mean, conf in zip(truth.mean[rows, d], sure, strict=True)]
            base = place / f"{_file_name(role if session else 'recording')}.{_file_name(name)}.{NAME}.annotation"
            _write_new(base.with_name(base.name + "~"), "".join(lines))
            header = _nova_header(name, role if session else "recording", len(lines), clock.rate, truth.mean[:, d])
            _write_new(base, header)


def _nova_header(name: str, role: str, size: int, rate: float, values: np.ndarray) -> str:
    root = Element("annotation", {"ssi-v": "3"})
    SubElement(root, "info", {"ftype": "ASCII", "size": str(size)})
    SubElement(root, "meta", {"role": role, "annotator": NAME})
    ends = {"min": f"{np.nanmin(values):g}", "max": f"{np.nanmax(values):g}"}
    SubElement(root, "scheme", {"name": name, "type": "CONTINUOUS", "sr": f"{rate:.9g}", **ends})
    return _xml(root)


def write_elan(truth: Truth, folder: Path, options: dict[str, Any]) -> None:
    """A document per recording; on a tier per dimension (and one for its sd) means over intervals of equal length."""
    clock = truth.clock
    assert clock is not None
    rate = float(options.get("rate") or ELAN_RATE)
    folder.mkdir(parents=True, exist_ok=True)
    for index, item, rows in truth.parts():
        times = float(clock.start[index]) + np.arange(rows.stop - rows.start) / clock.rate
        first, last = math.floor(times[0] * rate), math.floor(times[-1] * rate + 1e-9)
        bins = np.floor(times * rate + 1e-9).astype(int)
        root = _elan_root(item, first, last, rate)
        count = 0
        for d, name in enumerate(truth.dimensions):
            for tier, values in ((name, truth.mean[rows, d]), (f"{name}_sd", truth.sd[rows, d])):
                element = SubElement(root, "TIER", TIER_ID=tier, ANNOTATOR=NAME, LINGUISTIC_TYPE_REF="default")
                for k in sorted(set(bins.tolist())):
                    count += 1
                    _elan_value(element, count, k - first, float(np.mean(values[bins == k])))
        SubElement(root, "LINGUISTIC_TYPE", LINGUISTIC_TYPE_ID="default", TIME_ALIGNABLE="true")
        _write_new(folder / f"{_file_name(item)}.eaf", _xml(root))


def _elan_root(item: str, first: int, last: int, rate: float) -> Element:
    about = {"AUTHOR": NAME, "DATE": "1970-01-01T00:00:00+00:00", "FORMAT": "3.0", "VERSION": "3.0"}
    root = Element("ANNOTATION_DOCUMENT", about)
    header = SubElement(root, "HEADER", MEDIA_FILE="", TIME_UNITS="milliseconds")
    SubElement(header, "MEDIA_DESCRIPTOR", MEDIA_URL=item, MIME_TYPE="unknown")
    order = SubElement(root, "TIME_ORDER")
    for place, k in enumerate(range(first, last + 2)):
        SubElement(order, "TIME_SLOT", TIME_SLOT_ID=f"ts{place}", TIME_VALUE=str(round(1000 * k / rate)))
    return root


def _elan_value(tier: Element, number: int, place: int, value: float) -> None:
    about = {"ANNOTATION_ID": f"a{number}", "TIME_SLOT_REF1": f"ts{place}", "TIME_SLOT_REF2": f"ts{place + 1}"}
    entry = SubElement(SubElement(tier, "ANNOTATION"), "ALIGNABLE_ANNOTATION", about)
    SubElement(entry, "ANNOTATION_VALUE").text = f"{value:.4g}"


def _xml(root: Element) -> str:
    ElementTree.indent(root, "    ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _file_name(name: str) -> str:
    """A name that every file system takes."""
    return re.sub(r"[^\w .@+-]", "_", name).strip(". ") or "_"


def _write_new(path: Path, text: str) -> None:
    if path.exists():
        raise DataError(f"Two recordings would be written to {path.name}. Rename one of them.")
    path.write_text(text, encoding="utf-8")


class Target(NamedTuple):
    """A kind of file: who writes it, whether it is a folder of traces, and which options mean something for it."""

    write: Callable[[Truth, Path, dict[str, Any]], None]
    folder: bool = False
    takes: frozenset[str] = frozenset()


TARGETS = {
    "label-studio": Target(write_label_studio, takes=frozenset({"to_name", "form"})),
    "inspect": Target(write_inspect),
    "crowd-kit": Target(write_crowd_kit),
    "nova": Target(write_nova, folder=True),
    "elan": Target(write_elan, folder=True, takes=frozenset({"rate"})),
}


def export_truth(kind: str, truth: Truth, out: Path, options: dict[str, Any]) -> None:
    """Writes all of it or nothing; raises ValueError for options that mean nothing there."""
    target = TARGETS[kind]
    given = {name: value for name, value in options.items() if value is not None}
    foreign = sorted(set(given) - target.takes)
    if foreign:
        raise ValueError(f"--{foreign[0].replace('_', '-').replace('form', 'as')} means nothing for {kind}.")
    if target.folder and truth.clock is None:
        raise DataError(f"{truth.source} holds items without time; this kind takes traces. Export another kind.")
    if truth.clock is not None and not target.folder:
        raise DataError(f"{truth.source} holds traces; this kind takes one value per item. Export nova or elan.")
    with atomic_files.atomic_directory(out) if target.folder else atomic_files.atomic_path(out) as temporary:
        target.write(truth, temporary, given)
