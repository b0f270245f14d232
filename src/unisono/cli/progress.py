"""Progress on stderr, for anything that takes longer than a second: iterations of a fit, or a bar of many tasks."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import click

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
        click.echo(f"\r{text:<{self._width}}" if self.drawing else text, err=True, nl=not self.drawing)
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
            click.echo("\r" + " " * self._width + "\r", err=True, nl=False)
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
