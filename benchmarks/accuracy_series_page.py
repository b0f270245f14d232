"""The tables of docs/accuracy-series.md, from the figures of the accuracy benchmark of traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.accuracy_page import markdown
from benchmarks.trace_tables import (
    bands_table,
    crowds_table,
    error,
    fours_table,
    models_table,
    named,
    studies_table,
    three,
    two,
)

PAGE = Path(__file__).parent.parent / "docs" / "accuracy-series.md"


def tables(found: dict[str, Any]) -> dict[str, str]:
    """Name and markdown of every table."""
    by_part = {
        part: [row for row in found["rows"] if row["part"] == part]
        for part in ("studies", "crowds", "models", "realistic", "paper", "green", "halves", "fours")
    }
    return {
        "setup": _setup(found),
        "studies": studies_table(by_part["studies"]),
        "bands": bands_table(by_part["studies"], by_part["crowds"]),
        "crowds": crowds_table(by_part["crowds"]),
        "models": models_table(by_part["models"]),
        "realistic": _realistic(by_part["realistic"]),
        "tests": _tests(by_part["realistic"]),
        "paper": _paper(by_part["paper"]),
        "green": _green(by_part["green"]),
        "halves": _halves(by_part["halves"]),
        "fours": fours_table(by_part["fours"]),
    }


def _setup(found: dict[str, Any]) -> str:
    missing = f" Not at hand and left out: {', '.join(found['missing'])}." if found["missing"] else ""
    versions = len({row["code"] for row in found["rows"]})
    of = "" if versions == 1 else f", measured with {versions} versions of the code"
    minutes = sum(row["seconds"] for row in found["rows"]) / 60
    return f"{len(found['rows'])} draws, {found['seeds']} seeds, {minutes:.0f} minutes of one processor{of}.{missing}"


def _realistic(rows: list[dict[str, Any]]) -> str:
    lines = []
    for name, own in named(rows):
        scores = [np.mean([row["scores"][model] for row in own]) for model in own[0]["scores"]]
        held = np.array([row["coverage"] for row in own])
        lines.append([name, *(_four(v) for v in scores), f"{two(held.mean())} ± {two(error(held))}"])
    return markdown(["annotators", *rows[0]["scores"], "in the 90 % band"], lines)


def _tests(rows: list[dict[str, Any]]) -> str:
    """The default minus every other model on the same draws, and a paired t-test over seeds.

    Settings share their truths and annotators, seed by seed: over all settings a seed counts once.
    """
    others = [model for model in rows[0]["scores"] if model != "auto"]
    seeds = list(dict.fromkeys(row["seed"] for row in rows))
    lines = []
    for name, own in [*named(rows), ("all, seed by seed", rows)]:
        cells = []
        for model in others:
            of_seed = [[row for row in own if row["seed"] == seed] for seed in seeds]
            gap = np.array([np.mean([r["scores"]["auto"] - r["scores"][model] for r in one]) for one in of_seed])
            p = stats.ttest_1samp(gap, 0.0).pvalue if len(gap) > 1 else np.nan
            cells.append(f"{gap.mean():+.4f} (p {p:.1g})")
        lines.append([name, *cells])
    return markdown(["default minus", *others], lines)


def _paper(rows: list[dict[str, Any]]) -> str:
    lines = []
    for name, own in named(rows):
        spread = [
            f"{two(np.min(found))} to {two(np.max(found))}, mean {two(np.mean(found))}"
            for found in ([row[key] for row in own] for key in ("published", "run_on"))
        ]
        cells = [_pair([row[key] for row in own]) for key in ("mean", "plain")]
        gold = [_least([row[key] for row in own]) for key in ("gold", "gold_width")]
        lines.append([name, *cells, *spread, *gold])
    starts = ["published model, single starts", "... run on to 0.01 %"]
    head = ["W", "mean", "default", *starts, "default, 1 of 18 known", "... and W given"]
    return markdown(head, lines)


def _green(rows: list[dict[str, Any]]) -> str:
    lines = []
    for model in rows[0]["scores"]:
        cells = []
        for row in rows:
            one = row["scores"][model]
            cells += [f"{three(one['pearson'])} / {three(one['ccc'])}", f"{three(one['best'])} ({one['lag']:.1f} s)"]
            cells.append(f"{one['inside']:.2f} / {one['inside_raw']:.2f}")
        lines.append([model, *cells])
    for method in rows[0]["published"]:
        cells = []
        for row in rows:
            cells += [" / ".join(three(v) for v in row["published"][method]), "", ""]
        lines.append([f"published: {method}", *cells])
    head = ["fusion"]
    for row in rows:
        head += [f"{row['name']}: r / CCC", "r at the best lag", "in the 90 % band"]
    return markdown(head, lines)


def _halves(rows: list[dict[str, Any]]) -> str:
    lines = []
    for name, own in named(rows):
        cells = []
        for model in own[0]["scores"]:
            r = np.array([row["scores"][model] for row in own])
            cells.append(" / ".join(_four(v) for v in r.mean(axis=0)))
        gap = np.array([np.subtract(row["scores"]["auto"], row["scores"]["mean"]) for row in own])
        p = stats.ttest_1samp(gap.mean(axis=1), 0.0).pvalue if len(gap) > 1 else np.nan
        lines.append([name, *cells, f"{' / '.join(f'{v:+.4f}' for v in gap.mean(axis=0))} (p {p:.1g})"])
    return markdown(["set", *rows[0]["scores"], "default minus mean"], lines)


def _least(pairs: list[list[float] | None]) -> str:
    """Means of both dimensions with the least value; or that the gold was refused."""
    known = [pair for pair in pairs if pair is not None]
    return f"{_pair(known)} (least {two(np.min(known))})" if known else "refused"


def _pair(values: list[list[float]]) -> str:
    return " / ".join(three(v) for v in np.mean(values, axis=0))


def _four(value: float) -> str:
    return f"{value:.4f}".replace("0.", ".", 1)
