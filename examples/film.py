"""A whole film, fused: 7085 seconds of "Forrest Gump" by nine observers, and a picture of what came out.

python examples/film.py [PICTURE.png]        (needs matplotlib: pip install 'unisono[report]')
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import unisono as un

TRUTH, BAND, TRACE = "#0b5fa5", "#7fb2dd", "#8a8a8a"
CLOSE = (60.0, 68.0)  # minutes that are shown close up
STEPS = 100  # most EM iterations: 50 before the delays are refined, 50 after


def fuse_film() -> un.Fusion:
    ratings = un.load_dataset("forrest_gump").select_items(["forrest_gump_av"])
    columns = (TextColumn("Fusing"), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=STEPS)

        def show(step: int, objective: float) -> None:
            bar.update(task, completed=step + 1, description=f"objective {objective:.0f}")

        found = un.fuse(ratings, on_step=show)
        bar.update(task, completed=STEPS)
    return found


def draw(found: un.Fusion, path: Path) -> None:
    """Whole film and close-up of every dimension: traces grey, fused truth and its 90 % band blue."""
    fused = found.fused
    low, high = fused.interval()
    minutes = fused.clock.seconds(fused.length) / 60.0
    traces = found.ratings.value.reshape(-1, len(minutes), found.ratings.D)
    plt.rcParams.update({"font.size": 10, "font.family": "DejaVu Sans"})
    figure, axes = plt.subplots(2, 2, figsize=(13, 6.2), width_ratios=(2.1, 1), sharey="row", layout="constrained")
    for d, name in enumerate(fused.dimensions):
        for axis, close in zip(axes[d], (False, True), strict=True):
            # A film of two hours has no room for single seconds: the whole is shown as running means over a minute.
            shown = (lambda series: series) if close else minute_means
            here = (minutes >= CLOSE[0]) & (minutes <= CLOSE[1]) if close else np.ones(len(minutes), dtype=bool)
            t = minutes[here]
            axis.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
            for trace in traces[:, :, d]:
                axis.plot(t, shown(trace)[here], color=TRACE, linewidth=0.7, alpha=0.5, label="_")
            ends = (shown(end[:, d])[here] for end in (low, high))
            axis.fill_between(t, *ends, color=BAND, alpha=0.6, linewidth=0, label="90 % band")
            axis.plot(t, shown(fused.mean[:, d])[here], color=TRUTH, linewidth=1.6, label="fused truth")
            axis.set_xlim(t[0], t[-1])
            axis.set_ylim(-1.12, 1.12)
            axis.spines[["top", "right"]].set_visible(False)
            if not close:
                axis.axvspan(*CLOSE, color="#f2c14e", alpha=0.3, linewidth=0, zorder=0)
                axis.set_ylabel(name)
    axes[0, 0].set_title("Whole film, running means over a minute", loc="left")
    axes[0, 1].set_title(f"Minutes {CLOSE[0]:g} to {CLOSE[1]:g}, second by second", loc="left")
    for axis in axes[1]:
        axis.set_xlabel("minutes into the film")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    observer = plt.Line2D([], [], color=TRACE, linewidth=1.0)
    figure.legend([*handles, observer], [*labels, "an observer"], loc="outside lower center", ncols=3, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)


def minute_means(trace: np.ndarray) -> np.ndarray:
    """Running means over 60 s; fewer at the ends."""
    kernel = np.ones(60)
    return np.convolve(trace, kernel, "same") / np.convolve(np.ones_like(trace), kernel, "same")


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "forrest_gump.png")
    fusion = fuse_film()
    draw(fusion, target)
    print(fusion.summary())
    print(f"\nPicture: {target}")
