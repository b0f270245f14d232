"""The examples of docs/importing.md: files are written, commands run in order, words compared."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from command_line import unisono_here
from unisono.tables.exporting.truth_export import TARGETS
from unisono.tables.importing.import_kinds import KINDS

TEXT = (Path(__file__).parents[3] / "docs" / "importing.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_examples_do_what_the_page_says(tmp_path):
    said = ""
    for language, name, body in BLOCK.findall(TEXT):
        if language != "console":
            (tmp_path / name).write_text(body, encoding="utf-8")
            continue
        for command, expected in re.findall(r"^\$ unisono (.*)\n((?:(?!\$).*\n)*)", body, re.MULTILINE):
            done = unisono_here(*shlex.split(command), cwd=tmp_path)
            said += done.stderr
            assert (done.returncode, done.stderr if expected else "") == (3 if expected else 0, expected), command
            if command.startswith("check"):
                assert done.stderr == ""
    quoted = re.findall(r"^    (\S.*)$", TEXT, re.MULTILINE)
    assert quoted
    assert not [line for line in quoted if line not in said]
    assert not (tmp_path / "never.csv").exists()


def test_every_kind_has_its_row():
    rows = re.findall(r"^\| `([\w-]+)` \|", TEXT, re.MULTILINE)
    assert sorted(rows) == sorted([*(set(KINDS) - {"json"}), *TARGETS])
