"""From posteriors to estimates of items: the scale of a panel's mean, predicted answers, intervals, advice.

Predictive distributions of answers, of annotators and items that are known up to their posteriors:

    y ~ N(B_k mbar, v),   v_d = F_kd V F_kd' + mbar' C_kd mbar + tr(C_kd[F,F] V) + N_kdd                 eq. H1

with m, V the posterior of the truth, mbar = [m; 1] and C_kd the covariance of row d of B_k = [F_k, b_k]: uncertainty of
the truth, of the annotator, and noise. Scores look at one number at a time, so that a model earns nothing by knowing
how the noise of two dimensions goes together, which is not the truth.

Variance matching undoes the shrinkage of posterior means: a posterior mean varies too little over items, and measures
of agreement that look at the scale punish that. The matched estimate is stretched to the variance that the mean answer
of a panel of annotators would have; with an infinite panel, that of the truth.

Design of further ratings: V (D, D) covariance of a truth, Q_k = F_k' N_k^-1 F_k what one rating by annotator k adds to
its precision (eq. D1).

    reduction = tr V - tr (V^-1 + Q)^-1                                                                        eq. D2
    error of n ratings = E[(Sigma^-1 + sum of n Q_k)^-1] over annotators as they come                          eq. D3
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtr, ndtri, stdtr, stdtrit

from unisono.maths.items.censored_answers import EndAnswers
from unisono.maths.items.item_data import Bounds, ItemData
from unisono.maths.items.item_estep import Posterior, left_out_blocks
from unisono.maths.items.item_params import LOG_2PI, ItemParams, row_spread
from unisono.maths.items.item_priors import END_MARGIN, IMAGINARY_ITEMS, SPAMMER_GAIN
from unisono.maths.items.item_variances import truth_covariance
from unisono.maths.linalg.small_spd import inverse_and_logdet

LEAST_FREEDOM = 4.0  # numerical: floor of Student's t, where judgements are hardly more than truths
MIXTURE_STEPS = 50  # numerical: towards the half-width of a mixture; a handful suffices
MIXTURE_TOLERANCE = 1e-9  # numerical: share of the half-width that the last step may add


class Predictive(NamedTuple):
    """Predictions of single answers: normal, or Student t where few degrees of freedom stand behind the variance."""

    mean: np.ndarray  # (J, D)
    variance: np.ndarray  # (J, D)
    freedom: float | np.ndarray = np.inf  # of all, or (J, D)


class HeldOut(NamedTuple):
    """How predictions fared with the answers that came."""

    log_density: float  # per number
    rmse: float
    coverage: float  # share of answers inside the central interval
    numbers: int


class LeftOut(NamedTuple):
    """Every judgement against what the others predict for it."""

    mean: np.ndarray  # (J, D) truth of its item without it
    ratio: float  # mean squared error of predicted answers over the variance claimed for them; 1 if that is honest
    numbers: int = 0  # answers behind the ratio


def predicted_ratings(
    params: ItemParams, mean: np.ndarray, cov: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray
) -> Predictive:
    """Answers (J, D) of annotators to items whose truth has mean (M, D) and covariance (M, D, D).        eq. H1"""
    truths = mean[item_of].T, cov[item_of].transpose(1, 2, 0)
    centre, variance = _predicted(params, *truths, annotator_of)
    return Predictive(centre.T, variance.T)


def _predicted(
    params: ItemParams, truth: np.ndarray, V: np.ndarray, annotator: np.ndarray, precision: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances (D, j) of answers to truths with these means (D, j) and covariances (D, D, j).

    `precision` (j,) of the judgements beside what their annotators' usually is, where it is known.
    """
    B, F = np.ascontiguousarray(params.B.transpose(1, 2, 0)), params.F
    variance = np.diagonal(params.N, axis1=1, axis2=2).T[:, annotator]
    variance = variance * (params.spread_by_tails if precision is None else 1 / precision)
    if params.cov is not None:
        variance = variance + row_spread(params.cov, annotator, truth)
    centre = B[:, -1][:, annotator]
    for d in range(len(truth)):
        row = F[:, d, :, None] * F[:, d, None, :]  # (K, D, D) E[F_d F_d'], once per annotator
        if params.cov is not None:
            row = row + params.cov[:, d, :-1, :-1]
        row = np.ascontiguousarray(row.transpose(1, 2, 0))
        some = np.asarray(row.any(axis=2))  # most are zero where gains alone are free
        for i in np.flatnonzero(some.any(axis=1)):
            centre[d] += B[d, i][annotator] * truth[i]
            variance[d] += row[i, i][annotator] * V[i, i]
            for j in np.flatnonzero(some[i, :i]):
                variance[d] += 2 * row[i, j][annotator] * V[i, j]
    return centre, variance


def left_out(
    data: ItemData, params: ItemParams, answers: np.ndarray | None = None, ends: EndAnswers | None = None
) -> LeftOut:
    """Truths and predicted answers of all judgements, each without itself; eq. B16 is the ratio.

    `answers` (J, D) as they were given, where `data` has those at the `ends` of the scale completed.
    """
    means = np.empty_like(data.y)
    answers = data.y if answers is None else answers
    total, numbers = 0.0, 0
    for judgements, mean, cov in left_out_blocks(data, params):
        means[judgements] = mean.T
        profile = data.profile_of[judgements]
        precision = None if data.weight is None else data.weight[judgements]
        answer, variance = _predicted(params, mean, cov, data.annotator[profile].astype(np.intp), precision)
        answer = answer.T if ends is None else ends.kept(answer.T, answers[judgements])
        ratio = (answers[judgements] - answer) ** 2 / variance.T
        seen = data.answered[profile]
        total += float(ratio.sum() if seen.all() else ratio[seen].sum())
        numbers += int(seen.sum())
    return LeftOut(means, total / numbers if numbers else 1.0, numbers)


def residual_freedom(data: ItemData) -> float:
    """Degrees of freedom that judgements leave after one truth per item and one bias per annotator."""
    raters = int((data.by_annotator(data.judgements) > 0).sum())
    return max(float(data.judgements.sum()) - data.M - raters, LEAST_FREEDOM)


def held_out_scores(predicted: Predictive, answers: np.ndarray, level: float) -> HeldOut:
    """Log density per number, RMSE and coverage of answers (J, D), NaN where there is none.

    log p = log t((y - mean) / sqrt v) - 1/2 log v, averaged over numbers; t normal for infinite freedom  eq. H2
    """
    seen = ~np.isnan(answers)
    error = (answers - predicted.mean)[seen]
    variance = predicted.variance[seen]
    freedom = np.broadcast_to(predicted.freedom, seen.shape)[seen]
    if not len(error):
        return HeldOut(float("nan"), float("nan"), float("nan"), 0)
    density = log_density(error**2 / variance, freedom) - 0.5 * np.log(variance)
    inside = np.abs(error) <= half_widths(level, freedom) * np.sqrt(variance)
    return HeldOut(float(density.mean()), float(np.sqrt(np.mean(error**2))), float(inside.mean()), len(error))


def half_width(level: float, freedom: float) -> float:
    """Half-width of the central interval with this probability, in units of the standard deviation."""
    return float(half_widths(level, np.array(freedom)))


def mixture_half_width(level: float, freedom: float, p: np.ndarray, narrow: np.ndarray, wide: np.ndarray) -> np.ndarray:
    """(n,) the same of mixtures: with probability p of standard deviation `narrow`, otherwise `wide`, (n,) each.

    The probability inside is concave in the half-width, so Newton's method climbs to it from below.
    """
    x = half_width(level, freedom) * narrow
    for _ in range(MIXTURE_STEPS):
        inside = p * _inside(x / narrow, freedom) + (1 - p) * _inside(x / wide, freedom)
        densities = (np.exp(log_density((x / sd) ** 2, freedom)) / sd for sd in (narrow, wide))
        slope = sum(weight * density for weight, density in zip((p, 1 - p), densities, strict=True))
        step = (level - inside) / (2 * slope)
        x = x + step
        if (step <= MIXTURE_TOLERANCE * x).all():
            break
    return np.asarray(x)


def _inside(z: np.ndarray, freedom: float) -> np.ndarray:
    """Probability of at most z standard deviations from the middle."""
    return np.asarray(2 * (stdtr(freedom, z) if np.isfinite(freedom) else ndtr(z)) - 1)


def half_widths(level: float, freedom: np.ndarray) -> np.ndarray:
    """The same for many of them."""
    upper, (kinds, kind) = 0.5 + level / 2, np.unique(freedom, return_inverse=True)
    return np.where(np.isfinite(kinds), stdtrit(kinds, upper), ndtri(upper))[kind].reshape(freedom.shape)


def log_density(square: np.ndarray, freedom: float | np.ndarray) -> np.ndarray:
    """Log density of Student's t, or of the normal for infinite freedom, from squared standard deviates."""
    few = np.isfinite(freedom)
    nu = np.where(few, freedom, 1.0)
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
    return np.where(few, constant - (nu + 1) / 2 * np.log1p(square / nu), -0.5 * (LOG_2PI + square))


NO_SPREAD = 1e-9  # numerical: variances below it are none


class Rescaling(NamedTuple):
    """From expected answers to the matched estimate; all (D,), standardised units."""

    middle: np.ndarray  # where stretching starts from
    stretch: np.ndarray
    center: np.ndarray  # where that point comes to lie

    def apply(self, answer: np.ndarray) -> np.ndarray:
        """(M, D) the matched estimate of items with these expected answers.                             eq. B15"""
        return np.asarray(self.center + self.stretch * (answer - self.middle))

    def mapped(self, scale: np.ndarray, offset: np.ndarray) -> Rescaling:
        """The rescaling of truths and answers that are `scale` times these plus `offset`."""
        return self._replace(middle=scale * self.middle + offset, center=scale * self.center + offset)


def panel_rescaling(
    data: ItemData,
    params: ItemParams,
    found: Posterior,
    answer: np.ndarray,
    panel: float,
    *,
    continued: bool = False,
) -> Rescaling:
    """Learns the rescaling from the fitted items; the last annotator of `params` is the newcomer.

    `continued`: the parameters come from earlier batches too, so that what they expect says more than these items do. A
    batch whose truths happen to spread more or less than usual must not be brought to the usual spread.
    """
    return panel_rescaling_from(data, params, truth_moments(found, answer), panel, continued=continued)


def panel_rescaling_from(
    data: ItemData,
    params: ItemParams,
    moments: TruthMoments,
    panel: float,
    *,
    continued: bool = False,
) -> Rescaling:
    """The same from sums over items; of the ratings the sums of their profiles are enough.

    The level is that of the expected answers, as `truth_level` has found it.
    """
    truth = np.diagonal(truth_covariance(data, params)) * _crowd_scale(data, params, panel)
    noise = np.diagonal(params.N[-1]) / panel
    return _rescaling(data, params, moments, truth, noise, continued=continued)


def _crowd_scale(data: ItemData, params: ItemParams, panel: float) -> np.ndarray:
    """(D,) between the scale of the competent, which is the truth's, and that of a crowd with spammers in it.

    Where an item has many more ratings than the panel would give it, its plain mean is known to everybody, and a scale
    that differs from the crowd's would only surprise; where it has fewer, nothing is known but the model's truth. Who
    uses a scale the other way round still uses it.
    """
    gain = np.abs(np.diagonal(params.F[: data.K], axis1=1, axis2=2))
    average = np.clip(data.shares() @ gain, SPAMMER_GAIN, 1.0)
    crowd = 1 / (1 + (panel / data.per_item) ** 2)
    return np.asarray(average ** (2 * crowd))


def truth_rescaling(data: ItemData, params: ItemParams, found: Posterior) -> Rescaling:
    """Where known truths or a convention fix the scale, only the variance of the truth makes sense."""
    target = np.diagonal(truth_covariance(data, params))
    moments = truth_moments(found, found.mean)
    return _rescaling(data, params, moments, target)


def squeezed(estimate: np.ndarray, ends: Bounds) -> np.ndarray:
    """(M, D) estimates inside the scale, in the order they had.                                          eq. B34

    From w before an end on, of x goes on what is w (1 - exp(-x / w)): less and less, wherever the other end is.
    """
    half = (ends.high - ends.low) / 2
    w = np.minimum(END_MARGIN, np.where(half > 0, half, 1.0))
    above, below = (np.maximum(x, 0.0) for x in (estimate - (ends.high - w), (ends.low + w) - estimate))
    return np.asarray(estimate - (above + w * np.expm1(-above / w)) + (below + w * np.expm1(-below / w)))


class TruthMoments(NamedTuple):
    """Of posteriors and expected answers over items; all (D,)."""

    middle: np.ndarray  # mean answer
    answer_sd: np.ndarray  # of the answers
    truth_sd: np.ndarray  # of the posterior means
    variance: np.ndarray  # mean posterior variance


def truth_moments(found: Posterior, answer: np.ndarray) -> TruthMoments:
    """Of these items with these expected answers (M, D)."""
    variance = np.diagonal(found.cov, axis1=1, axis2=2).mean(axis=0)
    return TruthMoments(answer.mean(axis=0), answer.std(axis=0), found.mean.std(axis=0), variance)


def _rescaling(
    data: ItemData,
    params: ItemParams,
    moments: TruthMoments,
    target: np.ndarray,
    noise: np.ndarray | float = 0.0,
    *,
    continued: bool = False,
) -> Rescaling:
    """Answers with the variance `target` (D,), as much of it as a scale that ends leaves, and that of `noise` (D,)."""
    middle, answer_sd, spread, variance = moments
    # A scale that ends holds less of the variance than the truth has.
    held = np.where(spread > NO_SPREAD, answer_sd / np.maximum(spread, NO_SPREAD), 1.0) ** 2
    expected = np.maximum(np.diagonal(truth_covariance(data, params)) - variance, 0.0) * held
    seen = (data.M * answer_sd**2 + IMAGINARY_ITEMS * expected) / (data.M + IMAGINARY_ITEMS)
    own = expected if continued else seen
    stretch = np.where(own > NO_SPREAD, np.sqrt((target * held + noise) / np.maximum(own, NO_SPREAD)), 1.0)
    return Rescaling(middle, stretch, middle)


def rating_information(params: ItemParams) -> np.ndarray:
    """(K, D, D) what one complete rating by each annotator adds to the precision of a truth.            eq. D1"""
    F = params.F
    return np.asarray(np.swapaxes(F, 1, 2) @ np.linalg.solve(params.N, F))


def expected_reduction(V: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """(M,) by how much one rating with information Q (D, D) lowers the summed variances of V (M, D, D).  eq. D2"""
    precision, _ = inverse_and_logdet(V)
    after, _ = inverse_and_logdet(precision + Q)
    return np.asarray(np.trace(V, axis1=1, axis2=2) - np.trace(after, axis1=1, axis2=2))


def expected_error(
    Sigma: np.ndarray, Q: np.ndarray, share: np.ndarray, n: int, rng: np.random.Generator, draws: int = 2000
) -> np.ndarray:
    """(D,) posterior variances to expect from n ratings by different annotators, drawn by their `share` (K,).

    Where these are not enough, they are joined by others who are like them: all once more, and so on.

    eq. D3
    """
    K = len(share)
    rounds, n = divmod(n - 1, int((share > 0).sum()))
    n += 1
    # Gumbel noise on log shares and a partial sort draw n different annotators at once, for all draws together.
    keys = np.log(np.where(share > 0, share, 1e-300)) + rng.gumbel(size=(draws, K))
    who = np.argpartition(-keys, n - 1, axis=1)[:, :n] if n < K else np.tile(np.arange(K), (draws, 1))
    total = np.tile(rounds * Q[share > 0].sum(axis=0), (draws, 1, 1))
    for j in range(n):
        total += Q[who[:, j]]
    V, _ = inverse_and_logdet(np.linalg.inv(Sigma) + total)
    return np.asarray(np.diagonal(V, axis1=1, axis2=2).mean(axis=0))
