"""Every equation tag in the code is in docs/maths*.md with its function and its test, and the other way round."""

import re
from pathlib import Path

import unisono

SOURCE = Path(unisono.__file__).parent
ROOT = SOURCE.parent.parent
TAG = re.compile(r"eq\. ([A-Z]\d+)")
ROW = re.compile(r"^\| ([A-Z]\d+) \|(.*)\|$", re.MULTILINE)


def tags_in_code() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        for tag in TAG.findall(path.read_text()):
            found.setdefault(tag, set()).add(path.name)
    return found


def rows_in_docs() -> dict[str, str]:
    text = "\n".join(path.read_text() for path in sorted((ROOT / "docs").glob("maths*.md")))
    return dict(ROW.findall(text))


def test_tags_are_on_both_sides():
    assert set(tags_in_code()) == set(rows_in_docs())


def test_rows_name_functions_and_tests_that_exist():
    code = "\n".join(path.read_text() for path in SOURCE.rglob("*.py"))
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    for tag, row in rows_in_docs().items():
        functions, checks = (re.findall(r"`([A-Za-z_]\w*)`", cell) for cell in row.split("|")[-2:])
        assert functions, tag
        assert checks, tag
        assert all(re.search(rf"(def|class) {name}\b", code) for name in functions), (tag, functions)
        assert all(f"def {name}" in tests for name in checks), (tag, checks)
