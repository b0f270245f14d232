"""Constants of the default are in one file, and each says what it means and what it rests on."""

import ast
import re
from pathlib import Path

import pytest

from unisono.maths.items import item_priors

PLACE = Path(item_priors.__file__)
ROOMS = (PLACE.parent, PLACE.parents[1] / "raters")
# Numbers of a definition rather than choices, and those of a reading of ratings that is not the default.
ELSEWHERE = {"LOG_2PI", "CLASS_GAINS", "NOISE_EXPONENTS", "STYLE_PRIORS"}
ELSEWHERE |= {"STRAIGHT_RATINGS", "FEWEST_RATINGS", "SEGMENTS"}
EVIDENCE = re.compile(r"\[[DA]\]|convention|floor|ceiling|numerical|accuracy\.md")


def numbers(path: Path) -> set[str]:
    """Names of module-level constants that hold a number somewhere."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(part, ast.Constant) and isinstance(part.value, int | float) for part in ast.walk(node.value)
        ):
            names = [part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            found |= {name for name in names if name.isupper() and not name.startswith("_")}
    return found


@pytest.mark.parametrize("path", sorted(p for room in ROOMS for p in room.glob("*.py")), ids=lambda path: path.stem)
def test_constants_live_in_one_file_but_for_numerical_ones_that_say_so(path):
    if path != PLACE:
        numerical = set(re.findall(r"^([A-Z_]+) = .*# numerical: ", path.read_text(), re.MULTILINE))
        assert numbers(path) - ELSEWHERE <= numerical


def test_every_constant_says_what_it_is():
    lines = PLACE.read_text().splitlines()
    for n, line in enumerate(lines):
        constant = re.match(r"[A-Z_]+ = \S", line)
        if constant or re.match(r"    [a-z_]+: (float|bool) = ", line):
            block = " ".join(lines[max(n - 4, 0) : n + 1])
            assert "#" in " ".join(lines[n - 1 : n + 1]), line
            assert EVIDENCE.search(block), line


def test_there_are_few():
    """Every number is counted, those of a pair as two; true and false are none."""
    values = [node.value for node in ast.walk(ast.parse(PLACE.read_text())) if isinstance(node, ast.Constant)]
    assert 10 < sum(isinstance(value, int | float) and not isinstance(value, bool) for value in values) <= 30
