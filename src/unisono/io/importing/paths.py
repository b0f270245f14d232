"""The little language of paths into JSON: how `unisono import json` says where things are.

a.b          the value under b in the object under a; quote names that hold dots: "a.b".c
a[0]         the first element of a list
a[]          every element of a list, each a record of its own
a.*          every value of an object, each a record of its own
^.a          a of the enclosing record; ^^ goes two records up
@            the key (or the position) of the record in what encloses it; ^@ that of the enclosing record
$.a          a of the whole document
=text        the text itself
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from unisono.errors import DataError
from unisono.io.importing.nodes import Node, label_of

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


def name_at(record: Node, path: Path, role: str) -> str:
    """A label that has to be there."""
    node = only(record, path)
    if isinstance(node.value, dict | list):
        raise node.unlike(f"a name for the {role}")
    found = "" if node.value is None else label_of(node.value)
    if not found:
        raise DataError(f"{record}: there is no {role} at '{path.text}'. Every record needs one.")
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
