"""The notebooks run, hold nothing of the machine they ran on, and a real kernel shows progress."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
MACHINE = re.compile(r"/(?:home|root|tmp|usr|work|opt|Users|private|var)/|site-packages|[A-Z]:\\\\")

LONG_FIT = """
import unisono as un
import unisono.report.notebook_progress as notebook

notebook.SILENT_FOR = {silent}
notebook.REDRAWN_EVERY = 0.0
result = un.fuse(un.load_dataset("squality"))
_ = result.described
"""


def test_there_is_one_of_items_and_one_of_traces():
    assert [path.stem for path in NOTEBOOKS] == ["items", "traces"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_from_top_to_bottom(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert (tmp_path / "report.html").stat().st_size > 20_000
    stored = nbformat.read(path, as_version=4)
    for cell, old in zip(notebook.cells, stored.cells, strict=True):
        if "un.plot." in cell.source:
            assert kinds_of(cell) == [["image/png", "text/plain"]], cell.source
        assert kinds_of(cell) == kinds_of(old), f"run tools/write_notebooks.py: {cell.source}"


def kinds_of(cell):
    """What a cell shows, without what has vanished."""
    outputs = [one for one in cell.get("outputs", ()) if one.get("data", {}).get("text/plain", "shown")]
    return [sorted(one.get("data", {"text": ""})) for one in outputs]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_stored_does_not_depend_on_the_machine(path):
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert path.stat().st_size < 400_000
    assert set(stored["metadata"]) == {"kernelspec"}
    for cell in stored["cells"]:
        shown = json.dumps(cell.get("outputs", []))
        assert not MACHINE.search(shown), MACHINE.search(shown)
        assert cell["metadata"] == {}
        assert all(one["output_type"] != "error" for one in cell.get("outputs", ()))
    assert any(cell.get("outputs") for cell in stored["cells"])


@pytest.fixture(scope="module")
def kernel():
    manager, client = start_new_kernel()
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def shown_by(client, code):
    """Messages of pictures and of their changes, in order."""
    found = []
    reply = client.execute_interactive(code, timeout=120, output_hook=found.append)
    assert reply["content"]["status"] == "ok", reply["content"]
    return [one for one in found if one["msg_type"] in ("display_data", "update_display_data")]


@pytest.mark.slow
def test_a_kernel_shows_a_bar_that_moves_and_vanishes(kernel):
    first, *changes, last = shown_by(kernel, LONG_FIT.format(silent=0.0))
    assert first["msg_type"] == "display_data"
    assert "Estimating <progress" in first["content"]["data"]["text/html"]
    assert "iteration 1, objective" in first["content"]["data"]["text/plain"]
    assert {one["msg_type"] for one in changes} == {"update_display_data"}
    name = first["content"]["transient"]["display_id"]
    own = [one for one in (*changes, last) if one["content"]["transient"]["display_id"] == name]
    assert len(own) > 2
    assert "iteration 3" in own[1]["content"]["data"]["text/plain"]
    assert own[-1]["content"]["data"] == {"text/html": "", "text/plain": ""}


@pytest.mark.slow
def test_short_work_shows_nothing(kernel):
    assert shown_by(kernel, LONG_FIT.format(silent=60.0)) == []


@pytest.mark.slow
def test_who_watches_already_is_not_disturbed(kernel):
    code = LONG_FIT.format(silent=0.0).replace('"squality"))', '"squality"), on_step=lambda i, objective: None)')
    assert shown_by(kernel, code.replace("_ = result.described", "")) == []
