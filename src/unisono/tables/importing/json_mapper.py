"""`unisono import json`: any JSON, by paths that say where records, items, annotators, kinds and numbers are.

    a.b          the value under b in the object under a; quote names that hold dots: "a.b".c
    a[0]         the first element of a list
    a[]          every element of a list, each a record of its own
    a.*          every value of an object, each a record of its own
    ^.a          a of the enclosing record; ^^ goes two records up
    @            the key (or the position) of the record in what encloses it; ^@ that of the enclosing record
    $.a          a of the whole document
    =text        the text itself

Three shapes cover what tools write: long records (one answer each, with its dimension named), records with a number
per dimension, and parallel lists (values here, annotators there, in the same order).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from unisono.errors import DataError
from unisono.tables.importing import documents, import_request, imported_answers
from unisono.tables.importing.located_json import Node, label_of

_TOKEN = re.compile(
    r"""\s*(?:(?P<each>\[\])|\[(?P<index>-?\d+)\]|(?P<all>\*)|"(?P<quoted>[^"]*)"|(?P<key>[^.\[\]"^@$*]+))"""
)
EACH, ALL = object(), object()


class Path(NamedTuple):
    """A parsed path."""

    text: str
    constant: str | None = None
    root: bool = False
    up: int = 0
    own_key: bool = False
    steps: tuple[object, ...] = ()  # keys, positions, EACH, ALL

    @property
    def many(self) -> bool:
        """Whether the path may lead to several values."""
        return EACH in self.steps or ALL in self.steps


@functools.cache
def parse_path(text: str) -> Path:
    """A path from its text; raises ValueError where it makes no sense."""
    if text.startswith("="):
        return Path(text, constant=text[1:])
    rest = text.strip()
    root = rest.startswith("$")
    rest = rest[1:] if root else rest
    up = len(rest) - len(rest.lstrip("^"))
    rest = rest[up:]
    if rest == "@":
        return Path(text, root=root, up=up, own_key=True)
    return Path(text, root=root, up=up, steps=tuple(_steps(text, rest)))


def select(record: Node, path: Path) -> Iterator[Node]:
    """The nodes a path leads to from a record; where `[]` and `*` lead into parts, these are records inside it."""
    start = _start(record, path)
    if path.own_key:
        key = start.path[-1] if start.path else start.origin.name
        yield Node(key, start.origin, start.path, start.outer)
        return
    yield from _walk(start, path.steps, start)


def only(record: Node, path: Path) -> Node:
    """The one node a path leads to."""
    if path.constant is not None:
        return Node(path.constant, record.origin, record.path, record.outer)
    return next(select(record, path))


def name_at(record: Node, path: str, role: str) -> str:
    """A label that has to be there."""
    node = only(record, parse_path(path))
    if isinstance(node.value, dict | list):
        raise node.unlike(f"a name for the {role}")
    found = "" if node.value is None else label_of(node.value)
    if not found:
        raise DataError(f"{record}: there is no {role} at '{path}'. Every record needs one.")
    return found


def _start(record: Node, path: Path) -> Node:
    node = record
    climbed = 0
    while node.outer is not None and (path.root or climbed < path.up):
        node, climbed = node.outer, climbed + 1
    if climbed < path.up:
        raise DataError(f"{record}: '{path.text}' goes up further than records are nested.")
    return node


def _walk(node: Node, steps: tuple[object, ...], record: Node) -> Iterator[Node]:
    for place, step in enumerate(steps):
        if step is EACH or step is ALL:
            inside = node.each() if step is EACH else (entry for _, entry in node.entries())
            for part in inside:
                part.outer = record
                yield from _walk(part, steps[place + 1 :], part)
            return
        node = _element(node, step) if isinstance(step, int) else node.at(str(step))
        node.outer = record.outer
    yield node


def _element(node: Node, index: int) -> Node:
    if node.value is None:
        return node
    if not isinstance(node.value, list):
        raise node.unlike("a list")
    inside = -len(node.value) <= index < len(node.value)
    return Node(node.value[index] if inside else None, node.origin, (*node.path, index), node.outer)


def _steps(whole: str, rest: str) -> Iterator[object]:
    rest = rest.removeprefix(".")
    while rest:
        found = _TOKEN.match(rest)
        if not found:
            raise ValueError(f"'{whole}' is not a path: '{rest}' makes no sense there")
        kind = str(found.lastgroup)
        text = found[kind]
        yield {"each": EACH, "all": ALL}.get(kind) or (int(text) if kind == "index" else text.strip())
        rest = rest[found.end() :]
        if rest.startswith(".") and len(rest) > 1:
            rest = rest[1:]
        elif rest and not rest.startswith("["):
            raise ValueError(f"'{whole}' is not a path: '{rest}' makes no sense there")


SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0}
KINDS = {
    **dict.fromkeys(("human", "annotation", "app", "user", "expert", "worker", "person"), "human"),
    **dict.fromkeys(("judge", "llm", "llm_judge", "model", "eval", "ai"), "judge"),
    **dict.fromkeys(("code", "heuristic"), "code"),
}


def _refuse_unclear(request: import_request.Request) -> None:
    """Raises ValueError where the options do not say enough, or a path makes no sense."""
    if request.item is None or request.annotator is None:
        raise ValueError("say where things are: --item PATH and --annotator PATH")
    if (request.dimension is None) != (request.value is None):
        raise ValueError("--dimension and --value belong together")
    if request.dimension is None and not request.dims:
        raise ValueError("say where the numbers are: --dim NAME=PATH, or --dimension PATH --value PATH")
    numbers = [path for _, path in request.dims] if request.dimension is None else [request.dimension, request.value]
    for path in (*request.item.split(","), request.annotator, *numbers, request.kind, request.time):
        parse_path(path or "[]")


def read_json(files: Sequence[str], answers: imported_answers.Answers, request: import_request.Request) -> None:
    """`unisono import json`: anything, by the paths that the user gives."""
    _refuse_unclear(request)
    if request.dimension is not None:
        answers.rename = {source: name for name, source in request.dims}
    if request.time is not None:
        answers.say(f"Time: in seconds (read as {request.time_unit or 's'}), as written; the samples' own moments.")
    for file in files:
        for document in documents.json_values(file):
            # Of JSON lines each line is a record, unless the path leads further into it.
            whole = not isinstance(document.value, list) and request.records is None
            for record in [document] if whole else select(document, parse_path(request.records or "[]")):
                _add_record(record, answers, request)


def _add_record(record: Node, answers: imported_answers.Answers, request: import_request.Request) -> None:
    """The answers of one record."""
    item = "/".join(name_at(record, path, "item") for path in (request.item or "").split(","))
    found = list(_judgements(record, request))
    kind = None if request.kind is None else kind_named(label_of(only(record, parse_path(request.kind)).value))
    time = None if request.time is None else only(record, parse_path(request.time))
    try:
        seconds = None if time is None else float(time.value) * SECONDS[request.time_unit or "s"]
    except (TypeError, ValueError):
        assert time is not None
        raise time.unlike("a time") from None
    for annotator, dimension, node in found:
        answers.add(item, annotator, dimension, node.value, node, kind=kind, time=seconds)


def kind_named(text: str) -> str | None:
    """human, judge or code, for the words tools have for them; None for others."""
    return KINDS.get(text.strip().lower())


def _judgements(record: Node, request: import_request.Request) -> Iterator[tuple[str, str, Node]]:
    """Annotators with dimensions and the numbers they gave."""
    dims = {} if request.dimension is not None else {name: parse_path(path) for name, path in request.dims}
    people = parse_path(request.annotator or "")
    if people.many:
        yield from _parallel(record, people, dims)
        return
    annotator = name_at(record, people.text, "annotator")
    if request.dimension is not None and request.value is not None:
        yield annotator, name_at(record, request.dimension, "dimension"), only(record, parse_path(request.value))
    for name, path in dims.items():
        yield annotator, name, only(record, path)


def _parallel(record: Node, path: Path, dims: dict[str, Path]) -> Iterator[tuple[str, str, Node]]:
    """Annotators in a list, and for every dimension a list of the same length."""
    people = list(select(record, path))
    columns = {name: list(select(record, path)) for name, path in dims.items()}
    for name, column in columns.items():
        if len(column) != len(people):
            raise DataError(
                f"{record}: {name} has {len(column)} values for {len(people)} annotators. "
                "Lists that belong together must be of the same length."
            )
    for index, person in enumerate(people):
        for name, column in columns.items():
            yield label_of(person.value), name, column[index]
