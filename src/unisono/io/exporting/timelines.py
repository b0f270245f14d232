"""Truth of traces for tools with a timeline: NOVA/SSI and ELAN. Both get a folder of files."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from unisono.errors import DataError
from unisono.io.exporting.truth import NAME, Truth

RATE = 1.0  # intervals per second on a tier of ELAN


def write_nova(truth: Truth, folder: Path, options: dict[str, Any]) -> None:
    """An annotation per recording and dimension; confidence is the share of variance that is not uncertainty.

    With the variance v of the estimate over all frames, a frame of standard deviation sd has confidence v / (v + sd^2):
    1 where the truth is certain, 1/2 where it is as uncertain as it varies.
    """
    clock = truth.need_traces()
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
    clock = truth.need_traces()
    rate = float(options.get("rate") or RATE)
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
