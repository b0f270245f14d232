"""How commands speak: results to stdout, talk and warnings to stderr, numbers in one form."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from unisono.cli.screen import table_lines, width_of, wrapped
from unisono.errors import ConvergenceWarning, DataWarning


class HasDict(Protocol):
    """A result that can be written as JSON."""

    def to_dict(self) -> dict[str, Any]: ...


Result = TypeVar("Result", bound=HasDict)


def show_warnings() -> None:
    """From here on, warnings about the data reach the user as one line each, without file names and code."""
    warnings.simplefilter("always", DataWarning)
    warnings.simplefilter("always", ConvergenceWarning)
    before = warnings.showwarning

    def show(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        if issubclass(category, DataWarning | ConvergenceWarning):
            say(f"Warning: {message}")
        else:
            before(message, category, filename, lineno, file, line)

    warnings.showwarning = show


def say(text: str) -> None:
    """Talk: what is going on, beside the result."""
    click.echo(wrapped(text, width_of(sys.stderr)), err=True)


def tell(text: str) -> None:
    """A result in words."""
    click.echo(wrapped(text, width_of(sys.stdout)))


def print_json(result: Mapping[str, Any]) -> None:
    """A result for machines: numbers that are not defined become null."""
    from unisono.io.json_text import json_text

    click.echo(json_text(result))


def write_json(result: Mapping[str, Any], path: Path) -> None:
    """The same into a file, whole or not at all."""
    from unisono.io.atomic import atomic_path
    from unisono.io.json_text import json_text

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


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A result for people: the first column is a name, the others are numbers."""
    click.echo("\n".join(["", *table_lines(columns, rows, width_of(sys.stdout)), ""]))


def number(value: float, digits: int = 3) -> str:
    """A figure for a table; a dash where it is not defined."""
    return "–" if math.isnan(value) else f"{round(value, digits) + 0.0:.{digits}f}"  # adding zero drops the sign of -0
