"""What a fit of items works on: settings that make sense, standardised ratings, censoring, and what ratings stand for.

Ratings of a few kinds that lie at the minimum or maximum of the scale are treated as censored: the latent rating is at
least half a step inside, or beyond. Dimensions for which that says nothing are read as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError, SettingsError
from unisono.fusers import standardisation, warm_start
from unisono.fusers.standardisation import FeatureSpace, Scaling
from unisono.maths.items import annotator_rows, item_data
from unisono.maths.items.censored_answers import EndAnswers, Typical
from unisono.maths.items.item_params import ItemParams, Structure
from unisono.maths.structure_words import BENT, ITEM_WORDS, EstimateScale, Noise, Transform, require_word
from unisono.tables import Ends, ItemTable, Ratings, Scale, labels, rating_checks, scale_inference
from unisono.tables.scale_inference import Lattice, Phases

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


def check_settings(structure: Structure, inference: str, anchor: str, estimate: EstimateScale | None) -> None:
    """Raises a SettingsError that says what there is, or what a choice needs."""
    if structure.transform == BENT:
        raise SettingsError("transform='curved' is a model of its own: un.items.Curved, or model='curved'.")
    require_word("inference", inference, ITEM_WORDS["inference"])
    require_word("anchor", anchor, ITEM_WORDS["anchor"])
    if estimate is not None:
        require_word("estimate", estimate, ITEM_WORDS["estimate"])
    if structure.noise == "shared" and inference == "ml":
        raise SettingsError("noise='shared' needs inference='bayes'; maximum likelihood has 'scaled' and 'full'.")
    if estimate == "matched" and inference == "ml":
        raise SettingsError("estimate='matched' needs inference='bayes'; maximum likelihood gives the posterior mean.")
    if anchor == "uncorrelated" and (structure.transform, structure.latent) != ("full", "full"):
        raise SettingsError("anchor='uncorrelated' turns the dimensions, so it needs transform='full', latent='full'.")


def answer_kinds(value: np.ndarray, annotator_of: np.ndarray, K: int, scale: Scale) -> list[Lattice]:
    """How the answers (J, D) of every dimension lie on its scale, NaN where missing, by annotators (J,)."""
    seen = (np.unique(column[~np.isnan(column)], return_counts=True) for column in value.T)

    def phases(d: int, ends: Ends, step: float) -> Phases:
        return scale_inference.phases_of(value[:, d], annotator_of, K, ends, step)

    return [kinds_on(*own, ends, d, phases) for d, (own, ends) in enumerate(zip(seen, scale, strict=True))]


PhasesAt = Callable[[int, Ends, float], Phases]  # of a dimension, on a lattice between two ends


def kinds_on(value: np.ndarray, times: np.ndarray, ends: Ends | None, d: int, phases: PhasesAt) -> Lattice:
    """The same of dimension d, from its different answers (n,) in order and how often each was given (n,)."""
    found = scale_inference.NUMBERS if ends is None else scale_inference.answer_lattice(value, times, *ends)
    if ends is None or not found.weight:
        return found
    ends = scale_inference.reached(*ends, float(value[0]), float(value[-1]))
    return scale_inference.shown_by_several(found, ends, phases(d, ends, found.step))


def earlier_kinds(ends: EndAnswers | None, scaling: Scaling) -> list[Lattice]:
    """Those of an earlier fit: a batch is read as those before it."""
    if ends is None:
        return [scale_inference.NUMBERS] * len(scaling.scale)
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
    weight = annotator_rows.weight_of_gain(gain)
    total = weight.sum(axis=0)
    own = np.where(total > 0, (weight * noise).sum(axis=0) / np.where(total > 0, total, 1.0), np.diagonal(params.N[-1]))
    spread = own + params.cov[-1, :, -1, -1]
    return Typical(ends, np.where(observed, np.inf, spread), np.ones(D), np.zeros(D))


def ends_note(typical: Typical | None) -> dict[str, Any]:
    """What the summary says of dimensions on which answers at an end stand for numbers beyond as well."""
    if typical is None:
        return {}
    return {"response": {"kind": "ends", "dimensions": int(typical.ends.read.sum())}}


class Prepared(NamedTuple):
    """Ratings as given and as the maths wants them."""

    ratings: Ratings
    scaling: Scaling
    space: FeatureSpace
    data: item_data.ItemData
    earlier: warm_start.PriorFit | None
    scale: Scale  # of the truth: that of the answers, made wide enough for known truths
    ends: item_data.Bounds  # of the answers, standardised
    end_answers: EndAnswers | None  # of dimensions whose answers there say "here or beyond"


def prepared(
    ratings: Ratings,
    features: ItemTable | None,
    gold: ItemTable | None,
    earlier: warm_start.PriorFit | None,
    *,
    paper: bool,
    censored: bool = False,
) -> Prepared:
    """In common units, or in those of the earlier fit; `paper` has one unit for all dimensions and no intercept.

    `censored`: answers that are kinds, at an end of the scale say "here or beyond".
    """
    if earlier is not None:
        scaling = earlier.scaling
    else:
        value = ratings.value
        scaling = (
            standardisation.common_scaling(value)
            if paper
            else standardisation.annotator_scaling(value, ratings.annotator_of, ratings.K)
        )
    # One ridge for all features makes sense only in common units; the paper takes features as they are.
    space, scores = standardisation.learn_space(features, ratings.items, intercept=not paper, standardise=not paper)
    value = scaling.standardise(ratings.value)
    value = standardisation.without_dust(value) if paper else value
    data = item_data.prepare(value, ratings.item_of, ratings.annotator_of, scores, ratings.K)
    answers = ratings.scale
    if earlier is not None:
        # A batch that shows less of the scale than the one before was given on the same one.
        answers = answers.joined(earlier.scale).widened(ratings.value, ratings.dimensions, ratings.source)
    at_ends = None
    if censored:
        own = ratings.value, ratings.annotator_of, ratings.K
        kinds = answer_kinds(*own, answers) if earlier is None else earlier_kinds(earlier.ends, scaling)
        at_ends = find_ends(kinds, answers, scaling)
    scale = scale_inference.for_origins(answers, ratings.value, ratings.annotator_of)
    if gold is not None:
        known = gold_values(gold, ratings)
        scale = scale.widened(known, ratings.dimensions, gold.source, ratings.items)
        data = data._replace(gold=scaling.standardise(known))
    data = data._replace(cuts=None if at_ends is None else at_ends.cuts)
    return Prepared(ratings, scaling, space, data, earlier, scale, standardised_ends(answers, scaling), at_ends)


def standardised_ends(scale: Scale, scaling: Scaling) -> item_data.Bounds:
    """The ends of a scale in standardised units."""
    return item_data.Bounds(scaling.standardise(scale.low), scaling.standardise(scale.high))


def gold_values(gold: ItemTable, ratings: Ratings) -> np.ndarray:
    """(M, D) known truths in the order of the ratings' items and dimensions, NaN where not known."""
    rating_checks.require_known_items(gold, ratings)
    place = {item: m for m, item in enumerate(ratings.items)}
    known = np.full((ratings.M, ratings.D), np.nan)
    rows = np.array([place[item] for item in gold.items], dtype=np.int64)
    known[rows] = in_dimensions(gold, ratings.dimensions)
    return known


def in_dimensions(gold: ItemTable, dimensions: Sequence[str]) -> np.ndarray:
    """(G, D) known truths of the table's items in the order of these dimensions."""
    shared = [name for name in dimensions if name in gold.columns]
    if not shared:
        raise DataError(
            f"{gold.source} has the columns {labels.listed(gold.columns)}, none of which was rated: "
            f"the dimensions are {labels.listed(dimensions)}."
        )
    known = np.full((gold.M, len(dimensions)), np.nan)
    for name in shared:
        known[:, dimensions.index(name)] = gold.value[:, gold.columns.index(name)]
    return known
