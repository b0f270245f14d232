"""`unisono app` as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from collect_support import free_port

ENTRY = "from unisono.cli.main import run; run()"


class DeskServer:
    """The program as it is typed: with `--port` and `--no-browser`, and the address that it prints."""

    def __init__(self, port: int | None = None) -> None:
        self.port = port or free_port()
        self.log = Path(tempfile.mkstemp(prefix="desk-", suffix=".log")[1])
        words = [sys.executable, "-c", ENTRY, "app", "--port", str(self.port), "--no-browser"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
        self.link = self._printed()
        self.token = self.link.rstrip("/").rpartition("/")[2]
        self.url = self.link.removesuffix(f"{self.token}/")

    def _printed(self) -> str:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if found := re.search(r"http://\S+", self.log.read_text()):
                return found[0]
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.05)
        raise TimeoutError(self.log.read_text())

    def children(self) -> list[int]:
        """Processes that it started and that live."""
        listed = subprocess.run(["ps", "-eo", "pid,ppid,stat"], capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in listed.splitlines()[1:]]
        return [int(pid) for pid, parent, state in rows if int(parent) == self.process.pid and state[0] != "Z"]

    def kill(self) -> None:
        """As a machine that goes down does."""
        self.process.kill()
        self.process.wait(20)

    def stop(self) -> None:
        """As Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(30)

    def __enter__(self) -> DeskServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.log.unlink(missing_ok=True)


def lives(pid: int) -> bool:
    """Whether this process is there, and no mere entry in a table."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
