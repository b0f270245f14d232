"""Numbers of the models outside the files of priors say what they are; of choices there are few, and no more."""

import ast
from pathlib import Path

import pytest

import unisono

SOURCE = Path(unisono.__file__).parent
FILES = sorted(
    path
    for room in ("maths", "fusers")
    for path in (SOURCE / room).rglob("*.py")
    if not path.stem.endswith("_priors") and "= " in path.read_text(encoding="utf-8")
)
# numerical: tolerances, limits and sizes, which change nothing that is reported but the last digits and the time;
# convention: what is named, shown or asked for; published: by those whose method it is; layout: codes and formats;
# choice: a statistical choice, which belongs into the priors of its wing.
KINDS = ("numerical", "convention", "published", "layout", "choice", "floor")


def constants(path: Path) -> list[tuple[str, str]]:
    """Names of constants of a module that are numbers, or tuples of them, and the line that they are on."""
    text = path.read_text(encoding="utf-8")
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.Tuple | ast.UnaryOp):
            try:
                value = ast.literal_eval(node.value)
            except ValueError:
                continue
            numbers = value if isinstance(value, tuple) else (value,)
            if numbers and all(type(one) in (int, float) for one in numbers):
                lines = text.split("\n")[node.lineno - 1 : node.end_lineno]
                found.append((ast.unparse(node.targets[0]), " ".join(lines)))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE).with_suffix("")))
def test_every_number_says_what_it_is(path):
    unsaid = [name for name, line in constants(path) if not any(f"# {kind}: " in line for kind in KINDS)]
    assert not unsaid


def test_choices_outside_the_priors_become_fewer():
    choices = [name for path in FILES for name, line in constants(path) if "# choice: " in line]
    assert len(choices) <= 30, choices
