"""Notebooks as pages of the documentation site: their text, their code, and what is stored of their outputs."""

from __future__ import annotations

import base64
from pathlib import Path

import nbformat

BEFORE = "Run it yourself: `examples/{name}`.\n\n"


def write_pages(notebooks: Path, target: Path) -> list[str]:
    """Writes a page, and its pictures beside it, for every notebook of a folder; the names of the pages."""
    target.mkdir(parents=True, exist_ok=True)
    names = []
    for path in sorted(notebooks.glob("*.ipynb")):
        (target / f"{path.stem}.md").write_text(page_of(path, target), encoding="utf-8")
        names.append(path.stem)
    return names


def page_of(path: Path, target: Path) -> str:
    """The page of one notebook."""
    parts = []
    for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
        if cell.cell_type == "markdown":
            parts.append(f"{cell.source}\n")
            continue
        parts.append(f"```python\n{cell.source}\n```\n")
        parts += [_shown(one, f"{path.stem}-{number}", target) for one in cell.outputs]
    heading, _, rest = "\n".join(parts).partition("\n")
    return f"{heading}\n\n{BEFORE.format(name=path.name)}{rest}"


def _shown(output: nbformat.NotebookNode, name: str, target: Path) -> str:
    """The richest form of an output that a page can show."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/png" in data:
        (target / f"{name}.png").write_bytes(base64.b64decode(data["image/png"]))
        return f"![]({name}.png)\n"
    if "text/html" in data:
        return f"```{{raw}} html\n<div class='output'>{data['text/html']}</div>\n```\n"
    return f"```text\n{data['text/plain'].rstrip()}\n```\n"
