"""JSON values that know where they stand: messages about one name the file and the line.

A row of a delimited table is a node too, so that a preset reads both with the same words.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from json.decoder import JSONDecoder
from typing import Any, NamedTuple

from unisono.errors import DataError
from unisono.tables.reading.label_and_number_columns import as_label

Step = str | int
_NAMES = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "nothing"}
_LONGEST = 40
_DECODER = JSONDecoder()


class JsonText(NamedTuple):
    """A JSON text, and the line of its file on which it begins."""

    name: str
    text: str
    first: int = 1
    single: bool = False  # a line of its own, as in JSON lines

    def place(self, path: tuple[Step, ...]) -> str:
        return f"{self.name} line {self.first + self.text.count(chr(10), 0, offset_of(self.text, path))}"


class TableRow(NamedTuple):
    """A row of a table, or a line of a text."""

    name: str
    row: int
    word: str = "row"

    def __str__(self) -> str:
        return f"{self.name} {self.word} {self.row}"

    def place(self, path: tuple[Step, ...]) -> str:
        return str(self)


Origin = JsonText | TableRow


@dataclass(slots=True, eq=False)
class Node:
    """A value inside a document. `value` is None for null and for what is not there."""

    value: Any
    origin: Origin
    path: tuple[Step, ...] = ()
    outer: Node | None = None  # the record that encloses this one, where records lie inside records

    def __str__(self) -> str:
        return self.origin.place(self.path)

    def pinned(self) -> object:
        """Something whose text says where this stands, and that does not keep a line of JSON lines in memory."""
        if isinstance(self.origin, JsonText) and self.origin.single:
            return TableRow(self.origin.name, self.origin.first, "line")
        return self.origin if isinstance(self.origin, TableRow) else self

    def at(self, *keys: str) -> Node:
        """What lies under the keys, one inside the other; a node without value where something is missing."""
        node = self
        for key in keys:
            if node.value is not None and not isinstance(node.value, dict):
                raise node.unlike("an object")
            found = None if node.value is None else node.value.get(key)
            node = Node(found, node.origin, (*node.path, key), node.outer)
        return node

    def first(self, *names: str) -> Node:
        """The first of several keys that is filled; the last one if none is."""
        for name in names:
            node = self.at(name)
            if node.value is not None:
                break
        return node

    def need(self, *keys: str) -> Node:
        """The same, where it has to be there."""
        node = self.at(*keys)
        if node.value is None:
            name = ".".join(keys) or _written(self.path[-1:])
            raise DataError(f"{self}: there is no '{name}'. Is this the right kind of file?")
        return node

    def each(self, *keys: str) -> Iterator[Node]:
        """The elements of a list; none where there is no list."""
        node = self.at(*keys)
        if node.value is None:
            return
        if not isinstance(node.value, list):
            raise node.unlike("a list")
        for index, value in enumerate(node.value):
            yield Node(value, node.origin, (*node.path, index), self)

    def entries(self, *keys: str) -> Iterator[tuple[str, Node]]:
        """Keys and values of an object; none where there is no object."""
        node = self.at(*keys)
        if node.value is None:
            return
        if not isinstance(node.value, dict):
            raise node.unlike("an object")
        for key, value in node.value.items():
            yield key, Node(value, node.origin, (*node.path, key), self)

    def text(self, *keys: str) -> str:
        """A label: text, or a number as text; empty where there is none."""
        node = self.at(*keys)
        if node.value is None:
            return ""
        if isinstance(node.value, dict | list):
            raise node.unlike("a name")
        return label_of(node.value)

    def label(self, *keys: str) -> str:
        """A label that has to be there."""
        found = self.need(*keys).text()
        if not found:
            name = ".".join(keys) or _written(self.path[-1:])
            raise DataError(f"{self.at(*keys)}: {name} is empty. Every answer needs it.")
        return found

    def unlike(self, wanted: str) -> DataError:
        """The error for a value of the wrong type."""
        name = _written(self.path) or "the document"
        return DataError(f"{self}: {name} is {_described(self.value)}, not {wanted}. Is this the right kind of file?")


def label_of(value: Any) -> str:
    """Text of a name; `7.0` is `7`, and surrounding blanks do not count."""
    return as_label(value).strip()


def offset_of(text: str, path: tuple[Step, ...]) -> int:
    """Where in a JSON text a value begins; of the last thing found if the path leads out of it."""
    at = _skip(text, 0)
    for step in path:
        found = _children(text, at).get(step)
        if found is None:
            return at
        at = found
    return at


@functools.lru_cache(maxsize=1 << 12)
def _children(text: str, at: int) -> dict[Step, int]:
    """Where the values of an object, or the elements of a list, begin; of a key written twice the last one counts."""
    end = {"{": "}", "[": "]"}.get(text[at : at + 1])
    found: dict[Step, int] = {}
    at = _skip(text, at + 1)
    while end and text[at] != end:
        key: Step = len(found)
        if end == "}":
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # behind the colon
        found[key] = at
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n\ufeff":
        at += 1
    return at


def _written(path: tuple[Step, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _described(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value if len(value) <= _LONGEST else value[: _LONGEST - 1] + '…'}'"
    return _NAMES.get(type(value), str(value))
