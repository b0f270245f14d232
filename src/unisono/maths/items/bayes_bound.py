"""State, settings and lower bound of variational EM for items, and the coordinates in which the bound is highest.

bound = E[log p(y*, a | B)] + H[q(a)]  (eq. G6 with expected quadratic forms) + H[q(y*)]
      + E[log p(B | z)] + H[q(B)] + E[log p(theta)] + H[q(theta)]
      + log priors of precisions, noise, and Sigma                                                            eq. B8

up to constants that do not depend on any parameter. Units are those of standardised ratings: each dimension has pooled
mean 0 and standard deviation 1.

The anchor `average`: a change of coordinates a' = A a + c leaves the likelihood as it is, not the priors. Of all
coordinates the step takes those with the highest bound, in which annotators are as close to "answers the truth" as can
be. With A = diag(1/w) that is

    max over w of   sum_e lin_e w_e + count_e log w_e - 1/2 w'H w                                            eq. B7

which is concave; c is a linear system. Without this step EM would come to the same coordinates, in many more steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items.annotator_rows import RowPrior, class_centers, class_term, log_precision
from unisono.maths.items.item_data import ItemData
from unisono.maths.items.item_estep import Stats
from unisono.maths.items.item_params import ItemParams, Structure, allowed, change_of_truth, free_coefficients
from unisono.maths.items.item_priors import MANY_JUDGEMENTS, Priors
from unisono.maths.items.item_variances import distance_of_scales, log_pooling_prior
from unisono.maths.items.judgement_weights import Weights
from unisono.maths.linalg.small_spd import logdets

SINGLE_OUT = 1e-9  # numerical: stands for the zero annotators beyond two, who could tell which of two is right


class Targets(NamedTuple):
    """Covariances (D, D) that estimates are drawn to, from the moments of the ratings."""

    latent: np.ndarray
    noise: np.ndarray
    bias: np.ndarray
    offset: np.ndarray | None = None  # (K, D) biases as annotators' levels predict them; None: nothing is known
    tie: np.ndarray | None = None  # (K,) how far they are tied to `bias`
    compared: float = 0.0  # judgements of items that others judged too, which alone tell truths from errors
    free: float = 1.0  # (n - 1) / n, n judgements of such an item: one of them the item's truth takes


class Hyper(NamedTuple):
    """Estimated hyper-parameters."""

    gain: float  # precision of gains around what is expected of them
    leak: float
    hold: np.ndarray  # (K,) how strongly gains and noise of each are held to the others; 1 is as much as usual
    bias: np.ndarray  # (D, D) covariance of the biases between annotators, of those whose tie is 1
    tie: np.ndarray  # (K,) precision of an annotator's biases relative to that: less for who lies far off
    ridge: float  # precision of the predictor's coefficients, relative to Sigma
    theta_var: np.ndarray  # (R,) posterior variances of theta's rows, relative to Sigma
    r: np.ndarray  # (K,) noise of each annotator relative to the pool, for scaled and shared noise
    pool: np.ndarray  # (D, D) the noise of an annotator with r = 1, or the one that annotators are shrunk to
    unexplained: np.ndarray  # (D,) standard deviations of the target of Sigma relative to that without features
    classes: np.ndarray  # (K, D, Z) p(z_kd), what annotators are on each dimension

    def precisions(self, D: int) -> np.ndarray:
        """(K, D, q) prior precision of every coefficient of [F_k, b_k] by itself."""
        rows = np.tile(self.precision(D), (len(self.hold), 1, 1))
        rows[:, np.arange(D), np.arange(D)] *= self.hold[:, None]
        return rows

    def precision(self, D: int) -> np.ndarray:
        """(D, q) the same for somebody of whom nothing is known."""
        rows = np.full((D, D + 1), self.leak)
        rows[np.arange(D), np.arange(D)] = self.gain
        rows[:, D] = np.diagonal(np.linalg.inv(self.bias))
        return rows


class BayesState(NamedTuple):
    """Parameters, hyper-parameters, the truths that the last E-step found, and what judgements weigh."""

    params: ItemParams
    hyper: Hyper
    mean: np.ndarray  # (M, D) NaN before the first step
    weights: Weights | None = None  # precisions of judgements; None: all are one

    def seen(self, data: ItemData) -> ItemData:
        """The ratings as they are weighed."""
        return data if self.weights is None else self.weights.of(data)


class KnownAnnotators(NamedTuple):
    """What an earlier fit knows of annotators who now rate again."""

    known: np.ndarray  # (K,) whether it knows them
    rows: RowPrior  # their posteriors from there, as priors here; anything for the others
    r: np.ndarray  # (K,) their noise there, relative to the pool ...
    numbers: np.ndarray  # (K,) ... and how many numbers it came from


class BayesSettings(NamedTuple):
    """What a variational step needs beside data and state."""

    structure: Structure
    priors: Priors
    floor: np.ndarray  # (D,) no variance falls below this
    targets: Targets
    anchored: bool = True  # coordinates of the truth are moved to where the bound is highest
    told_apart: float = 1.0  # (K - 2) / K: how far K annotators can be told apart
    scales: np.ndarray | None = None  # (K,) noise scales that are known before, those of two; None: they are found
    classes: np.ndarray | None = None  # (K, D, Z) p(z_kd); None: everybody is usual
    crowd: np.ndarray | None = None  # (K, D, Z) whom level and unit count, where others than `classes` have it
    mixing: np.ndarray | None = None  # (D, D) prior mean of F_k; None: the identity
    earlier: KnownAnnotators | None = None
    earlier_judgements: float = 0.0  # behind the target of the errors' covariance
    slips: bool = False  # whether judgements and items may differ in precision

    def class_centers(self, r: np.ndarray) -> np.ndarray:
        """(K, Z) gains expected of every class, from noise scales r (K,): both follow the scale used."""
        return class_centers(r if self.gains_follow_noise else np.ones_like(r), self.gains_exponent)

    @property
    def gains_exponent(self) -> float:
        """How closely gains go with the noise: of two, one by one."""
        return self.told_apart if self.scales is None else 1.0

    @property
    def gains_follow_noise(self) -> bool:
        """Whether gains are expected to go with the noise; those that are fixed at 1 do not."""
        return self.priors.gain_follows_noise and self.structure.transform != "identity"

    def noise_judgements(self, data: ItemData) -> float:
        """Imaginary judgements behind the target of the errors' covariance, which has no correlations.

        A share of few judgements that can be compared, and hardly more in all of many, so that these tell the
        correlations.
        """
        J = self.targets.compared
        return self.earlier_judgements + self.priors.noise_share * J / (1 + J / MANY_JUDGEMENTS)

    def noise_scale_prior(self, data: ItemData, hold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many imaginary numbers say where an annotator's r is, and where; (K,) each."""
        nu = self.priors.noise_numbers * data.D * hold / min(self.told_apart, self.targets.free)
        if self.scales is not None:
            return nu, self.scales
        return (nu, np.ones_like(nu)) if self.earlier is None else (nu + self.earlier.numbers, self.earlier.r)


def told_apart(data: ItemData) -> float:
    """How far annotators can be told apart: of two who differ nothing says which one is right, it takes a third.

    The fewer there are, the closer their noise and their gains are held together, and the less does the noise of one
    say about his gain.
    """
    raters = int((data.by_annotator(data.judgements) > 0).sum())
    return max(raters - 2, SINGLE_OUT) / max(raters, 1)


def lower_bound(data: ItemData, stats: Stats, state: BayesState, prior: RowPrior, settings: BayesSettings) -> float:
    """The bound at a state whose E-step gave `stats`; `prior` is that of the rows under its hyper-parameters."""
    return (
        stats.loglik
        + (0.0 if state.weights is None else state.weights.log_density)
        + _rows_term(data, state, prior, settings)
        + _classes_term(data, state, settings)
        + _predictor_term(data, state)
        + _between_annotators(data, state, settings)
        + _noise_prior(data, state, settings)
        + _truth_prior(state, settings)
    )


def coordinates_term(data: ItemData, state: BayesState, prior: RowPrior, settings: BayesSettings) -> float:
    """The part of the bound that a change of the truth's coordinates changes."""
    return _rows_term(data, state, prior, settings) + _truth_prior(state, settings)


def _rows_term(data: ItemData, state: BayesState, prior: RowPrior, settings: BayesSettings) -> float:
    """E[log p(B)] + H[q(B)] over annotators who rated anything."""
    free = free_coefficients(settings.structure, data.D)
    rated = data.answers().sum(axis=1) > 0
    if not free.any() or not rated.any():
        return 0.0
    B, cov = state.params.B, state.params.cov
    assert cov is not None
    away, total = (B - prior.center)[rated], 0.0
    if free[:, -1].all():
        total -= np.einsum("kd,kde,ke->", away[:, :, -1], prior.coupling[rated], away[:, :, -1])
    for d in range(data.D):
        at = np.flatnonzero(free[d])
        if len(at):
            # E[(B - center)' precision (B - center)]; precisions and covariances are symmetric.
            own, precision = (part[:, d, at[:, None], at][rated] for part in (cov, prior.precision))
            off = away[:, d][:, at]
            total -= np.sum(precision * (off[:, :, None] * off[:, None] + own))
            total += np.sum(logdets(own) + len(at))
    return float(0.5 * total) + log_precision(prior, free, rated)


def _classes_term(data: ItemData, state: BayesState, settings: BayesSettings) -> float:
    """What E[log p(B | z)] has beyond E[log p(B | E m_kz)], of those who rated anything."""
    if settings.classes is None:
        return 0.0
    rated, hyper = data.answers().sum(axis=1) > 0, state.hyper
    centers = settings.class_centers(hyper.r)
    precision = hyper.gain * hyper.hold[rated]
    return class_term(hyper.classes[rated], centers[rated], precision)


def _predictor_term(data: ItemData, state: BayesState) -> float:
    """E[log p(theta)] + H[q(theta)] - 1/2 D tr(Z Cov Z'), with covariances relative to Sigma."""
    R, D = state.params.theta.shape
    if not R:
        return 0.0
    hyper, theta = state.hyper, state.params.theta
    fitted = np.trace(np.linalg.solve(state.params.Sigma, theta.T @ theta))
    spread = D * hyper.theta_var.sum()
    prior = R * D * np.log(hyper.ridge) - hyper.ridge * (fitted + spread)
    entropy = D * np.log(hyper.theta_var).sum() + R * D
    return float(0.5 * (prior + entropy) - 0.5 * D * data.scores.l @ hyper.theta_var)


def _between_annotators(data: ItemData, state: BayesState, settings: BayesSettings) -> float:
    """Prior of how annotators differ: of the biases' covariance, of who is tied to it and who is held to the rest.

    Integrating over a precision that varies as a gamma does and estimating it under this prior are the same.
    """
    hold, tie, nu = state.hyper.hold, state.hyper.tie, settings.priors.bias_freedom
    freedom, _ = settings.noise_scale_prior(data, np.ones(data.K))
    held = -0.5 * float(freedom @ (hold - np.log(hold) - 1))
    ties = float(-0.5 * nu * np.sum(tie - np.log(tie) - 1))
    return held + ties + _pull(state.hyper.bias, settings.targets.bias, settings.priors.bias_annotators)


def _noise_prior(data: ItemData, state: BayesState, settings: BayesSettings) -> float:
    noise, nu, hyper = settings.structure.noise, settings.priors.noise_numbers, state.hyper
    if noise not in ("scaled", "shared"):
        return log_pooling_prior(noise, state.params.N, nu * data.D if noise == "isotropic" else nu, hyper.pool)
    numbers, center = settings.noise_scale_prior(data, hyper.hold)
    scales = float(-0.5 * numbers @ distance_of_scales(hyper.r, center))
    if noise == "scaled":
        return scales
    return scales + _pull(hyper.pool, settings.targets.noise, settings.noise_judgements(data))


def _truth_prior(state: BayesState, settings: BayesSettings) -> float:
    """Of Sigma around its target, which is smaller the more features explain."""
    left = state.hyper.unexplained
    return _pull(state.params.Sigma, settings.targets.latent * left[:, None] * left, settings.priors.latent_items)


def _pull(covariance: np.ndarray, target: np.ndarray, count: float) -> float:
    """Log prior of a covariance, as if `count` imaginary draws with the target's moments had been seen.

    Relative to its highest value, as all priors here, so that fits with different priors can be compared.
    """
    ratio = np.linalg.solve(covariance, target)
    return float(-0.5 * count * (np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(target)))


NEWTON_STEPS = 100  # numerical: towards a concave maximum; two or three once EM has begun to settle
QUADRATIC = 1e-6  # numerical: Newton decrement from which one more step leaves rounding alone


def best_coordinates(data: ItemData, state: BayesState, prior: RowPrior, settings: BayesSettings) -> BayesState:
    """The state in the coordinates with the highest bound that the structure allows."""
    rated = data.answers().sum(axis=1) > 0
    structure = settings.structure
    if structure.transform == "full" and structure.latent == "full":
        state = _turned(data, state, prior, settings)
    if structure.transform != "identity":
        w = _best_scales(data, state, prior, settings, rated)
        state = moved(state, np.diag(1 / w), np.zeros(data.D))
    if structure.bias and structure.intercept:
        state = moved(state, np.eye(data.D), _best_shift(state, prior, rated))
    return state


def moved(state: BayesState, A: np.ndarray, c: np.ndarray) -> BayesState:
    """The same model with a' = A a + c as its truth."""
    return state._replace(params=change_of_truth(state.params, A, c), mean=state.mean @ A.T + c)


def highest(lin: np.ndarray, H: np.ndarray, count: np.ndarray, start: np.ndarray, most: float = np.inf) -> np.ndarray:
    """(D,) w > 0, at most `most`, with the highest lin'w + count'log w - 1/2 w'Hw, to rounding, in whatever order.

    Damped Newton steps: the objective is self-concordant, as counts are one or more. What is at `most` stays there
    while it would rise.
    """
    w = np.minimum(start, most)
    for _ in range(NEWTON_STEPS):
        slope = lin + count / w - H @ w
        move = _feasible(slope, H + np.diag(count / w**2), w >= most)
        decrement = np.sqrt(max(float(slope @ move), 0.0))
        rising = move > 0
        room = float(np.min((most - w[rising]) / move[rising], initial=np.inf))
        length = min(1.0 if decrement < 0.25 else 1 / (1 + decrement), room)
        w = np.where(rising & (most - w <= length * move), most, w + length * move)
        if decrement < QUADRATIC:
            break
    return np.asarray(w)


def _feasible(slope: np.ndarray, curvature: np.ndarray, full: np.ndarray) -> np.ndarray:
    """(D,) the Newton step under which nothing that is `full` (D,) rises."""
    free, move = ~full | (slope < 0), np.zeros_like(slope)
    while free.any():
        move = np.zeros_like(slope)
        move[free] = np.linalg.solve(curvature[np.ix_(free, free)], slope[free])
        over = free & full & (move > 0)
        if not over.any():
            break
        free &= ~over
    return move if free.any() else np.zeros_like(slope)


def _best_scales(
    data: ItemData,
    state: BayesState,
    prior: RowPrior,
    settings: BayesSettings,
    rated: np.ndarray,
) -> np.ndarray:
    D, cov = data.D, state.params.cov
    assert cov is not None
    free = free_coefficients(settings.structure, D)[:, :D]
    weight = np.einsum("kdii->kdi", prior.precision)[rated][:, :, :D] * free
    F = state.params.F[rated]
    lin = np.einsum("kdi,kdi,kdi->i", weight, F, prior.center[rated][..., :D])
    square = F**2 + np.einsum("kdii->kdi", cov)[rated][..., :D]
    items = settings.priors.latent_items
    target = settings.targets.latent * state.hyper.unexplained[:, None] * state.hyper.unexplained
    H = np.diag(np.einsum("kdi,kdi->i", weight, square)) + items * np.linalg.inv(state.params.Sigma) * target
    count = rated.sum() * free.sum(axis=0) + items
    if settings.structure.latent == "isotropic":  # one scale for all
        one = highest(lin.sum(keepdims=True), H.sum(keepdims=True), count.sum(keepdims=True), np.ones(1))
        return np.repeat(one, D)
    return highest(lin, H, count, np.ones(D))


def _best_shift(state: BayesState, prior: RowPrior, rated: np.ndarray) -> np.ndarray:
    """(D,) the c under which biases b - F c are smallest in the metric of their prior."""
    F, b, cov = state.params.F[rated], state.params.b[rated], state.params.cov
    assert cov is not None
    D = F.shape[1]
    own = prior.precision[rated][:, :, -1, -1]  # (K, D)
    P = prior.coupling[rated] + own[:, :, None] * np.eye(D)
    pulled = P @ F  # biases have symmetric precisions
    H = np.einsum("kdi,kdj->ij", F, pulled) + np.einsum("kd,kdij->ij", own, cov[rated][:, :, :D, :D])
    g = np.einsum("kdi,kd->i", pulled, b) + np.einsum("kd,kdi->i", own, cov[rated][:, :, :D, D])
    return np.asarray(np.linalg.solve(H, g))


def _turned(data: ItemData, state: BayesState, prior: RowPrior, settings: BayesSettings) -> BayesState:
    """Coordinates in which the average annotator mixes nothing, if the bound is no lower there."""
    share = data.shares()
    A = allowed(settings.structure, np.einsum("k,kdi->di", share, state.params.F))
    if A is None:
        return state
    proposal = moved(state, A, np.zeros(data.D))
    now, then = (coordinates_term(data, s, prior, settings) for s in (state, proposal))
    return proposal if then >= now else state
