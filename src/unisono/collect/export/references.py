"""How far raters are from the hidden references, in percent of the scale.

A reference should be given its true value; where that is not known, what raters give it on average. For traces this
holds frame by frame, without regard to delay: the figure is for the researcher's eye, not for a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import NamedTuple

from sqlalchemy import Connection

from unisono.collect.export.answers import Answer, traces
from unisono.collect.studies import StudyFolder


class Said(NamedTuple):
    """One value that a rater gave to a reference; `where` is the frame, 0 for ratings."""

    annotator: str
    item: str
    name: str
    where: int
    value: float


def reference_distances(connection: Connection, folder: StudyFolder, rated: list[Answer]) -> dict[str, list[float]]:
    """All distances, by rater."""
    if folder.study.reference is None:
        return {}
    scales = {asked.name: asked.ends for asked in folder.study.dimensions if asked.is_number}
    said = list(_traced(connection, folder) if folder.study.mode == "trace" else _rated(rated, set(scales)))
    truth = _averages(said) | _known(folder)
    width = {name: high - low for name, (low, high) in scales.items()}
    found: dict[str, list[float]] = {}
    for one in said:
        distance = 100 * abs(one.value - truth[one.item, one.name, one.where]) / width[one.name]
        found.setdefault(one.annotator, []).append(distance)
    return found


def _rated(rated: list[Answer], scales: set[str]) -> Iterator[Said]:
    for answer in rated:
        if answer.role == "reference":
            for name, value in answer.values.items():
                if name in scales and not isinstance(value, str):
                    yield Said(answer.annotator, answer.item, name, 0, value)


def _traced(connection: Connection, folder: StudyFolder) -> Iterator[Said]:
    for trace in traces(connection, folder, roles=("reference",)):
        for name, values in trace.values.items():
            for frame, value in enumerate(values):
                if value is not None:
                    yield Said(trace.annotator, trace.item, name, frame, value)


def _averages(said: list[Said]) -> dict[tuple[str, str, int], float]:
    together: dict[tuple[str, str, int], list[float]] = {}
    for one in said:
        together.setdefault((one.item, one.name, one.where), []).append(one.value)
    return {key: fmean(values) for key, values in together.items()}


def _known(folder: StudyFolder) -> dict[tuple[str, str, int], float]:
    """True values of the references: of colours and files one each, of walks one per frame."""
    found: dict[tuple[str, str, int], float] = {}
    for item in folder.catalogue.references:
        found |= {(item.name, name, 0): value for name, value in item.truth.items() if not isinstance(value, str)}
        if item.walk is not None:
            for name in ("saturation", "brightness"):
                values: list[float] = getattr(item.walk, name)
                found |= {(item.name, name, frame): value for frame, value in enumerate(values)}
    return found
