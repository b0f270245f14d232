"""Draws docs/images/peers.png from the table of `python -m benchmarks.peers`: time against size, and accuracy.

    python -m benchmarks.peers && python tools/draw_peers_picture.py [TABLE.csv]

Without a table it draws the one that was measured for docs/benchmarks.md, docs/images/peers.csv.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import matplotlib.pyplot as plt
from draw_readme_picture import BLUE, GREY, ORANGE
from matplotlib.patheffects import withStroke

from benchmarks.peer_rows import LOADS, OURS, Row, read

IMAGES = Path(__file__).parent.parent / "docs" / "images"
GREEN, VIOLET, BROWN = "#2a9d5c", "#8a5fb0", "#8c6d3f"
FAMILIES = {"unisono": BLUE, "sureal": ORANGE, "crowd-kit": GREEN, "statsmodels": ORANGE, "sklearn": VIOLET}
WEIGHING = ("PM", "CATD", "LFC_N", "EWE")
SHOWN_AT = {"items": 50_000, "traces": 15_000}  # accuracy: the largest size at which every method still ends
OFFSETS = {"pandas mean": (-12, 9), "z-score mean": (-62, -3), "statsmodels UnobservedComponents": (-16, 5)}  # points
SHORT = {
    "UnobservedComponents": "UC",
    "DynamicFactorMQ": "DFMQ",
    "statsmodels ": "",
    "crowd-kit ": "",
    "sklearn ": "",
    "sureal ": "",
}


def main(table: Path) -> None:
    rows = sorted(read(table), key=lambda row: row.size)
    figure, axes = plt.subplots(2, 2, figsize=(10.5, 8), dpi=130, layout="constrained")
    for line, load in zip(axes, LOADS, strict=True):
        own = [row for row in rows if row.load == load and row.measured]
        _times(line[0], own, LOADS[load].unit)
        _accuracy(line[1], [row for row in own if row.size == SHOWN_AT[load]], LOADS[load].unit)
    figure.savefig(IMAGES / "peers.png")


def colour(method: str) -> str:
    family = next((FAMILIES[name] for name in FAMILIES if method.startswith(name)), None)
    return family or (BROWN if method in WEIGHING else GREY)


def short(method: str) -> str:
    for long, brief in SHORT.items():
        method = method.replace(long, brief)
    return method


def _times(panel: plt.Axes, rows: list[Row], unit: str) -> None:
    ends = []
    for method in dict.fromkeys(row.method for row in rows):
        own = [row for row in rows if row.method == method]
        ours = method == OURS
        panel.plot(
            [row.size for row in own],
            [row.cpu for row in own],
            "o-",
            ms=5 if ours else 3,
            lw=2.5 if ours else 1,
            color=colour(method),
            zorder=3 if ours else 2,
        )
        ends.append((own[-1].cpu, own[-1].size, method))
    panel.set(xscale="log", yscale="log", xlabel=unit, ylabel="processor seconds", title=f"time against {unit}")
    low, high = panel.get_xlim()
    panel.set_xlim(low, high * 30)
    _labels(panel, ends)
    panel.spines[["top", "right"]].set_visible(False)


def _labels(panel: plt.Axes, ends: list[tuple[float, int, str]]) -> None:
    """Names at the ends of the lines, moved up where they would lie on each other."""
    floor: dict[int, float] = {}
    for seconds, size, method in sorted(ends):
        at = max(seconds, floor.get(size, 0.0))
        floor[size] = at * 1.75
        weight = "bold" if method == OURS else "normal"
        panel.text(
            size * 1.25,
            at,
            short(method),
            fontsize=7,
            color=colour(method),
            va="center",
            weight=weight,
            zorder=4,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],  # lines of others may pass below
        )


def _accuracy(panel: plt.Axes, rows: list[Row], unit: str) -> None:
    """Time against what is missed of the truth, at one size: down and left is better."""
    for row in sorted(rows, key=lambda row: row.cpu):
        panel.plot(row.cpu, 1 - row.pearson**2, "o", ms=8 if row.method == OURS else 5, color=colour(row.method))
        panel.annotate(
            short(row.method),
            (row.cpu, 1 - row.pearson**2),
            xytext=OFFSETS.get(row.method, (5, 4)),
            textcoords="offset points",
            fontsize=7,
            color=colour(row.method),
            weight="bold" if row.method == OURS else "normal",
        )
    panel.set(
        xscale="log",
        xlabel="processor seconds",
        ylabel="variance of the truth that is missed",
        title=f"at {rows[0].size:,} {unit}: down and left is better" if rows else "",
    )
    panel.set_ylim(0, 1.1 * panel.get_ylim()[1])
    low, high = panel.get_xlim()
    panel.set_xlim(low, high * 4)
    panel.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES / "peers.csv")
