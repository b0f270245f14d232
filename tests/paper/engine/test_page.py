"""The page escapes what is not its own, links what is there, and shows it in a browser without a complaint."""

import re

import numpy as np
import pytest

from unisono.paper.experiment_claims import Chapter, ClaimPart, Experiment, Picture, Settings, Table, judge, untestable
from unisono.paper.experiment_page import Bar, Heat, heat_row, score_bars, sweep_lines
from unisono.paper.experiment_runs import reproduce

pytestmark = pytest.mark.slow

EVIL = "<script>alert('x')</script> & \"quotes\""
MODELS = ("paper-joint", "paper-independent", "mean", "auto", "auto+gold")


def report(settings, results):
    bars = {
        m: {model: {"dim1": Bar(0.5, 0.1, model == "auto"), "dim2": Bar(-0.2)} for model in MODELS} for m in METRICS
    }
    lines = {m: {model: [Bar(0.5, 0.1, True), Bar(0.4)] for model in MODELS} for m in METRICS}
    maps = [Heat(EVIL, np.eye(2), ("a", "b"), ("a", "b"))]
    return Chapter(
        lead=(EVIL,),
        tables=(Table(EVIL, ("", EVIL), ((EVIL, "1"),)),),
        pictures=(
            Picture("bars", EVIL, lambda: score_bars(bars)),
            Picture("lines", "Lines.", lambda: sweep_lines([0.1, 0.2], lines, "c")),
            Picture(
                "maps",
                "Maps.",
                lambda: heat_row(maps, "r"),
            ),
        ),
        claims=(
            judge(EVIL, "Sec. 1", EVIL, [ClaimPart(EVIL, EVIL, True)]),
            judge("No.", "Sec. 1", "t", [ClaimPart("p", "f", False)]),
            untestable("Open.", "Sec. 1", EVIL),
        ),
        summary={},
    )


METRICS = ("ccc", "pearson")
TOY = Experiment("toy", EVIL, EVIL, lambda settings: [], report)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    out = tmp_path_factory.mktemp("page")
    reproduce([TOY], out, Settings(quick=True))
    return out


def test_nothing_but_the_template_is_markup(written):
    page = (written / "index.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_links_are_relative_and_lead_somewhere(written):
    page = (written / "index.html").read_text()
    targets = re.findall(r'(?:href|src)="([^"#]+)"', page)
    assert len(targets) >= 7
    assert all((written / target).is_file() for target in targets)


def test_every_verdict_has_a_word_and_a_sign(written):
    page = (written / "index.html").read_text()
    for text in ("✓ holds", "✗ does not hold", "? cannot be tested", "✓ holds: 1", "This is a quick run"):
        assert text in page
    assert "too small to judge" not in page  # nothing in it is smaller than it should be


def test_pictures_are_png_and_pdf_and_equal_bytes_when_drawn_again(written, tmp_path):
    reproduce([TOY], tmp_path, Settings(quick=True))
    for name in ("bars", "lines", "maps"):
        for kind, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
            content = (written / "figures" / f"{name}.{kind}").read_bytes()
            assert content.startswith(magic)
            assert content == (tmp_path / "figures" / f"{name}.{kind}").read_bytes()


def test_a_browser_shows_it_whole(written, browser):
    complaints = []
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto((written / "index.html").as_uri())
    for image in page.locator("img").all():
        image.scroll_into_view_if_needed()
        image.evaluate("image => image.decode()")
        assert image.evaluate("image => image.naturalWidth") > 0
    for width in (1280, 390):
        # Wide tables scroll in their own boxes; the page itself never does.
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
    assert complaints == []
