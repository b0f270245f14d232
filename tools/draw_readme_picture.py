"""Draws docs/images/squality.png, the picture in the README: what the fused truth adds to the mean."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unisono as un

TARGET = Path(__file__).parent.parent / "docs" / "images" / "squality.png"
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#9a9a9a"


def main() -> None:
    ratings = un.load_dataset("squality")
    fused = un.fuse(ratings).fused
    mean = un.fuse(ratings, model="mean").fused.mean
    d = ratings.dimensions.index("correctness")
    order = np.argsort(fused.mean[:, d])[:: len(fused.items) // 40]
    low, high = fused.interval()
    place = np.empty(ratings.M, dtype=int)
    place[order] = np.arange(len(order))
    shown = np.isin(ratings.item_of, order)
    figure, axes = plt.subplots(figsize=(9, 3.6), dpi=150, layout="constrained")
    axes.plot(place[ratings.item_of[shown]], ratings.value[shown, d], "o", ms=3, color=GREY, label="single ratings")
    axes.plot(np.arange(len(order)), mean[order, d], "_", ms=9, color=ORANGE, mew=2, label="plain mean")
    axes.vlines(np.arange(len(order)), low[order, d], high[order, d], color=BLUE, lw=2, alpha=0.5)
    axes.plot(np.arange(len(order)), fused.mean[order, d], "o", ms=4, color=BLUE, label="fused truth, 90 % interval")
    axes.set(xlabel="summaries, sorted by fused correctness (every seventh of 300)", ylabel="correctness (0 to 100)")
    axes.set_xticks([])
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left")
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(TARGET)


if __name__ == "__main__":
    main()
