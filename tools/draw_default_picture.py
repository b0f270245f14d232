"""Draws docs/images/default.png: what the default for items assumes of annotators, how it is fitted, what it gives."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from draw_readme_picture import BLUE, GREY, ORANGE

import unisono as un
from unisono.maths.metrics import pearson

TARGET = Path(__file__).parent.parent / "docs" / "images" / "default.png"
GREEN = "#2a9d5c"
ITEMS, ANNOTATORS, EACH = 150, 20, 4


def main() -> None:
    truth, frame = _crowd()
    result = un.fuse(pl.DataFrame(frame))
    order = [int(item) for item in result.fused.items]
    found, plain = result.fused.mean[:, 0], un.fuse(pl.DataFrame(frame), model="mean").fused.mean[:, 0]
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), dpi=150, layout="constrained")
    _annotators(axes[0], result, frame, dict(zip(order, found, strict=True)))
    objective = result.fuser.trace_.objective
    axes[1].plot(np.arange(1, len(objective) + 1), objective, "o-", ms=4, color=BLUE)
    axes[1].set(title="one bound, rising at every step", xlabel="step", ylabel="bound (nats)")
    known = truth[order]
    for values, colour, name in ((plain, GREY, "plain mean"), (found, BLUE, "default")):
        label = f"{name}, Pearson {pearson(values, known):.2f}"
        axes[2].plot(known, values, "o", ms=3, color=colour, alpha=0.7, label=label)
    axes[2].axline((0, 0), slope=1, color="black", lw=0.8, alpha=0.6)
    axes[2].set(title="the estimate", xlabel="truth", ylabel="estimate")
    axes[2].legend(fontsize=8, frameon=False)
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
        panel.title.set_fontsize(10)
    figure.savefig(TARGET)


def _crowd() -> tuple[np.ndarray, dict[str, list]]:
    """Annotators 0 to 2 are a careful one, one with small gain, and one with the scale turned round; 3 is a spammer."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=ITEMS)
    gain, noise = 1 + 0.15 * rng.normal(size=ANNOTATORS), np.full(ANNOTATORS, 0.9)
    gain[:4], noise[:4] = (1.0, 0.45, -1.0, 0.0), (0.4, 0.4, 0.6, 1.2)
    bias = 0.4 * rng.normal(size=ANNOTATORS)
    who = np.argsort(rng.random((ITEMS, ANNOTATORS)), axis=1)[:, :EACH]
    item = np.repeat(np.arange(ITEMS), EACH)
    k = who.ravel()
    value = gain[k] * truth[item] + bias[k] + noise[k] * rng.normal(size=len(k))
    return truth, {"item": item.astype(str).tolist(), "annotator": [f"a{i:02d}" for i in k], "joy": value.tolist()}


def _annotators(panel: plt.Axes, result: un.Fusion, frame: dict[str, list], estimate: dict[int, float]) -> None:
    params, scaling = result.fuser.params_, result.fuser.scaling_
    x = np.linspace(-2.6, 2.6, 2)
    shown = (
        ("a00", BLUE, "careful"),
        ("a01", GREEN, "small gain"),
        ("a02", ORANGE, "flipped"),
        ("a03", GREY, "spammer"),
    )
    for name, colour, label in shown:
        k = result.fuser.annotators_.index(name)
        own = [n for n, who in enumerate(frame["annotator"]) if who == name]
        at = [estimate[int(frame["item"][n])] for n in own]
        panel.plot(at, [frame["joy"][n] for n in own], "o", ms=3, color=colour, alpha=0.6)
        z = (x - scaling.loc[0]) / scaling.scale[0]
        line = scaling.loc[0] + scaling.scale[0] * (params.F[k, 0, 0] * z + params.b[k, 0])
        panel.plot(x, line, color=colour, lw=1.8, label=label)
    panel.set(title="annotators: gain, bias, noise", xlabel="estimated truth", ylabel="their ratings")
    panel.legend(fontsize=8, frameon=False)


if __name__ == "__main__":
    main()
