"""docs/maths-series.md and the code speak of the same equations, functions and tests."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "maths-series.md").read_text()
CODE = {path.name: path.read_text() for path in (ROOT / "src" / "unisono" / "maths").glob("*.py")}
TESTS = "\n".join(path.read_text() for path in (ROOT / "tests" / "maths").glob("test_*.py"))
ROWS = [line.split(" | ") for line in PAGE.splitlines() if re.match(r"\| S\d+ \|", line)]


def test_tags_are_the_same_on_both_sides():
    in_code = set(re.findall(r"eq\. (S\d+)", "\n".join(CODE.values())))
    in_page = {row[0].strip("| ") for row in ROWS}
    assert in_code == in_page
    assert len(ROWS) == len(in_page) > 20


def test_functions_and_tests_named_in_the_page_exist():
    for row in ROWS:
        function, test = (cell.strip("`| ") for cell in row[-2:])
        assert re.search(rf"^(def|class) {function}\b", "\n".join(CODE.values()), re.MULTILINE), function
        assert f"def {test}(" in TESTS, test
