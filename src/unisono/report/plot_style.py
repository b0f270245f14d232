"""How pictures for papers look: a column wide, 8 point letters, colours that people of any colour vision tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from unisono.errors import DataError
from unisono.fusers import Annotators, Fused, Fuser
from unisono.tables import Ratings, did_you_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMN = 3.4  # inches
# Colours of Okabe and Ito, which people with any kind of colour vision tell apart.
ESTIMATE, MEAN, SINGLE = "#0072B2", "#D55E00", "#999999"
DIMENSIONS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DIVERGING = "RdBu"
STYLE = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "pdf.fonttype": 42,
}
ANSWERS = "Blues"
MOST = 40  # annotators in one picture


class Result(Protocol):
    """What is drawn: a `Fusion`."""

    @property
    def ratings(self) -> Ratings: ...
    @property
    def fused(self) -> Fused: ...
    @property
    def fuser(self) -> Fuser: ...
    @property
    def described(self) -> Annotators: ...


def axes_for(ax: Axes | None, height: float, width: float = COLUMN) -> Axes:
    """The axes given, or new ones in a figure of their own."""
    if ax is not None:
        return ax
    made: Axes = subplots(figsize=(width, height))
    return made


def subplots(*shape: int, **options: Any) -> Any:
    """New axes in the style of all pictures, as `pyplot.subplots` makes them."""
    plt = pyplot()
    with plt.rc_context(STYLE):
        made = plt.subplots(*shape, layout="constrained", **options)[1]
        interactive = plt.isinteractive()
    # The first figure loads the backend. That of notebooks turns interaction on, which the context has just forgotten;
    # without it notebooks show no other figure than the first.
    if interactive and not plt.isinteractive():
        plt.ion()
    return made


def named(axes: Axes, x: str, y: str | None = None, legend: int = 0) -> Axes:
    """The axes with words to them; a legend in so many columns goes above, where it hides nothing."""
    axes.set(xlabel=x, **({} if y is None else {"ylabel": y}))
    if legend:
        above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
        axes.legend(ncols=legend, fontsize=6.5, frameon=False, **above)
    return axes


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as missing:
        raise DataError('Pictures need matplotlib: pip install "unisono[plot]".') from missing
    return plt


def place_of(name: str | None, known: tuple[str, ...], what: str) -> int:
    """Where a dimension or a recording stands; the first if none is named."""
    if name is None:
        return 0
    if name not in known:
        hint = did_you_mean(name, known)
        raise DataError(f"There is no {what} '{name}'.{hint} There are: {', '.join(known[:12])}.")
    return known.index(name)


def colour_bar(panels: Any, image: Any, label: str) -> None:
    """What the colours of a picture mean, beside it."""
    figure = image.axes.figure
    bar = figure.colorbar(image, ax=panels, shrink=0.8, pad=0.02)
    bar.set_label(label, fontsize=6.5)
    bar.ax.tick_params(labelsize=6)
    bar.outline.set_visible(False)
