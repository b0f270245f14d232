"""report.html: one self-contained file, made of report.json alone, and both as files.

The page asks the network for nothing. Its terms are explained in one sentence each: the first of their entry in
docs/glossary.md, where there is more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from unisono.errors import DataError
from unisono.report.report_alerts import look_at
from unisono.report.report_annotators import leaking, strongest_leakage
from unisono.report.report_categories import Chosen, class_figure
from unisono.report.report_data import FORMAT, Subject, build_category_dossier, build_dossier
from unisono.report.report_figures import (
    agreement_figure,
    as_interval,
    as_number,
    as_probability,
    as_share,
    caterpillar,
    coverage_figure,
    matrix_figure,
    objective_figure,
    transform_figure,
)
from unisono.report.report_highlights import in_short
from unisono.report.report_methods import assumptions, bibtex, citation, methods_paragraph, python_lines
from unisono.tables.atomic_files import atomic_path, json_text

TERMS = {
    "agreement": "The correlation of an annotator's answers with the truth fused without those answers.",
    "annotator matrix": (
        "The matrix F_k that says how annotator k turns the truths of all dimensions into expected answers."
    ),
    "band": "The 90 % intervals of a fused trace, frame by frame.",
    "bias": "How far an annotator's average answer lies above or below the truth, in rating units.",
    "compressed": (
        "An annotator who follows the truth but uses a small part of the scale, about .1 to .6 of what is usual."
    ),
    "constant": "An annotator who gives the same answer whatever the item.",
    "coverage": (
        "The share of values that lie inside the interval stated for them; it should be .90 for 90 % intervals."
    ),
    "delay": "How many seconds an annotator's trace follows behind the truth.",
    "diagnosis": "The probabilities that an annotator is a spammer, or uses a dimension in an unusual style.",
    "dimension": "One of the scales that items are rated on, for example valence or fluency.",
    "effective number": (
        "The number of independent annotators who would be worth as much as a group that shares its errors."
    ),
    "flipped": "An annotator who uses the scale the other way round, high where others answer low.",
    "gain": (
        "How much an annotator's answer changes when the truth changes by one. 1 is usual, less is a timid "
        "use of the scale, more an exaggerated one, and negative a scale turned round."
    ),
    "held-out": "Set aside while a model is fitted, then used to test it: ratings, stretches of traces, or annotators.",
    "ICC": "Intraclass correlation: the share of the variance of ratings that comes from differences between items.",
    "interval": "The range that holds the truth with 90 % probability, under the convention of the anchor.",
    "judgement": "All answers of one annotator to one item, one number per dimension.",
    "Krippendorff's alpha": (
        "Agreement beyond chance among any number of annotators with any gaps: 1 is perfect, 0 is chance, "
        "negative is worse than chance."
    ),
    "leakage": "How much an annotator's answer on one dimension changes with the truth of another dimension.",
    "leniency": (
        "How far the ratings of a group lie above those of the reference at the average item, whatever its members do "
        "by themselves."
    ),
    "log density": "How probable a model held the ratings that it had not seen, as a logarithm; higher is better.",
    "noise": (
        "The standard deviation of the part of an annotator's answers that is neither truth nor bias, in rating units."
    ),
    "objective": (
        "The number that the estimation raises from iteration to iteration: a log-likelihood, or a bound of it."
    ),
    "Pearson": "Pearson's correlation: 1 if two sets of numbers lie on a rising line, whatever its level and slope.",
    "reliability": "The share of the variance of an annotator's answers that comes from the truth; the rest is noise.",
    "RMSE": (
        "Root mean squared error: the typical size of the difference between estimate and reference, in rating units."
    ),
    "sd": "The standard deviation of the error of an estimate, as the model states it.",
    "SEM": (
        "Standard error of measurement: how far a single rating typically lies from the truth of its item, in"
        " rating units."
    ),
    "shared error": (
        "The part of the error that all annotators make alike, which no comparison between annotators can reveal."
    ),
    "spammer": "An annotator whose answers follow no truth on any dimension, random or constant.",
    "stretched": "An annotator who follows the truth and exaggerates, with about twice the usual gain.",
    "swapped": "An annotator whose answers on one dimension follow the truth of another one.",
    "temperature": "How far class probabilities are drawn away from certainty, 1 for not at all.",
    "trace": "The values that one annotator gives over the time of one recording, on one dimension or several.",
    "truth": "The value of an item on a dimension that lies behind its ratings; it is never observed, only estimated.",
    "unrelated": "An annotator whose answers on a dimension vary but follow no truth.",
    "usual": "An annotator who uses the scale about as the typical annotator does.",
}


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
    template = _environment().get_template("report.html")
    return template.render(
        data=data,
        sections=sections_of(data),
        numbers=data["kind"] != "categories",
        items=data["kind"] != "traces",
        things="recording" if data["kind"] == "traces" else "item",
        short=in_short(data),
        alerts=look_at(data),
        methods=methods_paragraph(data),
        assumed=assumptions(data),
        cite=citation(data),
        bibtex=bibtex(data),
        python=python_lines(data),
        style=_source("report.css"),
        script=_source("report.js"),
    )


@cache
def _coded(text: str) -> Markup:
    """What stands between backticks, as commands do in sentences for terminals, as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("unisono.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "num": as_number,
        "share": as_share,
        "interval": as_interval,
        "probability": as_probability,
        "coded": _coded,
        "script_json": _script_json,
        "thousands": "{:,}".format,
    }
    environment.globals |= {
        "term": _term,
        "caterpillar": caterpillar,
        "agreement_figure": agreement_figure,
        "class_figure": class_figure,
        "coverage_figure": coverage_figure,
        "leaking": leaking,
        "strongest_leakage": strongest_leakage,
        "matrix_figure": matrix_figure,
        "objective_figure": objective_figure,
        "transform_figure": transform_figure,
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
