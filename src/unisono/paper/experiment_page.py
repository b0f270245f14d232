"""Figures of experiments, and index.html: for each claim what was measured, the test and the verdict.

Figures are in one style: bars of scores, lines along a sweep, heat maps. Colours are those of Okabe and Ito, which
people with any kind of colour vision tell apart; models differ in marker or hatch as well, so that a figure survives a
grey printer. A star marks a significant difference, as in the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unisono.paper.experiment_claims import Picture, Settings
from unisono.paper.paper_protocol import DEFAULT, GOLD, INDEPENDENT, JOINT, MEAN, METRIC_NAMES, NAMES
from unisono.tables.atomic_files import atomic_path
from unisono.version import __version__

if TYPE_CHECKING:
    from unisono.paper.experiment_runs import Report


# word -> (class, sign before the word), so that a verdict does not rest on colour alone
SIGNS = {
    "holds": ("yes", "✓"),
    "does not hold": ("no", "✗"),
    "cannot be tested": ("open", "?"),
    "too small to judge": ("open", "~"),
}


def page_text(reports: Sequence[Report], settings: Settings) -> str:
    """The whole page; everything that is not the template's is escaped."""
    environment = Environment(
        loader=PackageLoader("unisono.paper"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    counts = Counter(claim.verdict for one in reports for claim in one.chapter.claims)
    return environment.get_template("index.html").render(
        reports=reports, settings=settings, counts=counts, signs=SIGNS, version=__version__
    )


matplotlib.use("Agg")


class Look(NamedTuple):
    """How a model looks in every figure."""

    colour: str
    marker: str
    hatch: str


LOOKS = {
    JOINT: Look("#0072B2", "o", ""),
    INDEPENDENT: Look("#E69F00", "s", "////"),
    MEAN: Look("#999999", "^", "...."),
    DEFAULT: Look("#009E73", "D", ""),
    GOLD: Look("#CC79A7", "v", "xxxx"),
}
STYLE: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.titlesize": 10,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "figure.dpi": 150,
    "savefig.dpi": 150,
    # Fonts as text, so that a PDF can be searched; no dates, so that equal figures are equal bytes.
    "pdf.fonttype": 42,
}
HEAT = "cividis"  # even in lightness, the same for all kinds of colour vision


class Bar(NamedTuple):
    """One bar: its height, how much it varies (0: not known), and whether it carries a star."""

    height: float
    spread: float = 0.0
    star: bool = False


class Heat(NamedTuple):
    """One heat map of a row of them."""

    title: str
    value: np.ndarray  # (R, C)
    rows: Sequence[str]
    columns: Sequence[str]


def save_picture(picture: Picture, folder: Path) -> None:
    """Draws a picture and writes it as PNG and as PDF."""
    with styled():
        figure = picture.draw()
        for kind, about in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
            with atomic_path(folder / f"{picture.name}.{kind}") as temporary:
                figure.savefig(temporary, format=kind, metadata=about)
        plt.close(figure)


@contextmanager
def styled() -> Iterator[None]:
    """The common style, for this block only."""
    with plt.rc_context(STYLE):
        yield


def score_bars(scores: Mapping[str, Mapping[str, Mapping[str, Bar]]], label: str = "") -> Figure:
    """Two panels, CCC and Pearson: groups of bars by dimension, one bar per model. scores[metric][model][dimension]."""
    groups = list(next(iter(next(iter(scores.values())).values())))
    models = list(next(iter(scores.values())))
    # Side by side while the groups fit; one below the other when there are many.
    wide = len(groups) * len(models) > 16
    rows, columns, height = (2, 1, 6.4) if wide else (1, 2, 3.9)
    figure, axes = plt.subplots(rows, columns, figsize=(9, height), sharey=True, layout="constrained")
    for panel, (metric, by_model) in zip(axes, scores.items(), strict=True):
        _bars(panel, by_model, groups)
        panel.set_title(f"{METRIC_NAMES[metric]} with the truth")
        panel.set_ylabel(METRIC_NAMES[metric])
        if label:
            panel.set_xlabel(label)
    starred = any(bar.star for by_model in scores.values() for bars in by_model.values() for bar in bars.values())
    _legend(figure, axes[0], "* significantly better of joint and independent" if starred else "")
    return figure


def sweep_lines(
    x: Sequence[float], scores: Mapping[str, Mapping[str, Sequence[Bar]]], xlabel: str, star: str = ""
) -> Figure:
    """Two panels, CCC and Pearson, one line per model along x, with plus and minus one sd. scores[metric][model]."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.9), sharey=True, layout="constrained")
    for panel, (metric, by_model) in zip(axes, scores.items(), strict=True):
        for model, bars in by_model.items():
            look = LOOKS[model]
            height, spread = (np.array([getattr(bar, name) for bar in bars]) for name in ("height", "spread"))
            panel.fill_between(x, height - spread, height + spread, color=look.colour, alpha=0.15, lw=0)
            panel.plot(x, height, color=look.colour, marker=look.marker, ms=5, label=NAMES[model])
            for at, bar in zip(x, bars, strict=True):
                if bar.star:
                    panel.annotate(
                        "*",
                        (at, bar.height),
                        (0, 3),
                        textcoords="offset points",
                        ha="center",
                        fontsize=14,
                        color=look.colour,
                    )
        panel.set(title=METRIC_NAMES[metric], xlabel=xlabel, ylabel=f"{METRIC_NAMES[metric]} (mean over dimensions)")
        panel.set_xticks(list(x))
        panel.grid(axis="y", color="#dddddd", lw=0.6)
    starred = any(bar.star for by_model in scores.values() for bars in by_model.values() for bar in bars)
    _legend(figure, axes[0], star if starred else "")
    return figure


def heat_row(maps: Sequence[Heat], bar_label: str, per_row: int = 4, low: float = 0.0, high: float = 1.0) -> Figure:
    """Heat maps side by side on one colour scale, each cell with its number."""
    columns = min(per_row, len(maps))
    rows = -(-len(maps) // columns)
    side = max(1.9, 0.42 * max(len(heat.columns) for heat in maps))
    # Slanted labels need room below, and titles above.
    height = side + (1.1 if max(len(heat.columns) for heat in maps) > 3 else 0.75)
    size = (columns * (side + 0.75) + 0.9, rows * height)
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    image = None
    for panel, heat in zip(axes.flat, maps, strict=False):
        image = _heat(panel, heat, low, high)
    for panel in list(axes.flat)[len(maps) :]:
        panel.set_visible(False)
    if image is not None:
        figure.colorbar(image, ax=axes, label=bar_label, shrink=0.8, pad=0.02)
    return figure


def _bars(panel: Axes, by_model: Mapping[str, Mapping[str, Bar]], groups: Sequence[str]) -> None:
    width = 0.82 / len(by_model)
    for i, (model, bars) in enumerate(by_model.items()):
        look = LOOKS[model]
        at = np.arange(len(groups)) + (i - (len(by_model) - 1) / 2) * width
        height = np.array([bars[group].height for group in groups])
        spread = np.array([bars[group].spread for group in groups])
        panel.bar(
            at, height, width * 0.92, color=look.colour, hatch=look.hatch, edgecolor="white", lw=0.5, label=NAMES[model]
        )
        if spread.any():
            panel.errorbar(at, height, spread, fmt="none", ecolor="#333333", elinewidth=0.8, capsize=1.5)
        for place, group in zip(at, groups, strict=True):
            if bars[group].star:
                top = max(bars[group].height + bars[group].spread, 0)
                panel.annotate("*", (place, top), (0, -1), textcoords="offset points", ha="center", fontsize=14)
    panel.axhline(0, color="#333333", lw=0.8)
    panel.set_xticks(range(len(groups)), groups)
    lowest = min(0.0, *(bar.height - bar.spread for bars in by_model.values() for bar in bars.values()))
    panel.set_ylim(max(-1.0, lowest - 0.05) if lowest < 0 else 0.0, 1.08)
    panel.grid(axis="y", color="#dddddd", lw=0.6)
    panel.set_axisbelow(True)


def _legend(figure: Figure, panel: Axes, star: str) -> None:
    handles, labels = panel.get_legend_handles_labels()
    title = star or None
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=min(len(labels), 5),
        title=title,
        title_fontsize=9,
        fontsize=9,
    )


def _heat(panel: Axes, heat: Heat, low: float, high: float) -> Any:
    image = panel.imshow(heat.value, vmin=low, vmax=high, cmap=HEAT, aspect="equal")
    panel.set_title(heat.title)
    panel.set_xticks(range(len(heat.columns)), heat.columns, rotation=45 if len(heat.columns) > 3 else 0)
    panel.set_yticks(range(len(heat.rows)), heat.rows)
    panel.tick_params(length=0, labelsize=8)
    panel.spines[:].set_visible(False)
    size = 8 if len(heat.columns) <= 4 else 6
    for r, c in np.ndindex(heat.value.shape):
        value = float(heat.value[r, c])
        if np.isfinite(value):
            dark = (value - low) / (high - low) < 0.55
            panel.text(c, r, _short(value), ha="center", va="center", fontsize=size, color="white" if dark else "black")
    return image


def _short(value: float) -> str:
    """Two digits, without the zero before the point."""
    text = f"{value:.2f}"
    return text.replace("0.", ".", 1) if abs(value) < 0.995 else text
