"""Estimation of the models of items in standardised units, by maximum likelihood or by variational Bayes.

The estimate; what a fuser takes over from it, with what known truths turn or set; and the same as
arrays of a saved fit, and back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unisono.fusers import gold_items, item_posteriors, standardisation, warm_start
from unisono.fusers.fuser import Progress
from unisono.fusers.fusion_results import SharedError
from unisono.fusers.gold_items import Blind, KnownLevel, TurnedFit
from unisono.fusers.item_preparation import Prepared, typical_annotators
from unisono.maths.em_loop import EmTrace, Stop, relative_change, run_em
from unisono.maths.items.annotator_levels import tails
from unisono.maths.items.annotator_rows import expected_gain
from unisono.maths.items.bayes_bound import BayesSettings, BayesState
from unisono.maths.items.bayes_em import bayes_step, settled
from unisono.maths.items.bayes_start import bayes_settings, bayes_start
from unisono.maths.items.item_data import ItemData
from unisono.maths.items.item_gold import Climb, Turned, turned_by_gold
from unisono.maths.items.item_params import (
    ItemParams,
    Structure,
    allowed,
    change_of_truth,
    free_coefficients,
    uncorrelate,
    weighted_rows,
)
from unisono.maths.items.item_priors import Priors
from unisono.maths.items.judgement_weights import equal_weights, long_tails, tail_sums
from unisono.maths.items.likelihood_em import MlSettings, em_step, paper_start
from unisono.maths.items.truth_level import population_level, unit_variance
from unisono.maths.raters.rater_diagnosis import Diagnosis, class_priors, competence
from unisono.maths.structure_words import Anchor

if TYPE_CHECKING:
    from unisono.fusers.joint_items import Joint


FEWEST_COMPARED = 2  # numerical: annotators whose answers can be compared at all


class Estimate(NamedTuple):
    """What estimation gives in standardised units, whichever way it went."""

    params: ItemParams  # under bayes with the newcomer as one more annotator
    trace: EmTrace
    theta_var: np.ndarray  # (R,) variances of theta's rows relative to Sigma; zero under ml
    turned: TurnedEstimate | None = None  # of dimensions that known truths turned
    level: SharedError | None = None  # error of the truth's level; None: it is known


class TurnedEstimate(NamedTuple):
    """A fit of some dimensions with known truths among its observations, which hold the coordinates."""

    dims: np.ndarray  # (s,) which of all dimensions it has
    better: np.ndarray  # (s,) bool, of which it is better than a fit without known truths
    data: ItemData
    estimate: Estimate
    missed: np.ndarray  # (s,) error on known truths that were hidden from it


OnEstimate = Callable[[int, Estimate], None]  # iteration, the estimate there


class Run(NamedTuple):
    """Stopping rule and callbacks."""

    tol: float
    max_iter: int
    on_step: Progress | None = None
    on_estimate: OnEstimate | None = None


def anchored_settings(
    data: ItemData,
    structure: Structure,
    priors: Priors,
    floor: np.ndarray,
    anchor: Anchor,
    diagnosis: Callable[[], Diagnosis] | None,
) -> BayesSettings:
    """Settings of the variational model for an anchor; with a diagnosis, the average anchor has its gain priors."""
    if anchor == "uncorrelated":
        # The correlation of the rated dimensions is what the annotators' common mixing is told from.
        return bayes_settings(data, structure, priors, floor, correlated=False)
    judgements, classes, crowd = data.by_annotator(data.judgements), None, None
    if diagnosis is not None and anchor == "average":
        raters = int((judgements > 0).sum())
        if raters < FEWEST_COMPARED:
            structure = structure._replace(transform="identity")
        # Where two disagree nothing says which one is a spammer.
        if structure.transform != "identity" and raters > FEWEST_COMPARED:
            found = diagnosis()
            classes, crowd = (class_priors(found, judgements, varied=varied) for varied in (True, False))
    return bayes_settings(data, structure, priors, floor, classes=classes, crowd=crowd, anchored=anchor != "none")


def estimate_ml(data: ItemData, settings: MlSettings, run: Run) -> Estimate:
    """The paper's EM, for any structure."""

    def found(params: ItemParams, trace: EmTrace) -> Estimate:
        return Estimate(params, trace, np.zeros(data.scores.R))

    params, trace = run_em(
        lambda p: em_step(data, p, settings),
        paper_start(data, settings),
        stop_when=relative_change(run.tol),
        max_iter=run.max_iter,
        on_step=reporter(run, found),
    )
    return found(params, trace)


def estimate_bayes(data: ItemData, settings: BayesSettings, run: Run, climb: Climb | None = None) -> Estimate:
    """Variational EM without known truths; beside it what these turn, where that is better.

    `climb`: how EM climbs where the rows of the ratings lie elsewhere.
    """
    blind = data._replace(gold=None)

    def found(state: BayesState, trace: EmTrace) -> Estimate:
        return estimate_at(blind, state, trace, settings)

    def here(part: ItemData, start: BayesState, how: BayesSettings) -> tuple[BayesState, EmTrace]:
        listening = run if part is blind else run._replace(on_estimate=None)
        return run_em(
            lambda s: bayes_step(part, s, how),
            start,
            stop_when=settled(run.tol),
            max_iter=run.max_iter,
            on_step=reporter(listening, found),
        )

    climb = here if climb is None else climb
    state, trace = climb(blind, bayes_start(blind, settings), settings)
    estimate = found(*_weighed(blind, state, trace, settings, climb))
    if data.gold is None:
        return estimate
    turned = turned_by_gold(data, state, float(trace.objective[-1]), settings, climb)
    return estimate._replace(turned=None if turned is None else _turned_estimate(turned, settings))


def _weighed(
    data: ItemData, plain: BayesState, trace: EmTrace, settings: BayesSettings, climb: Climb
) -> tuple[BayesState, EmTrace]:
    """The same model with precisions of judgements and items, where normal errors do not describe the ratings.

    From the start, not from the normal fit, whose truths and noise have come to terms with slips.
    """
    if not settings.slips or not long_tails(data.total(tail_sums, plain.params)):
        return plain, trace
    start = bayes_start(data, settings)._replace(weights=equal_weights(data))
    state, weighed = climb(data, start, settings)
    return (state, weighed) if weighed.objective[-1] > trace.objective[-1] else (plain, trace)


def _turned_estimate(turned: Turned, settings: BayesSettings) -> TurnedEstimate:
    """With a newcomer, and in the coordinates of the known truths."""
    state = turned.state
    params = _with_crowd(turned.data, state.params, state, settings, settings.structure._replace(transform="full"))
    estimate = Estimate(params, turned.trace, state.hyper.theta_var)
    return TurnedEstimate(turned.dims, turned.better, turned.data, estimate, turned.missed)


def estimate_at(data: ItemData, state: BayesState, trace: EmTrace, settings: BayesSettings) -> Estimate:
    """The estimate of a state: in the coordinates that the anchor promises, and with a newcomer."""
    params, level = reported(data, state, settings)
    everybody = _with_crowd(data, params, state, settings, settings.structure)
    return Estimate(everybody, trace, state.hyper.theta_var, level=level)


def reported(data: ItemData, state: BayesState, settings: BayesSettings) -> tuple[ItemParams, SharedError | None]:
    """Parameters in the coordinates that an anchor promises, and the error of their level.

    The average competent annotator answers the truth: units are those of who answers most, the level is that of the
    population that annotators come from.
    """
    structure, params, level = settings.structure, state.params, None
    if not settings.anchored:
        return params, None
    average = params.mean_truth(data.scores)
    judgements = data.by_annotator(data.judgements)
    hyper = state.hyper if settings.crowd is None else state.hyper._replace(classes=settings.crowd)
    weight = judgements * competence(params, expected_gain(hyper.classes))
    if structure.bias and structure.intercept:
        level = population_level(params, hyper, average, judgements > 0, weight > 0, settings.priors.bias_freedom)
    if level is not None:
        params, average = change_of_truth(params, np.eye(data.D), level.at), average + level.at
    A = allowed(structure, weighted_rows(params, weight)[:, :-1]) if weight.any() else None
    if A is None:
        A = np.eye(data.D)
    kept = average - A @ average if structure.bias and structure.intercept else np.zeros(data.D)
    params = change_of_truth(params, A, kept)
    if level is None:
        return params, None
    unit = unit_variance(params, hyper, weight)
    return params, SharedError(A @ level.cov @ A.T, level.freedom, unit, A @ average + kept)


def _with_crowd(
    data: ItemData, params: ItemParams, state: BayesState, settings: BayesSettings, structure: Structure
) -> ItemParams:
    """Parameters with a newcomer, of whom what is known of everybody is known."""
    hyper = state.hyper
    variance = 1 / hyper.precision(data.D)
    variance[:, -1] = np.diagonal(hyper.bias) * tails(settings.priors.bias_freedom)
    variance *= free_coefficients(structure, data.D)
    return standardisation.with_newcomer(params, data.by_annotator(data.judgements), variance, hyper.pool)


def reporter(run: Run, estimate: Callable[[Any, EmTrace], Estimate]) -> Callable[[int, Any, float], None] | None:
    """What the EM loop calls, or nothing at all when nobody listens."""
    on_step, on_estimate = run.on_step, run.on_estimate
    if on_step is None and on_estimate is None:
        return None
    objective: list[float] = []

    def report(iteration: int, state: Any, value: float) -> None:
        objective.append(value)
        if on_step is not None:
            on_step(iteration, value)
        if on_estimate is not None:
            on_estimate(iteration, estimate(state, EmTrace(np.array(objective), "max_iter")))

    return report


def sum_of_traces(traces: list[EmTrace]) -> EmTrace:
    """Models that are done wait at their last value for the others."""
    longest = max(trace.iterations for trace in traces)
    padded = [np.pad(trace.objective, (0, longest - trace.iterations), mode="edge") for trace in traces]
    stop: Stop = "converged" if all(trace.converged for trace in traces) else "max_iter"
    return EmTrace(np.sum(padded, axis=0), stop)


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
    fuser.scaling_ = given.scaling
    fuser._calibrated, fuser._continued = None, given.earlier is not None
    # Turned dimensions have no scale that annotators' levels would lie on.
    fuser._level = None if uncorrelated or observed else estimate.level
    judgements = data.by_annotator(data.judgements)
    behind = warm_start.evidence_counts(judgements, ratings.M, ratings.annotators, given.earlier)
    fuser.judgements_, fuser.items_behind_ = behind
    fuser._known, fuser._ratings = known, ratings
    fuser._items = item_posteriors.ItemPosteriors(data, fuser.params_, fuser.ends_)
    if known is not None and not observed:
        _use_known_truths(fuser, known, estimate.turned, given)
    return fuser


def _use_known_truths(fuser: Joint, known: np.ndarray, turned: TurnedEstimate | None, given: Prepared) -> None:
    """They turn dimensions, or set level and scale; the report tells what they did."""
    if turned is not None:
        part = learn(fuser.alike(), turned.estimate, gold_items.part_of(given, turned.dims, turned.data), observed=True)
        fuser.turned_ = TurnedFit(part, turned.dims, turned.better, turned.missed)
        whole = fuser.turned_.everything(len(fuser.dimensions_))
        fuser.trace_ = part.trace_ if whole else sum_of_traces([fuser.trace_, part.trace_])
    estimate, _ = item_posteriors.estimated_truth(fuser._items, fuser.calibration_, given.ends)
    found = set_level(fuser, known, Blind(estimate, estimate.mean(axis=0), estimate.var(axis=0)))
    fuser._items = fuser._items.mapped(found.scale, found.offset)


def set_level(fuser: Joint, known: np.ndarray, blind: Blind) -> KnownLevel:
    """Parameters, ends and calibration at the level and scale of known truths (n, D) of items with these estimates."""
    found = gold_items.known_level(blind, known, fuser.turned_, obeyed=fuser.gold_anyway)
    n = np.count_nonzero(~np.isnan(known), axis=0)
    fuser.calibration_ = gold_items.at_known_level(fuser.calibration_, found.scale, found.offset, n)
    fuser.params_ = change_of_truth(fuser.params_, np.diag(found.scale), found.offset)
    fuser.ends_ = None if fuser.ends_ is None else fuser.ends_.mapped(found.scale, found.offset)
    level = fuser.turned_, fuser.parameters(), fuser.scaling_
    fuser.gold_ = gold_items.report_gold(fuser.dimensions_, known, blind, found, *level)
    return found
