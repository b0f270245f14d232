"""What a fit of the joint model takes over from an estimate, and what known truths turn, set, or are refused for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unisono.fusers.gold_refusal import require_meaning
from unisono.fusers.items.calibration import estimated_truth
from unisono.fusers.items.ends import typical_annotators
from unisono.fusers.items.estimate import Estimate, TurnedEstimate, sum_of_traces
from unisono.fusers.items.gold import at_known_level, known_level, report_gold
from unisono.fusers.items.posteriors import ItemPosteriors
from unisono.fusers.items.prepared import Prepared
from unisono.fusers.items.response import with_expected_answers
from unisono.fusers.items.turned import TurnedFit, part_of
from unisono.fusers.items.warm_start import evidence_counts
from unisono.maths.items.gauge import uncorrelate

if TYPE_CHECKING:
    from unisono.fusers.items.joint import Joint


def learn(fuser: Joint, estimate: Estimate, given: Prepared, *, observed: bool = False) -> Joint:
    """Gives an unfitted fuser an estimate; `observed`: that had the known truths among its observations."""
    ratings, known = given.ratings, given.data.gold
    data = given.data if observed else given.data._replace(gold=None)
    fuser.space_, fuser.scale_ = given.space, given.scale
    fuser.dimensions_, fuser.annotators_ = ratings.dimensions, ratings.annotators
    uncorrelated = fuser.anchor == "uncorrelated" and not observed
    fuser.params_ = uncorrelate(estimate.params) if uncorrelated else estimate.params
    fuser.trace_, fuser.theta_var_ = estimate.trace, estimate.theta_var
    fuser.ends_ = typical_annotators(given.end_answers, estimate.params, observed)
    fuser.reading_ = estimate.reading
    # Known truths are on the curve of the answers themselves.
    told = np.zeros(data.D, dtype=bool) if known is None else ~np.isnan(known).all(axis=0)
    fuser.scaling_ = with_expected_answers(given.scaling, estimate.reading, fuser.params_, told)
    fuser._calibrated, fuser._continued = None, given.earlier is not None
    judgements = data.by_annotator(data.judgements)
    behind = evidence_counts(judgements, ratings.M, ratings.annotators, given.earlier)
    fuser.judgements_, fuser.items_behind_ = behind
    fuser._known, fuser._ratings = known, ratings
    fuser._items = ItemPosteriors(data, fuser.params_, fuser.ends_, fuser.reading_)
    if known is not None and not observed:
        _use_known_truths(fuser, known, estimate.turned, given)
    return fuser


def _use_known_truths(fuser: Joint, known: np.ndarray, turned: TurnedEstimate | None, given: Prepared) -> None:
    """They turn dimensions, or set level and scale; the report tells what they did."""
    if turned is not None:
        part = learn(fuser.alike(), turned.estimate, part_of(given, turned.dims, turned.data), observed=True)
        fuser.turned_ = TurnedFit(part, turned.dims, turned.better, turned.missed)
        whole = fuser.turned_.everything(len(fuser.dimensions_))
        fuser.trace_ = part.trace_ if whole else sum_of_traces([fuser.trace_, part.trace_])
    estimate, _ = estimated_truth(fuser._items, fuser.calibration_, given.ends)
    found = known_level(estimate, known, fuser.turned_, obeyed=fuser.gold_anyway)
    fuser.set_calibration(at_known_level(fuser.calibration_, found.scale, found.offset))
    fuser._items = fuser._items.mapped(found.scale, found.offset)
    fuser.params_, fuser.ends_ = fuser._items.params, fuser._items.ends
    level = fuser.turned_, fuser.parameters(), fuser.scaling_
    fuser.gold_ = report_gold(fuser.dimensions_, known, estimate, found, *level)


def require_sound_gold(fuser: Joint, source: str) -> None:
    """A DataError where known truths cannot mean what ratings mean; nothing is left of a fit that is refused."""
    assert fuser.gold_ is not None
    slopes, dimensions = fuser.gold_.slopes, fuser.dimensions_
    if any(slope.refuted for slope in slopes):
        fuser.forget()
    require_meaning(source, dimensions, slopes)
