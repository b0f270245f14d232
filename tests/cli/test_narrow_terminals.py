"""On a terminal, no line is wider than COLUMNS says, whatever is printed; nothing is warned of twice."""

from __future__ import annotations

import os
import pty
import subprocess

import pytest

from command_line import UNISONO

ROWS = "item,annotator,v,note\n" + "".join(
    f"i{m},a{k},{(3 * m + k * k) % 7},t{m}{k}\n" for m in range(8) for k in range(4)
)
COMMANDS = [
    ("check", "r.csv"),
    ("check", "s.csv"),
    ("fuse", "r.csv", "--model", "mean", "--out", "out"),
    ("fuse", "--help"),
    ("settings",),
    ("import", "--list"),
]


def on_terminal(*arguments: str, columns: int, folder) -> list[str]:
    """What a terminal of this width shows."""
    ours, theirs = pty.openpty()
    words = {**os.environ, "COLUMNS": str(columns)}
    process = subprocess.Popen([UNISONO, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=words)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # the other end was closed
        pass
    process.wait()
    os.close(ours)
    return [line.rpartition("\r")[2] for line in shown.decode().replace("\r\n", "\n").split("\n")]


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 100, 200])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_line_is_wider_than_the_terminal_and_no_warning_comes_twice(tmp_path, columns, arguments):
    (tmp_path / "r.csv").write_text(ROWS)
    lines = on_terminal(*arguments, columns=columns, folder=tmp_path)
    assert [line for line in lines if len(line) > columns] == []
    warned = [line for line in lines if line.startswith("Warning")]
    assert len(set(warned)) == len(warned)
    assert not any("Traceback" in line for line in lines)
