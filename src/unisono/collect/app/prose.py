"""The researcher's plain text as paragraphs and lists. Only structure is found; every character stays a character."""

from __future__ import annotations

from typing import NamedTuple


class Block(NamedTuple):
    """A paragraph (one line) or a list (a line per point)."""

    kind: str  # "paragraph" or "list"
    lines: list[str]


def prose(text: str) -> list[Block]:
    """Paragraphs are set apart by empty lines; lines that start with `- ` make a list."""
    blocks: list[Block] = []
    for chunk in text.strip().split("\n\n"):
        for line in (part.strip() for part in chunk.splitlines()):
            if line:
                _add(blocks, line, new=line.startswith("- ") or not blocks or blocks[-1].kind == "end")
        blocks.append(Block("end", []))
    return [block for block in blocks if block.kind != "end"]


def _add(blocks: list[Block], line: str, new: bool) -> None:
    if line.startswith("- "):
        if not blocks or blocks[-1].kind != "list":
            blocks.append(Block("list", []))
        blocks[-1].lines.append(line[2:])
    elif new or blocks[-1].kind == "end":
        blocks.append(Block("paragraph", [line]))
    else:
        # A wrapped line goes on where the one before stopped.
        blocks[-1].lines[-1] += f" {line}"
