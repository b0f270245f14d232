"""Runs the command in a terminal of its own, as wide as one likes, and hands back the lines on its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def lines_on_screen(*arguments: object, columns: int = 80) -> list[str]:
    """What the terminal shows, stdout and stderr together; bars that were drawn over are gone."""
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    command = [sys.executable, "-c", "from unisono.cli.main import run; run()", *map(str, arguments)]
    world = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"TERM": "xterm"}
    process = subprocess.Popen(command, stdin=inside, stdout=inside, stderr=inside, env=world)
    os.close(inside)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the command has closed its side
            break
        if not part:
            break
        shown += part
    process.wait(timeout=60)
    os.close(terminal)
    text = _CONTROL.sub("", shown.decode()).replace("\r\n", "\n")
    return [line.split("\r")[-1] for line in text.split("\n")]
