"""One piece of work for the desk, in a process of its own: `python -m unisono.cli.desk.task fuse r.csv --out result`.

It runs the command as the shell does. `look TABLE` with choices as JSON prints what the page shows of a table. The
process ends when its standard input does: the desk holds the other end, and is gone when that closes.
"""

from __future__ import annotations

import json
import os
import sys
import threading

from unisono.cli import terminal
from unisono.cli.main import run

TOLD_EVERY = 0.3  # seconds between lines of progress


def _end_with_the_desk() -> None:
    while os.read(0, 1024):  # not through sys.stdin, whose lock would hold up the end of the process
        pass
    os._exit(1)


def main() -> None:
    threading.Thread(target=_end_with_the_desk, daemon=True).start()
    if sys.argv[1] == "look":
        from unisono.cli.desk.look import look_at
        from unisono.tables.atomic_files import json_text

        print(json_text(look_at(sys.argv[2], json.loads(sys.argv[3])), indent=0))
        return
    sys.argv[0] = "unisono"
    terminal.SILENT_FOR = terminal.LINE_EVERY = TOLD_EVERY
    run()


if __name__ == "__main__":
    main()
