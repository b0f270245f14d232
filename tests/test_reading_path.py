"""CONTRIBUTING lists twelve files by which the default can be read; a traced fit runs through these, in their order."""

import ast
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unisono as un

ROOT = Path(__file__).parent.parent
SOURCE = Path(un.__file__).parent
LINES = 450  # of a file on a list
KNOW_NO_MODEL = {f"maths/linalg/{name}.py" for name in ("small_spd", "block_tridiagonal", "causal_filters")}


def likert(seed: int) -> un.Ratings:
    """Five annotators on 25 items, with answers at both ends of a scale of seven points."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(4, 1.6, (25, 2))
    rows = [
        (f"item {i}", f"annotator {k}", *np.clip(np.round(truth[i] + rng.normal(0.3 * (k - 2), 0.7, 2)), 1, 7))
        for k in range(5)
        for i in range(25)
    ]
    return un.read_ratings(pd.DataFrame(rows, columns=["item", "annotator", "x", "y"]))


def traces(seed: int) -> un.Ratings:
    return un.simulate_series(recordings=3, frames=60, annotators=4, realistic=True, seed=seed).ratings


def sections() -> dict[str, str]:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    page = page.split("## Read these twelve")[1].split("\n## ")[0]
    return {"items": page.split("**Traces**")[0], "traces": page.split("**Traces**")[1]}


def listed(section: str) -> list[tuple[str, str]]:
    """File and function to begin with, in order."""
    return re.findall(r"^\d+\. `([\w/.]+)` `(\w+)`", section, flags=re.MULTILINE)


def called(section: str) -> set[str]:
    """The files that those of the list call, by the section's own word."""
    return set(re.findall(r"`([\w/.]+\.py)`", section.split("They call:")[1].split("Constants")[0]))


def imported_by(source: str) -> set[str]:
    """Dotted names of modules, or of what is taken from them."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    return {name for node in nodes for one in node.names for name in (node.module, f"{node.module}.{one.name}")}


def traced(kind: str) -> list[tuple[str, str]]:
    """File and outermost name of every function of the model that runs in a fit and its fusion, by first call."""
    make, fuser = {"items": (likert, un.items.Joint), "traces": (traces, un.series.Joint)}[kind]
    fuser().fit(make(0)).fuse()  # loads what is loaded when first needed: class bodies are no functions
    ratings, seen = make(1), {}

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCE) and frame.f_code.co_name != "<module>":
            file = path.relative_to(SOURCE).as_posix()
            if file.startswith(("maths/", "fusers/")):
                seen.setdefault((file, frame.f_code.co_qualname.split(".")[0]), None)

    sys.setprofile(note)
    try:
        fuser().fit(ratings).fuse()
    finally:
        sys.setprofile(None)
    return list(seen)


@pytest.mark.parametrize("kind", ["items", "traces"])
def test_the_default_can_be_read_in_twelve_files(kind):
    section = sections()[kind]
    steps, helpers, ran = listed(section), called(section), traced(kind)
    files = [file for file, _ in steps]
    assert 0 < len(files) <= 12
    assert len(set(files)) == len(files)
    assert [step for step in ran if step in steps] == steps, "every file runs, in the order in which data flow"
    assert {file for file, _ in ran} == {*files, *helpers}, "nothing else runs, and nothing that is named does not"
    assert not helpers & set(files)
    for file in files:
        assert len((SOURCE / file).read_text(encoding="utf-8").splitlines()) <= LINES, file
    imported = {name for file in files for name in imported_by((SOURCE / file).read_text(encoding="utf-8"))}
    of_the_model = {file for file in helpers if file.count("/") == 1 + file.startswith("maths/")} - KNOW_NO_MODEL
    far = [file for file in of_the_model if f"unisono.{file[:-3].replace('/', '.')}" not in imported]
    assert not far, "what they call is met while reading them"


def test_ci_runs_what_contributing_says():
    run = re.findall(r"^make (\w+)$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert run
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"`.ci/run` is what has to pass: {', '.join(f'`make {name}`' for name in run)}" in page
