"""Tables of studies of real traces and of made crowds: votes of models, and what bands hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.accuracy_page import markdown
from benchmarks.trace_draws import KNOWN
from benchmarks.trace_scores import UNITS
from unisono.maths.series.trace_priors import COMMON_UNIT

WANTED = 0.93  # of a 90 % band, at most
Rows = list[dict[str, Any]]


def studies_table(rows: Rows) -> str:
    """Votes; the difference to the mean with its standard error over draws."""
    lines, means, gaps = [], [], []
    for name, own in named(rows):
        scores = {model: np.array([row["votes"][model] for row in own]) for model in own[0]["votes"]}
        means.append([found.mean() for found in scores.values()])
        gap = scores["auto"] - scores["mean"]
        gaps.append(gap.mean())
        cells = [three(value) for value in means[-1]]
        best = int(np.argmax(means[-1]))
        cells[best] = f"**{cells[best]}**"
        lines.append([name, KNOWN.get(name, ""), *cells, f"{signed(gap.mean())} ± {three(error(gap))}"])
    if rows:
        average = np.mean(means, axis=0)
        lines.append(["average", "", *(three(value) for value in average), signed(float(np.mean(gaps)))])
    models = list(rows[0]["votes"]) if rows else []
    return markdown(["study", "of", *models, "auto minus mean"], lines)


def bands_table(rows: Rows, crowds: Rows) -> str:
    """What the bands hold; standard errors over draws and, in brackets, over recordings."""
    used = UNITS.index(COMMON_UNIT)
    held = {name: np.array([row["bands"]["truth"] for row in own]) for name, own in named(rows)}
    asked = [name for name, own in named(rows) if not own[0]["known"]]
    lines = []
    for name, own in named(rows):
        others = [held[other].mean(axis=0) for other in asked if other != name]
        unit = choice(np.array(others)) if others else used
        here = held[name][:, used]
        target = "known signal" if own[0]["known"] else "left-out annotators"
        spread = f"{two(here.mean())} ± {two(error(here))} ({two(recording_error(own))})"
        ways = [two(np.mean([row["bands"][way] for row in own])) for way in ("stretches", "strangers")]
        without = f"{two(held[name][:, unit].mean())} ({UNITS[unit]:g})"
        lines.append([name, target, two(held[name][:, 0].mean()), spread, without, *ways])
    for name, own in named(crowds):
        here = np.array([row["coverage"] for row in own])
        shown = two(np.mean([row["shown"] for row in own]))
        ways = [two(np.mean([row[way] for row in own])) for way in ("stretches", "strangers")]
        lines.append([name, "simulated truth", shown, f"{two(here.mean())} ± {two(error(here))}", "", *ways])
    head = ["study", "target", "as annotators show", "**the band**", "chosen without it", "stretches", "strangers"]
    return markdown(head, lines)


def crowds_table(rows: Rows) -> str:
    """Correlation with the simulated truth at the best lag."""
    lines = [
        [name, *(three(np.mean([row["scores"][model] for row in own])) for model in own[0]["scores"])]
        for name, own in named(rows)
    ]
    return markdown(["annotators", *(rows[0]["scores"] if rows else [])], lines)


def models_table(rows: Rows) -> str:
    """r / error / share in the 90 % band of every model on every set, and the seconds of a fit."""
    sets = dict(named(rows))
    models = list(rows[0]["found"]) if rows else []

    def figure(model: str, name: str, what: str) -> float:
        return float(np.mean([row["found"][model][what] for row in sets[name]]))

    r = np.array([[figure(model, name, "r") for name in sets] for model in models])
    lines = []
    for model, own in zip(models, r, strict=True):
        cells = []
        for name, value, best in zip(sets, own, r.max(axis=0), strict=True):
            shown = f"**{three(value)}**" if value == best else three(value)
            cells.append(f"{shown} / {two(figure(model, name, 'error'))} / {two(figure(model, name, 'cover'))}")
        seconds = np.mean([figure(model, name, "seconds") for name in sets])
        lines.append([model, *cells, three(own.mean()), f"{seconds:.2g}"])
    return markdown(["model", *sets, "average r", "seconds"], lines)


def fours_table(rows: Rows) -> str:
    """The default minus the mean over every choice of four annotators; how it goes with who is among them."""
    gap = np.array([np.subtract(row["scores"]["auto"], row["scores"]["mean"]) for row in rows]).reshape(len(rows), -1)
    people = sorted({k for row in rows for k in row["who"]})
    lines = []
    for d in range(gap.shape[1]):
        by_person = [gap[[k in row["who"] for row in rows], d].mean() for k in people]
        ahead = f"{(gap[:, d] > 0).sum()} of {len(gap)}"
        least, most = (signed(value) for value in (min(by_person), max(by_person)))
        lines.append([f"dimension {d + 1}", signed(gap[:, d].mean()), ahead, f"{least} to {most}"])
    return markdown(["", "auto minus mean", "ahead in", "means of the choices with one annotator"], lines)


def choice(held: np.ndarray) -> int:
    """The greatest of UNITS with which no study of left-out annotators is above what is wanted, to two digits.

    held: (studies, units) shares inside the band. They share the unit, and can only say when there is too much doubt.
    """
    return int(np.flatnonzero((np.round(held, 2) <= WANTED).all(axis=0)).max(initial=0))


def recording_error(rows: Rows) -> float:
    """Standard error over recordings, each of them the average over the draws that have it."""
    found: dict[str, list[float]] = {}
    for row in rows:
        for name, share in row["bands"]["by_recording"].items():
            found.setdefault(name, []).append(share)
    return error(np.array([np.mean(shares) for shares in found.values()]))


def error(values: np.ndarray) -> float:
    """Standard error of a mean; NaN of a single value."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def named(rows: Rows) -> Iterator[tuple[str, Rows]]:
    for name in dict.fromkeys(row["name"] for row in rows):
        yield name, [row for row in rows if row["name"] == name]


def two(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1)


def three(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)
