"""Draws the first screen of eight reports as an earlier version made it, beside that of now: docs/images/before-after.

    python tools/report_before_after.py COMMIT [FOLDER]

Bundled data and drawn tables; needs git and Chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from playwright.sync_api import Browser, sync_playwright

from unisono.tables.datasets import dataset_path

ROOT = Path(__file__).parent.parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--hide-scrollbars"]
PAGE = (
    "<body style='margin:0;font:600 20px system-ui;background:#fff'><div style='display:flex;gap:16px;padding:12px'>"
    "{}</div></body>"
)
HALF = "<figure style='margin:0;width:690px'>{}<img style='width:690px;border:1px solid #ccc' src='{}.png'></figure>"


def _crowd(path: Path, items: int, people: list[tuple[str, float, float]], low: int, high: int) -> None:
    """Whole numbers by people of a gain and a noise each, on two dimensions."""
    rng = np.random.default_rng(len(people) * items)
    truth = rng.normal(size=(items, 2))
    rows = []
    for name, gain, noise in people:
        answers = (low + high) / 2 + (high - low) / 5 * (gain * truth + noise * rng.normal(size=truth.shape))
        for m, (v, w) in enumerate(np.clip(np.round(answers), low, high).astype(int).tolist()):
            rows.append({"item": f"item{m:03}", "annotator": name, "clarity": v, "interest": w})
    pl.DataFrame(rows).write_csv(path)


def _traces(path: Path, gains: list[float]) -> None:
    """A slow course, traced with a delay by people of these gains."""
    rng = np.random.default_rng(0)
    course = np.convolve(rng.normal(size=700), np.hanning(80), "valid")[:600] / 4
    rows = [
        {"recording": "film", "time": t / 5, "annotator": f"p{k}", "v": round(gain * course[max(t - 4, 0)] + noise, 3)}
        for k, gain in enumerate(gains)
        for t, noise in enumerate(np.cumsum(rng.normal(0, 0.03, 600)))
    ]
    pl.DataFrame(rows).write_csv(path)


def tables(folder: Path) -> list[Path]:
    """Eight tables, from two raters of five items to traces in other units."""
    made = [shutil.copy(dataset_path("squality"), folder / "summaries.csv")]
    for name in ("green_intensity", "forrest_gump"):
        made.append(shutil.copy(dataset_path(name), folder / f"{name}.csv.gz"))
    careful = [(f"p{k}", 1.0, 0.5 + 0.1 * k) for k in range(6)]
    crowds = {
        "five_items": (5, careful[:2], 1, 7),
        "spammers": (400, [*careful, ("s0", 0.0, 1.2), ("s1", 0.0, 1.2)], 1, 7),
        "many_items": (2000, careful[:4], 0, 100),
        "one_reversed": (150, [*careful, ("back", -1.0, 0.5)], 1, 5),
    }
    for name, how in crowds.items():
        _crowd(folder / f"{name}.csv", *how)
        made.append(folder / f"{name}.csv")
    _traces(folder / "other_units.csv", [1.0, 0.8, 1.2, 12.0])
    return [Path(path) for path in (*made, folder / "other_units.csv")]


def report_of(table: Path, source: Path, out: Path) -> Path:
    """The page that this source makes of the table."""
    words = [sys.executable, "-m", "unisono", "fuse", table.name, "--out", str(out)]
    subprocess.run(words, cwd=table.parent, env=os.environ | {"PYTHONPATH": str(source)}, check=False)
    return out / "report.html"


def draw(browser: Browser, pages: dict[str, Path], out: Path) -> None:
    """Both first screens in one picture."""
    place = next(iter(pages.values())).parent.parent
    for name, report in pages.items():
        page = browser.new_page(viewport={"width": 1180, "height": 1000}, color_scheme="light")
        page.goto(report.as_uri())
        page.wait_for_timeout(600)
        page.screenshot(path=place / f"{name}.png")
        page.close()
    (place / "both.html").write_text(PAGE.format("".join(HALF.format(name, name) for name in pages)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1420, "height": 660})
    page.goto((place / "both.html").as_uri())
    page.screenshot(path=out)
    page.close()


def main() -> None:
    """Writes a picture for each table."""
    commit, out = sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs" / "images" / "before-after"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place)
        archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True)
        (folder / "old").mkdir()
        subprocess.run(["tar", "-x", "-C", str(folder / "old")], input=archive.stdout, check=True)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for table in tables(folder):
            name = table.name.partition(".")[0]
            sources = {"before": folder / "old" / "src", "now": ROOT / "src"}
            pages = {when: report_of(table, source, folder / name / when) for when, source in sources.items()}
            draw(browser, pages, out / f"{name}.png")
            print(name, flush=True)
        browser.close()


if __name__ == "__main__":
    main()
