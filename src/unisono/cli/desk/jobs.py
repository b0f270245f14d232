"""Work that is going on: every command in a process of its own, with what it says, and an end to it by a click."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unisono.cli.desk.choices import Choices, as_command, as_python, command_words
from unisono.cli.desk.look import refusal
from unisono.errors import DataError

AT_ONCE = 4  # commands that run together; others wait
NOT_CONVERGED = 4
_TASKS = re.compile(r"\b(\d+) of (\d+)\b")
_PROGRESS = re.compile(r"(?:Estimating|Comparing|Reading|Writing|Describing annotators): ")


class Job:
    """One command, from its start to its end."""

    def __init__(self, verb: str, table: Path, choices: Choices, folder: Path) -> None:
        self.verb, self.choices, self.folder = verb, choices, folder
        self.words = command_words(verb, table.name, choices)
        self.python = as_python(verb, table.name, choices)
        self.state = "waiting"
        self.progress: dict[str, Any] = {"text": "", "done": None, "total": None}
        self.said: list[str] = []
        self.answer = ""
        self._process: asyncio.subprocess.Process | None = None

    def told(self) -> dict[str, Any]:
        """What the page shows of it."""
        warned = [line.removeprefix("Warning: ") for line in self.said if line.startswith("Warning: ")]
        trouble = "\n".join(self.said).partition("Error: ")[2]
        return {
            "verb": self.verb, "state": self.state, "progress": self.progress, "said": warned,
            "answer": self.answer, "command": as_command(self.words), "python": self.python,
            "without": self.choices.get("without", []), "model": self.choices.get("model", "auto"),
            "refused": refusal(trouble or "\n".join(self.said[-8:])) if self.state == "refused" else None,
            "files": sorted(path.name for path in self.result.iterdir() if path.is_file()) if self.has_result else [],
        }  # fmt: skip

    @property
    def result(self) -> Path:
        return self.folder / "result"

    @property
    def has_result(self) -> bool:
        return self.state == "done" and self.result.is_dir()

    async def run(self, table: Path, room: asyncio.Semaphore) -> None:
        """Runs the command beside the table, and keeps what it says."""
        async with room:
            if self.state != "waiting":
                return
            self.folder.mkdir()
            for path in table.parent.iterdir():  # a table of trials lies beside the ratings of a study
                (self.folder / path.name).symlink_to(path)
            self.state = "running"
            self._process = await start(self.words, self.folder)
            assert self._process.stdout is not None
            assert self._process.stderr is not None
            answer, _ = await asyncio.gather(self._process.stdout.read(), self._listen(self._process.stderr))
            code = await self._process.wait()
            self.answer = answer.decode(errors="replace")
        if self.state == "running":
            self.state = "done" if code in (0, NOT_CONVERGED) else "refused" if code in (2, 3, 5) else "failed"

    async def _listen(self, stream: asyncio.StreamReader) -> None:
        while line := await stream.readline():
            text = line.decode(errors="replace").rstrip()
            if not _PROGRESS.match(text):
                self.said.append(text)
                continue
            count = _TASKS.search(text)
            done, total = map(int, count.groups()) if count else (None, None)
            self.progress = {"text": text, "done": done, "total": total}

    def cancel(self) -> None:
        """Ends the process at once; a result is written whole or not at all."""
        if self.state in ("waiting", "running"):
            self.state = "cancelled"
            if self._process is not None:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()


async def start(words: Sequence[str], folder: Path) -> asyncio.subprocess.Process:
    """A task that ends when this process does: it reads the end of a pipe that nobody else holds."""
    pipe = asyncio.subprocess.PIPE
    words = [sys.executable, "-m", "unisono.cli.desk.task", *words]
    quiet = os.environ | {"NO_COLOR": "1", "COLUMNS": "100"}
    return await asyncio.create_subprocess_exec(
        *words, cwd=folder, env=quiet, stdin=pipe, stdout=pipe, stderr=pipe, limit=2**20
    )


async def look(table: Path, choices: Choices) -> dict[str, Any]:
    """How a table is understood."""
    process = await start(["look", table.name, json.dumps(choices)], table.parent)
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        answer, trouble = await asyncio.gather(process.stdout.read(), process.stderr.read())
        if await process.wait():
            raise DataError(f"{table.name} could not be read: {trouble.decode(errors='replace').strip()[-300:]}")
        found: dict[str, Any] = json.loads(answer)
        return found
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
