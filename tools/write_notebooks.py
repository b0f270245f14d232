"""Runs the notebooks in examples/ and stores what they show: python tools/write_notebooks.py [NAME ...]

Needs the `dev` extra. What is stored does not depend on the machine: no times, no paths, no names of environments.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "examples"
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def run(path: Path) -> nbformat.NotebookNode:
    """The notebook with its outputs, run from top to bottom in a fresh kernel and in a folder of its own."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}).execute()
    return notebook


def cleaned(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Without what changes from run to run, and without bars that have vanished."""
    notebook.metadata = nbformat.from_dict(KERNEL)
    for number, cell in enumerate(notebook.cells):
        cell.metadata, cell.id = nbformat.from_dict({}), f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if one.get("data", {}).get("text/plain", "shown")]
            for output in cell.outputs:
                if "metadata" in output:
                    output.metadata = nbformat.from_dict({})
    return notebook


def main() -> None:
    """All notebooks, or those named."""
    for path in [FOLDER / name for name in sys.argv[1:]] or sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(cleaned(run(path)), path)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
