"""Progress on stderr, for anything that takes longer than a second: iterations of a fit, or a bar of many tasks."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import click

SILENT_FOR = 1.0  # seconds
LINE_EVERY = 10.0  # seconds between lines where there is no terminal to draw on


class OnStep(Protocol):
    def __call__(self, iteration: int, objective: float) -> None: ...


@contextmanager
def estimation_progress(what: str) -> Iterator[OnStep]:
    """A callback for every iteration: one moving line on a terminal, now and then a line elsewhere."""
    drawing = sys.stderr.isatty()
    last = time.monotonic() - (LINE_EVERY if not drawing else 0.0) + SILENT_FOR
    width = 0

    def on_step(iteration: int, objective: float) -> None:
        nonlocal last, width
        now = time.monotonic()
        if now - last < (0.1 if drawing and width else SILENT_FOR if drawing else LINE_EVERY):
            return
        last = now
        text = f"{what}: iteration {iteration + 1}, objective {objective:.6g}"
        click.echo(f"\r{text:<{width}}" if drawing else text, err=True, nl=not drawing)
        width = max(width, len(text))

    try:
        yield on_step
    finally:
        if drawing and width:
            click.echo("\r" + " " * width + "\r", err=True, nl=False)


class OnTask(Protocol):
    def __call__(self, done: int, total: int) -> None: ...


@contextmanager
def task_progress(what: str) -> Iterator[OnTask]:
    """A callback for every finished task: a bar on a terminal, now and then a line elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    drawing = sys.stderr.isatty()
    # A bar leaves no trace when it is done: what stays on the screen is the result.
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not drawing) as bar:
        task = bar.add_task(what, total=None)
        last = time.monotonic()

        def on_task(done: int, total: int) -> None:
            nonlocal last
            bar.update(task, completed=done, total=total)
            if not drawing and time.monotonic() - last > LINE_EVERY:
                last = time.monotonic()
                click.echo(f"{what}: {done} of {total}", err=True)

        yield on_task
