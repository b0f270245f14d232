"""Progress of an estimation on stderr, for anything that takes longer than a second; silent before that."""

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
