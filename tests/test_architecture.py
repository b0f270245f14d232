"""Imports point down, and labels, files and pixels stay where they belong."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import unisono

ROOT = Path(unisono.__file__).parent
# room -> what of unisono it may import, beside itself and errors
ALLOWED: dict[str, set[str] | None] = {
    "__main__": {"cli"},
    "__init__": None,  # the front door knows everything, and loads it only when asked
    "errors": set(),
    "version": set(),
    "maths": set(),
    "tables": {"maths"},
    "fusers": {"maths", "tables", "scale"},
    "evaluate": {"maths", "tables", "fusers", "scale"},
    "report": {"maths", "tables", "fusers", "evaluate", "version"},
    "scale": {"maths", "tables", "fusers", "evaluate", "report", "version"},
    "api": {"maths", "tables", "fusers", "evaluate", "report", "scale", "version"},
    "collect": {"tables"},
    "paper": {"maths", "tables", "fusers", "evaluate", "scale", "collect", "version"},
    "cli": {"maths", "tables", "fusers", "evaluate", "report", "scale", "api", "collect", "paper", "version"},
}
# Files of `scale` that know executors alone: what lies below may use them, and they import nothing but each other.
EXECUTORS = {"executors", "process_executor", "cluster_executors"}
# The same inside rooms: sub-room -> the siblings it may import. Files beside the sub-rooms are open to all of them.
ROOMS: dict[str, dict[str, set[str]]] = {
    "maths": {
        "linalg": set(),
        "items": {"linalg"},
        "raters": {"linalg", "items"},
        "groups": {"linalg", "items"},
        "series": {"linalg"},
        "agreement": set(),
        "copies": set(),
        "comparisons": set(),
        "published": {"items"},
        "systems": {"linalg"},
    },
    "tables": {
        "reading": set(),
        "importing": {"reading"},
        "exporting": {"reading"},
        "datasets": {"reading"},
        "media": set(),
    },
    "cli": {"desk": set()},
    "collect": {
        "stimuli": set(),
        "languages": set(),
        "studies": {"stimuli", "languages"},
        "store": {"studies"},
        "export": {"studies", "store", "stimuli"},
        "app": {"studies", "store", "stimuli", "export"},
    },
}
LIBRARIES = {"numpy", "scipy", "threadpoolctl"}
FILES = {"os", "json", "tempfile", "pathlib", "shutil", "io", "errno", "time"}  # of `atomic_files`
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
    *("itertools", "math", "difflib", "fnmatch", "contextlib", "abc", "shlex"),
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
        assert {name[1] for name in names if name[0] == "unisono"} <= ALLOWED[package] | {package, "errors"}


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
    lines = (
        "import unisono",
        "from unisono import api",
        "from unisono.tables import labels",
        "def f():",
        "    import rich.table",
    )
    assert imported_by("\n".join(lines)) == ["unisono", "unisono.api", "unisono.tables.labels", "rich.table"]


@pytest.mark.parametrize("room", ["fusers", "evaluate", "paper"])
def test_what_lies_below_shards_uses_executors_alone(room):
    for path in (ROOT / room).rglob("*.py"):
        steps = [name.split(".") for name in imported(path)]
        assert {name[2] for name in steps if name[:2] == ["unisono", "scale"]} <= EXECUTORS, path.name


def test_executors_know_neither_ratings_nor_models():
    for name in EXECUTORS:
        steps = [found.split(".") for found in imported(ROOT / "scale" / f"{name}.py")]
        own = [step[1:3] for step in steps if step[0] == "unisono"]
        assert all(
            step[0] == "errors" or step == ["maths", "structure_words"] or (step[0] == "scale" and step[1] in EXECUTORS)
            for step in own
        ), name


def test_containers_know_neither_files_nor_models():
    for path in (ROOT / "tables").glob("*.py"):
        steps = [name.split(".") for name in imported(path)]
        entered = {tuple(step[1:3]) for step in steps if step[0] == "unisono"}
        assert not {room for top, room in entered if top == "tables"} & set(ROOMS["tables"]), path.name
        assert {top for top, _ in entered} <= {"tables", "errors"}, path.name


def top_imports(source: str) -> list[str]:
    """Imports that are made when a module is imported: not those inside functions, nor for types alone."""
    body = [node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return imported_by("\n".join(ast.unparse(node) for node in body))


def test_no_module_waits_for_itself():
    names = {".".join(("unisono", *parts_of(path))).removesuffix(".__init__"): path for path in modules()}
    opens = {
        name: {found if found in names else found.rsplit(".", 1)[0] for found in top_imports(path.read_text("utf-8"))}
        & set(names)
        for name, path in names.items()
    }
    order = TopologicalSorter({name: found - {name} for name, found in opens.items()})
    order.prepare()  # names the ring, if there is one


def test_the_top_shows_the_product():
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert rooms == {room for room in ALLOWED if (ROOT / room).is_dir()}
    assert len(rooms) <= 10
    assert {path.name for path in ROOT.iterdir() if path.is_file()} == {
        *("__init__.py", "__main__.py", "errors.py", "version.py", "py.typed"),
    }


def test_maths_uses_few_libraries():
    for path in (ROOT / "maths").rglob("*.py"):
        outside = {name.split(".")[0] for name in imported(path)} - {"unisono"}
        assert outside <= LIBRARIES | STANDARD, path.name


def test_containers_use_few_libraries():
    for path in (ROOT / "tables").glob("*.py"):
        outside = {name.split(".")[0] for name in imported(path)} - {"unisono"}
        assert outside <= LIBRARIES | STANDARD | FILES, path.name


def test_no_room_is_called_utils():
    assert not [path.name for path in modules() if path.stem in {"utils", "helpers", "common", "misc"}]


def test_files_stay_readable():
    long = {str(path.relative_to(ROOT)): n for path in modules() if (n := len(path.read_text().splitlines())) > 420}
    assert not long


def test_no_test_imports_another():
    tests = Path(__file__).parent
    for path in tests.rglob("*.py"):
        steps = [step for name in imported(path) for step in name.split(".")]
        assert not [step for step in steps if step.startswith("test_")], path
