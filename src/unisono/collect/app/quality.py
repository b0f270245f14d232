"""Figures about the ratings so far, computed by the library in a process of its own.

The server itself knows no maths: it starts `unisono collect quality DIR --json`, at low priority, when the researcher
looks and ratings have come in since. One process at a time on a server, none that runs forever, and whatever happens to
it raters notice nothing: the page says what went wrong and keeps the last figures.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import msgspec

from unisono.collect.app.guard import log

NICE = 10
# One thread: raters come first. Figures for the researcher's eye can take a little longer.
_SINGLE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Pace:
    """How often, how long and how much."""

    # Seconds between two runs of a study; what took long is done less often still.
    every: float = 60.0
    rest: float = 5.0
    # Seconds after which a run is given up.
    patience: float = 300.0
    # Bytes of an answer; ten thousand items on five dimensions are two million.
    most: int = 32 * 2**20


class FailedError(Exception):
    """The process did not give figures; the words are for the researcher."""


class LiveQuality:
    """The figures of one study: what they are, how old, whether new ones are being made."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        turn: asyncio.Lock | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._command = list(command)
        self._environment = dict(environment or {})
        # Shared by the studies of a server.
        self._turn = turn or asyncio.Lock()
        self._pace = pace or Pace()
        self._task: asyncio.Task[None] | None = None
        self._version: object = None  # of the ratings behind the figures
        self._ended = float("-inf")
        self._figures: dict[str, Any] | None = None
        self._made_at = 0
        self._seconds = 0.0
        self._error = ""

    @classmethod
    def of_study(cls, path: str, database_url: str, turn: asyncio.Lock | None = None) -> LiveQuality:
        """That of a study's folder. The environment names the database, whose address may hold a password."""
        command = [sys.executable, "-m", "unisono", "collect", "quality", path, "--json"]
        return cls(command, {"UNISONO_DATABASE": database_url}, turn)

    @property
    def is_running(self) -> bool:
        """Whether figures are being made, or wait for their turn."""
        return self._task is not None and not self._task.done()

    def look(self, version: object, now: bool = False) -> dict[str, Any]:
        """What is known; starts a run if ratings have changed and it is time, or at once if asked to."""
        wait = max(self._pace.every, self._pace.rest * self._seconds)
        due = version != self._version and time.monotonic() - self._ended >= wait
        if (due or now) and not self.is_running:
            self._task = asyncio.create_task(self._run(version))
        return {
            "running": self.is_running,
            "is_stale": version != self._version,
            "made_at": self._made_at,
            "seconds": round(self._seconds, 1),
            "error": self._error,
            "figures": self._figures,
        }

    async def close(self) -> None:
        """Ends a run that is under way."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self, version: object) -> None:
        async with self._turn:
            began = time.monotonic()
            try:
                self._figures = await asyncio.wait_for(self._compute(), self._pace.patience)
                self._made_at, self._version, self._error = time.time_ns() // 1_000_000, version, ""
            except TimeoutError:
                self._error = f"stopped after {self._pace.patience:g} seconds without figures"
            except (FailedError, OSError) as error:
                self._error = str(error)
            except Exception as error:
                # A mistake of ours, for the log; the page must not ask for it again and again.
                log.exception("figures about the ratings")
                self._error = type(error).__name__
            finally:
                self._ended = time.monotonic()
                self._seconds = self._ended - began
        if self._error:
            log.warning("no figures about the ratings: %s", self._error)

    async def _compute(self) -> dict[str, Any]:
        # Files, not pipes: nobody has to read along, and a process that writes too much blocks nobody.
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            code = await self._process(out, err)
            if code != 0:
                raise FailedError(_reason(code, _end_of(err)))
            return self._decoded(out)

    async def _process(self, out: IO[bytes], err: IO[bytes]) -> int:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **_SINGLE, **self._environment},
            # A group of its own, so that whatever it starts ends with it.
            start_new_session=True,
        )
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, process.pid, NICE)
        try:
            return await process.wait()
        finally:
            # Given up, cancelled or done: nothing is left behind.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
            await asyncio.shield(process.wait())

    def _decoded(self, out: IO[bytes]) -> dict[str, Any]:
        size = out.seek(0, os.SEEK_END)
        if size > self._pace.most:
            raise FailedError(f"the answer has {size} bytes, more than {self._pace.most}")
        out.seek(0)
        try:
            found = msgspec.json.decode(out.read(), type=dict[str, Any])
        except msgspec.DecodeError:
            raise FailedError("the answer cannot be read") from None
        if "too_early" not in found:
            raise FailedError("the answer holds no figures")
        return found


def _end_of(err: IO[bytes]) -> str:
    """The last line that was said, if it is short enough for a page."""
    size = err.seek(0, os.SEEK_END)
    err.seek(max(0, size - 2000))
    lines = err.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:500] if lines else ""


def _reason(code: int, said: str) -> str:
    if code < 0:
        return f"the process was ended from outside (signal {-code})"
    return said or f"the process ended with code {code}"
