"""Imports point down, and labels, files and pixels stay where they belong."""

import ast
from pathlib import Path

import pytest

import unisono

ROOT = Path(unisono.__file__).parent
# package -> what of unisono it may import, beside itself, errors and words
ALLOWED = {
    "__main__": {"cli"},
    "__init__": None,  # the front door knows everything, and loads it only when asked
    "errors": set(),
    "words": set(),
    "version": set(),
    "maths": set(),
    "data": set(),
    "notebook": set(),
    "engines": set(),
    "tasks": {"engines"},
    "reader": {"data"},  # loads io by name, when a table comes where ratings are wanted
    "fusers": {"maths", "data", "tasks", "reader", "engines"},
    "report": {"data", "fusers"},
    "evaluate": {"maths", "data", "fusers", "report", "tasks"},
    "media": {"maths"},
    "plot": {"data", "fusers", "evaluate"},
    "simulate": {"data"},
    "io": {"data", "fusers", "maths"},
    "publish": {"evaluate", "io", "report"},
    "sharded": {"data", "engines", "evaluate", "fusers", "io", "maths", "publish", "report", "version"},
    "api": {"data", "fusers", "evaluate", "io", "report", "publish", "version", "reader", "notebook", "engines"},
    "datasets": {"data", "io"},
    "collect": {"data", "io"},
    "reproduce": {
        "maths",
        "data",
        "fusers",
        "evaluate",
        "simulate",
        "io",
        "datasets",
        "collect",
        "media",
        "tasks",
        "version",
    },
    "cli": {
        *("data", "fusers", "io", "evaluate", "simulate", "datasets", "api", "collect", "report", "reproduce"),
        *("publish", "media", "version", "engines", "sharded"),
    },
}
# The same inside packages: room -> the sibling rooms it may import. Files beside the rooms are open to all of them.
ROOMS = {
    "maths": {
        "linalg": set(),
        "items": {"linalg"},
        "raters": {"linalg", "items"},
        "groups": {"linalg", "items"},
        "series": {"linalg"},
        "agreement": set(),
        "judges": set(),
        "copies": set(),
        "categories": set(),
    },
    "fusers": {"items": set(), "groups": set(), "series": {"items"}, "categories": set()},
    "evaluate": {
        "compare": set(),
        "protocol": set(),
        "agreement": set(),
        "dossier": {"agreement", "compare", "judges"},
        "judges": set(),
    },
    "report": {"page": set()},
    "io": {"reading": set(), "importing": {"reading"}, "exporting": {"reading"}},
    "reproduce": {"inputs": set(), "engine": {"inputs"}, "experiments": {"inputs", "engine"}},
    "collect": {
        "stimuli": set(),
        "languages": set(),
        "studies": {"stimuli", "languages"},
        "store": {"studies"},
        "export": {"studies", "store", "stimuli"},
        "app": {"studies", "store", "stimuli", "export"},
    },
}
LIBRARIES = {"maths": {"numpy", "scipy", "threadpoolctl"}, "data": {"numpy", "scipy"}}
STANDARD = {
    "__future__",
    "html",
    "collections",
    "dataclasses",
    "functools",
    "typing",
    "operator",
    "warnings",
    "hashlib",
    "re",
    *("itertools", "math", "difflib", "fnmatch", "contextlib", "abc"),
}


def modules():
    return sorted(ROOT.rglob("*.py"))


def parts_of(path: Path) -> tuple[str, ...]:
    return path.relative_to(ROOT).with_suffix("").parts


def imported_by(source: str) -> list[str]:
    """Dotted names of what a module imports; `from a import b` counts as `a.b`, since b may be a module."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def imported(path: Path) -> list[str]:
    return imported_by(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    package = parts_of(path)[0]
    names = [name.split(".") for name in imported(path)]
    # `import unisono` reaches everything, so nobody inside may say it.
    assert ["unisono"] not in names
    if ALLOWED[package] is not None:
        assert {name[1] for name in names if name[0] == "unisono"} <= ALLOWED[package] | {package, "errors", "words"}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_rooms_open_one_way(path):
    package, *inner = parts_of(path)
    if package not in ROOMS or len(inner) < 2:
        return
    rooms = ROOMS[package]
    entered = {name.split(".")[2] for name in imported(path) if name.startswith(f"unisono.{package}.")} & set(rooms)
    assert inner[0] in rooms
    assert entered <= rooms[inner[0]] | {inner[0]}


def test_every_package_and_every_room_is_listed():
    assert {parts_of(path)[0] for path in modules()} == set(ALLOWED)
    for package, rooms in ROOMS.items():
        assert {place.parent.name for place in (ROOT / package).glob("*/__init__.py")} == set(rooms), package


def test_what_counts_as_an_import():
    source = (
        "import unisono\nfrom unisono import api\nfrom unisono.maths.items import data\ndef f():\n    import rich.table"
    )
    assert imported_by(source) == ["unisono", "unisono.api", "unisono.maths.items.item_data", "rich.table"]


@pytest.mark.parametrize("package", LIBRARIES)
def test_lower_rings_use_few_libraries(package):
    for path in (ROOT / package).rglob("*.py"):
        outside = {name.split(".")[0] for name in imported(path)} - {"unisono"}
        assert outside <= LIBRARIES[package] | STANDARD, path.name


def test_no_room_is_called_utils():
    assert not [path.name for path in modules() if path.stem in {"utils", "helpers", "common", "misc"}]


def test_files_stay_readable():
    long = {str(path.relative_to(ROOT)): n for path in modules() if (n := len(path.read_text().splitlines())) > 320}
    assert not long


def test_no_test_imports_another():
    tests = Path(__file__).parent
    for path in tests.rglob("*.py"):
        steps = [step for name in imported(path) for step in name.split(".")]
        assert not [step for step in steps if step.startswith("test_")], path
