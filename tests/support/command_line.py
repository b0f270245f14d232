"""Runs the installed command in its own process, as a user does."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import warnings
from pathlib import Path
from unittest import mock

from unisono.cli.main import run

UNISONO = Path(sys.executable).with_name("unisono")


def unisono(*arguments: object, cwd: Path | None = None, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    """The finished process: returncode, stdout, stderr."""
    done = subprocess.run([UNISONO, *map(str, arguments)], cwd=cwd, input=stdin, capture_output=True, check=False)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def unisono_here(*arguments: object, cwd: Path | None = None, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    """The same inside this process, for many short runs: no start of an interpreter each time."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        contextlib.chdir(cwd or Path.cwd()),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))),
        mock.patch.object(sys, "argv", ["unisono", *map(str, arguments)]),
        mock.patch.object(warnings, "showwarning", warnings.showwarning),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            run()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return subprocess.CompletedProcess(["unisono", *map(str, arguments)], code, out.getvalue(), err.getvalue())
