"""Estimation in standardised units, by maximum likelihood or by variational Bayes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unisono.fusers.base import Progress
from unisono.fusers.newcomers import with_newcomer
from unisono.maths.em import EmTrace, Stop, relative_change, run_em
from unisono.maths.items.classes import expected_gain
from unisono.maths.items.components import PairSums
from unisono.maths.items.data import ItemData
from unisono.maths.items.gauge import recentre
from unisono.maths.items.gold import Turned, turned_by_gold
from unisono.maths.items.levels import Levels, tails
from unisono.maths.items.ml import MlSettings, em_step, paper_start
from unisono.maths.items.params import ItemParams
from unisono.maths.items.priors import Priors
from unisono.maths.items.readings import FittedReading, Reading
from unisono.maths.items.start import bayes_settings, bayes_start
from unisono.maths.items.state import BayesSettings, BayesState
from unisono.maths.items.structure import Structure, free_coefficients
from unisono.maths.items.vb import bayes_step, settled
from unisono.maths.raters.diagnosis import Diagnosis
from unisono.maths.raters.gain_prior import competence, with_gain_priors
from unisono.words import Anchor

FEWEST_COMPARED = 3  # numerical: of two annotators whose answers differ nothing says which one exaggerates


class Estimate(NamedTuple):
    """What estimation gives in standardised units, whichever way it went."""

    params: ItemParams  # under bayes with the newcomer as one more annotator
    trace: EmTrace
    theta_var: np.ndarray  # (R,) variances of theta's rows relative to Sigma; zero under ml
    reading: FittedReading | None = None  # of ratings that are no numbers; its last shape is the newcomer's
    turned: TurnedEstimate | None = None  # of dimensions that known truths turned


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
    *,
    moments: tuple[Levels, PairSums] | None = None,
    reading: Reading | None = None,
) -> BayesSettings:
    """Settings of the variational model for an anchor; with a diagnosis, the average anchor has its gain priors.

    `moments`: those behind the targets, where the rows of the ratings lie elsewhere.
    """
    if anchor == "uncorrelated":
        # The correlation of the rated dimensions is what the annotators' common mixing is told from.
        return bayes_settings(data, structure, priors, floor, correlated=False, reading=reading)
    raters = int((data.by_annotator(data.judgements) > 0).sum())
    if diagnosis is not None and anchor == "average" and raters < FEWEST_COMPARED:
        structure = structure._replace(transform="identity")
    settings = bayes_settings(
        data, structure, priors, floor, moments=moments, anchored=anchor != "none", reading=reading
    )
    if diagnosis is None or anchor != "average" or settings.structure.transform == "identity":
        return settings
    return with_gain_priors(data, settings, diagnosis())


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


def estimate_bayes(data: ItemData, settings: BayesSettings, run: Run) -> Estimate:
    """Variational EM without known truths; beside it what these turn, where that is better."""
    blind = data._replace(gold=None)

    def found(state: BayesState, trace: EmTrace) -> Estimate:
        return estimate_at(blind, state, trace, settings)

    state, trace = _climb(blind, bayes_start(blind, settings), settings, run, found)
    if data.gold is None:
        return found(state, trace)

    def climb(part: ItemData, start: BayesState, how: BayesSettings) -> tuple[BayesState, EmTrace]:
        return _climb(part, start, how, run._replace(on_estimate=None), found)

    turned = turned_by_gold(data, state, float(trace.objective[-1]), settings, climb)
    return found(state, trace)._replace(turned=None if turned is None else _turned_estimate(turned, settings))


def _climb(
    data: ItemData,
    start: BayesState,
    settings: BayesSettings,
    run: Run,
    found: Callable[[BayesState, EmTrace], Estimate],
) -> tuple[BayesState, EmTrace]:
    return run_em(
        lambda s: bayes_step(data, s, settings),
        start,
        stop_when=settled(run.tol),
        max_iter=run.max_iter,
        on_step=reporter(run, found),
    )


def _turned_estimate(turned: Turned, settings: BayesSettings) -> TurnedEstimate:
    """With a newcomer, and in the coordinates of the known truths."""
    state = turned.state
    params = _with_crowd(turned.data, state.params, state, settings, settings.structure._replace(transform="full"))
    estimate = Estimate(params, turned.trace, state.hyper.theta_var)
    return TurnedEstimate(turned.dims, turned.better, turned.data, estimate, turned.missed)


def estimate_at(data: ItemData, state: BayesState, trace: EmTrace, settings: BayesSettings) -> Estimate:
    """The estimate of a state: in the coordinates that the anchor promises, and with a newcomer."""
    params = reported(data, state, settings)
    everybody = _with_crowd(data, params, state, settings, settings.structure)
    return Estimate(everybody, trace, state.hyper.theta_var, _read(state, settings))


def _read(state: BayesState, settings: BayesSettings) -> FittedReading | None:
    """How ratings of annotators and of a newcomer are read."""
    if settings.reading is None:
        return None
    fitted = state.read(settings.reading)
    return fitted._replace(shape=np.concatenate([fitted.shape, settings.reading.start(1)]))


def reported(data: ItemData, state: BayesState, settings: BayesSettings) -> ItemParams:
    """Parameters in the coordinates that an anchor promises: the average competent annotator answers the truth."""
    if not settings.anchored:
        return state.params
    weight = data.by_annotator(data.judgements) * competence(state.params, expected_gain(state.hyper.classes))
    return recentre(state.params, settings.structure, weight) if weight.any() else state.params


def _with_crowd(
    data: ItemData, params: ItemParams, state: BayesState, settings: BayesSettings, structure: Structure
) -> ItemParams:
    """Parameters with a newcomer, of whom what is known of everybody is known."""
    hyper = state.hyper
    variance = 1 / hyper.precision(data.D)
    variance[:, -1] = np.diagonal(hyper.bias) * tails(settings.priors.bias_freedom)
    variance *= free_coefficients(structure, data.D)
    return with_newcomer(params, data.by_annotator(data.judgements), variance, hyper.pool)


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
