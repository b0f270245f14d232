"""Starts servers quickly, so that one can be killed fifty times: everything is imported once, every start is a fork.

Reads lines from stdin: each is the words of a `unisono` command, set apart by tabs. Answers with the process number
of a child that runs it. The child is a server like any other; only the time to import is saved.
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
            sys.argv = ["unisono", *line.rstrip("\n").split("\t")]
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            run()
            os._exit(0)
        print(child, flush=True)


if __name__ == "__main__":
    main()
