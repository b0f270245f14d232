"""Starts servers quickly: everything is imported once, every start is a fork.

Reads lines from stdin: a file for what a server says, and the words of a `unisono` command, set apart by tabs. Answers
with the process number of a child that runs it. The child is a server like any other; only the time to import is saved.
"""

from __future__ import annotations

import os
import signal
import sys

import unisono.cli.collect_command
import unisono.collect.app.serve
from unisono.cli.main import run

__all__ = ["unisono"]


def main() -> None:
    # Children that were killed leave no trace.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            log, *words = line.rstrip("\n").split("\t")
            sys.argv = ["unisono", *words]
            said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            for place, stream in enumerate((os.open(os.devnull, os.O_RDONLY), said, said)):
                os.dup2(stream, place)
            run()
            os._exit(0)
        print(child, flush=True)


if __name__ == "__main__":
    main()
