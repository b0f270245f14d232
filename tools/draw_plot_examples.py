"""Draws an example of every function of `un.plot` for docs/report.md.

    python tools/draw_plot_examples.py [FOLDER]

Bundled data, and categories drawn from confusions; needs the `plot` and `categories` extras.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd

import unisono as un

DOCS = Path(__file__).parent.parent / "docs" / "images" / "plots"


@cache
def summaries() -> Any:
    """Summaries rated by four readers."""
    return un.fuse(un.load_dataset("squality"))


@cache
def traces() -> Any:
    """Ten traces of a colour, twice."""
    return un.fuse(un.load_dataset("green_intensity"))


@cache
def moods() -> Any:
    """Classes without an order, often taken for their neighbours."""
    rng = np.random.default_rng(0)
    classes = np.array(["anger", "fear", "joy", "sorrow"])
    true = rng.integers(0, 4, 80)
    rows = [
        {"item": m, "annotator": f"p{k}", "mood": classes[(c + (rng.random() < 0.1 + 0.05 * k)) % 4]}
        for m, c in enumerate(true)
        for k in range(5)
    ]
    return un.fuse(pd.DataFrame(rows), categories="mood")


@cache
def pairs() -> Any:
    """Which of two systems somebody found better, the strength of system s being s."""
    rng = np.random.default_rng(0)
    sides = [rng.choice(8, 2, replace=False) for _ in range(400)]
    rows = [
        {"annotator": f"p{i % 9}", "left": f"S{a}", "right": f"S{b}", "better": "left" if better else "right"}
        for i, (a, b) in enumerate(sides)
        for better in [rng.random() < 1 / (1 + np.exp((b - a) / 2))]
    ]
    return un.fuse(comparisons=pd.DataFrame(rows))


def board() -> Any:
    """The systems that wrote the summaries; their names end the items'."""
    ratings = un.load_dataset("squality")
    return un.leaderboard(ratings, {item: item.rpartition("_")[2] for item in ratings.items})


EXAMPLES: dict[str, Callable[[], Any]] = {
    "truth": lambda: un.plot.truth(summaries(), "overall", most=15),
    "annotators": lambda: un.plot.annotators(summaries()),
    "matrices": lambda: un.plot.matrices(summaries(), most=3)[0],
    "agreement": lambda: un.plot.agreement(summaries(), ["ICC(A,1)", "reliability"]),
    "leaderboard": lambda: un.plot.leaderboard(board(), "overall"),
    "traces": lambda: un.plot.traces(traces(), seconds=(20, 60)),
    "filters": lambda: un.plot.filters(traces()),
    "objective": lambda: un.plot.objective(summaries()),
    "bland_altman": lambda: un.plot.bland_altman(summaries(), "s01", "s03", "overall"),
    "calibration": lambda: un.plot.calibration(summaries(), "overall"),
    "residuals": lambda: un.plot.residuals(summaries(), "overall"),
    "drift": lambda: un.plot.drift(traces(), most=4),
    "overlap": lambda: un.plot.overlap(traces()),
    "posterior_check": lambda: un.plot.posterior_check(summaries(), "overall"),
    "wins": lambda: un.plot.wins(pairs()),
    "confusion": lambda: un.plot.confusion(moods()),
}


def main() -> None:
    """Writes one picture for each function."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS
    out.mkdir(parents=True, exist_ok=True)
    mpl.use("Agg")
    for name, draw in EXAMPLES.items():
        path = out / f"{name}.png"
        draw().figure.savefig(path, dpi=110)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
