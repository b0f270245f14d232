"""On a terminal, no line is wider than COLUMNS says, whatever is printed; nothing is warned of twice."""

from __future__ import annotations

import os
import pty
import re
import subprocess

import pytest

from command_line import UNISONO, unisono_here
from unisono.cli.terminal import painted
from unisono.tables.datasets import dataset_path

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


COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(*arguments: str, columns: int, folder, colours: bool = False, **environment: str) -> list[str]:
    """What a terminal of this width shows, as text alone or with its colours."""
    ours, theirs = pty.openpty()
    words = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **environment}
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
    text = shown.decode().replace("\r\n", "\n")
    return [line.rpartition("\r")[2] for line in (text if colours else COLOUR.sub("", text)).split("\n")]


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


@pytest.mark.slow
def test_fuse_ends_with_three_answers_on_one_screen_and_says_where_the_rest_is(tmp_path):
    table = str(dataset_path("squality"))
    lines = on_terminal("fuse", table, "--out", "out", columns=80, folder=tmp_path, colours=True)
    last = lines[-25:]
    shown = [COLOUR.sub("", line) for line in last]
    for question in ("What is the answer?", "How sure is it?", "Whom do I trust?"):
        (at,) = [i for i, line in enumerate(shown) if line.startswith(question)]
        assert last[at].startswith("\x1b[")
    assert "  Least reliable: s00 0.63, s02 0.63" in shown
    assert shown[-2].endswith("open out/report.html")
    plain = on_terminal("fuse", table, "--out", "out", columns=80, folder=tmp_path, colours=True, NO_COLOR="1")
    assert [line for line in plain if COLOUR.search(line)] == []
    assert plain[-25:] == shown
    piped = unisono_here("fuse", table, "--out", "out", cwd=tmp_path)
    assert "\x1b" not in piped.stdout + piped.stderr
    assert "How sure is it?  " in piped.stdout


class Screen:
    """A stream that says it is a terminal."""

    def __init__(self, is_one):
        self.is_one = is_one

    def isatty(self):
        return self.is_one

    def fileno(self):
        raise OSError


def test_warnings_titles_and_heads_of_tables_stand_out_where_there_is_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = "Warning: v is odd.\nThe model:\nname  r\n───────\na     1\n  plain: text\nIs it? Perhaps."
    lines = painted(text, Screen(True)).split("\n")
    assert [COLOUR.sub("", line) for line in lines] == text.split("\n")
    assert [bool(COLOUR.search(line)) for line in lines] == [True, True, True, True, False, False, False]
    assert lines[0].endswith(" v is odd.")
    assert painted(text, Screen(False)) == text
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as inside:
            inside.setenv(name, value)
            assert painted(text, Screen(True)) == text


JUDGED = "item,annotator,kind,quality,fluency\n" + "".join(
    f"i{m},{who},{kind},{(m * 7 + k * m % 3) % 5 + 1},{(m * 3 + k * m % 2) % 5 + 1}\n"
    for m in range(40)
    for k, (who, kind) in enumerate(
        [("p1", "human"), ("p2", "human"), ("a-judge-with-quite-a-long-name-0409", "judge")]
    )
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "decides"),
    [
        (("judges", "j.csv"), "verdict"),
        (("agreement", "j.csv"), "ICC(A,1)"),
        (("compare", "j.csv", "--models", "auto,mean"), "log density"),
        (("datasets", "list"), "squality"),
    ],
    ids=["judges", "agreement", "compare", "datasets"],
)
def test_on_80_columns_the_first_table_has_the_column_that_decides(tmp_path, arguments, decides):
    (tmp_path / "j.csv").write_text(JUDGED)
    lines = on_terminal(*arguments, columns=80, folder=tmp_path)
    assert [line for line in lines if len(line) > 80 and "https://" not in line] == []
    first = next(line for line in lines if decides in line)
    assert lines.index(first) < 14
