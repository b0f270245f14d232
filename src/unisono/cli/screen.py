"""The one printer of text and tables: at a terminal no line is wider than it is; in a pipe nothing is broken.

Names are never cut. A table that is too wide becomes several, each with the names again; a name that would take half
the width stands on a line of its own, above its figures. Imports the standard library alone.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

LEAST_WIDTH = 40  # columns; no terminal is taken to be narrower
GAP = "  "


def width_of(stream: Any) -> int | None:
    """Columns of the terminal that a stream is shown on; None if it is not shown on one."""
    try:
        if not stream.isatty():
            return None
        told = os.environ.get("COLUMNS", "")
        return max(int(told) if told.isdigit() else os.get_terminal_size(stream.fileno()).columns, LEAST_WIDTH)
    except (AttributeError, OSError, ValueError):
        return None


def cells(text: str) -> int:
    """Columns that a text takes: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text
    )


def wrapped(text: str, width: int | None) -> str:
    """Lines no wider than this, broken at blanks; the rest of a broken line keeps its indent, or goes below a dash."""
    if width is None:
        return text
    return "\n".join(part for line in text.split("\n") for part in _broken(line, width))


def table_lines(columns: Sequence[str], rows: Iterable[Sequence[str]], width: int | None = None) -> list[str]:
    """A table, or several below each other: the first column is a name, the others are figures, to the right."""
    table = [list(map(str, row)) for row in rows]
    widths = [max(cells(row[i]) for row in [columns, *table]) for i in range(len(columns))]
    name = widths[0]
    if width is not None and name > width // 2:
        short = [cells(row[0]) for row in table if cells(row[0]) <= width // 2]
        name = max([cells(columns[0]), *short])
    lines: list[str] = []
    for group in _groups(widths, name, width):
        if lines:
            lines.append("")
        shown = [0, *group]
        sizes = [name, *(widths[i] for i in group)]
        lines.append(_row([columns[i] for i in shown], sizes))
        lines.append("─" * min(sum(sizes) + len(GAP) * len(group), width or 10**6))
        for row in table:
            if cells(row[0]) > name:
                lines += _broken(row[0], width) if width is not None else [row[0]]
                lines.append(_row(["", *(row[i] for i in group)], sizes))
            else:
                lines.append(_row([row[i] for i in shown], sizes))
    return lines


def _groups(widths: Sequence[int], name: int, width: int | None) -> list[list[int]]:
    """The columns of each table, so that every table fits; one column alone may not."""
    if width is None:
        return [list(range(1, len(widths)))]
    groups: list[list[int]] = [[]]
    used = name
    for i, size in enumerate(widths[1:], start=1):
        if groups[-1] and used + len(GAP) + size > width:
            groups.append([])
            used = name
        groups[-1].append(i)
        used += len(GAP) + size
    return groups


def _row(row: Sequence[str], sizes: Sequence[int]) -> str:
    first = row[0] + " " * (sizes[0] - cells(row[0]))
    rest = [" " * (size - cells(cell)) + cell for cell, size in zip(row[1:], sizes[1:], strict=True)]
    return GAP.join([first, *rest]).rstrip()


def _broken(line: str, width: int) -> list[str]:
    if cells(line) <= width:
        return [line]
    text = line.lstrip(" ")
    indent = " " * (len(line) - len(text))
    below = indent + ("  " if text.startswith("- ") else "")
    lines, current = [], indent
    for word in text.split(" "):
        grown = current + word if current.strip() == "" else f"{current} {word}"
        if current.strip() and cells(grown) > width:
            lines.append(current)
            grown = below + word
        current = grown
    return [*lines, current]
