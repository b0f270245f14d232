"""The mapper under the presets: where records are, and where in a record item, annotator, kind and numbers are.

Three shapes of JSON cover what tools write: long records (one answer each, with its dimension named), records with a
number per dimension, and parallel lists (values here, annotators there, in the same order).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from unisono.errors import DataError
from unisono.io.importing.answers import Answers
from unisono.io.importing.documents import json_values
from unisono.io.importing.nodes import Node, label_of
from unisono.io.importing.paths import Path, name_at, only, parse_path, select
from unisono.io.importing.request import Request

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0}
KINDS = {
    **dict.fromkeys(("human", "annotation", "app", "user", "expert", "worker", "person"), "human"),
    **dict.fromkeys(("judge", "llm", "llm_judge", "model", "eval", "ai"), "judge"),
    **dict.fromkeys(("code", "heuristic"), "code"),
}


@dataclass(frozen=True)
class Layout:
    """Paths of one kind of record."""

    records: Path
    item: tuple[Path, ...]
    annotator: Path
    dims: Mapping[str, Path] = field(default_factory=dict)  # name -> its number
    dimension: Path | None = None  # or: where the name of the dimension is, and where its number
    value: Path | None = None
    kind: Path | None = None
    time: Path | None = None
    seconds: float = 1.0  # per unit of time
    skip: Callable[[Node], str | None] = field(default=lambda record: None)  # the reason to leave a record out


def layout_of(request: Request) -> Layout:
    """The layout that the options of `unisono import json` describe; raises ValueError where they do not suffice."""
    if request.item is None or request.annotator is None:
        raise ValueError("say where things are: --item PATH and --annotator PATH")
    if (request.dimension is None) != (request.value is None):
        raise ValueError("--dimension and --value belong together")
    long = request.dimension is not None and request.value is not None
    if not long and not request.dims:
        raise ValueError("say where the numbers are: --dim NAME=PATH, or --dimension PATH --value PATH")
    return Layout(
        records=parse_path(request.records or "[]"),
        item=tuple(parse_path(part) for part in request.item.split(",")),
        annotator=parse_path(request.annotator),
        dims={} if long else {name: parse_path(path) for name, path in request.dims},
        dimension=None if request.dimension is None else parse_path(request.dimension),
        value=None if request.value is None else parse_path(request.value),
        kind=None if request.kind is None else parse_path(request.kind),
        time=None if request.time is None else parse_path(request.time),
        seconds=SECONDS[request.time_unit or "s"],
    )


def read_json(files: Sequence[str], answers: Answers, request: Request) -> None:
    """`unisono import json`: anything, by the paths that the user gives."""
    layout = layout_of(request)
    if layout.dimension is not None:
        answers.rename = {source: name for name, source in request.dims}
    if layout.time is not None:
        answers.say(f"Time: in seconds (read as {request.time_unit or 's'}), as written; the samples' own moments.")
    for file in files:
        for document in json_values(file):
            # Of JSON lines each line is a record, unless the path leads further into it.
            whole = not isinstance(document.value, list) and request.records is None
            for record in [document] if whole else select(document, layout.records):
                add_record(record, layout, answers)


def add_record(record: Node, layout: Layout, answers: Answers) -> None:
    """The answers of one record."""
    reason = layout.skip(record)
    if reason:
        answers.drop(record, reason)
        return
    item = "/".join(name_at(record, path, "item") for path in layout.item)
    for annotator, kind, time, numbers in _judgements(record, layout):
        for dimension, node in numbers:
            answers.add(item, annotator, dimension, node.value, node, kind=kind, time=time)


def kind_named(text: str) -> str | None:
    """human, judge or code, for the words tools have for them; None for others."""
    return KINDS.get(text.strip().lower())


Judgement = tuple[str, str | None, float | None, list[tuple[str, Node]]]


def _judgements(record: Node, layout: Layout) -> Iterator[Judgement]:
    if layout.annotator.many:
        yield from _parallel(record, layout)
        return
    annotator = name_at(record, layout.annotator, "annotator")
    yield annotator, _kind(record, layout), _time(record, layout), list(_numbers(record, layout))


def _numbers(record: Node, layout: Layout) -> Iterator[tuple[str, Node]]:
    if layout.dimension is not None and layout.value is not None:
        yield name_at(record, layout.dimension, "dimension"), only(record, layout.value)
    for name, path in layout.dims.items():
        yield name, only(record, path)


def _parallel(record: Node, layout: Layout) -> Iterator[Judgement]:
    """Annotators in a list, and for every dimension a list of the same length."""
    people = list(select(record, layout.annotator))
    columns = {name: list(select(record, path)) for name, path in layout.dims.items()}
    for name, column in columns.items():
        if len(column) != len(people):
            raise DataError(
                f"{record}: {name} has {len(column)} values for {len(people)} annotators. "
                "Lists that belong together must be of the same length."
            )
    for index, person in enumerate(people):
        numbers = [(name, column[index]) for name, column in columns.items()]
        yield label_of(person.value), _kind(record, layout), _time(record, layout), numbers


def _kind(record: Node, layout: Layout) -> str | None:
    if layout.kind is None:
        return None
    return kind_named(label_of(only(record, layout.kind).value))


def _time(record: Node, layout: Layout) -> float | None:
    if layout.time is None:
        return None
    node = only(record, layout.time)
    try:
        return float(node.value) * layout.seconds
    except (TypeError, ValueError):
        raise node.unlike("a time") from None
