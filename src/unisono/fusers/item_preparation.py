"""What a fit of items works on: settings that make sense, standardised ratings, censoring, and what ratings stand for.

Ratings of a few kinds that lie at the minimum or maximum of the scale are treated as censored: the latent rating is at
least half a step inside, or beyond. `response` says what ratings stand for: numbers on a straight scale (`linear`),
ordered answers (`ordinal`: normal scores, around which every annotator has thresholds), or positions of a slider with a
private monotone function (`warp`, of annotators with a hundred ratings and more). Dimensions, and annotators, for which
that says nothing are read as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from unisono.errors import DataError, SettingsError
from unisono.fusers.standardisation import (
    Curve,
    FeatureSpace,
    Scaling,
    annotator_scaling,
    common_scaling,
    learn_space,
    without_dust,
)
from unisono.fusers.warm_start import PriorFit
from unisono.maths.items.annotator_rows import weight_of_gain
from unisono.maths.items.censored_estep import EndAnswers, Typical
from unisono.maths.items.item_data import Bounds, ItemData, prepare
from unisono.maths.items.item_params import ItemParams, Structure
from unisono.maths.items.latent_ratings import (
    FEWEST_RATINGS,
    FittedReading,
    Reading,
    Thresholds,
    Warp,
    normal_scores,
    pool_thresholds,
    pooled_knots,
)
from unisono.maths.structure_words import ITEM_WORDS, EstimateScale, Noise, Response, Transform, require_word
from unisono.tables.answer_scale import Ends, Scale
from unisono.tables.item_table import ItemTable
from unisono.tables.labels import listed
from unisono.tables.rating_checks import require_known_items
from unisono.tables.ratings import Ratings
from unisono.tables.scale_inference import NUMBERS, Lattice, answer_lattice, for_origins

TOLERANCE = 5e-3  # numerical: change of any truth that stops EM; costs .0002 against .001 and halves the iterations
MAX_ITERATIONS = 500  # numerical: far above what the default needs
VARIANCE_FLOOR = 1e-6  # numerical: of every variance; an annotator who fits perfectly would have an infinite likelihood

DEFAULT_NOISE: dict[str, Noise] = {"bayes": "shared", "ml": "scaled"}
DEFAULT_TOL = {"bayes": TOLERANCE, "ml": 1e-5}  # the paper's for ml
DEFAULT_MAX_ITER = {"bayes": MAX_ITERATIONS, "ml": 2000}


def default_noise(inference: str) -> Noise:
    """The form of the noise that belongs to a way of estimating."""
    return DEFAULT_NOISE.get(inference, "shared")


def default_transform(inference: str, anchor: str) -> Transform:
    """What annotators may do to the truth: leakage needs known truths, the paper's assumption, or no anchor at all."""
    return "gain" if (inference, anchor) == ("bayes", "average") else "full"


def check_settings(
    structure: Structure, inference: str, anchor: str, estimate: EstimateScale | None, panel: float
) -> None:
    """Raises a SettingsError that says what there is, or what a choice needs."""
    require_word("inference", inference, ITEM_WORDS["inference"])
    require_word("anchor", anchor, ITEM_WORDS["anchor"])
    if estimate is not None:
        require_word("estimate", estimate, ITEM_WORDS["estimate"])
    if structure.noise == "shared" and inference == "ml":
        raise SettingsError("noise='shared' needs inference='bayes'; maximum likelihood has 'scaled' and 'full'.")
    if estimate == "matched" and inference == "ml":
        raise SettingsError("estimate='matched' needs inference='bayes'; maximum likelihood gives the posterior mean.")
    if not panel > 0:
        raise SettingsError(f"panel={panel!r}: give a number of annotators above 0.")
    if anchor == "uncorrelated" and (structure.transform, structure.latent) != ("full", "full"):
        raise SettingsError("anchor='uncorrelated' turns the dimensions, so it needs transform='full', latent='full'.")


def answer_kinds(value: np.ndarray, scale: Scale) -> list[Lattice]:
    """How the answers (J, D) of every dimension lie on its scale, NaN where missing."""
    seen = (np.unique(column[~np.isnan(column)], return_counts=True) for column in value.T)
    return [kinds_on(*own, ends) for own, ends in zip(seen, scale, strict=True)]


def kinds_on(value: np.ndarray, times: np.ndarray, ends: Ends | None) -> Lattice:
    """The same of one dimension, from its different answers (n,) in order and how often each was given (n,)."""
    return NUMBERS if ends is None else answer_lattice(value, times, *ends)


def earlier_kinds(ends: EndAnswers | None, scaling: Scaling) -> list[Lattice]:
    """Those of an earlier fit: a batch is read as those before it."""
    if ends is None:
        return [NUMBERS] * len(scaling.scale)
    weight = np.where(ends.read, ends.weight, 0.0)
    return [Lattice(float(step), float(own)) for step, own in zip(ends.step * scaling.scale, weight, strict=True)]


def find_ends(kinds: Sequence[Lattice], scale: Scale, scaling: Scaling) -> EndAnswers | None:
    """The ends of a scale on which answers, in the user's units, are so much `kinds`; None where all are numbers."""
    weight = np.array([own.weight for own in kinds])
    step = np.where(weight > 0, [own.step for own in kinds], 0.0) / scaling.scale
    low, high = scaling.standardise(scale.low), scaling.standardise(scale.high)
    found = EndAnswers(np.where(weight > 0, low, -np.inf), np.where(weight > 0, high, np.inf), step, weight)
    return found if found.any else None


def typical_annotators(
    ends: EndAnswers | None, params: ItemParams, observed: np.ndarray | bool = False
) -> Typical | None:
    """How competent annotators answer on such a scale: spammers would have it that nobody reaches its ends.

    Where known truths were `observed` (D,), truths are on their scale, whatever annotators make of it.
    """
    if ends is None:
        return None
    assert params.cov is not None
    D = len(ends.low)
    gain, noise = (np.diagonal(part[:-1], axis1=1, axis2=2) for part in (params.F, params.N))
    weight = weight_of_gain(gain)
    total = weight.sum(axis=0)
    own = np.where(total > 0, (weight * noise).sum(axis=0) / np.where(total > 0, total, 1.0), np.diagonal(params.N[-1]))
    spread = own + params.cov[-1, :, -1, -1]
    return Typical(ends, np.where(observed, np.inf, spread), np.ones(D), np.zeros(D))


def ends_note(typical: Typical | None) -> dict[str, Any]:
    """What the summary says of dimensions on which answers at an end stand for numbers beyond as well."""
    if typical is None:
        return {}
    return {"response": {"kind": "ends", "dimensions": int(typical.ends.read.sum())}}


def ends_arrays(typical: Typical | None) -> dict[str, np.ndarray]:
    """The ends of the scale as they are saved."""
    if typical is None:
        return {}
    parts = typical.ends._asdict() | {name: part for name, part in typical._asdict().items() if name != "ends"}
    return {f"end_{name}": np.asarray(part) for name, part in parts.items()}


def restore_ends(arrays: dict[str, np.ndarray]) -> Typical | None:
    """The ends of the scale of a saved fit; those of older versions began at the end itself."""
    if "end_low" not in arrays:
        return None
    low, high, spread = (arrays[f"end_{name}"] for name in ("low", "high", "spread"))
    step, weight = arrays.get("end_step", np.zeros_like(spread)), arrays.get("end_weight", np.ones_like(spread))
    ends = EndAnswers(low, high, step, weight)
    scale, offset = arrays.get("end_scale", np.ones_like(spread)), arrays.get("end_offset", np.zeros_like(spread))
    return Typical(ends, spread, scale, offset)


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


class Prepared(NamedTuple):
    """Ratings as given and as the maths wants them."""

    ratings: Ratings
    scaling: Scaling
    space: FeatureSpace
    data: ItemData
    earlier: PriorFit | None
    scale: Scale  # of the truth: that of the answers, made wide enough for known truths
    ends: Bounds  # of the answers, standardised
    end_answers: EndAnswers | None  # of dimensions whose answers there say "here or beyond"


def prepared(
    ratings: Ratings,
    features: ItemTable | None,
    gold: ItemTable | None,
    earlier: PriorFit | None,
    *,
    paper: bool,
    response: Response = "linear",
    censored: bool = False,
) -> Prepared:
    """In common units, or in those of the earlier fit; `paper` has one unit for all dimensions and no intercept.

    `censored`: answers that are kinds, at an end of the scale say "here or beyond".
    """
    if earlier is not None:
        scaling = earlier.scaling
    else:
        curve = answer_curve(ratings.value, ratings.dimensions, ratings.source) if response == "ordinal" else None
        value = ratings.value if curve is None else curve.forward(ratings.value)
        scaling = common_scaling(value) if paper else annotator_scaling(value, ratings.annotator_of, ratings.K)
        scaling = scaling._replace(curve=curve)
    # One ridge for all features makes sense only in common units; the paper takes features as they are.
    space, scores = learn_space(features, ratings.items, intercept=not paper, standardise=not paper)
    value = scaling.standardise(ratings.value)
    value = without_dust(value) if paper else value
    data = prepare(value, ratings.item_of, ratings.annotator_of, scores, ratings.K)
    answers = ratings.scale
    if earlier is not None:
        # A batch that shows less of the scale than the one before was given on the same one.
        answers = answers.joined(earlier.scale).widened(ratings.value, ratings.dimensions, ratings.source)
    at_ends = None
    if censored:
        kinds = answer_kinds(ratings.value, answers) if earlier is None else earlier_kinds(earlier.ends, scaling)
        at_ends = find_ends(kinds, answers, scaling)
    scale = for_origins(answers, ratings.value, ratings.annotator_of)
    if gold is not None:
        known = gold_values(gold, ratings)
        scale = scale.widened(known, ratings.dimensions, gold.source, ratings.items)
        data = data._replace(gold=scaling.standardise(known))
    data = data._replace(cuts=None if at_ends is None else at_ends.cuts)
    return Prepared(ratings, scaling, space, data, earlier, scale, standardised_ends(answers, scaling), at_ends)


def standardised_ends(scale: Scale, scaling: Scaling) -> Bounds:
    """The ends of a scale in standardised units."""
    return Bounds(scaling.standardise(scale.low), scaling.standardise(scale.high))


def gold_values(gold: ItemTable, ratings: Ratings) -> np.ndarray:
    """(M, D) known truths in the order of the ratings' items and dimensions, NaN where not known."""
    require_known_items(gold, ratings)
    place = {item: m for m, item in enumerate(ratings.items)}
    dims = [name for name in ratings.dimensions if name in gold.columns]
    if not dims:
        raise DataError(
            f"{gold.source} has the columns {listed(gold.columns)}, none of which was rated: "
            f"the dimensions are {listed(ratings.dimensions)}."
        )
    known = np.full((ratings.M, ratings.D), np.nan)
    rows = np.array([place[item] for item in gold.items], dtype=np.int64)
    for name in dims:
        known[rows, ratings.dimensions.index(name)] = gold.value[:, gold.columns.index(name)]
    return known
