"""The tables of docs/accuracy.md, from the figures of the accuracy benchmark; prose around them is left alone.

Pages show tables that lie beside them as CSV files; docs/tables/sources.csv says who measured each, at which commit.
"""

from __future__ import annotations

import csv
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).parent.parent / "docs" / "accuracy.md"
APART = ("ceap", "sim ")  # rows that do not count for the average: eight items, or not real
PICKED = "picked"  # the model with the best held-out log density, case by case


def write_page(found: dict[str, Any], page: Path = PAGE) -> list[str]:
    """Puts the tables of the figures into the page; returns the lines of all tables."""
    return fill_page(tables(found), page, "benchmarks.accuracy")


def fill_page(named: dict[str, str], page: Path, benchmark: str) -> list[str]:
    """Fills every place of the page, <!-- NAME --> to <!-- end NAME -->; returns the lines of all of them.

    Tables become CSV files in the folder `tables` beside the page, which shows them; prose goes into the page.
    """
    text = page.read_text(encoding="utf-8")
    shown: list[str] = []
    sources: dict[str, tuple[str, str]] = {}
    for name, block in named.items():
        filled, files = _tables_beside(block, page, name)
        sources |= dict.fromkeys(files, (benchmark, commit()))
        place = f"<!-- {name} -->\n{filled}\n<!-- end {name} -->"
        text, n = re.subn(rf"<!-- {name} -->.*?<!-- end {name} -->", lambda _, b=place: b, text, flags=re.DOTALL)
        if n != 1:
            raise ValueError(f"{page} has {n} places for the table '{name}'; it needs one.")
        shown += [name, block, ""]
    page.write_text(text, encoding="utf-8")
    note_sources(page.parent / "tables" / "sources.csv", sources)
    return shown


def commit() -> str:
    """The commit of the code that measured; unknown outside a repository."""
    asked = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(asked, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def note_sources(path: Path, found: dict[str, tuple[str, str]]) -> None:
    """Says of every table in the folder which benchmark wrote it at which commit, those of other pages as before."""
    rows = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            rows = {name: tuple(source) for name, *source in list(csv.reader(file))[1:]}
    if found:
        with path.open("w", encoding="utf-8", newline="") as file:
            lines = ([name, *source] for name, source in sorted((rows | found).items()))
            csv.writer(file, lineterminator="\n").writerows([["table", "measured by", "commit"], *lines])


def _tables_beside(block: str, page: Path, name: str) -> tuple[str, list[str]]:
    """The block with each of its tables written to a file and what shows that file in its place; names of the files."""
    stem = f"{page.stem}-{name.replace(' ', '-')}"
    found: list[str] = []

    def written(match: re.Match[str]) -> str:
        found.append(f"{stem}{f'-{len(found) + 1}' if found else ''}.csv")
        path = page.parent / "tables" / found[-1]
        path.parent.mkdir(exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(cells(match[0]))
        return f"```{{csv-table}}\n:file: tables/{found[-1]}\n:header-rows: 1\n```"

    return re.sub(r"(?:^\|.*\|$\n?)+(?<!\n)", written, block, flags=re.MULTILINE), found


def cells(table: str) -> list[list[str]]:
    """The head and the lines of a table in Markdown."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return [rows[0], *rows[2:]]


def tables(found: dict[str, Any]) -> dict[str, str]:
    """Name and markdown of every table."""
    rows = [_with_pick(row) for row in found["rows"]]
    names = [*found["models"], *([PICKED] if "auto" in found["models"] else [])]
    return {
        "setup": _setup(found),
        "averages": _averages(rows, names),
        "guide": _guide(rows, found["models"]),
    }


def _setup(found: dict[str, Any]) -> str:
    missing = f" Not at hand and left out: {', '.join(found['missing'])}." if found["missing"] else ""
    return f"{len(found['rows'])} draws, {found['seeds']} seeds, {found.get('minutes', 0):.0f} minutes.{missing}"


def _with_pick(row: dict[str, Any]) -> dict[str, Any]:
    models = row["models"]
    best = max(models, key=lambda name: np.nan_to_num(models[name]["log_density"], nan=-np.inf))
    return row | {"models": models | {PICKED: models[best]}}


def _averages(rows: list[dict[str, Any]], names: list[str]) -> str:
    """One line per model: means over real sets; after +- the standard error of the difference to the mean."""
    real = [group for label, group in _groups(rows) if not label.startswith(APART)]
    lines = []
    for name in names:
        cells = []
        for metric in ("ccc", "pearson"):
            value = np.mean([np.mean([row["models"][name][metric] for row in group]) for group in real])
            errors = np.nan_to_num([_error(group, name, metric) for group in real])
            cells.append(_cell(float(value), float(np.sqrt(np.sum(errors**2))) / max(len(real), 1)))
        covered = np.mean([np.mean([row["models"][name]["coverage"] for row in group]) for group in real])
        lines.append([name, *cells, f"{covered:.2f}".lstrip("0")])
    return markdown(["model", "CCC", "Pearson", "covered"], lines)


def _guide(rows: list[dict[str, Any]], names: list[str]) -> str:
    """How held-out log density goes together with accuracy, over models, on the same draw; real sets."""
    from unisono.maths.metrics import spearman

    real = [row for row in rows if not row["group"].startswith(APART)]
    lines = []
    for kept, label in (
        (names, "all models"),
        ([n for n in names if not n.startswith("paper")], "without the paper's"),
    ):
        found = {"ccc": [], "pearson": []}
        for row in real:
            density = np.array([row["models"][name]["log_density"] for name in kept])
            for metric, values in found.items():
                values.append(spearman(density, np.array([row["models"][name][metric] for name in kept])))
        lines.append([label, *(f"{np.nanmean(values):.2f}" for values in found.values())])
    return markdown(["rank correlation of held-out log density with", "CCC", "Pearson"], lines)


def _groups(rows: list[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for label in dict.fromkeys(row["row"] for row in rows):
        yield label, [row for row in rows if row["row"] == label]


def _gap(group: list[dict[str, Any]], name: str, metric: str) -> np.ndarray:
    """Difference to the mean, one per seed; sets that share a row are averaged first."""
    seeds = sorted({row["seed"] for row in group})
    gaps = [
        np.mean([row["models"][name][metric] - row["models"]["mean"][metric] for row in group if row["seed"] == seed])
        for seed in seeds
    ]
    return np.array(gaps)


def _error(group: list[dict[str, Any]], name: str, metric: str) -> float:
    """Standard error over seeds; where nothing is drawn, over resamples of the items."""
    gap = _gap(group, name, metric)
    if len(gap) > 1:
        return float(gap.std(ddof=1) / np.sqrt(len(gap)))
    drawn = [group[0]["models"][model]["resampled"] for model in (name, "mean")]
    if drawn[0] is None:
        return float("nan")
    which = ("ccc", "pearson").index(metric)
    return float(np.std(np.array(drawn[0][which]) - np.array(drawn[1][which])))


def _cell(value: float, error: float) -> str:
    shown = f"{value:.3f}".replace("0.", ".", 1)
    return shown if np.isnan(error) or error == 0 else f"{shown} ±{f'{error:.3f}'.replace('0.', '.', 1)}"


def markdown(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
