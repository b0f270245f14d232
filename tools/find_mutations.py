"""How sharp are the tests? Draws mistakes into a copy of the code, one at a time, and says which of them tests find.

    python tools/find_mutations.py --count 80 --seed 30

A mistake is a comparison turned round, a number changed, plus for minus, a `not` or a condition dropped, a statement
left out. For each, tests that import the file run first, then those of its folder, then the record of results; the
first that fails has found it. Libraries are loaded once, and every mistake has a process of its own.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy  # noqa: F401  what most tests load, loaded once
import polars  # noqa: F401
import pytest
import scipy.linalg  # noqa: F401

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "unisono"
TURNED = {
    ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
OTHER = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
MOST_FILES = 12  # of those that import the file
SLOW = 300  # seconds after which a mistake counts as found: something goes on for ever


class Mistake(NamedTuple):
    """What stands where, and what is put there instead."""

    file: str
    line: int
    start: int
    end: int
    instead: str
    kind: str


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--count", type=int, default=80)
    words.add_argument("--seed", type=int, default=30)
    words.add_argument("--below", default="", help="a folder of src/unisono")
    words.add_argument("--minutes", type=float, default=600.0, help="no further mistake after that")
    given = words.parse_args()
    files = sorted((SOURCE / given.below).rglob("*.py"))
    every = [mistake for file in files for mistake in mistakes(file)]
    drawn = random.Random(given.seed).sample(every, min(given.count, len(every)))
    end, found = time.monotonic() + 60 * given.minutes, []
    for mistake in drawn:
        if time.monotonic() > end:
            break
        found.append(by := finder(mistake))
        print(f"{mistake.file}:{mistake.line}\t{mistake.kind}\t{mistake.instead!r}\t{by or 'NOT FOUND'}", flush=True)
    print(f"{sum(map(bool, found))} of {len(found)} found")


def mistakes(file: Path) -> Iterator[Mistake]:
    """All that can be done to the functions of a file."""
    text = file.read_text(encoding="utf-8")
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    name = file.relative_to(SOURCE).as_posix()

    def put(node: Any, instead: str, kind: str) -> Mistake:
        start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        return Mistake(name, node.lineno, start, end, instead, kind)

    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    for node in {id(node): node for one in functions for part in one.body for node in ast.walk(part)}.values():
        match node:
            case ast.Compare(left, [op], [right]):
                yield put(node, f"({ast.unparse(left)} {TURNED[type(op)]} {ast.unparse(right)})", "comparison")
            case ast.Constant(value) if type(value) in (int, float):
                yield put(node, f"({value!r} + 1)" if type(value) is int else f"({value!r} * 1.5)", "number")
            case ast.BinOp(left, op, right) if type(op) in OTHER and not isinstance(left, ast.Constant | ast.JoinedStr):
                yield put(node, f"({ast.unparse(left)} {OTHER[type(op)]} ({ast.unparse(right)}))", "arithmetic")
            case ast.UnaryOp(ast.Not(), operand):
                yield put(node, f"({ast.unparse(operand)})", "not")
            case ast.BoolOp(_, [first, *_]):
                yield put(node, f"({ast.unparse(first)})", "condition")
            case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Raise():
                yield put(node, "pass", "statement")


def finder(mistake: Mistake) -> str:
    """The first test that fails, "too slow", or nothing."""
    with tempfile.TemporaryDirectory(prefix="mutations-") as place:
        copy, said = Path(place) / "src", Path(place) / "said"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        target = copy / "unisono" / mistake.file
        text = target.read_bytes()
        target.write_bytes(text[: mistake.start] + mistake.instead.encode() + text[mistake.end :])
        for tests in chosen(mistake.file):
            child = os.fork()
            if child == 0:
                _run(copy, said, tests)
            if not _ended(child):
                return "too slow"
            if said.exists():
                return said.read_text(encoding="utf-8")
    return ""


def chosen(file: str) -> list[list[str]]:
    """Test files, the nearest first: those that name the module, those of its folder, the record."""
    module = "unisono." + file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    every = sorted((ROOT / "tests").rglob("test_*.py"))
    near = [path for path in every if f"{module} import" in path.read_text(encoding="utf-8")]
    folder = next(place for place in (ROOT / "tests" / file).parents if place.is_dir())
    near = sorted(near, key=lambda path: not path.is_relative_to(folder))[:MOST_FILES]
    beside = [path for path in every if path.is_relative_to(folder) and path not in near]
    return [list(map(str, part)) for part in (near, beside, [ROOT / "tests" / "test_recorded.py"]) if part]


def _run(source: Path, said: Path, tests: list[str]) -> None:
    """In a process of its own, which ends here; the name of the first test that fails is written down."""
    os.setsid()
    os.chdir(ROOT)
    sys.path.insert(0, str(source))
    os.environ["PYTHONPATH"] = str(source)

    class Listener:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                said.write_text(report.nodeid, encoding="utf-8")

        def pytest_collectreport(self, report: pytest.CollectReport) -> None:
            if report.failed:
                said.write_text(report.nodeid, encoding="utf-8")

    words = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not browser and not postgres"]
    with Path(os.devnull).open("w") as nothing, contextlib.redirect_stdout(nothing):
        pytest.main([*words, *tests], plugins=[Listener()])
    os._exit(0)


def _ended(child: int) -> bool:
    """False where it had to be stopped."""
    end = time.monotonic() + SLOW
    while time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


if __name__ == "__main__":
    main()
