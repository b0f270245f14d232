"""Progress in notebooks: a bar below the cell while something takes longer than a second; it vanishes at the end.

    with watching_steps("Estimating", on_step) as watcher:
        fuser.fit(ratings, on_step=watcher)

Whoever watches already goes on watching. Elsewhere than in a notebook nothing is shown, and nothing is imported. The
bar is plain HTML that IPython's display changes in place, which every notebook program can: no widgets are needed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any

SILENT_FOR = 1.0  # seconds
REDRAWN_EVERY = 0.2  # seconds: often enough to look alive, seldom enough not to fill the notebook's channel

OnStep = Callable[[int, float], None]
OnTask = Callable[[int, int], None]
OnPhase = Callable[[str], None]


class Bar:
    """What goes on, below a cell: tasks done of all, and what the present one is at."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._next = time.monotonic() + SILENT_FOR
        self._tasks: tuple[int, int] | None = None
        self._detail = ""
        self._shown: Any = None  # IPython's handle of what is on the screen

    def __call__(self, iteration: int, objective: float) -> None:
        """An iteration is done."""
        self._say(f"iteration {iteration + 1}, objective {objective:.6g}")

    def task(self, done: int, total: int) -> None:
        """`done` of the `total` tasks are finished."""
        self._tasks = (done, total)
        self._say("")

    def phase(self, what: str, done: int, total: int) -> None:
        """Inside a task, something that is not EM."""
        self._say(f"{what} {done} of {total}")

    def say(self, what: str) -> None:
        """What begins now."""
        self._say(what)

    def close(self) -> None:
        """Leaves nothing behind."""
        if self._shown is not None:
            self._shown.update({"text/html": "", "text/plain": ""}, raw=True)

    def _say(self, detail: str) -> None:
        self._detail = detail
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + REDRAWN_EVERY
        if self._shown is None:
            self._shown = import_module("IPython.display").display(self._look(), raw=True, display_id=True)
        else:
            self._shown.update(self._look(), raw=True)

    def _look(self) -> dict[str, str]:
        count = f"{self._tasks[0]} of {self._tasks[1]}" if self._tasks is not None else ""
        told = ", ".join(filter(None, [count, self._detail]))
        known = f' value="{self._tasks[0]}" max="{self._tasks[1]}"' if self._tasks is not None else ""
        label = escape(self.what)
        return {
            "text/html": f'<div>{label} <progress{known} aria-label="{label}"></progress> {escape(told)}</div>',
            "text/plain": f"{self.what}: {told}",
        }


def in_notebook() -> bool:
    """Whether this runs in the kernel of a notebook."""
    loaded = sys.modules.get("IPython")
    shell = loaded.get_ipython() if loaded is not None else None
    return hasattr(shell, "kernel")


@contextmanager
def watching_steps(what: str, given: OnStep | None) -> Iterator[OnStep | None]:
    """Somebody to tell of iterations: who is given, a bar in a notebook, or nobody."""
    with _bar(what, given is None) as bar:
        yield given if bar is None else bar


@contextmanager
def watching_tasks(what: str, given: OnTask | None) -> Iterator[OnTask | None]:
    """The same for tasks done of all."""
    with _bar(what, given is None) as bar:
        yield given if bar is None else bar.task


@contextmanager
def watching_phases(what: str, given: OnPhase | None) -> Iterator[OnPhase | None]:
    """The same for phases by their names."""
    with _bar(what, given is None) as bar:
        yield given if bar is None else bar.say


@contextmanager
def _bar(what: str, wanted: bool) -> Iterator[Bar | None]:
    if not (wanted and in_notebook()):
        yield None
        return
    bar = Bar(what)
    try:
        yield bar
    finally:
        bar.close()
