"""index.html: for each claim of the paper what was measured, the test and the verdict; then every experiment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from unisono.reproduce.engine.experiment import Settings
from unisono.version import __version__

if TYPE_CHECKING:
    from unisono.reproduce.engine.run import Report

# word -> (class, sign before the word), so that a verdict does not rest on colour alone
SIGNS = {
    "holds": ("yes", "✓"),
    "does not hold": ("no", "✗"),
    "cannot be tested": ("open", "?"),
    "too small to judge": ("open", "~"),
}


def page_text(reports: Sequence[Report], settings: Settings) -> str:
    """The whole page; everything that is not the template's is escaped."""
    environment = Environment(
        loader=PackageLoader("unisono.reproduce.engine"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    counts = Counter(claim.verdict for one in reports for claim in one.chapter.claims)
    return environment.get_template("index.html").render(
        reports=reports, settings=settings, counts=counts, signs=SIGNS, version=__version__
    )
