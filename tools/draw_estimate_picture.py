"""Draws docs/images/estimate.png: posterior means are drawn to the middle, matched estimates spread as truths do."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from draw_readme_picture import BLUE, GREY, ORANGE

import unisono as un
from unisono.maths.metrics import ccc, pearson

TARGET = Path(__file__).parent.parent / "docs" / "images" / "estimate.png"


def main() -> None:
    world = un.simulate_items(
        items=120,
        annotators=25,
        ratings_per_item=3,
        features=0,
        transform="near-identity",
        spread=0.2,
        bias=0.4,
        noise=1.2,
        seed=4,
    )
    truth = world.truth.value[:, 0]
    shown = (
        ("plain mean", GREY, un.fuse(world.ratings, model="mean")),
        ("posterior", ORANGE, un.fuse(world.ratings, estimate="posterior")),
        ("matched (default)", BLUE, un.fuse(world.ratings)),
    )
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.8), dpi=150, layout="constrained", sharex=True, sharey=True)
    for panel, (name, colour, result) in zip(axes, shown, strict=True):
        found = result.fused.mean[:, 0]
        panel.axline((0, 0), slope=1, color="black", lw=0.8, alpha=0.6)
        panel.plot(truth, found, "o", ms=3.5, color=colour, alpha=0.8)
        slope, level = np.polyfit(truth, found, 1)
        panel.axline((0, level), slope=slope, color=colour, lw=1.5)
        panel.set_title(f"{name}\nCCC {ccc(found, truth):.2f}, Pearson {pearson(found, truth):.2f}", fontsize=10)
        panel.set_xlabel("truth")
        panel.set(xlim=(-2.8, 2.8), ylim=(-2.8, 2.8), aspect="equal")
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("estimate")
    figure.savefig(TARGET)


if __name__ == "__main__":
    main()
