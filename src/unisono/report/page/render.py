"""From the data of report.json to report.html: one self-contained file."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from unisono.report.page.class_figures import class_figure
from unisono.report.page.figures import (
    agreement_figure,
    caterpillar,
    coverage_figure,
    matrix_figure,
    objective_figure,
    transform_figure,
)
from unisono.report.page.formats import as_interval, as_number, as_probability, as_share
from unisono.report.page.leakage import leaking, strongest_leakage
from unisono.report.page.look import look_at
from unisono.report.page.methods import assumptions, citation, methods_paragraph, python_lines
from unisono.report.page.short import in_short
from unisono.report.page.terms import TERMS

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
        python=python_lines(data),
        style=_source("report.css"),
        script=_source("report.js"),
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("unisono.report.page"),
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
    return Markup((files("unisono.report.page") / "templates" / name).read_text(encoding="utf-8"))
