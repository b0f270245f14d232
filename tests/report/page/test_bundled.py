"""The report of every bundled data set, in a real browser on a desktop and on a phone."""

import json

import pytest

import unisono as un
from report_pages import SIZES, agreement_cells, barriers, open_report, personal_cells, table, truth_cells
from unisono.report.report_page import DATA, PAGE, sections_of
from unisono.tables.datasets import BUNDLED

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", BUNDLED)
def test_opens_whole_and_says_what_its_numbers_say(name, tmp_path, browser):
    files = un.fuse(un.load_dataset(name))._report_files()
    (tmp_path / PAGE).write_text(files[PAGE], encoding="utf-8")
    data, wrong = json.loads(files[DATA]), []
    assert len(files[PAGE]) < 1_000_000
    for size in SIZES:
        page = open_report(browser, tmp_path / PAGE, wrong, size)
        assert page.eval_on_selector_all("main > section", "all => all.map(one => one.id)") == list(sections_of(data))
        assert barriers(page) == []
        assert table(page, "truth-table") == truth_cells(data)
        assert [row[:-1] for row in table(page, "agreement-table")] == agreement_cells(data)
        for row, shown in zip(data["annotators"]["rows"], table(page, "people-table"), strict=True):
            assert shown[0] == row["annotator"]
            rest = iter(shown)
            for cell in personal_cells(row):  # behind some of them their interval
                assert any(text == cell or text.startswith(f"{cell} ") for text in rest), (row["annotator"], cell)
        page.close()
    assert wrong == []
