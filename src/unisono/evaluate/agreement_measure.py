"""Everything about the agreement of one table of ratings: by dimension, over dimensions, by annotator.

Of a dimension: ICCs, alphas, AC2 and standard errors of measurement with bootstrap intervals, over items, recordings or
stretches of them. Traces are measured a second time with relative delays removed, so that what is left of disagreement
is not delay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.evaluate.agreement_results import FUSED, RATER_FIGURES, Agreement, DimensionAgreement
from unisono.fusers import Fused, Fuser
from unisono.fusers.baseline_traces import AlignedMean
from unisono.maths.agreement import intraclass_reliability, rater_agreement
from unisono.maths.agreement.agreement_bootstrap import Blocks, Coded, Draws, Interval, bootstrap, coded, make_blocks
from unisono.maths.agreement.chance_corrected import dominant_share, gwet_ac2, interval_alpha, ordinal_alpha
from unisono.maths.agreement.intraclass_reliability import Design, IccDraws
from unisono.maths.agreement.multivariate_agreement import multivariate_agreement, standardised
from unisono.maths.agreement.rater_agreement import PairFigures, PairMeetings
from unisono.maths.series.delay_search import advanced
from unisono.tables import Ratings, coverage_and_outliers, item_table, labels

LEAST_LEFT = 1e-3  # numerical: share of all variance that is left however little annotators differ
LEAST_RECORDINGS = 20  # below, stretches of recordings are drawn instead
STRETCH = 10.0  # seconds, longer than traces remember
ALPHA, ORDINAL, AC2 = "alpha (interval)", "alpha (ordinal)", "AC2"
SEM, SEM_MEAN = "SEM", "SEM of the mean"
SHARES = ("share of items", "share of annotators", "share of the rest")
FIGURES = (*intraclass_reliability.NAMES, ALPHA, ORDINAL, AC2, SEM, SEM_MEAN, *SHARES)


class Drawing(NamedTuple):
    """How intervals are made."""

    draws: int = 1000
    level: float = 0.95
    seed: int = 0
    these_annotators: bool = False  # as if nobody else could have rated; otherwise they are a sample, as items are

    def chance(self, data: Coded, rows: int, rng: np.random.Generator) -> np.ndarray | None:
        """(rows,) of drawing other annotators in every draw of `bootstrap_weights`; None for the same ones."""
        if self.these_annotators or rows == 1:
            return None
        return intraclass_reliability.chance_of_raters(data, rows, slice(1, 1 + self.draws), rng)


class Measured(NamedTuple):
    """One dimension: its ratings as codes, its design, its figures."""

    data: Coded
    design: Design
    figures: dict[str, Interval]
    icc: IccDraws  # first of the ratings as they are, then of the draws


def measured(ratings: Ratings, d: int, drawing: Drawing) -> Measured:
    """All figures of dimension d that have intervals."""
    data = coded(ratings.value[:, d], unit_codes(ratings), annotator_codes(ratings))
    design = intraclass_reliability.design_of(data)
    rng = np.random.default_rng([drawing.seed, d])
    blocks = make_blocks(clusters(ratings.length, ratings.clock)[data.units], rng)
    icc: list[IccDraws] = []

    def figures(W: np.ndarray) -> np.ndarray | Draws:
        icc.append(intraclass_reliability.icc_draws(data, design, blocks, W))
        same = _figures(data, icc[0], blocks, W)
        chance = drawing.chance(data, len(W), rng)
        return same if chance is None else Draws(same, _of_others(data, design, icc[0], same, chance))

    found = bootstrap(figures, blocks.G, drawing.draws, drawing.level, rng)
    return Measured(data, design, dict(zip(FIGURES, found, strict=True)), icc[0])


def _figures(data: Coded, icc: IccDraws, blocks: Blocks, W: np.ndarray) -> np.ndarray:
    """(B, P) in the order of `FIGURES`."""
    alphas = (interval_alpha(data, blocks, W), ordinal_alpha(data, blocks, W), gwet_ac2(data, blocks, W))
    return _in_order(icc, *alphas)


def _in_order(icc: IccDraws, *alphas: np.ndarray) -> np.ndarray:
    variances = np.maximum(np.stack(icc.components, axis=1), 0.0)
    total = variances.sum(axis=1, keepdims=True)
    shares = np.where(total > 0, variances / np.where(total > 0, total, 1.0), np.nan)
    return np.column_stack([*icc.icc.values(), *alphas, icc.sem, icc.sem_mean, shares])


def _of_others(data: Coded, design: Design, icc: IccDraws, same: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """(B, P) the figures `same` of these annotators as other annotators may show them.

    Alphas are one less the share of disagreement in all variance; both gain what annotators differ more. AC2 stays: it
    has no variance of annotators.
    """
    found = icc.with_raters(
        intraclass_reliability.other_raters(data, icc.components.rater, icc.components.residual, chance), design
    )
    total = np.maximum(np.stack(icc.components, axis=1), 0.0).sum(axis=1)
    more = (found.components.rater - icc.components.rater) / np.where(total > 0, total, 1.0)
    more = np.maximum(more, LEAST_LEFT - 1)

    def moved(alpha: np.ndarray) -> np.ndarray:
        return np.asarray(1 - np.maximum(1 - alpha + more, 0.0) / (1 + more))

    interval, ordinal, ac2 = (same[:, FIGURES.index(name)] for name in (ALPHA, ORDINAL, AC2))
    return _in_order(found, moved(interval), moved(ordinal), ac2)


def unit_codes(ratings: Ratings) -> np.ndarray:
    """(S,) what each number is about: an item, or a frame of a recording."""
    return coverage_and_outliers.frame_index(ratings) if ratings.is_series else ratings.item_of


def annotator_codes(ratings: Ratings) -> np.ndarray:
    """(S,) who gave each number."""
    if not ratings.is_series:
        return ratings.annotator_of
    return np.asarray(np.repeat(ratings.annotator_of, ratings.length[ratings.item_of]))


def clusters(length: np.ndarray, clock: item_table.Clock | None) -> np.ndarray:
    """(sum T,) what is drawn together with each item or frame: itself, its recording, or its stretch of one."""
    item = np.repeat(np.arange(len(length)), length)
    if clock is None or len(length) >= LEAST_RECORDINGS:
        return item
    within = np.arange(len(item)) - np.repeat(np.cumsum(length) - length, length)
    stretch = (within / max(round(STRETCH * clock.rate), 1)).astype(np.int64)
    return np.asarray(item * (int(stretch.max(initial=0)) + 1) + stretch)


def what_is_drawn(ratings: Ratings) -> str:
    """In words."""
    if not ratings.is_series:
        return "items"
    return "recordings" if ratings.M >= LEAST_RECORDINGS else f"stretches of {STRETCH:g} s"


class Moved(NamedTuple):
    """Traces without their relative delays."""

    ratings: Ratings
    delay: np.ndarray  # (K, D) seconds by which each annotator was late, relative to the median one


def without_delays(ratings: Ratings, window: float | None = None) -> Moved:
    """Each annotator's traces moved against the mean of the others, within +- half of `window` seconds."""
    assert ratings.clock is not None
    lag = AlignedMean(window=window).fit(ratings).lag_
    value = ratings.value.copy()
    for j, k in enumerate(ratings.annotator_of.tolist()):
        rows = slice(ratings.offset[j], ratings.offset[j + 1])
        for d in np.flatnonzero(lag[k]):
            value[rows, d] = advanced(ratings.value[rows, d], int(lag[k, d]))
    return Moved(ratings.with_value(value), lag / ratings.clock.rate)


class Estimate(NamedTuple):
    """An estimate whose reliability is asked for."""

    fused: Fused
    shrunk: bool = False  # drawn to the middle, as posterior means are
    correlations: np.ndarray | None = None  # (B, D) draws of its squared correlation with the truth, where a fit knows


def estimate_of(fuser: Fuser, fused: Fused) -> Estimate:
    """What a fit says of its estimate."""
    return Estimate(fused, fuser.gives_posterior_means(), fuser.reliability_draws(fused))


RELIABILITY = "reliability"
COMPOSITES = ("all dimensions", "least reliable composite", "most reliable composite")
MOST_IN_MATRIX = 2000  # annotators: a matrix of more would not fit anywhere
OnTask = Callable[[int, int], None]


def measure_agreement(
    ratings: Ratings,
    *,
    drawing: Drawing,
    estimate: Estimate | None = None,
    matrices: bool = False,
    window: float | None = None,
    on_task: OnTask | None = None,
) -> Agreement:
    """Agreement by dimension, over dimensions, by annotator, and of traces also without relative delays.

    `estimate` is that whose reliability is asked for (of the plain mean without it). `matrices` keeps the figures of
    every pair of annotators.
    """
    if matrices and ratings.K > MOST_IN_MATRIX:
        raise DataError(f"{ratings.source}: a matrix of {ratings.K:,} annotators is too large; leave it out.")
    tell = _Steps(ratings.D * (2 if ratings.is_series else 1) + 1, on_task)
    found = []
    for d in range(ratings.D):
        one = measured(ratings, d, drawing)
        reliability = _reliability(ratings, d, one, estimate, drawing)
        found.append(one._replace(figures=one.figures | {RELIABILITY: reliability}))
        tell.step()
    together = _together(ratings, drawing)
    tell.step()
    moved = without_delays(ratings, window) if ratings.is_series else None
    corrected = [] if moved is None else [_corrected(moved.ratings, d, drawing, tell) for d in range(ratings.D)]
    counts = coverage_and_outliers.coverage(ratings)
    return Agreement(
        source=ratings.source,
        kind="traces" if ratings.is_series else "items",
        items=ratings.M,
        judgements=ratings.J,
        annotators=ratings.annotators,
        design=_design(counts, nested=not ratings.is_series),
        groups=len(coverage_and_outliers.connected_groups(ratings)),
        filled=float(counts.per_item.sum() / max(ratings.M * ratings.K, 1)),
        per_item=span(counts.per_item),
        per_annotator=span(counts.per_annotator),
        dimensions=_dimensions(ratings, found, matrices),
        multivariate=together,
        given=counts.per_annotator,
        by_annotator=_by_annotator(ratings, found),
        reliability_of="the mean rating" if estimate is None else FUSED,
        resampled=what_is_drawn(ratings),
        draws=drawing.draws,
        level=drawing.level,
        seed=drawing.seed,
        these_annotators=drawing.these_annotators,
        lag_corrected=tuple(corrected),
        delay=None if moved is None else moved.delay,
    )


class _Steps:
    """Counts what is done for whoever watches."""

    def __init__(self, total: int, on_task: OnTask | None) -> None:
        self.done, self.total, self.on_task = 0, total, on_task

    def step(self) -> None:
        self.done += 1
        if self.on_task is not None:
            self.on_task(self.done, self.total)


def span(counts: np.ndarray) -> tuple[int, float, int]:
    """Least, median, most."""
    return int(counts.min()), float(np.median(counts)), int(counts.max())


def _dimensions(ratings: Ratings, found: Sequence[Measured], matrices: bool) -> tuple[DimensionAgreement, ...]:
    """Where everybody answers every dimension, the same annotators meet on all of them."""
    dimensions = []
    met: PairMeetings | None = None
    for d, one in enumerate(found):
        if d == 0 or not _same_cells(one.data, found[d - 1].data):
            met = rater_agreement.pair_meetings(one.data)
        dimensions.append(_dimension(ratings, d, one, matrices, met))
    return tuple(dimensions)


def _same_cells(one: Coded, other: Coded) -> bool:
    return np.array_equal(one.unit, other.unit) and np.array_equal(one.rater, other.rater)


def _dimension(
    ratings: Ratings, d: int, found: Measured, matrices: bool, met: PairMeetings | None = None
) -> DimensionAgreement:
    data = found.data
    column = ratings.value[~np.isnan(ratings.value[:, d]), d]
    pairs = rater_agreement.pair_figures(data, met)
    return DimensionAgreement(
        name=ratings.dimensions[d],
        ratings=data.n,
        units=data.I,
        annotators=data.R,
        k=found.design.k,
        q=found.design.q,
        low=float(column.min()) if data.n else float("nan"),
        high=float(column.max()) if data.n else float("nan"),
        at_low=float(np.mean(column == column.min())) if data.n else float("nan"),
        at_high=float(np.mean(column == column.max())) if data.n else float("nan"),
        dominant=dominant_share(data),
        figures=found.figures,
        truncated=bool(found.icc.truncated[0]),
        pairs={
            "CCC": rater_agreement.spread_over_pairs(pairs.ccc),
            "Pearson": rater_agreement.spread_over_pairs(pairs.pearson),
            "kappa": rater_agreement.spread_over_pairs(pairs.kappa),
        },
        matrices=_matrices(rater_agreement.pair_figures(data, matrix=True), data.raters, ratings.K)
        if matrices
        else None,
    )


def _corrected(moved: Ratings, d: int, drawing: Drawing, tell: _Steps) -> DimensionAgreement:
    found = _dimension(moved, d, measured(moved, d, drawing), False)
    tell.step()
    return found


def _by_annotator(ratings: Ratings, found: Sequence[Measured]) -> dict[str, np.ndarray]:
    """(K, D) figures of annotators, by the names of RATER_FIGURES; NaN where somebody did not rate."""
    table = {name: np.full((ratings.K, ratings.D), np.nan) for name in RATER_FIGURES}
    for d, one in enumerate(found):
        for name, values in _of_raters(one).items():
            table[name][one.data.raters, d] = values
    return table


def _matrices(found: PairFigures, raters: np.ndarray, K: int) -> dict[str, np.ndarray]:
    """Figures of all annotators, those without ratings included."""
    whole = {}
    for name, figure in (("CCC", found.ccc), ("Pearson", found.pearson), ("kappa", found.kappa)):
        whole[name] = np.full((K, K), np.nan)
        whole[name][np.ix_(raters, raters)] = figure
    return whole


def _of_raters(found: Measured) -> dict[str, np.ndarray]:
    """(R,) figures of the annotators of one dimension, by the names of RATER_FIGURES."""
    fit, others = (
        rater_agreement.rater_fit(found.data, found.icc.components),
        rater_agreement.against_others(found.data),
    )
    values = (fit.severity, fit.infit, fit.outfit, others.pearson, others.ccc, others.exact, others.adjacent)
    return dict(zip(RATER_FIGURES, values, strict=True))


def _reliability(ratings: Ratings, d: int, found: Measured, estimate: Estimate | None, drawing: Drawing) -> Interval:
    """Of the estimate if there is one, else of the mean of each unit's ratings."""
    if estimate is None:
        return found.figures["G(q,k)"]
    fused, name = estimate.fused, ratings.dimensions[d]
    if name not in fused.dimensions:
        raise DataError(f"The fit has no dimension '{name}'; it has {labels.listed(fused.dimensions)}.")
    if set(fused.items) != set(ratings.items):
        raise DataError(f"The fit is not of the items of {ratings.source}. Fuse these ratings, and give that fit.")
    place = fused.dimensions.index(name)
    if estimate.correlations is not None:
        return _of_draws(estimate.correlations[:, place], drawing)
    mean, variance = fused.mean[:, place], fused.variance[:, place]
    rng = np.random.default_rng([drawing.seed, d])
    blocks = make_blocks(clusters(fused.length, fused.clock), rng)
    (interval,) = bootstrap(
        lambda W: intraclass_reliability.estimate_reliability(mean, variance, blocks, W, shrunk=estimate.shrunk)[
            :, None
        ],
        blocks.G,
        drawing.draws,
        drawing.level,
        rng,
    )
    return interval


def _of_draws(correlations: np.ndarray, drawing: Drawing) -> Interval:
    """Mean and quantiles of draws (B,)."""
    if not drawing.draws or np.isnan(correlations).any():
        return Interval(float(correlations.mean()), float("nan"), float("nan"))
    outside = (1 - drawing.level) / 2
    return Interval(float(correlations.mean()), *np.quantile(correlations, [outside, 1 - outside]).tolist())


def _together(ratings: Ratings, drawing: Drawing) -> dict[str, Interval]:
    """Agreement over all dimensions, from judgements in which none is missing."""
    if ratings.D < 2:
        return {}
    data = standardised(ratings.value, unit_codes(ratings), annotator_codes(ratings))
    if data[0].n < 2:
        return dict.fromkeys(COMPOSITES, Interval(*[float("nan")] * 3))
    rng = np.random.default_rng([drawing.seed, ratings.D])
    blocks = make_blocks(clusters(ratings.length, ratings.clock)[data[0].units], rng)
    found = bootstrap(
        lambda W: multivariate_agreement(data, blocks, W, drawing.chance(data[0], len(W), rng)),
        blocks.G,
        drawing.draws,
        drawing.level,
        rng,
    )
    return dict(zip(COMPOSITES, found, strict=True))


def _design(counts: coverage_and_outliers.Coverage, *, nested: bool) -> str:
    """A trace is many ratings, so that annotators of one recording each are not nested in its frames."""
    active = counts.per_annotator[counts.per_annotator > 0]
    if np.all(counts.per_item[counts.per_item > 0] == len(active)):
        return "crossed"
    return "nested" if nested and np.all(active == 1) else "incomplete"
