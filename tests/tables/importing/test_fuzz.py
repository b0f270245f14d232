"""Whatever happens to a file on its way, an importer makes a table of it or says what is wrong: nothing else."""

from __future__ import annotations

import contextlib
import shutil
from random import Random

import pytest

from importing_cases import CASES, SAMPLES
from unisono.errors import DataError
from unisono.tables.importing.import_kinds import import_files
from unisono.tables.importing.import_request import Request
from unisono.tables.importing.imported_answers import Answers

pytestmark = pytest.mark.slow

RUNS = 25
PIECES = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b";",
    b"\n",
    b"null",
    b"1e999",
    b"-",
    b"\xff",
    b"<",
    b"NaN",
    b"3",
    b"x",
    b"",
]


def request_of(options):
    words = dict(zip(options[::2], options[1::2], strict=True))
    dims = [pair for name, pair in zip(options[::2], options[1::2], strict=True) if name == "--dim"]
    shift = words.get("--shift")
    return Request(
        item=words.get("--item"),
        names=words.get("--names"),
        shift=None if shift is None else float(shift),
        dims=tuple((pair.split("=")[0], pair.split("=")[-1]) for pair in dims),
    )


@pytest.mark.parametrize("name", CASES)
def test_damage_anywhere_gives_a_table_or_a_data_error(tmp_path, name):
    case, rng = CASES[name], Random(name)
    folder = tmp_path / case.kind
    shutil.copytree(SAMPLES / case.kind, folder)
    files = [str(tmp_path / file) for file in case.files]
    targets = [path for path in folder.rglob("*") if str(path).removesuffix("~") in files]
    for _ in range(RUNS):
        target = rng.choice(targets)
        whole = data = target.read_bytes()
        for _ in range(rng.choice((1, 1, 3))):
            at, width = rng.randrange(len(data) + 1), rng.choice((0, 1, 1, 5, 60))
            data = data[:at] + rng.choice(PIECES) + data[at + width :]
        target.write_bytes(data)
        with contextlib.suppress(DataError):
            assert import_files(case.kind, files, Answers(), request_of(case.options)).frame.height
        target.write_bytes(whole)
