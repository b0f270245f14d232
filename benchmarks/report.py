"""The report of large fusions: how big it is, how long writing takes, how long a zoom takes to redraw in Chromium.

`run()` returns a flat dict of numbers; names end in _s (seconds), _ms (milliseconds) or _mb (megabytes). Without
Chromium the redraws are left away.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

import unisono as un
from benchmarks.series import film

ITEMS = 100_000
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
# Every zoom redraws all dimensions. Reading a pixel makes the browser finish what it has been told to draw.
REDRAWS = """() => {
  const canvases = [...document.querySelectorAll(".curves canvas")];
  const press = (which) => document.querySelector(`[data-zoom="${which}"]`).click();
  return Array.from({ length: 10 }, () => ["all", "in", "in", "in", "in", "in", "out"].map((which) => {
    const before = performance.now();
    press(which);
    for (const canvas of canvases) canvas.getContext("2d").getImageData(0, 0, 1, 1);
    return performance.now() - before;
  }));
}"""


def run() -> dict[str, Any]:
    """A film of half an hour, and a hundred thousand items."""
    with threadpool_limits(limits=1), tempfile.TemporaryDirectory() as place:
        return {**of_a_film(Path(place)), **of_many_items(Path(place))}


def of_a_film(place: Path) -> dict[str, Any]:
    """45,000 frames, six annotators, two dimensions."""
    result = un.fuse(film(0.0))
    _ = result.summary_data  # describing annotators belongs to fusing, not to the page
    found = _written(result, place / "film.html", "film")
    return found | redraws(place / "film.html", "film")


def of_many_items(place: Path) -> dict[str, Any]:
    """More than a page can show."""
    drawn = un.simulate_items(items=ITEMS, annotators=200, dimensions=2, features=0, ratings_per_item=3)
    result = un.fuse(drawn.ratings)
    _ = result.summary_data
    return _written(result, place / "items.html", f"{ITEMS}_items")


def _written(result: Any, path: Path, name: str) -> dict[str, Any]:
    start = time.perf_counter()
    result.report(path)
    return {f"{name}_written_s": time.perf_counter() - start, f"{name}_size_mb": path.stat().st_size / 1e6}


def redraws(path: Path, name: str) -> dict[str, Any]:
    """The longest time of seven zooms, each the best of ten rounds (others were disturbed), on a desktop's screen."""
    program = shutil.which("chromium")
    if program is None:
        return {}
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(path.as_uri())
        page.wait_for_selector("#curves[data-ready]")
        rounds = page.evaluate(REDRAWS)
        browser.close()
    best = [min(times) for times in zip(*rounds, strict=True)]
    usual = statistics.median(time for times in rounds for time in times)
    return {f"{name}_zoom_ms": max(best), f"{name}_zoom_median_of_all_ms": usual}


if __name__ == "__main__":
    for key, value in run().items():
        print(f"{key:<32} {value:.3g}")
