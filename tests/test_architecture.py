"""Imports point down, and labels, files and pixels stay where they belong."""

import ast
from pathlib import Path

import pytest

import unisono

ROOT = Path(unisono.__file__).parent
# package -> what of unisono it may import, beside itself and errors
ALLOWED = {
    "maths": set(),
    "data": set(),
    "tasks": set(),
    "fusers": {"maths", "data", "tasks"},
    "evaluate": {"maths", "data", "fusers", "tasks"},
    "simulate": {"data"},
    "io": {"data", "fusers", "maths"},
    "summary": {"data", "fusers"},
    "api": {"data", "fusers", "evaluate", "io", "summary"},
    "datasets": {"data", "io"},
    "collect": {"data", "io"},
    "reproduce": {"maths", "data", "fusers", "evaluate", "simulate", "io", "datasets", "collect"},
    "cli": {"data", "fusers", "io", "evaluate", "simulate", "datasets", "api", "collect", "summary", "reproduce"},
}
LIBRARIES = {"maths": {"numpy", "scipy", "threadpoolctl"}, "data": {"numpy", "scipy"}}
STANDARD = {"__future__", "collections", "dataclasses", "functools", "typing", "operator", "warnings", "hashlib", "re"}


def modules():
    return sorted(ROOT.rglob("*.py"))


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imported(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (
                [f"unisono.{alias.name}" for alias in node.names] if node.module == "unisono" else [node.module]
            )


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    package = package_of(path)
    if package == "__init__":
        return
    inside = {name.split(".")[1] for name in imported(path) if name.startswith("unisono.")}
    assert inside <= ALLOWED.get(package, set()) | {package, "errors"}


@pytest.mark.parametrize("package", LIBRARIES)
def test_lower_rings_use_few_libraries(package):
    for path in (ROOT / package).rglob("*.py"):
        outside = {name.split(".")[0] for name in imported(path)} - {"unisono"}
        assert outside <= LIBRARIES[package] | STANDARD | {"itertools", "math", "difflib", "contextlib", "abc"}, (
            path.name
        )


def test_no_room_is_called_utils():
    assert not [path.name for path in modules() if path.stem in {"utils", "helpers", "common", "misc"}]


def test_files_stay_readable():
    long = {str(path.relative_to(ROOT)): n for path in modules() if (n := len(path.read_text().splitlines())) > 320}
    assert not long
