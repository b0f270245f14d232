"""The report in a real browser: it opens from disk, asks for nothing, reads aloud, sorts, searches, zooms."""

import json
import re

import pytest

from report_cases import (
    awkward_ratings,
    dossier_of,
    dossier_of_both,
    dossier_of_categories,
    dossier_of_items,
    dossier_of_judges,
    dossier_of_traces,
    dossier_of_wide_trace,
)
from report_pages import barriers, open_report
from unisono.report.report_figures import as_number
from unisono.report.report_page import render_page, sections_of


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Reports on disk by name, with the data they are made of."""
    folder = tmp_path_factory.mktemp("reports")
    found = {"items": dossier_of_items(), "traces": dossier_of_traces(), "awkward": dossier_of(awkward_ratings())}
    found |= {
        "wide": dossier_of_wide_trace(),
        "judges": dossier_of_judges(),
        "both": dossier_of_both(),
        "categories": dossier_of_categories(),
    }
    for name, data in found.items():
        (folder / f"{name}.html").write_text(render_page(data), encoding="utf-8")
    return {name: (folder / f"{name}.html", data) for name, data in found.items()}


@pytest.fixture
def opened(browser, pages):
    """Opens a report and collects what goes wrong; every page is checked for it at the end."""
    wrong, made = [], []

    def open_one(name, size="desktop", scheme="light"):
        made.append(open_report(browser, pages[name][0], wrong, size, scheme))
        return made[-1]

    yield open_one
    for page in made:
        page.close()
    assert not wrong


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
@pytest.mark.parametrize("name", ["items", "traces", "awkward", "judges", "both", "categories"])
def test_opens_whole_and_readable(opened, pages, name, size, scheme):
    page = opened(name, size, scheme)
    assert page.locator("main > section").count() == len(sections_of(pages[name][1]))
    assert barriers(page) == []


def test_tables_are_saved_with_all_digits_and_pictures_as_they_look(opened, pages):
    page, data = opened("items"), pages["items"][1]
    bar = page.locator("#annotators .tools").first
    with page.expect_download() as waiting:
        bar.get_by_role("button", name="CSV").click()
    lines = waiting.value.path().read_text(encoding="utf-8").splitlines()
    assert waiting.value.suggested_filename == "annotators.csv"
    assert f"{data['dimensions'][0]} bias" in lines[0]
    row = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
    first = data["annotators"]["rows"][0]
    assert row["annotator"] == first["annotator"]
    assert float(row[f"{data['dimensions'][0]} gain"]) == first["figures"]["gain"][0]
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as waiting:
            page.locator("#dimensions .tools").first.get_by_role("button", name=kind).click()
        content = waiting.value.path().read_bytes()
        assert content.startswith(start)
        assert len(content) > 2000


def test_tables_and_citations_are_copied_for_papers(opened, pages):
    page, data = opened("awkward"), pages["awkward"][1]
    page.evaluate("() => { navigator.clipboard.writeText = (text) => { window.copied = text; }; }")
    page.locator("#annotators .tools").first.get_by_role("button", name="LaTeX").click()
    lines = page.evaluate("copied").splitlines()
    width = lines[1].count("r", lines[1].index("{l")) + 1
    rows = lines[lines.index("\\midrule") + 1 : lines.index("\\bottomrule")]
    assert len(rows) == len(data["annotators"]["rows"])
    assert {len(re.split(r"(?<!\\)&", row)) for row in rows} == {width}
    assert not [row for row in rows if "\u2212" in row]
    page.get_by_role("button", name="Copy as BibTeX").click()
    assert re.findall(r"@misc\{(\w+),", page.evaluate("copied")) == ["unisono", "ramakrishna2020joint"]
    page.get_by_role("button", name="Copy as APA").click()
    assert f"({data['created'][:4]}). unisono" in page.evaluate("copied")
    page.get_by_role("button", name="Copy the paragraph").click()
    assert page.evaluate("copied") == page.locator("#methods").inner_text().strip()


def test_a_click_sorts_and_unknown_values_stay_last(opened, pages):
    page = opened("items")
    estimates = [row["values"][0][0] for row in pages["items"][1]["truth"]["rows"]]
    heading = page.locator("#truth-table thead tr").nth(1).locator("th button").nth(2)
    for order in (sorted(estimates, reverse=True), sorted(estimates)):
        heading.click()
        shown = page.locator("#truth-table tbody tr td:nth-child(3)").all_inner_texts()
        assert shown == [as_number(value) for value in order]


def test_the_search_field_hides_the_others(opened, pages):
    page = opened("items")
    item = pages["items"][1]["truth"]["rows"][7]["item"]
    page.locator('input[data-search="truth-table"]').fill(item.upper())
    visible = page.locator("#truth-table tbody tr:visible th")
    assert visible.all_inner_texts() == [item]


def test_the_cursor_tells_the_estimate(opened, pages):
    page = opened("traces")
    data = pages["traces"][1]
    canvas = page.locator(".curves canvas").first
    canvas.focus()
    canvas.press("ArrowRight")
    text = page.locator("#readout").inner_text()
    assert text.startswith("At ")
    assert "green: " in text
    canvas.press("+")
    canvas.press("0")
    page.locator("#recording").select_option(label=data["curves"]["recordings"][1]["name"])
    canvas.hover(position={"x": 300, "y": 60})
    assert page.locator("#readout").inner_text() != text


def ink_at(canvas, x, y, wide, high):
    """How many pixels of a part of the canvas are as dark as text."""
    return canvas.evaluate(
        """(c, [x, y, w, h]) => { const p = c.getContext("2d").getImageData(x, y, w, h).data; let n = 0;
        for (let i = 0; i < p.length; i += 4) n += p[i + 3] > 200 && p[i] + p[i + 1] + p[i + 2] < 240; return n; }""",
        [x, y, wide, high],
    )


def test_the_value_stands_beside_the_pointer(opened):
    page = opened("traces")
    canvas = page.locator(".curves canvas").first
    for x, beside in ((300, 310), (1000, 800)):  # to its right, and near the right edge to its left
        before = ink_at(canvas, beside, 6, 160, 18)
        canvas.hover(position={"x": x, "y": 60})
        assert ink_at(canvas, beside, 6, 160, 18) > before + 50


def test_one_annotator_can_be_seen_alone(opened, pages):
    page = opened("traces")
    canvas, chosen = page.locator(".curves canvas").first, page.locator("#one-annotator")
    names = pages["traces"][1]["curves"]["recordings"][0]["annotators"]
    pictures = []
    for name in ("everybody", names[0], names[1]):
        chosen.select_option(label=name)
        pictures.append(canvas.evaluate("c => c.toDataURL()"))
    assert len(set(pictures)) == 3
    canvas.hover(position={"x": 300, "y": 60})
    assert f"{names[1]} 0." in page.locator("#readout").inner_text()


def test_a_trace_in_other_units_does_not_flatten_the_picture(opened, pages):
    name = pages["wide"][1]["curves"]["recordings"][0]["annotators"][3]
    shown = {}
    for case in ("traces", "wide"):
        page = opened(case)
        shown[case] = page.locator("#beyond").inner_text()
        page.evaluate(
            "() => { const pen = CanvasRenderingContext2D.prototype, write = pen.fillText; window.told = [];"
            " pen.fillText = function (text, ...at) { told.push(text); write.call(this, text, ...at); }; }"
        )
        page.get_by_role("button", name="Show all").click()
        assert {"0", "1"} <= set(page.evaluate("told"))
        assert "10" not in page.evaluate("told")
    assert shown["traces"] == ""
    assert shown["wide"].endswith(f": {name}.")


def test_zooming_draws_another_picture(opened):
    page = opened("traces")
    canvas = page.locator(".curves canvas").first
    whole = canvas.evaluate("c => c.toDataURL()")
    page.get_by_role("button", name="Zoom in").click()
    near = canvas.evaluate("c => c.toDataURL()")
    page.get_by_role("button", name="Show all").click()
    assert near != whole
    assert canvas.evaluate("c => c.toDataURL()") == whole


def test_terms_lead_to_their_sentence(opened):
    page = opened("items")
    for link in page.locator("a.term").all():
        target = link.get_attribute("href")[1:]
        assert page.locator(f"[id='{target}']").count() == 1


ALL = ["items", "traces", "awkward", "judges", "both", "categories"]
LETTERS = """() => [...document.querySelectorAll("svg text")].filter((text) => text.checkVisibility()).map((text) =>
  parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getBoundingClientRect().width
  / text.ownerSVGElement.viewBox.baseVal.width)"""


@pytest.mark.parametrize("name", ALL)
def test_a_phone_shows_the_first_answer_at_once_and_letters_that_can_be_read(opened, name):
    page = opened(name, "phone")
    assert min(page.evaluate(LETTERS)) >= 11
    first = page.locator("#look h3").first
    assert first.bounding_box()["y"] < 844


@pytest.mark.parametrize("name", ALL)
def test_paper_has_every_picture_and_every_column_and_no_more_than_twelve_pages(opened, name):
    page = opened(name)
    headings = page.locator(".sortable thead").all_inner_texts()
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 12
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 less its margins
    assert page.locator("details[class]:not([open])").count() == 0
    assert page.locator("#readout").count() == 0 or not page.locator("#readout").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 718
    for whole, parts in zip(headings, page.locator(".paper").all(), strict=True):
        assert set(whole.split()) == set(" ".join(parts.locator("thead").all_inner_texts()).split())
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator(".paper").count() == 0


def test_paper_says_how_many_rows_it_leaves_out(opened, pages):
    page, rows = opened("items"), pages["items"][1]["truth"]["rows"]
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    text = page.locator("#truth .paper").evaluate("one => one.textContent")
    shown = int(re.search(rf"The first (\d+) of {len(rows)} rows", text).group(1))
    parts = page.locator("#truth .paper table").count()
    assert page.locator("#truth .paper tbody tr").count() == shown * parts < len(rows) * parts


def test_the_numbers_of_the_page_are_in_the_data(opened, pages):
    page = opened("awkward")
    data = json.loads(json.dumps(pages["awkward"][1]))
    cells = page.locator("#people-table tbody tr").all()
    assert len(cells) == len(data["annotators"]["rows"])
    for row, shown in zip(data["annotators"]["rows"], cells, strict=True):
        assert shown.locator("th").inner_text() == row["annotator"]
        first_lines = [text.split("\n")[0] for text in shown.locator("td").all_inner_texts()]
        assert as_number(row["figures"]["bias"][0]) in first_lines


@pytest.mark.parametrize("name", ["items", "judges"])
def test_names_stay_in_view_while_a_wide_table_is_moved_on_a_phone(opened, name):
    page = opened(name, "phone")
    moved = page.evaluate("""() => {
        const box = [...document.querySelectorAll("#annotators .scroll")].find(one =>
            one.querySelector("tbody th[scope=row]") && one.scrollWidth > one.clientWidth + 150);
        const left = one => one.getBoundingClientRect().left;
        const [head, cell] = [box.querySelector("tbody th[scope=row]"), box.querySelector("tbody td")];
        const before = [left(head), left(cell)];
        box.scrollLeft = 150;
        return [before[0] - left(head), before[1] - left(cell)];
    }""")
    assert moved == pytest.approx([0, 150], abs=1)


@pytest.mark.parametrize("name", ["items", "traces", "wide", "awkward", "judges", "both"])
def test_no_sentence_is_said_twice_on_the_first_screen_and_none_has_backticks(opened, name):
    page = opened(name)
    said = re.split(r"(?<=[.:])\s+", page.locator("#look").inner_text())
    long = [sentence for sentence in said if len(sentence) > 45]
    assert long
    assert len(set(long)) == len(long)
    assert "`" not in page.locator("body").inner_text()
