"""What the model of comparisons holds while it is fitted: what is known before, the posteriors, and where both begin.

q is a normal of the truths, times a mixture over classes of normals of (gain, order effect) for every annotator;
thresholds, shares of answers at random and hyperparameters are points. `Prior` has what is known of the items: what
ratings, and known truths, say of them. `unit` (D,) has the logits in a unit of theirs; of dimensions without, the unit
is that of the average usual gain. `Earlier` has what an earlier fit says of annotators, each for himself and of all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from unisono.maths.comparisons import comparison_priors as priors
from unisono.maths.comparisons.comparison_data import TIE, ComparisonData
from unisono.maths.comparisons.comparison_solver import Coupling, Truths, coupling, solve

GAINS, COUNTS = np.array(priors.CLASS_GAINS), np.array(priors.CLASS_COUNTS)
PINNED = 1e-8  # numerical: variance of what is not learned


class Prior(NamedTuple):
    """What is known of the truths before any comparison: a population, and what ratings say of every item."""

    mean: np.ndarray  # (M, D) of the population
    Sigma: np.ndarray  # (D, D) what its covariance is drawn to, by so many imaginary
    items: float
    precision: np.ndarray  # (M, D, D) of what ratings say: -a'Pa / 2 + h'a
    shift: np.ndarray  # (M, D)
    rated: np.ndarray  # (D,) bool, dimensions that have the unit of ratings, or of known truths
    unit: np.ndarray  # (D,) logits in it, to begin with
    scores: np.ndarray  # (M, R) of features: truths are expected at mean + scores theta
    gold: np.ndarray | None = None  # (M, D) known truths, NaN where there are none

    def centre(self, hyper: Hyper) -> np.ndarray:
        """(M, D) where truths are expected."""
        return np.asarray(self.mean + self.scores @ hyper.theta)


def unrated(M: int, D: int) -> Prior:
    """Without ratings."""
    empty, none = np.zeros((M, D)), np.zeros(D, dtype=bool)
    return Prior(empty, np.eye(D), priors.TRUTH_ITEMS, np.zeros((M, D, D)), empty, none, np.ones(D), np.zeros((M, 0)))


class Hyper(NamedTuple):
    """What annotators and items have in common."""

    Sigma: np.ndarray  # (D, D)
    theta: np.ndarray  # (R, D) of features, its rows from N(0, Sigma)
    unit: np.ndarray  # (D,) logits per unit of the truths
    gain_var: float
    order_var: float
    order: float
    shares: np.ndarray  # (3,)
    tie: float  # logarithm of the median threshold; -inf without thresholds
    steps: np.ndarray  # (S,) thresholds of strengths, as multiples of the first that is not 0
    gold_var: np.ndarray  # (D,) how far known truths lie from those that annotators see
    slip: float  # log odds of the median share of answers at random
    random_tie: float  # of these, the share that are ties


class Crowd(NamedTuple):
    """q of the annotators."""

    prob: np.ndarray  # (K, 3) of the classes
    at: np.ndarray  # (K, 3, 2) means of gain and order effect, in each class
    cov: np.ndarray  # (K, 3, 2, 2)
    tau: np.ndarray  # (K,) thresholds
    tau_sd: np.ndarray  # (K,) sd of their logarithms
    slip: np.ndarray  # (K,) log odds of an answer at random
    slip_sd: np.ndarray  # (K,)


class Population(NamedTuple):
    """What imaginary annotators, and those of earlier fits, say of all annotators."""

    counts: np.ndarray  # (3,) of the classes
    gain_var: float
    order_var: float
    spread_n: float  # annotators behind both
    order: float
    order_n: float
    tie: float
    tie_precision: float
    slip: float
    slip_precision: float
    steps: np.ndarray | None = None  # thresholds of strengths


class Earlier(NamedTuple):
    """What an earlier fit says of the annotators."""

    known: np.ndarray  # (K,) bool
    crowd: Crowd  # their posteriors; of the others anything
    population: Population


IMAGINARY = Population(
    COUNTS,
    priors.USUAL_SD**2,
    priors.USUAL_SD**2,
    priors.SPREAD_ANNOTATORS,
    0.0,
    priors.LEVEL_ANNOTATORS,
    float(np.log(priors.TIE_MEDIAN)),
    1 / priors.TIE_MEDIAN_SD**2,
    float(logit(priors.SLIP_MEDIAN)),
    1 / priors.SLIP_MEDIAN_SD**2,
)


class State(NamedTuple):
    truths: Truths
    crowd: Crowd
    hyper: Hyper
    slips: np.ndarray  # (N,) how probable it is that an answer was given at random


class Problem(NamedTuple):
    """Everything that stays as it is."""

    data: ComparisonData
    where: Coupling
    prior: Prior
    earlier: Earlier | None = None

    @property
    def population(self) -> Population:
        return IMAGINARY if self.earlier is None else self.earlier.population

    @property
    def new(self) -> np.ndarray:
        """(K,) bool, annotators of whom nothing was known."""
        return np.ones(self.data.K, dtype=bool) if self.earlier is None else ~self.earlier.known


class Expected(NamedTuple):
    """What is expected of every annotator: of gain and order effect, by class, of the threshold, and of slips."""

    share: np.ndarray  # (K, 3)
    centre: np.ndarray  # (K, 3, 2)
    precision: np.ndarray  # (K, 3, 2, 2)
    tie: np.ndarray  # (K,) logarithm
    tie_precision: np.ndarray  # (K,)
    slip: np.ndarray  # (K,) log odds
    slip_precision: np.ndarray  # (K,)


def problem(
    data: ComparisonData,
    prior: Prior | None = None,
    largest: int = priors.LARGEST_DENSE,
    earlier: Earlier | None = None,
) -> Problem:
    """`largest` is the size of components whose covariance is exact."""
    return Problem(data, coupling(data, largest), unrated(data.M, data.D) if prior is None else prior, earlier)


def classed(at: Problem) -> bool:
    """Whether there may be spammers and those who answer the wrong way round."""
    return at.data.K >= priors.FEWEST_CLASSED or at.earlier is not None


def class_variances(hyper: Hyper) -> np.ndarray:
    """(3,) variances of gains."""
    return np.array([hyper.gain_var, priors.SPAMMER_SD**2, hyper.gain_var])


def class_centres(hyper: Hyper) -> np.ndarray:
    """(3, 2) means of gains and order effects."""
    return np.stack([GAINS, np.full(3, hyper.order)], axis=-1)


def expected(at: Problem, hyper: Hyper) -> Expected:
    """Of newcomers what the population says, of others what an earlier fit does (eq. V3)."""
    K, variance = at.data.K, np.stack([class_variances(hyper), np.full(3, hyper.order_var)], axis=-1)
    found = Expected(
        np.tile(hyper.shares, (K, 1)),
        np.tile(class_centres(hyper), (K, 1, 1)),
        np.tile(np.eye(2) / variance[:, None], (K, 1, 1, 1)),
        np.full(K, hyper.tie),
        np.full(K, 1 / priors.TIE_SD**2),
        np.full(K, hyper.slip),
        np.full(K, 1 / priors.SLIP_SD**2),
    )
    if at.earlier is None:
        return found
    known, crowd = at.earlier.known, at.earlier.crowd
    tie = np.log(crowd.tau), crowd.tau_sd**-2.0
    own = Expected(crowd.prob, crowd.at, np.linalg.inv(crowd.cov), *tie, crowd.slip, crowd.slip_sd**-2.0)
    for whole, part in zip(found, own, strict=True):
        whole[known] = part[known]
    return found


def start(at: Problem) -> State:
    """Everybody usual; truths 0 (or what ratings say)."""
    data, prior, people = at.data, at.prior, at.population
    hyper = Hyper(
        prior.Sigma,
        np.zeros((prior.scores.shape[1], data.D)),
        np.where(prior.rated, prior.unit, 1.0),
        people.gain_var if data.K > 1 or at.earlier is not None else PINNED,
        people.order_var if data.sided else PINNED,
        people.order if data.sided else 0.0,
        people.counts / people.counts.sum() if classed(at) else np.array([1.0, 0.0, 0.0]),
        people.tie if data.graded else -np.inf,
        first_steps(data) if people.steps is None else people.steps,
        np.full(data.D, priors.GOLD_ERROR**2),
        people.slip,
        float((data.answer == TIE).mean()) if data.N else 0.0,
    )
    base, shift = before(at, hyper)
    truths = solve(at.where, base, np.zeros(len(data.low)), shift, prior.mean)
    of, tau = expected(at, hyper), np.zeros(data.K)
    prob, tau_sd = np.tile([1.0, 0.0, 0.0], (data.K, 1)), np.zeros(data.K)
    if data.graded:
        tau, tau_sd = np.exp(of.tie), of.tie_precision**-0.5
    if at.earlier is not None:
        prob = of.share
    slip = of.slip, of.slip_precision**-0.5
    crowd = Crowd(prob, of.centre, np.linalg.inv(of.precision), tau, tau_sd, *slip)
    return State(truths, crowd, hyper, expit(of.slip)[data.who])


def first_steps(data: ComparisonData) -> np.ndarray:
    """(S,) thresholds at equal distances, 0 where ties have none."""
    return np.arange(data.steps) + (1.0 if data.ties else 0.0)


def before(at: Problem, hyper: Hyper) -> tuple[np.ndarray, np.ndarray]:
    """Precision by item (M, D, D) and shift (M, D) of truths before any comparison."""
    inverse, prior = np.linalg.inv(hyper.Sigma), at.prior
    precision, shift = prior.precision + inverse, prior.shift + prior.centre(hyper) @ inverse
    if prior.gold is not None:
        known = ~np.isnan(prior.gold)
        precision = precision + (known / hyper.gold_var)[:, :, None] * np.eye(at.data.D)
        shift = shift + np.where(known, prior.gold, 0.0) / hyper.gold_var
    return precision, shift


class Moments(NamedTuple):
    """Expectations of every annotator's gain and order effect, (K,) each."""

    g: np.ndarray
    o: np.ndarray
    gg: np.ndarray
    go: np.ndarray
    oo: np.ndarray


def moments(crowd: Crowd) -> Moments:
    """Over classes."""
    square = crowd.cov + crowd.at[..., :, None] * crowd.at[..., None, :]
    first = np.einsum("kz,kzi->ki", crowd.prob, crowd.at)
    second = np.einsum("kz,kzij->kij", crowd.prob, square)
    return Moments(first[:, 0], first[:, 1], second[:, 0, 0], second[:, 0, 1], second[:, 1, 1])


def thresholds(data: ComparisonData, state: State) -> np.ndarray:
    """(F,) the ends of the ranges of differences, as a factor has them added."""
    tau = state.crowd.tau[data.who[data.row]] if data.graded else np.zeros(len(data.row))
    return np.asarray(data.end * tau * state.hyper.steps[data.step])


def gaps(steps: np.ndarray) -> np.ndarray:
    """(S,) widths of the ranges between two ends: of a tie, and of all strengths but the largest, in thresholds."""
    return np.append(2 * steps[0], np.diff(steps))


def rescaled(at: Problem, state: State, s: float) -> State:
    """Gains times s; truths, and of rated dimensions their units, divided by it. Probabilities stay as they are."""
    crowd, hyper, t = state.crowd, state.hyper, state.truths
    scale, each = np.array([s, 1.0]), np.where(at.prior.rated, 1.0, 1 / s)
    square = each[:, None] * each
    dims = each[at.data.low % at.data.D]
    truths = Truths(t.mean * each, t.block * square, t.apart * dims**2, t.log_det + 2 * at.data.M * np.log(each).sum())
    crowd = crowd._replace(at=crowd.at * scale, cov=crowd.cov * scale[:, None] * scale)
    unit = np.where(at.prior.rated, hyper.unit / s, hyper.unit)
    hyper = hyper._replace(Sigma=hyper.Sigma * square, theta=hyper.theta * each, unit=unit)
    return state._replace(truths=truths, crowd=crowd, hyper=hyper)


def in_units_of(at: Problem, blind: State) -> State:
    """A state of the same comparisons without known truths, in the units that these define: where EM begins.

    From truths that are not known yet the logits in a unit would shrink, and take hundreds of steps to come back.
    """
    t, D, prior = blind.truths, at.data.D, at.prior
    dims = prior.unit[at.data.low % D]
    size = 2 * at.data.M * np.log(np.abs(prior.unit)).sum()
    block = t.block / prior.unit[:, None] / prior.unit
    truths = Truths(t.mean / prior.unit + prior.mean, block, t.apart / dims**2, t.log_det - size)
    own = {"Sigma": prior.Sigma, "unit": prior.unit, "theta": blind.hyper.theta / prior.unit}
    return blind._replace(truths=truths, hyper=blind.hyper._replace(**own))
