"""Takes the pictures of reports in the README and in docs/report.md, of bundled data: on a desktop and on a phone.

    python tools/report_screenshots.py [FOLDER]

Needs Chromium and the `dev` extra. The pictures are what readers see when they open a report.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

import unisono as un
from unisono.tables.datasets import dataset_path

DOCS = Path(__file__).parent.parent / "docs"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--hide-scrollbars"]
SCREENS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1180, "height": 860}, "color_scheme": "light"},
    "phone": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 1.5, "is_mobile": True},
}
# What is drawn -> the bundled set, and the name that a table of it might have.
SETS = {"items": ("squality", "summaries.csv"), "traces": ("green_intensity", "screen.csv.gz")}


def first_screen(page: Page, path: Path) -> None:
    """What is read first: the heading and the three answers."""
    bottom = page.locator(".short").bounding_box()
    assert bottom is not None
    size = page.viewport_size
    assert size is not None
    height = bottom["y"] + bottom["height"] + 16 if size["width"] > 600 else size["height"]
    page.screenshot(path=path, full_page=True, clip={"x": 0, "y": 0, "width": size["width"], "height": height})


def truth_of(page: Page, kind: str, path: Path) -> None:
    """The fused truth: estimates with their intervals, or traces close up."""
    if kind == "traces":
        for _ in range(2):
            page.get_by_role("button", name="Zoom in").click()
        page.locator("#curves").screenshot(path=path)
        return
    page.locator("#truth details.figure svg").first.screenshot(path=path)


def take(browser: Browser, report: Path, kind: str, out: Path) -> None:
    """Every picture of one report."""
    for screen, options in SCREENS.items():
        page = browser.new_page(**options)
        page.goto(report.as_uri())
        if kind == "traces":
            page.wait_for_selector("#curves[data-ready]")
        first_screen(page, out / f"{kind}-{screen}.png")
        if screen == "desktop":
            truth_of(page, kind, out / f"{kind}-truth-{screen}.png")
        page.close()


def main() -> None:
    """Writes the pictures to the folder given, or to the docs, the one of the README among its images."""
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    out = given if given is not None else DOCS / "screenshots" / "report"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for kind, (name, table) in SETS.items():
            shutil.copy(dataset_path(name), Path(place) / table)
            report = un.fuse(Path(place) / table).report(Path(place) / f"{kind}.html")
            take(browser, report, kind, out)
        browser.close()
    shutil.copy(out / "items-desktop.png", (given if given is not None else DOCS / "images") / "report.png")
    for path in sorted(out.glob("*.png")):
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
