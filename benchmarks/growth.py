"""How time and memory of the default grow: with judgements, dimensions, annotators and frames; fitted and drawn.

    python -m benchmarks.growth [--quick] [--longest 600] [--page docs/benchmarks.md]      # or as part of `make bench`

Every size is measured in a process of its own: processor seconds of `un.fuse` from a table in memory to its truths, and
the most memory beyond what was held before. An exponent is the slope of the logarithms from the size on from which
fixed costs do not count; a size that would take longer than `--longest` seconds by the growth so far is left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.accuracy_page import fill_page
from benchmarks.measure import cost_of, in_own_process

JUDGEMENTS, PER_ITEM, PER_ANNOTATOR = 100_000, 5, 500
TELLING = 20.0  # megabytes below which memory says nothing about its growth
OUT = Path("bench-out")


class Axis(NamedTuple):
    """What grows, in which sizes, and from which one on growth is fitted."""

    label: str
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    fitted_from: int
    most: float  # the exponent that is wanted


MILLION = (10_000, 100_000, 1_000_000, 10_000_000)
MANY = (2, 10, 100, 1_000, 10_000, 100_000)
FILMS = (100, 1_000, 10_000, 100_000, 1_000_000)
AXES = {
    "judgements": Axis("judgements x 3", MILLION, (10_000, 30_000, 100_000), 30_000, 1.05),
    "dimensions": Axis("dimensions of 2,000 judgements", (1, 3, 10, 30, 60, 130), (1, 3, 10), 10, 2.0),
    "annotators": Axis("annotators of 100,000 judgements", MANY, (10, 100, 1_000), 10, 1.05),
    "frames": Axis("frames x 6 traces x 2", FILMS, (100, 300, 1_000), 1_000, 1.05),
}


class Point(NamedTuple):
    """What one size costs."""

    size: int
    cpu: float
    megabytes: float
    table: float  # megabytes of the table's numbers and ids


def ratings_of(judgements: int, dimensions: int, annotators: int) -> Any:
    """Whole numbers from 1 to 7 by annotators with gain, bias and noise, as a Polars frame."""
    import polars as pl

    rng = np.random.default_rng(0)
    per_item = min(PER_ITEM, annotators)
    M = judgements // per_item
    gain, bias = 1 + 0.2 * rng.normal(size=(annotators, dimensions)), 0.4 * rng.normal(size=(annotators, dimensions))
    noise = 0.7 * np.exp(0.3 * rng.normal(size=annotators))
    who = np.sort(rng.integers(0, annotators - per_item + 1, size=(M, per_item)), axis=1) + np.arange(per_item)
    who, item = who.ravel(), np.repeat(np.arange(M), per_item)
    truth = rng.normal(size=(M, min(dimensions, 4))) @ rng.normal(size=(min(dimensions, 4), dimensions))
    truth += 0.5 * rng.normal(size=(M, dimensions))
    truth /= truth.std(axis=0)
    y = truth[item] * gain[who] + bias[who] + noise[who, None] * rng.normal(size=(len(who), dimensions))
    y = np.clip(np.round(1.2 * y + 4), 1, 7).astype(np.float64)
    columns = {"item": item, "annotator": who} | {f"d{d}": y[:, d] for d in range(dimensions)}
    return pl.DataFrame(columns).with_columns(
        pl.format("i{}", "item").alias("item"), pl.format("a{}", "annotator").alias("annotator")
    )


def traces_of(frames: int) -> Any:
    """Traces of one recording as `peer_traces` draws them."""
    from benchmarks.peer_traces import load

    return load(frames)[1].table


LOADS: dict[str, Callable[[int], Any]] = {
    "judgements": lambda n: ratings_of(n, 3, max(n // PER_ANNOTATOR, 10)),
    "dimensions": lambda n: ratings_of(2_000, n, 20),
    "annotators": lambda n: ratings_of(JUDGEMENTS, 2, n),
    "frames": traces_of,
}


def measure(axis: str, size: int) -> dict[str, float]:
    """What the process of one size finds."""
    import unisono as un

    warnings.simplefilter("ignore")
    _ = un.fuse(LOADS[axis](AXES[axis].quick[1])).truth  # imports and first calls
    table = LOADS[axis](size)
    held = table.estimated_size() if hasattr(table, "estimated_size") else table.value.nbytes
    # What is found about a container of traces is kept, so that a second call would be another one.
    cost = cost_of([lambda: un.fuse(table).truth], rounds=1 if axis == "frames" else 3)
    return {"cpu": cost.cpu, "megabytes": cost.megabytes, "table": held / 2**20}


def run(quick: bool = False, longest: float = 600.0, into: Path | None = None) -> dict[str, Any]:
    """Measures, prints, draws; returns exponents and the largest sizes flat."""
    found = {name: grown(name, axis.quick if quick else axis.sizes, longest) for name, axis in AXES.items()}
    OUT.mkdir(exist_ok=True)
    (OUT / "growth.json").write_text(
        json.dumps({name: [p._asdict() for p in points] for name, points in found.items()})
    )
    draw(found, OUT / "growth.png" if into is None else into.parent / "images" / "growth.png")
    if into is not None:
        fill_page({"growth": in_markdown(found)}, into, "benchmarks.growth")
    return {
        f"{name}, exponent of {what}": exponent(points, what, AXES[name].fitted_from)
        for name, points in found.items()
        for what in ("cpu", "megabytes")
    }


def grown(name: str, sizes: tuple[int, ...], longest: float) -> list[Point]:
    """One size after the other, as long as the next one does not take too long."""
    points: list[Point] = []
    for size in sizes:
        if len(points) > 1 and foreseen(points, size) > longest:
            print(f"  {name} {size:>10,} left out: would take about {foreseen(points, size):,.0f} s", file=sys.stderr)
            break
        points.append(Point(size, **in_own_process("benchmarks.growth", "one", name, size)))
        print(
            f"  {name} {size:>10,} {points[-1].cpu:8.2f} s {points[-1].megabytes:8.0f} MB", file=sys.stderr, flush=True
        )
    return points


def foreseen(points: list[Point], size: int) -> float:
    """Seconds, by the growth of the last two sizes."""
    one, other = points[-2:]
    rate = max(float(np.log(other.cpu / one.cpu) / np.log(other.size / one.size)), 1.0)
    return float(other.cpu * (size / other.size) ** rate)


def exponent(points: list[Point], what: str, start: int) -> float:
    """Slope of the logarithm on that of the size, from `start` on; NaN where fewer than two sizes tell."""
    rows = [point for point in points if point.size >= start and (what == "cpu" or point.megabytes >= TELLING)]
    cost = [max(float(getattr(point, what)), 1e-9) for point in rows]
    return float(np.polyfit(np.log([point.size for point in rows]), np.log(cost), 1)[0]) if len(rows) > 1 else np.nan


def in_markdown(found: dict[str, list[Point]]) -> str:
    """A line per axis: sizes, costs of the smallest and the largest, and exponents."""
    head = [
        "growing",
        "from",
        "to",
        "CPU seconds",
        "MB at the largest",
        "over the table",
        "exponent of time",
        "of memory",
        "wanted",
    ]
    lines = [head, ["---"] * len(head)]
    for name, points in found.items():
        first, last, axis = points[0], points[-1], AXES[name]
        slopes = [_figure(exponent(points, what, axis.fitted_from)) for what in ("cpu", "megabytes")]
        seconds = f"{first.cpu:.2g} to {last.cpu:.2g}"
        cost = [seconds, f"{last.megabytes:,.0f}", f"{last.megabytes / last.table:.1f}"]
        lines.append([axis.label, f"{first.size:,}", f"{last.size:,}", *cost, *slopes, f"at most {axis.most:g}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _figure(value: float) -> str:
    return "too little to tell" if np.isnan(value) else f"{value:.2f}"


def draw(found: dict[str, list[Point]], path: Path) -> None:
    """Time and memory against size, one panel per axis."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, len(found), figsize=(3.2 * len(found), 3), layout="constrained")
    for panel, (name, points) in zip(panels, found.items(), strict=True):
        sizes = [point.size for point in points]
        for what, unit in (("cpu", "CPU seconds"), ("megabytes", "MB")):
            slope = exponent(points, what, AXES[name].fitted_from)
            panel.loglog(sizes, [getattr(point, what) for point in points], "o-", label=f"{unit}: {_figure(slope)}")
        panel.set_xlabel(AXES[name].label)
        panel.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
    else:
        options = argparse.ArgumentParser(description="Exponents of time and memory of the default.")
        options.add_argument("--quick", action="store_true", help="small sizes alone")
        options.add_argument("--longest", type=float, default=600.0, help="seconds beyond which a size is left out")
        options.add_argument("--page", type=Path, help="write table and picture into this page, docs/benchmarks.md")
        given = options.parse_args()
        for key, value in run(given.quick, given.longest, given.page).items():
            print(f"{key:<40} {value:.2f}")
