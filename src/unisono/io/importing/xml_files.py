"""XML whose elements know their line. Document types are refused: nothing needs one, and entities grow without end."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element
from xml.parsers import expat

from unisono.errors import DataError
from unisono.io.importing.documents import open_bytes
from unisono.io.reading.source import source_name


class Located(Element):
    """An element, the name of its file and the line it begins on."""

    place = ""


def xml_root(path: str) -> Located:
    """The outermost element of a file."""
    name = source_name(path)
    parser = expat.ParserCreate()
    builder = _Builder(name, parser)
    parser.StartDoctypeDeclHandler = builder.refuse
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    with open_bytes(path) as stream:
        data = stream.read()
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        raise DataError(f"{name} line {error.lineno}: this is not XML ({why}). Is the file whole?") from None
    assert builder.root is not None
    return builder.root


class _Builder:
    """Puts elements together as the parser meets them."""

    def __init__(self, name: str, parser: Any):
        self.name = name
        self.parser = parser
        self.root: Located | None = None
        self.open: list[Located] = []

    def place(self) -> str:
        return f"{self.name} line {self.parser.CurrentLineNumber}"

    def refuse(self, *about: Any) -> None:
        raise DataError(f"{self.place()}: the file has a document type, which is not read. Remove that line.")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        found = Located(tag, attributes)
        found.place = self.place()
        if self.open:
            self.open[-1].append(found)
        else:
            self.root = found
        self.open.append(found)

    def end(self, tag: str) -> None:
        self.open.pop()

    def text(self, data: str) -> None:
        if not len(self.open[-1]):
            self.open[-1].text = (self.open[-1].text or "") + data
