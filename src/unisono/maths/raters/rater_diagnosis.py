"""Diagnosis of annotators: posterior probabilities of spammers and of response styles, and the gain priors that follow.

The truth of an item is fused without the annotator in question, and in turn annotators who look like spammers lose
their weight in it, and flipped ones count the other way round, until both settle. Nothing of a fitted model enters, and
an annotator's own answers never enter the truth they are held against, so nobody can vouch for themselves.

A prior around "answers the truth" would make spammers and flipped annotators look better than they are, and they would
drag the truth along. So the variational fit begins with the classes that the diagnosis suspects, suspects have less
weight in recentring, and the target of the truth's variance is corrected for them.

    K annotators, D dimensions, J judgements, M items
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unisono.maths import grouped_sums, rating_values
from unisono.maths.items import annotator_rows, item_data, item_priors
from unisono.maths.items.annotator_levels import Levels, annotator_levels, profile_moments, standardised
from unisono.maths.items.item_estep import left_out_truths
from unisono.maths.items.item_params import ItemParams, change_of_truth, identity_rows
from unisono.maths.raters import rater_signal, response_styles
from unisono.maths.raters.rater_signal import SharedSignal, Sums
from unisono.maths.raters.response_styles import Evidence, Membership, TypicalNoise

DIAGNOSIS_ROUNDS = 12  # numerical: truth and annotators in turn, at most
DIAGNOSIS_TOLERANCE = 1e-3  # numerical: change of any probability below which they have settled


class Diagnosis(NamedTuple):
    """Probabilities. Those of one dimension (usual, compressed, ... constant) add up to one."""

    spammer: np.ndarray  # (K,) the answers follow no truth on any dimension
    usual: np.ndarray  # (K, D) uses the scale about as the typical annotator does
    compressed: np.ndarray  # (K, D) follows the truth on a small part of the scale
    stretched: np.ndarray  # (K, D) exaggerates
    flipped: np.ndarray  # (K, D) uses the scale the other way round
    swapped: np.ndarray  # (K, D, D) answers on d follow the truth of dimension e; zero on the diagonal
    unrelated: np.ndarray  # (K, D) the answers vary but follow no truth
    constant: np.ndarray  # (K, D) the same answer whatever the item
    signal: SharedSignal  # of the crowd, without which nothing can be known about anybody

    def of_kind(self, kind: str) -> np.ndarray:
        """(K, D) by the name of the kind; swapped with whatever dimension."""
        return self.swapped.sum(axis=2) if kind == "swapped" else np.asarray(getattr(self, kind))


def diagnose(
    value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, K: int, signal: SharedSignal | None = None
) -> Diagnosis:
    """Probabilities for annotators 0 .. K-1 from ratings value (J, D) with NaN, sorted by item.

    `signal` of the same ratings, where it is known already.
    """
    z = standardised(value, annotator_of, K)
    M = int(item_of.max(initial=-1)) + 1
    data = item_data.prepare(z, item_of, annotator_of, item_data.no_features(M), K)
    signal = rater_signal.shared_signal(z, item_of, annotator_of) if signal is None else signal
    # Where nobody else answered, the others say nothing and the answer is no evidence either way.
    alone = np.bincount(item_of, minlength=M)[item_of] < 2
    levels = annotator_levels(profile_moments(data))
    kurtosis = kurtosis_from(*even_moments(z - levels.offset[annotator_of]))
    first = FirstLook(
        signal, rater_signal.signal_correlation(z, item_of, annotator_of), _log_sameness(z, annotator_of, K), kurtosis
    )
    held = rater_signal.held_answers(np.where(alone[:, None], np.nan, z), annotator_of, K)
    return settled_diagnosis(data, first, lambda params: rater_signal.sums_against(held, left_out_truths(data, params)))


class FirstLook(NamedTuple):
    """What the diagnosis knows before it looks at anybody."""

    signal: SharedSignal
    correlation: np.ndarray  # (D, D) of what annotators share on different dimensions
    same: np.ndarray  # (K, D) as `log_sameness` has it
    kurtosis: np.ndarray  # (D,) of all answers


def settled_diagnosis(data: item_data.ItemData, first: FirstLook, sums_at: Callable[[ItemParams], Sums]) -> Diagnosis:
    """Truths and annotators in turn. `sums_at` holds the answers against the truths that the others give under some
    parameters; of the ratings themselves the sums of their profiles are enough."""
    signal, same, answered = first.signal, first.same, data.answers() > 0
    effective = _effective_answers(first.kurtosis)
    levels = annotator_levels(profile_moments(data))
    params = _start(data, signal, first.correlation, levels)
    start = noise = TypicalNoise(np.diagonal(params.N[0]), np.ones(data.D))
    usual = np.ones(answered.shape)
    for _ in range(DIAGNOSIS_ROUNDS):
        sums = sums_at(params)
        evidence = response_styles.style_evidence(sums, noise, same, effective)
        member = response_styles.fit_mixture(evidence, answered)
        change = np.max(np.abs(member.style[:, :, response_styles.USUAL] - usual)[answered], initial=0.0)
        usual = member.style[:, :, response_styles.USUAL]
        if change < DIAGNOSIS_TOLERANCE:
            break
        noise = response_styles.typical_noise(evidence, member.style, answered, start)
        params = _annotators(params, sums, evidence, member, levels)
        params = _truth(data, params, evidence, member, signal)
    return _blended(evidence, member, answered, signal)


def even_moments(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(D,) each: numbers, sums of squares and of fourth powers of answers (J, D) with NaN; they add up."""
    square = np.where(np.isnan(z), 0.0, z) ** 2  # a fourth power at once takes ten times as long
    return (~np.isnan(z)).sum(axis=0), square.sum(axis=0), (square**2).sum(axis=0)


def kurtosis_from(n: np.ndarray, squares: np.ndarray, fourths: np.ndarray) -> np.ndarray:
    """(D,) of answers without the levels of their annotators, who may lie as far apart as they like."""
    spread = np.where(squares > 0, squares, 1.0)
    return np.asarray(fourths / spread * (n / spread))


def _effective_answers(kurtosis: np.ndarray) -> np.ndarray:
    """(D,) effective number of answers per answer: three over the kurtosis, never more than one.

    Where most answers are zero and a few are large, the few decide, and there are fewer of them than answers.
    """
    return np.asarray(3 / np.maximum(kurtosis, 3.0))


def _log_sameness(z: np.ndarray, of: np.ndarray, K: int) -> np.ndarray:
    """(K, D) how much likelier n equal answers are from a constant annotator, -inf where answers differ."""
    (low, high), equal = answer_ranges(z, of, K), np.zeros(z.shape[1])
    for d in range(z.shape[1]):
        values, times = np.unique(z[~np.isnan(z[:, d]), d], return_counts=True)
        equal[d] = sum(rating_values.close_pairs(values, times, rating_values.SAME_ANSWER))
    return log_sameness(low, high, grouped_sums.segment_sum((~np.isnan(z)).astype(float), of, K), equal)


def answer_ranges(z: np.ndarray, of: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest answer, each (K, D), of annotators `of` (J,); infinite where there is none."""
    low, high = np.full((K, z.shape[1]), np.inf), np.full((K, z.shape[1]), -np.inf)
    for d in range(z.shape[1]):
        rows = np.flatnonzero(~np.isnan(z[:, d]))
        np.minimum.at(low[:, d], of[rows], z[rows, d])
        np.maximum.at(high[:, d], of[rows], z[rows, d])
    return low, high


def log_sameness(low: np.ndarray, high: np.ndarray, n: np.ndarray, equal: np.ndarray) -> np.ndarray:
    """(K, D) from lowest and highest answers and their numbers n (K, D), and pairs of equal answers of the crowd (D,).

    Standardised answers are equal that lie no further apart than nobody would on purpose.
    Two answers of the crowd are equal with probability c, so n of them are by chance with about c^(n-1).    eq. Q5
    """
    total = n.sum(axis=0)
    # One pair more than there are keeps the chance above zero on a continuous scale.
    chance = np.minimum((equal + 1) / np.maximum(total * (total - 1), 1), 1.0)
    return np.where(high - low > rating_values.SAME_ANSWER, -np.inf, -np.maximum(n - 1, 0) * np.log(chance))


def _start(data: item_data.ItemData, signal: SharedSignal, correlation: np.ndarray, levels: Levels) -> ItemParams:
    """Start: all annotators alike, but for their offsets."""
    D = data.D
    share = _signal_variance(signal)
    B = np.tile(identity_rows(D), (data.K, 1, 1))
    B[:, :, -1] = _told(levels) * levels.away
    N = np.tile(np.diag(1 - share), (data.K, 1, 1))
    return ItemParams(B, N, np.zeros((0, D)), np.zeros(D), correlation * np.sqrt(np.outer(share, share)))


def _told(levels: Levels) -> np.ndarray:
    """(K, D) share of a mean difference that is offset: a few imaginary answers have none, unless it is very large."""
    return np.asarray(levels.n / np.maximum(levels.n + item_priors.IMAGINARY_ANSWERS * levels.tie, 1))


def _annotators(params: ItemParams, sums: Sums, evidence: Evidence, member: Membership, levels: Levels) -> ItemParams:
    """Rows and noise of the annotators: averages over their styles."""
    K, D = sums.n.shape
    swapped = evidence.kind == response_styles.SWAPPED
    # A dimension means what is answered on it. If everybody mistakes it for another, that is its meaning, so those who
    # seem to do so keep their say.
    slope = (member.style * np.where(swapped, evidence.slope[:, :, [response_styles.USUAL]], evidence.slope)).sum(
        axis=2
    )
    square = (member.style * np.where(swapped, evidence.square[:, :, [response_styles.USUAL]], evidence.square)).sum(
        axis=2
    )
    dims = np.arange(D)
    B, cov = np.zeros((K, D, D + 1)), np.zeros((K, D, D + 1, D + 1))
    B[:, dims, dims], cov[:, dims, dims, dims] = slope, square - slope**2
    B[:, :, D] = _told(levels) * (sums.y - slope * np.einsum("kdd->kd", sums.x))
    # What is left includes what the others do not know about the truth; the annotator is not to blame for that.
    unknown = np.maximum(np.diagonal(params.Sigma) - _spread(sums), 0.0)
    left = (member.style * evidence.noise).sum(axis=2)
    N = np.maximum(left - square * unknown, item_priors.LEAST_SHARE * left)
    return params._replace(B=B, N=N[:, :, None] * np.eye(D), cov=cov)


def _spread(sums: Sums) -> np.ndarray:
    """(D,) variance of the left-out truths, pooled over annotators."""
    freedom = np.maximum(sums.n - 1, 0).sum(axis=0)
    return np.asarray(np.einsum("kddd->d", sums.xx) / np.maximum(freedom, 1))


def _truth(
    data: item_data.ItemData, params: ItemParams, evidence: Evidence, member: Membership, signal: SharedSignal
) -> ItemParams:
    """The truth on the scale of the typical annotator who follows it.

    Pairs of annotators share (average slope)^2 times the variance of the truth: what spammers and flipped annotators
    take away from the shared signal is given back to the truth.                                          eq. Q6
    """
    given = data.answers()
    follows = response_styles.OWN[evidence.kind] & (evidence.kind != response_styles.FLIPPED)
    weight = member.style * follows * given[:, :, None]
    total = weight.sum(axis=(0, 2))
    typical = np.where(total > 0, (weight * evidence.slope).sum(axis=(0, 2)) / np.where(total > 0, total, 1.0), 1.0)
    moved = change_of_truth(params, np.diag(typical), np.zeros(data.D))
    own = np.einsum("kdd->kd", moved.F)
    average = (own * given).sum(axis=0) / np.maximum(given.sum(axis=0), 1)
    variance = _signal_variance(signal) / np.clip(average, item_priors.SPAMMER_GAIN, 1.0) ** 2
    factor = np.sqrt(variance / np.diagonal(params.Sigma))
    return moved._replace(Sigma=params.Sigma * np.outer(factor, factor))


def _signal_variance(signal: SharedSignal) -> np.ndarray:
    return np.asarray(
        np.clip(np.nan_to_num(signal.share, nan=0.0), item_priors.LEAST_SHARE, 1 - item_priors.LEAST_SHARE)
    )


def _blended(evidence: Evidence, member: Membership, answered: np.ndarray, signal: SharedSignal) -> Diagnosis:
    """Posterior averaged with the prior by the probability of a signal; constant answers stay so.         eq. Q7"""
    prior = response_styles.prior_membership(evidence, answered)
    trust = signal.probability
    constant = evidence.kind == response_styles.CONSTANT  # (D, H)
    never = (member.style * constant).sum(axis=2)
    varied, prior_varied = (
        p * ~constant / np.maximum((p * ~constant).sum(axis=2, keepdims=True), 1e-300)
        for p in (member.style, prior.style)
    )
    t = trust[:, None]
    style = (1 - never)[:, :, None] * (t * varied + (1 - t) * prior_varied) + never[:, :, None] * constant
    fixed = np.where(answered, never, 1.0).prod(axis=1) * answered.any(axis=1)  # constant on every dimension
    random = np.clip((member.spammer - fixed) / np.maximum(1 - fixed, 1e-12), 0.0, 1.0)
    any_trust = 1 - np.prod(1 - trust)
    spammer = fixed + (1 - fixed) * (any_trust * random + (1 - any_trust) * prior.spammer)
    K, D = never.shape
    swapped = np.zeros((K, D, D))
    for d in range(D):
        for h in np.flatnonzero(evidence.kind[d] == response_styles.SWAPPED):
            swapped[:, d, evidence.follows[d, h]] = style[:, d, h]

    def of(kind: int) -> np.ndarray:
        return np.asarray((style * (evidence.kind == kind)).sum(axis=2))

    return Diagnosis(
        spammer=spammer,
        usual=of(response_styles.USUAL),
        compressed=of(response_styles.COMPRESSED),
        stretched=of(response_styles.STRETCHED),
        flipped=of(response_styles.FLIPPED),
        swapped=swapped,
        unrelated=of(response_styles.UNRELATED),
        constant=of(response_styles.CONSTANT),
        signal=signal,
    )


def class_priors(found: Diagnosis, judgements: np.ndarray, *, varied: bool = False) -> np.ndarray:
    """(K, D, Z) p(z_kd): flipped as the diagnosis says, and as far as not, a spammer on every dimension or on this one.

    Who gave few `judgements` (K,) is suspected because others are, more than by anything he said: he has the benefit of
    the doubt, and the fit may come to think otherwise. `varied`: as far as answers vary. One answer throughout says by
    itself how small the gain is, where it is given more often than prior answers count, or, at an end of the scale,
    that all truths lie beyond for this annotator.                                                          eq. B18
    """
    follows = 1 - found.flipped
    idle = np.clip(np.maximum(found.spammer[:, None] * follows, found.unrelated + found.constant), 0.0, follows)
    idle *= (judgements / (judgements + item_priors.DOUBTED_JUDGEMENTS))[:, None]
    if varied:
        idle *= 1 - found.constant * (judgements / (judgements + item_priors.BIAS_FREEDOM))[:, None]
    classes = annotator_rows.usual_classes(*found.flipped.shape)
    classes[:, :, annotator_rows.FLIPPED_CLASS] = found.flipped
    classes[:, :, annotator_rows.SPAMMER_CLASS] = idle
    classes[:, :, annotator_rows.USUAL_CLASS] = follows - idle
    return classes


def competence(params: ItemParams, expected: np.ndarray) -> np.ndarray:
    """(K,) from 1 for annotators who follow the truth to 0 for those who do not, or are not `expected` (K, D) to."""
    found = np.clip(np.einsum("kdd->k", params.F) / params.F.shape[1], 0.0, 1.0)
    return np.asarray(found * annotator_rows.weight_of_gain(expected.mean(axis=1)))
