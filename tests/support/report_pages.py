"""Reports in a browser: opened while everything that goes wrong is written down, and read back as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from unisono.report.report_figures import as_interval, as_number

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
PERSONAL = ("bias", "gain", "noise", "reliability", "agreement")
AGREEMENT = ("ICC(A,1)", "ICC(A,k)", "alpha (interval)", "reliability")


def open_report(browser: Browser, path: Path, wrong: list[str], size: str = "desktop", scheme: str = "light") -> Page:
    """The report in a window of its own; script errors and requests are added to `wrong`."""
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith("file:") else None)
    page.goto(path.as_uri())
    if page.locator("#curve-data").count():
        page.wait_for_selector("#curves[data-ready]")
    return page


def barriers(page: Page) -> list[str]:
    """What axe finds serious, and whether the page is wider than the window."""
    found = Axe().run(page).response["violations"]
    wide = page.evaluate("document.documentElement.scrollWidth") > page.viewport_size["width"]
    return [one["id"] for one in found if one["impact"] in ("serious", "critical")] + ["too wide"] * wide


def table(page: Page, name: str) -> list[list[str]]:
    """The cells of the body of a table, row by row, as they are read."""
    read = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent.trim().replace(/\\s+/g, ' ')))"
    return page.eval_on_selector_all(f"#{name} tbody tr", read)


def truth_cells(data: dict[str, Any]) -> list[list[str]]:
    """What the table of the truth has to show."""
    show = _of_item if data["kind"] == "items" else _of_recording
    return [
        [row["item"], str(row["annotators"]), *(text for value in row["values"] for text in show(value))]
        for row in data["truth"]["rows"]
    ]


def _of_item(value: list[float | None]) -> tuple[str, ...]:
    estimate, _, low, high, mean = map(as_number, value)
    return estimate, f"{low} – {high}", mean


def _of_recording(value: list[float | None]) -> tuple[str, ...]:
    average, low, high, sd, r, apart, at = map(as_number, value)
    return average, f"{low} – {high}", sd, r, f"{apart} at {at} s"


def agreement_cells(data: dict[str, Any]) -> list[list[str]]:
    """What the table of agreement has to show, without the last column."""
    return [
        [one["name"], *(" ".join(as_interval(one["figures"][name]).split()) for name in AGREEMENT)]
        for one in data["agreement"]["dimensions"]
    ]


def personal_cells(row: dict[str, Any]) -> list[str]:
    """What the table of annotators has to show of one of them, among other things and in this order."""
    return [as_number(row["figures"][name][d]) for d in range(len(row["figures"]["bias"])) for name in PERSONAL]
