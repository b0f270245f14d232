"""The examples of docs/format.md: every file is written, every command is run, every line it shows is compared."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from unisono.cli.main import cli
from unisono.errors import DataError, in_shell

PAGE = Path(__file__).parents[3] / "docs" / "format.md"
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(kind):
    return [(name, body) for language, name, body in BLOCK.findall(PAGE.read_text()) if language == kind]


def examples():
    """(command, what the page shows below it)"""
    for _, body in blocks("console"):
        for command, rest in re.findall(r"^\$ unisono (.*)\n((?:(?!\$).*\n)*)", body, re.MULTILINE):
            yield pytest.param(shlex.split(command), rest.strip("\n"), id=command)


@pytest.mark.filterwarnings("ignore::unisono.errors.DataWarning")
@pytest.mark.parametrize(("command", "shown"), list(examples()))
def test_example(tmp_path, monkeypatch, command, shown):
    monkeypatch.chdir(tmp_path)
    for name, body in blocks("csv"):
        Path(name).write_text(body)
    done = CliRunner().invoke(cli, command)
    if shown.startswith("Error: "):
        assert isinstance(done.exception, DataError)
        assert in_shell(done.exception) == shown.removeprefix("Error: ")
    else:
        assert done.exit_code == 0, done.exception
        assert done.output
        assert set(shown.splitlines()) <= set(done.output.splitlines())


def test_every_example_file_is_used():
    used = {word for example in examples() for word in example.values[0]}
    assert {name for name, _ in blocks("csv")} <= used
