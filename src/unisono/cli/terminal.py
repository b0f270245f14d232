"""What commands print: results to stdout; messages, warnings and progress to stderr; numbers in one form.

At a terminal no line is wider than it is; in a pipe nothing is broken. Names are never cut: a table that is too wide
becomes several, each with the names again, and a name that would take half the width stands on a line of its own, above
its figures. Progress is shown of anything that takes longer than a second. Imports click and the standard library
alone; rich is loaded with the first bar.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from unisono.errors import Told

# What is told apart on a terminal that has colours: the beginning of a line, and its style.
STYLES: tuple[tuple[str, dict[str, Any]], ...] = (
    (r"Warning:|  ! ", {"fg": "yellow", "bold": True}),
    (r"Error:", {"fg": "red", "bold": True}),
    (r"[A-Z][^?.:]*\?(?=  |$)", {"fg": "cyan", "bold": True}),  # a question that is answered
    (r"[A-Z].*:$", {"bold": True}),  # a title
    (r"─+$", {"dim": True}),
)
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


def painted(text: str, stream: Any) -> str:
    """Colour and weight where a terminal has them and nobody has said NO_COLOR; the text as it is elsewhere."""
    if width_of(stream) is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    lines = text.split("\n")
    for at, line in enumerate(lines):
        for start, style in STYLES:
            if found := re.match(start, line):
                lines[at] = click.style(found[0], **style) + line[found.end() :]
                break
        if at and re.match("─+$", line):  # the head of a table
            lines[at - 1] = click.style(lines[at - 1], bold=True)
    return "\n".join(lines)


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


class HasDict(Protocol):
    """A result that can be written as JSON."""

    def to_dict(self) -> dict[str, Any]: ...


Result = TypeVar("Result", bound=HasDict)


def show_warning(told: Told) -> None:
    """A warning about the data as one line, without file names and code."""
    say(f"Warning: {told[0]}")


def say(text: str) -> None:
    """Talk: what is going on, beside the result. Nobody has to listen."""
    _talk(painted(wrapped(text, width_of(sys.stderr)), sys.stderr))


def _talk(text: str, *, nl: bool = True) -> None:
    try:
        click.echo(text, err=True, nl=nl)
    except BrokenPipeError:  # `2>&1 | head`: the work goes on
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def tell(text: str) -> None:
    """A result in words."""
    click.echo(painted(wrapped(text, width_of(sys.stdout)), sys.stdout))


def typed_command() -> str:
    """The command as it would be typed again."""
    return shlex.join(["unisono", *sys.argv[1:]])


def print_json(result: Mapping[str, Any]) -> None:
    """A result for machines: numbers that are not defined become null."""
    from unisono.tables.atomic_files import json_text

    click.echo(json_text(result))


def write_json(result: Mapping[str, Any], path: Path) -> None:
    """The same into a file, whole or not at all."""
    from unisono.tables.atomic_files import atomic_path, json_text

    with atomic_path(path) as temporary:
        temporary.write_text(json_text(result) + "\n", encoding="utf-8")


def deliver(result: Result, out: Path | None, as_json: bool, show: Callable[[Result], None]) -> None:
    """A result into the file that was asked for, and onto the screen: as JSON, or as `show` prints it."""
    if out is not None:
        write_json(result.to_dict(), out)
        say(f"Written to {out}.")
    if as_json:
        print_json(result.to_dict())
    else:
        show(result)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A result for people: the first column is a name, the others are numbers."""
    lines = table_lines(columns, [list(map(shown, row)) for row in rows], width_of(sys.stdout))
    click.echo(painted("\n".join(["", *lines, ""]), sys.stdout))


def shown(cell: Any) -> str:
    """A cell of a table: words and counts as they are, figures with three digits, intervals in brackets."""
    if isinstance(cell, float):
        return number(cell)
    if hasattr(cell, "_asdict"):
        from unisono.evaluate.agreement_results import in_brackets

        return in_brackets(cell._asdict())
    return "–" if cell is None else str(cell)


def number(value: float, digits: int = 3) -> str:
    """A figure for a table; a dash where it is not defined."""
    return "–" if math.isnan(value) else f"{round(value, digits) + 0.0:.{digits}f}"  # adding zero drops the sign of -0


SILENT_FOR = 1.0  # seconds
REDRAWN_EVERY = 0.1  # seconds, on a terminal
LINE_EVERY = 10.0  # seconds between lines where there is no terminal to draw on


class OnTask(Protocol):
    def __call__(self, done: int, total: int) -> None: ...


class Display:
    """What goes on: tasks done of all, and what the present one is at.

    Where the number of tasks is known a terminal shows a bar with the time that is left, else one moving line; where
    there is no terminal, a plain line now and then. What is shown on a terminal leaves no trace.
    """

    def __init__(self, what: str, silent_for: float) -> None:
        self.what = what
        self.drawing = sys.stderr.isatty()
        self._next = time.monotonic() + silent_for
        self._tasks: tuple[int, int | None] | None = None
        self._detail = ""
        self._width = 0
        self._bar: Any = None  # rich's, once it is needed: importing it takes as long as many a fit

    def __call__(self, iteration: int, objective: float) -> None:
        self._detail = f"iteration {iteration + 1}, objective {objective:.6g}"
        self._show()

    def phase(self, what: str, done: int, total: int) -> None:
        self._detail = f"{what} {done} of {total}"
        self._show()

    def say(self, what: str) -> None:
        self._detail = what
        self._show()

    def task(self, done: int, total: int | None) -> None:
        self._tasks, self._detail = (done, total), ""
        if self.drawing:  # at once, not after a while: the first task may be a long one
            self._draw_bar(done, total)
        else:
            self._show()

    def close(self) -> None:
        self._wipe()
        if self._bar is not None:
            self._bar.stop()

    def _show(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (REDRAWN_EVERY if self.drawing else LINE_EVERY)
        if self.drawing and self._tasks is not None:
            self._draw_bar(*self._tasks)
            return
        done = [f"{self._tasks[0]} of {self._tasks[1]}"] if self._tasks is not None else []
        text = f"{self.what}: {', '.join([*done, *filter(None, [self._detail])])}"
        _talk(f"\r{text:<{self._width}}" if self.drawing else text, nl=not self.drawing)
        self._width = max(self._width, len(text))

    def _draw_bar(self, done: int, total: int | None) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._wipe()
            columns = (TextColumn(self.what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            console = Console(stderr=True)
            self._bar = Progress(*columns, TextColumn("{task.description}"), console=console, transient=True)
            self._bar.add_task("", total=total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total, description=self._detail)

    def _wipe(self) -> None:
        if self.drawing and self._width:
            _talk("\r" + " " * self._width + "\r", nl=False)
        self._width = 0


@contextmanager
def estimation_progress(what: str) -> Iterator[Display]:
    """Somebody to watch a fit, whether it is one run of EM or many tasks."""
    display = Display(what, SILENT_FOR)
    try:
        yield display
    finally:
        display.close()


@contextmanager
def task_progress(what: str) -> Iterator[OnTask]:
    """A callback for every finished task: a bar on a terminal, now and then a line elsewhere."""
    display = Display(what, LINE_EVERY)
    try:
        if display.drawing:
            display.task(0, None)
        yield display.task
    finally:
        display.close()
