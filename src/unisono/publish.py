"""A fusion as the files that people read: report.json with every number, report.html made of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unisono.errors import DataError
from unisono.evaluate.dossier.build import FORMAT, Subject, build_category_dossier, build_dossier
from unisono.evaluate.dossier.choices import Chosen
from unisono.io.atomic import atomic_path
from unisono.io.json_text import json_text
from unisono.report.page.render import render_page

DATA, PAGE = "report.json", "report.html"


def report_files(
    subject: Subject, *, command: str | None = None, on_phase: Callable[[str], None] | None = None
) -> dict[str, str]:
    """The texts of report.json and report.html by their names."""
    return _texts(build_dossier(subject, command=command, on_phase=on_phase))


def category_report_files(chosen: Chosen, summary: dict[str, Any], command: str | None = None) -> dict[str, str]:
    """The same of a table that holds categories alone."""
    return _texts(build_category_dossier(chosen, summary, command=command))


def _texts(dossier: dict[str, Any]) -> dict[str, str]:
    # Through JSON and back: the page is made of exactly what the file holds.
    text = json_text(dossier, indent=0)
    return {DATA: text + "\n", PAGE: render_page(json.loads(text))}


def write_page(path: Path, files: dict[str, str]) -> Path:
    """Writes the page alone, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(files[PAGE], encoding="utf-8")
    return path


def page_again(folder: Path, out: Path | None = None) -> Path:
    """Makes the page of a saved fusion again from its report.json, as this version draws it."""
    target = out if out is not None else folder / PAGE
    return write_page(target, {PAGE: render_page(_stored(folder / DATA))})


def _stored(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise DataError(f"{path.parent} holds no {DATA}. Fuse again with --out {path.parent}, without --no-report.")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        written = data["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is damaged ({error}). Fuse again with --out {path.parent}.") from error
    if written != FORMAT:
        raise DataError(f"{path} was written by another version (format {written}). Fuse again to have it anew.")
    return dict(data)
