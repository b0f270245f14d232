"""Runs the installed command in its own process, as a user does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

UNISONO = Path(sys.executable).with_name("unisono")


def unisono(*arguments: object, cwd: Path | None = None, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    """The finished process: returncode, stdout, stderr."""
    done = subprocess.run([UNISONO, *map(str, arguments)], cwd=cwd, input=stdin, capture_output=True, check=False)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
