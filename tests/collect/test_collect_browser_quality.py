"""The researcher's panel of figures in a real browser: told too early, computed, drawn, and failed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from starlette.testclient import TestClient

from collect_crowd import FAST, let_rate, let_trace
from collect_support import Server, make_app, rate_study, trace_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OpenPage = Callable[..., Page]


def is_accessible(page: Page) -> None:
    found = Axe().run(page)
    assert [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in found.response["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_figures_of_several_studies_come_stay_and_say_what_failed(tmp_path: Path, open_page: OpenPage) -> None:
    items = rate_study(tmp_path / "items", per_regime=8, extra=FAST)
    traces = trace_study(tmp_path / "traces", count=2, seconds=4, extra=FAST)
    with TestClient(make_app(items), base_url="http://127.0.0.1") as client:
        let_rate(client, items, ["honest"] * 7 + ["reversed", "random"])
    with Server(items.path, str(traces.path)) as server:
        page, other = open_page(), open_page()
        page.goto((items.path / "admin-link.txt").read_text().strip())
        other.goto((traces.path / "admin-link.txt").read_text().strip())
        line = page.locator("#quality-line")
        expect(line).to_contain_text("From 144 ratings by 9 raters, computed just now")
        rows = page.locator("#quality-unusual tr")
        expect(rows.filter(has_text="r0009")).to_contain_text("answers that follow nobody else's")
        expect(rows.filter(has_text="r0008").first).to_contain_text("reversed use of the scale")
        expect(page.locator("#quality-dimensions tr")).to_have_count(2)
        expect(page.locator("#quality-needed")).to_contain_text("correlation of 0.9")
        page.get_by_text("The truth so far").click()
        expect(page.locator("#quality-truth tr")).to_have_count(16)
        is_accessible(page)
        # The other study has hardly begun, and gets its own figures when it has.
        expect(other.locator("#quality-line")).to_contain_text("Too early: 3 raters")
        expect(other.locator("#quality-figures")).to_be_hidden()
        with TestClient(make_app(traces), base_url="http://127.0.0.1") as client:
            let_trace(client, traces, ["honest"] * 3 + ["reversed"])
        expect(other.locator("#quality-line")).to_contain_text("New ratings have come in")
        other.get_by_role("button", name="Compute now").click()
        expect(other.locator("#quality-line")).to_contain_text("From 8 traces by 4 raters")
        other.get_by_text("The truth so far").click()
        expect(other.locator("#quality-truth svg.trace")).to_have_count(4)
        is_accessible(other)
        other.set_viewport_size({"width": 390, "height": 844})
        is_accessible(other)
        # What cannot be computed is said; the figures stay, and raters notice nothing.
        text = (items.path / "study.toml").read_text()
        (items.path / "study.toml").write_text(text.replace('mode = "rate"', 'mode = "guess"'))
        page.get_by_role("button", name="Compute now").click()
        expect(line).to_contain_text("Could not be computed")
        expect(line).to_contain_text("guess")
        expect(rows).not_to_have_count(0)
        is_accessible(page)
        assert httpx.post(f"{server.url}/items/", follow_redirects=False).status_code == 303
