"""Plots that check a fusion: what was answered beside what the fitted model expects; see `plots`.

Expected answers are those of the fuser for the annotators and items that it knows (`predict_ratings`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unisono.errors import ConvergenceWarning, DataError, taken
from unisono.evaluate.held_out_ratings import judgement_folds
from unisono.fusers import make_fuser
from unisono.report import plot_style
from unisono.report.plot_style import Result
from unisono.tables.ratings import Ratings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LIMITS = 1.96  # standard deviations, of the limits of agreement
BINS = 20  # of running means
GROUPS = 10  # of held-out answers by what was predicted


def bland_altman(
    result: Result,
    one: str | None = None,
    other: str | None = None,
    dimension: str | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Differences against means with the limits of agreement: of two annotators, or of the estimate and the mean.

    Limits are the mean difference and 1.96 standard deviations either way (Bland and Altman, 1986).
    """
    d = plot_style.place_of(dimension, result.fused.dimensions, "dimension")
    if (one is None) != (other is None):
        raise DataError("Name two annotators, or none for the estimate beside the plain mean.")
    if one is None or other is None:
        first = result.fused.mean[:, d]
        second = make_fuser("mean", series=result.ratings.is_series).fit(result.ratings).fuse().mean[:, d]
        names = ("estimate", "mean")
    else:
        first, second = (_answers_by(result.ratings, name, d) for name in (one, other))
        names = (one, other)
    known = ~np.isnan(first - second)
    if known.sum() < 2:
        raise DataError(f"{names[0]} and {names[1]} have fewer than two items in common.")
    middle, apart = ((first + second) / 2)[known], (first - second)[known]
    axes = plot_style.axes_for(ax, 2.4)
    axes.plot(middle, apart, "o", ms=2.5, color=plot_style.ESTIMATE, alpha=0.5, mew=0)
    spread = LIMITS * apart.std(ddof=1)
    for at, style in ((apart.mean(), "-"), (apart.mean() - spread, "--"), (apart.mean() + spread, "--")):
        axes.axhline(at, ls=style, lw=0.9, color=plot_style.MEAN)
        axes.annotate(f"{at:.2g}", (1.0, at), xycoords=("axes fraction", "data"), fontsize=6.5, va="center")
    return plot_style.named(
        axes, f"{result.fused.dimensions[d]}, mean of {names[0]} and {names[1]}", f"{names[0]} less {names[1]}"
    )


def _answers_by(ratings: Ratings, name: str, d: int) -> np.ndarray:
    """The answers of one annotator: (M,) of items, or at every frame of all recordings."""
    k = plot_style.place_of(name, ratings.annotators, "annotator")
    own = np.flatnonzero(ratings.annotator_of == k)
    found = np.full(int(ratings.length.sum()), np.nan)
    first = np.cumsum(ratings.length) - ratings.length
    for j in own.tolist():
        m = int(ratings.item_of[j])
        found[first[m] : first[m] + ratings.length[m]] = ratings.value[ratings.offset[j] : ratings.offset[j + 1], d]
    return found


def calibration(
    result: Result, dimension: str | None = None, *, folds: int = 5, seed: int = 0, ax: Axes | None = None
) -> Axes:
    """Answers that were held out against what was predicted, in ten groups, with 95 % intervals of their means.

    The model is fitted `folds` times, each time without a part of the ratings.
    """
    ratings = _of_items(result, "Predictions of traces are compared by `unisono compare`.")
    d = plot_style.place_of(dimension, result.fused.dimensions, "dimension")
    fold_of = judgement_folds(ratings, folds, np.random.default_rng(seed))
    expected = np.full(ratings.J, np.nan)
    for fold in range(folds):
        hidden = fold_of == fold
        if hidden.any():
            with taken(ConvergenceWarning):
                fuser = result.fuser.alike().fit(ratings.select_judgements(~hidden))
            expected[hidden] = fuser.predict_ratings(ratings.select_judgements(hidden)).mean[:, d]
    known = ~np.isnan(expected) & ~np.isnan(ratings.value[:, d])
    guess, answer = expected[known], ratings.value[known, d]
    order = np.argsort(guess, kind="stable")
    groups = [group for group in np.array_split(order, GROUPS) if len(group) > 1]
    x, y = (np.array([values[group].mean() for group in groups]) for values in (guess, answer))
    error = np.array([1.96 * answer[group].std(ddof=1) / np.sqrt(len(group)) for group in groups])
    axes = plot_style.axes_for(ax, 2.6)
    ends = [min(x.min(), y.min()), max(x.max(), y.max())]
    axes.plot(ends, ends, color=plot_style.SINGLE, lw=0.8, label="as predicted")
    axes.errorbar(x, y, yerr=error, fmt="o", ms=3.5, lw=1, color=plot_style.ESTIMATE, label="held-out answers")
    return plot_style.named(axes, f"predicted {result.fused.dimensions[d]}", "answered, mean of a tenth", legend=3)


def _of_items(result: Result, instead: str) -> Ratings:
    if result.ratings.is_series:
        raise DataError(f"These are traces. {instead}")
    return result.ratings


def _left_over(result: Result, d: int) -> np.ndarray:
    """(S,) answers less what the fitted model expects of them."""
    return np.asarray(result.ratings.value[:, d] - result.fuser.predict_ratings(result.ratings).mean[:, d])


def _seconds(ratings: Ratings) -> np.ndarray:
    """(S,) since the beginning of the recording, of every answer of traces."""
    assert ratings.clock is not None
    frames = ratings.length[ratings.item_of]
    return np.asarray(
        (np.arange(int(frames.sum())) - np.repeat(np.cumsum(frames) - frames, frames)) / ratings.clock.rate
    )


def residuals(result: Result, dimension: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Answers less what is expected of them: of items along the estimate, of traces along time; the line is their mean.

    A line that is not flat shows what the model leaves out.
    """
    ratings = result.ratings
    d = plot_style.place_of(dimension, result.fused.dimensions, "dimension")
    left = _left_over(result, d)
    x = _seconds(ratings) if ratings.is_series else result.fused.mean[ratings.item_of, d]
    known = ~np.isnan(left)
    axes = plot_style.axes_for(ax, 2.2)
    few = np.random.default_rng(0).permutation(np.flatnonzero(known))[:5000]  # more would be one blot
    axes.plot(x[few], left[few], ".", ms=1.5, color=plot_style.SINGLE, alpha=0.5, mew=0, rasterized=True)
    axes.plot(*_running(x[known], left[known]), "-o", ms=2, lw=1.2, color=plot_style.ESTIMATE, label="mean")
    axes.axhline(0.0, color=plot_style.SINGLE, lw=0.6, zorder=0)
    name = result.fused.dimensions[d]
    return plot_style.named(
        axes, "seconds" if ratings.is_series else f"estimated {name}", f"residual of {name}", legend=3
    )


def _running(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of both in groups of equal size, along x."""
    groups = [part for part in np.array_split(np.argsort(x, kind="stable"), BINS) if len(part)]
    return np.array([x[part].mean() for part in groups]), np.array([y[part].mean() for part in groups])


def drift(
    result: Result,
    dimension: str | None = None,
    *,
    order: Sequence[str] | Mapping[str, float] | None = None,
    most: int = 7,
    ax: Axes | None = None,
) -> Axes:
    """Mean residuals of annotators from the beginning to the end: who becomes stricter, or more lenient?

    Of traces along time. Of items along `order`, the items as they were shown, or a mapping from items to when; those
    `most` annotators are drawn who change most.
    """
    ratings = result.ratings
    d = plot_style.place_of(dimension, result.fused.dimensions, "dimension")
    if ratings.is_series:
        when, who = _seconds(ratings), np.repeat(ratings.annotator_of, ratings.length[ratings.item_of])
    else:
        when, who = _shown_at(ratings, order)[ratings.item_of], ratings.annotator_of
    left = _left_over(result, d)
    known = ~np.isnan(left) & ~np.isnan(when)
    lines = {k: _running(when[known & (who == k)], left[known & (who == k)]) for k in np.unique(who[known]).tolist()}
    change = {k: float(np.ptp(y[[0, -1]])) for k, (_, y) in lines.items()}
    axes = plot_style.axes_for(ax, 2.2)
    for i, k in enumerate(sorted(change, key=lambda k: -change[k])[: min(most, len(plot_style.DIMENSIONS))]):
        axes.plot(*lines[k], lw=1, color=plot_style.DIMENSIONS[i], label=ratings.annotators[k])
    axes.axhline(0.0, color=plot_style.SINGLE, lw=0.6, zorder=0)
    return plot_style.named(
        axes,
        "seconds" if ratings.is_series else "order of the items",
        f"residual of {result.fused.dimensions[d]}",
        legend=2,
    )


def _shown_at(ratings: Ratings, order: Sequence[str] | Mapping[str, float] | None) -> np.ndarray:
    """(M,) when every item was shown; NaN where it is not said."""
    if order is None:
        raise DataError("Ratings of items do not say when they were given: give order=, the items as they were shown.")
    when = order if isinstance(order, Mapping) else {str(item): float(at) for at, item in enumerate(order)}
    return np.array([when.get(item, np.nan) for item in ratings.items], dtype=float)


def overlap(result: Result, *, most: int = plot_style.MOST, ax: Axes | None = None) -> Axes:
    """Annotators on a circle, joined by lines that are the thicker the more items they both rated.

    Those with most ratings are drawn where there are more than `most`; colours tell reliability, where it is known.
    """
    ratings, found = result.ratings, result.described
    given = np.bincount(ratings.annotator_of, minlength=ratings.K)
    shown = np.sort(np.argsort(-given, kind="stable")[:most])
    rated = np.zeros((ratings.M, ratings.K), dtype=np.float32)
    rated[ratings.item_of, ratings.annotator_of] = 1
    both = rated[:, shown].T @ rated[:, shown]
    angle = 2 * np.pi * np.arange(len(shown)) / len(shown)
    x, y = np.sin(angle), np.cos(angle)
    axes = plot_style.axes_for(ax, 3.2)
    widest = max(float(np.triu(both, 1).max(initial=0.0)), 1.0)
    for a in range(len(shown)):
        for b in np.flatnonzero(both[a, :a]).tolist():
            axes.plot(
                x[[a, b]], y[[a, b]], color=plot_style.SINGLE, lw=0.2 + 2.5 * both[a, b] / widest, alpha=0.6, zorder=1
            )
    with np.errstate(invalid="ignore"):
        told = np.where(np.isfinite(found.reliability), found.reliability, 0.0).mean(axis=1)[shown]
    size = 12 + 60 * given[shown] / given.max()
    dots = axes.scatter(x, y, s=size, c=told, cmap="viridis", vmin=0, vmax=1, zorder=2)
    for i, k in enumerate(shown.tolist()):
        turned = np.degrees(np.arctan2(y[i], x[i])) + (180 if x[i] < -1e-9 else 0)
        side = "right" if x[i] < -1e-9 else "left"
        how: dict[str, Any] = {"rotation": turned, "rotation_mode": "anchor"}
        axes.text(1.1 * x[i], 1.1 * y[i], ratings.annotators[k], fontsize=5.5, ha=side, va="center", **how)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.margins(0.4)
    if len(shown) < ratings.K:
        axes.set_title(f"{len(shown)} of {ratings.K} annotators, those with most ratings", fontsize=7)
    plot_style.colour_bar(axes, dots, f"reliability; thickest line {widest:.0f} in common")
    return axes


def posterior_check(
    result: Result, dimension: str | None = None, *, draws: int = 200, seed: int = 0, ax: Axes | None = None
) -> Axes:
    """How often every answer was given, beside how often the fitted model gives it: a band with 90 % of its draws.

    Where bars leave the band the model does not describe how people answer.
    """
    ratings = result.ratings
    d = plot_style.place_of(dimension, result.fused.dimensions, "dimension")
    answer = ratings.value[:, d]
    known = ~np.isnan(answer)
    predicted = result.fuser.predict_ratings(ratings)
    mean, sd = predicted.mean[known, d], np.sqrt(predicted.variance[known, d])
    edges, whole = _classes(answer[known])
    low, high = ratings.scale[d] or (-np.inf, np.inf)
    rng = np.random.default_rng(seed)
    counts = []
    for _ in range(draws):
        drawn = np.clip(rng.normal(mean, sd), low, high)
        counts.append(np.histogram(np.round(drawn) if whole else drawn, edges)[0])
    band = np.quantile(counts, [0.05, 0.95], axis=0)
    axes = plot_style.axes_for(ax, 2.0)
    middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    axes.bar(middle, np.histogram(answer[known], edges)[0], 0.9 * width, color="#C8D6E2", label="answers")
    axes.vlines(middle, *band, color=plot_style.MEAN, lw=2, label="the model's, 90 % of draws")
    return plot_style.named(axes, result.fused.dimensions[d], "answers", legend=3)


def _classes(values: np.ndarray) -> tuple[np.ndarray, bool]:
    """Ends of classes, and whether each is one whole number."""
    whole = bool((values == values.round()).all()) and np.ptp(values) <= 2 * BINS
    if whole:
        return np.arange(values.min() - 0.5, values.max() + 1.0), True
    return np.linspace(values.min(), values.max() if np.ptp(values) else values.min() + 1, BINS + 1), False


def confusion(
    result: Any, dimension: str | None = None, annotator: str | None = None, *, ax: Axes | None = None
) -> Axes:
    """What is answered (columns), given the true class (rows): of one annotator, or of all answers."""
    chosen = getattr(result, "chosen", None)
    if chosen is None:
        raise DataError("There are no categories here: fuse a table that has some, or name them with categories=.")
    fused = chosen.fused
    one = fused.dimensions[
        plot_style.place_of(dimension, tuple(each.name for each in fused.dimensions), "dimension of categories")
    ]
    if annotator is None:
        count = one.confused.sum(axis=0)
        shown = count / np.maximum(count.sum(axis=1, keepdims=True), 1e-12)
    else:
        shown = one.confusion[plot_style.place_of(annotator, tuple(fused.annotators), "annotator")]
    axes = plot_style.axes_for(ax, 2.6)
    image = axes.imshow(shown, cmap=plot_style.ANSWERS, vmin=0, vmax=1)
    for c, row in enumerate(shown):
        for e, value in enumerate(row):
            if value >= 0.005:
                axes.text(
                    e,
                    c,
                    f"{value:.2f}".lstrip("0"),
                    ha="center",
                    va="center",
                    fontsize=6,
                    color="w" if value > 0.6 else "k",
                )
    axes.set_xticks(range(len(one.classes)), one.classes, rotation=45, ha="right", fontsize=6.5)
    axes.set_yticks(range(len(one.classes)), one.classes, fontsize=6.5)
    axes.set_xlabel("answer" if annotator is None else f"answer of {annotator}")
    axes.set_ylabel("true class")
    plot_style.colour_bar(axes, image, "probability")
    return axes
