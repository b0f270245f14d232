"""report.html: one self-contained file, made of report.json alone, and both as files.

The page asks the network for nothing. Its terms are explained in one sentence each: the first of their entry in
docs/glossary.md, where there is more.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from unisono.errors import DataError
from unisono.evaluate.leaderboard_results import Leaderboard
from unisono.report import comparison_summary, report_alerts, report_annotators, report_figures, report_highlights
from unisono.report.leaderboard_figures import leaderboard_figure, needed_figure
from unisono.report.report_categories import Chosen, class_figure
from unisono.report.report_data import FORMAT, Subject, build_category_dossier, build_dossier
from unisono.report.report_methods import assumptions, bibtex, citation, methods_paragraph, python_lines
from unisono.tables.atomic_files import atomic_path, json_text
from unisono.version import __version__

TERMS: dict[str, str] = report_alerts.WORDS["terms"]
MOST_CATERPILLAR = 50  # items in a picture; the table has more
MOST_PICTURES = 60  # annotators whose transform is drawn
MOST_CLASSES = 12  # whose confusion is drawn
SECTIONS = {  # as they follow one another: id -> name in the list of contents
    "look": "To look at",
    "read": "Reading",
    "coverage": "Coverage",
    "agreement": "Agreement",
    "truth": "Truth",
    "categories": "Categories",
    "annotators": "Annotators",
    "kinds": "Kinds",
    "dimensions": "Dimensions",
    "model": "Model",
    "again": "Again",
    "words": "Words",
}
OF_CATEGORIES = ("look", "read", "categories", "again", "words")  # where there are no numbers


def sections_of(data: dict[str, Any]) -> dict[str, str]:
    """The sections that this fusion has something to say in."""
    if data["kind"] == "categories":
        return {name: SECTIONS[name] for name in OF_CATEGORIES}
    missing = {"categories"} if not data["categories"] else set()
    missing |= {"kinds"} if "kinds" not in data["summary"] else set()
    missing |= {"dimensions"} if len(data["dimensions"]) == 1 else set()
    return {name: title for name, title in SECTIONS.items() if name not in missing}


def render_page(data: dict[str, Any]) -> str:
    """The page as text."""
    if data["kind"] == "comparisons":
        return _comparisons_page(data)
    template = _environment().get_template("report.html")
    return template.render(
        data=data,
        sections=sections_of(data),
        numbers=data["kind"] != "categories",
        items=data["kind"] != "traces",
        things="recording" if data["kind"] == "traces" else "item",
        short=report_highlights.in_short(data),
        alerts=report_alerts.look_at(data),
        methods=methods_paragraph(data),
        assumed=assumptions(data),
        cite=citation(data),
        bibtex=bibtex(data),
        python=python_lines(data),
        style=_source("report.css"),
        script=_source("report.js"),
    )


def _coded(text: str) -> Markup:
    """What stands between backticks, as commands do in sentences for terminals, as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _comparisons_page(data: dict[str, Any]) -> str:
    call = f"un.fuse(comparisons={data['source']!r}, seed={data['summary']['provenance']['seed']})"
    return (
        _environment()
        .get_template("comparisons.html")
        .render(
            data=data,
            lines=comparison_summary.summary_lines(data["summary"])[1:],
            python=f'import unisono as un\n\nresult = {call}\nresult.save("out")',
            style=_source("report.css"),
            script=_source("report.js"),
        )
    )


class _CompiledTemplates(BytecodeCache):
    """Compiled templates, kept as Python keeps its modules; where it keeps none, they are compiled each time."""

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError, NotImplementedError):
            bucket.bytecode_from_string(_compiled(bucket).read_bytes())

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        with suppress(OSError, NotImplementedError, DataError), atomic_path(_compiled(bucket)) as part:
            part.write_bytes(bucket.bytecode_to_string())


def _compiled(bucket: Bucket) -> Path:
    return Path(cache_from_source(str(Path(__file__).with_name("templates") / f"{bucket.key}.py")))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("unisono.report"),
        bytecode_cache=_CompiledTemplates(),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "num": report_figures.as_number,
        "share": report_figures.as_share,
        "interval": report_figures.as_interval,
        "probability": report_figures.as_probability,
        "coded": _coded,
        "script_json": _script_json,
        "thousands": "{:,}".format,
    }
    environment.globals |= {
        "term": _term,
        "caterpillar": report_figures.caterpillar,
        "agreement_figure": report_figures.agreement_figure,
        "class_figure": class_figure,
        "coverage_figure": report_figures.coverage_figure,
        "leaderboard_figure": leaderboard_figure,
        "needed_figure": needed_figure,
        "leaking": report_annotators.leaking,
        "strongest_leakage": report_annotators.strongest_leakage,
        "matrix_figure": report_figures.matrix_figure,
        "objective_figure": report_figures.objective_figure,
        "transform_figure": report_figures.transform_figure,
        "most_classes": MOST_CLASSES,
        "most_caterpillar": MOST_CATERPILLAR,
        "most_pictures": MOST_PICTURES,
        "terms": TERMS,
    }
    return environment


def _term(name: str, shown: str | None = None) -> Markup:
    """A word with its explanation at hand: on hover, on focus, and in the list at the end for those who print."""
    template = '<a class="term" href="#term-{}" title="{}">{}</a>'
    return Markup(template).format(name.lower().replace(" ", "-"), TERMS[name], shown or name)


def _script_json(value: Any) -> Markup:
    """Data inside a script element: nothing in it can end the element."""
    return Markup(json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c"))


@cache
def _source(name: str) -> Markup:
    return Markup((files("unisono.report") / "templates" / name).read_text(encoding="utf-8"))


def leaderboard_page(found: Leaderboard) -> str:
    """The page of a leaderboard: means, intervals and ranks of every dimension as a picture, and what follows."""
    data = json.loads(json_text(found.to_dict()))
    boards = [
        {
            "name": name,
            "rows": [row for row in data["systems"] if row["dimension"] == name],
            "needed": [row for row in data.get("needed", ()) if row["dimension"] == name],
            "conclusions": found.conclusions(d),
        }
        for d, name in enumerate(found.dimensions)
    ]
    template = _environment().get_template("leaderboard.html")
    return template.render(data=data, boards=boards, style=_source("report.css"), version=__version__)


DATA, PAGE = "report.json", "report.html"


def report_files(
    subject: Subject, *, command: str | None = None, on_phase: Callable[[str], None] | None = None
) -> dict[str, str]:
    """The texts of report.json and report.html by their names."""
    return files_of(build_dossier(subject, command=command, on_phase=on_phase))


def category_report_files(chosen: Chosen, summary: dict[str, Any], command: str | None = None) -> dict[str, str]:
    """The same of a table that holds categories alone."""
    return files_of(build_category_dossier(chosen, summary, command=command))


def files_of(dossier: dict[str, Any]) -> dict[str, str]:
    """The same of numbers that are there."""
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
