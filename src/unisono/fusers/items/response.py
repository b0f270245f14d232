"""What ratings stand for: numbers on a straight scale, ordered answers, or positions of a slider with a private warp.

`ordinal`: ratings of a few kinds become normal scores (a curve of the scaling), around which every annotator has
thresholds of his own. `warp`: annotators with a hundred ratings and more have a monotone function of their own.
Dimensions, and annotators, for which that says nothing are read as numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from unisono.errors import DataError, SettingsError
from unisono.fusers.scaling import Curve, Scaling
from unisono.maths.items.data import Bounds, ItemData
from unisono.maths.items.params import ItemParams
from unisono.maths.items.readings import FittedReading, Reading
from unisono.maths.items.thresholds import Thresholds, normal_scores, pool_thresholds
from unisono.maths.items.warp import FEWEST_RATINGS, Warp, pooled_knots
from unisono.words import ITEM_WORDS, Response, require_word

MOST_LEVELS = 12  # different answers up to which they are kinds with thresholds between them
GRID, REACH = 81, 4.0  # points of the curve back, and standard deviations that it goes beyond the thresholds


def check_response(response: Response, inference: str, one_by_one: bool) -> None:
    """Raises a SettingsError that says what a reading of ratings needs."""
    require_word("response", response, ITEM_WORDS["response"])
    if response == "linear":
        return
    if inference != "bayes" or one_by_one:
        raise SettingsError(f"response={response!r} needs the model 'auto' or 'joint', with inference='bayes'.")


def answer_curve(value: np.ndarray, dimensions: tuple[str, ...], source: str) -> Curve:
    """Normal scores of the answers (J, D) there are, in units of the ratings; a DataError where none are few."""
    found = [_levels(value[:, d]) for d in range(value.shape[1])]
    if not any(len(levels) for levels, _ in found):
        raise DataError(
            f"{source}: every dimension has more than {MOST_LEVELS} different answers, which are numbers rather than "
            f"ordered kinds ({', '.join(dimensions)}). Use response 'warp' or 'linear'."
        )
    most = max(len(levels) for levels, _ in found)
    table = np.full((2, len(found), most), np.nan)
    for d, (levels, shares) in enumerate(found):
        if len(levels):
            scores = normal_scores(shares)
            # The straight line that best takes scores to answers: bias, gain and noise stay in units of the ratings.
            unit = (shares * scores * levels).sum() / (shares * scores**2).sum()
            table[0, d, : len(levels)], table[1, d, : len(levels)] = levels, shares @ levels + unit * scores
    return Curve(*table)


def with_expected_answers(
    scaling: Scaling, reading: FittedReading | None, params: ItemParams, known: np.ndarray
) -> Scaling:
    """The scaling whose way back from scores is the mean answer of newcomers, the last ones of `params`.    eq. O4

    Dimensions with `known` truths (D,) keep the way through scores and answers, on which these are.
    """
    if scaling.curve is None or reading is None or not isinstance(reading.reading, Thresholds):
        return scaling
    curve, own = scaling.curve, reading.reading
    assert params.cov is not None
    spread = np.diagonal(params.N[-1]) + params.cov[-1, :, -1, -1]
    D = len(spread)
    at, expected = np.full((D, GRID), np.nan), np.full((D, GRID), np.nan)
    for d in filter(own.reads, range(D)):
        if known[d]:
            C = curve.levels.shape[1]
            at[d, :C], expected[d, :C] = curve.scores[d], curve.levels[d]
            continue
        cuts, levels = (row[np.isfinite(row)] for row in (own.cuts[d], curve.levels[d]))
        sd = float(np.sqrt(spread[d]))
        z = np.linspace(cuts[0] - REACH * sd, cuts[-1] + REACH * sd, GRID)
        at[d] = scaling.loc[d] + scaling.scale[d] * z
        expected[d] = levels[0] + ndtr((z[:, None] - cuts) / sd) @ np.diff(levels)
    return scaling._replace(curve=curve._replace(expected=expected, at=at))


def reading_of(response: Response, data: ItemData, scaling: Scaling, ends: Bounds) -> Reading | None:
    """How standardised ratings are read; None: as numbers."""
    if response == "ordinal":
        assert scaling.curve is not None
        return _thresholds(data, scaling.curve)
    if response == "warp":
        return _warp(data, ends)
    return None


def _levels(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    levels, count = np.unique(column[~np.isnan(column)], return_counts=True)
    few = 2 <= len(levels) <= MOST_LEVELS
    return (levels, count / count.sum()) if few else (np.zeros(0), np.zeros(0))


def _thresholds(data: ItemData, curve: Curve) -> Thresholds:
    D, C = curve.levels.shape
    cuts, shares, sd = np.full((D, C - 1), np.nan), np.full((D, C), np.nan), np.ones(D)
    answered = data.answered[data.profile_of]
    for d in range(D):
        if not np.isfinite(curve.levels[d]).any():
            continue
        # Standardised scores are normal scores over their own standard deviation.
        _, count = np.unique(data.y[answered[:, d], d].round(9), return_counts=True)
        own = count / count.sum()
        unit = float(np.sqrt((own * normal_scores(own) ** 2).sum()))
        n = len(own)
        shares[d, :n], cuts[d, : n - 1], sd[d] = own, pool_thresholds(own) / unit, 1 / unit
    return Thresholds(cuts, shares, sd)


def _warp(data: ItemData, ends: Bounds) -> Warp:
    answered, found = data.answered[data.profile_of], []
    for d in range(data.D):
        y = data.y[answered[:, d], d]
        many = len(np.unique(y)) > MOST_LEVELS and data.answers()[:, d].max(initial=0) >= FEWEST_RATINGS
        low, high = (
            end if np.isfinite(end) else edge
            for end, edge in zip((ends.low[d], ends.high[d]), (y.min(initial=0), y.max(initial=0)), strict=True)
        )
        found.append(pooled_knots(y, float(low), float(high)) if many else np.zeros(0))
    knots = np.full((data.D, max(max(map(len, found)), 2)), np.nan)
    for d, own in enumerate(found):
        knots[d, : len(own)] = own
    return Warp(knots)


def response_note(response: Response, reading: FittedReading | None, answers: np.ndarray) -> dict[str, Any]:
    """What the summary says of it; `answers` (K, D) ratings of each annotator."""
    if response == "linear" or reading is None:
        return {}
    D = answers.shape[1]
    note: dict[str, Any] = {"kind": response, "dimensions": sum(map(reading.reading.reads, range(D)))}
    if response == "warp":
        note["annotators"] = int((answers >= FEWEST_RATINGS).any(axis=1).sum())
    return {"response": note}


def response_arrays(reading: FittedReading | None, scaling: Scaling) -> dict[str, np.ndarray]:
    """The reading of ratings as it is saved."""
    if reading is None:
        return {}
    curve = {} if scaling.curve is None else scaling.curve._asdict()
    curve = {f"curve_{name}": part for name, part in curve.items() if part is not None}
    own = reading.reading
    assert isinstance(own, Thresholds | Warp)
    return {**curve, "response_shape": reading.shape, **{f"response_{k}": a for k, a in own._asdict().items()}}


def restore_response(arrays: dict[str, np.ndarray]) -> tuple[FittedReading | None, Curve | None]:
    """The reading of a saved fit and the curve of its scaling."""
    if "response_shape" not in arrays:
        return None, None
    shape = arrays["response_shape"]
    if "response_knots" in arrays:
        return FittedReading(Warp(arrays["response_knots"]), shape), None
    reading = Thresholds(*(arrays[f"response_{name}"] for name in Thresholds._fields))
    return FittedReading(reading, shape), Curve(*(arrays.get(f"curve_{name}") for name in Curve._fields))  # type: ignore[arg-type]
