"""How reliable the estimates of items are: what a fit knows of them, as evidence for `truth_correlations`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unisono.fusers.item_posteriors import Calibration, ItemPosteriors
from unisono.maths.agreement.truth_correlation import Evidence, gain_variance, truth_correlations
from unisono.maths.grouped_sums import paired_sums
from unisono.maths.items import censored_answers, item_params

DRAWS = 1000  # numerical: of which the ends of a 95 % interval are quantiles
SEED = 0  # numerical: of the draws


def reliability_draws(
    items: ItemPosteriors, calibration: Calibration, estimate: np.ndarray, known: np.ndarray | None
) -> np.ndarray:
    """(B, D) squared correlations of the `estimate` (M, D) with the truth, of items whose truth is not `known`."""
    D, within, gains = items.data.D, squares_within(items), _unknown_gains(items)
    found = np.empty((DRAWS, D))
    for d in range(D):
        evidence = _evidence(items, calibration, d, estimate, within, gains)
        if known is not None:
            evidence = evidence.of(np.isnan(known[:, d]))
        found[:, d] = truth_correlations(evidence, DRAWS, np.random.default_rng([SEED, d]))
    return found


def _evidence(
    items: ItemPosteriors, calibration: Calibration, d: int, estimate: np.ndarray, within: Within, gains: np.ndarray
) -> Evidence:
    """What posteriors and parameters say of dimension d."""
    data, params, found = items.data, items.params, items.posterior
    given = data.answers()[:, d]
    latent = _typical_answers(items.ends, d)
    return Evidence(
        estimate=estimate[:, d],
        mean=found.mean[:, d],
        variance=found.cov[:, d, d],
        added=items.uncertainty[:, d, d],
        prior_mean=params.prior_mean(data.scores)[:, d],
        prior_variance=float(params.Sigma[d, d]),
        squares=within.squares[:, d],
        answers=within.answers[:, d],
        # What latent ratings scatter is not what the answers do.
        known_scale=None if latent is None else calibration.ratio,
        gains=float(gains[d]),
        annotators=float(given.sum() ** 2 / max(np.sum(given**2), 1.0)),
        shared=float(np.broadcast_to(calibration.shared, data.D)[d]),
        answer=latent or (lambda truths: truths),
    )


def _typical_answers(ends: censored_answers.Typical | None, d: int) -> Callable[[np.ndarray], np.ndarray] | None:
    """From truths of dimension d to the answers of typical annotators; None where the scale does not end."""
    if ends is None or not ends.ends.read[d] or not np.isfinite(ends.spread[d]):
        return None
    one = censored_answers.Typical(ends.ends.of([d]), *(part[[d]] for part in ends[1:]))
    return lambda truths: one.answer(truths.reshape(-1, 1), np.zeros(1)).reshape(truths.shape)


class Within(NamedTuple):
    """How answers scatter within items; (M, D) each."""

    squares: np.ndarray  # around the item's weighted mean, over their variances
    answers: np.ndarray


def squares_within(items: ItemPosteriors) -> Within:
    """Squares of answers around their item's weighted mean over their variances, and how many answers.

    With what not knowing the annotators adds, since their rows are fitted to the same answers. How precise judgements
    and items are is part of the variances: the posteriors know it already.
    """
    data, params = items.data, items.params
    who, item = data.annotator_of.astype(np.intp), data.item_of
    seen = data.answered[data.profile_of]
    gain, noise = np.einsum("kdd->kd", params.F)[who], np.einsum("kdd->kd", params.N)[who]
    if items.weights is not None:
        noise = noise / (items.weights.judgement * items.weights.item[item])[:, None]
    truth = items.posterior.mean[item]
    others = np.einsum("jde,je->jd", params.F[who], truth) - gain * truth
    left = np.where(seen, data.y - params.b[who] - others, 0.0)
    weight = np.where(seen, gain**2 / noise, 0.0)

    def by_item(values: np.ndarray) -> np.ndarray:
        return np.stack([np.bincount(item, column, minlength=data.M) for column in values.T], axis=1)

    answers, weights = by_item(seen.astype(float)), by_item(weight)
    middle = by_item(np.where(seen, gain * left / noise, 0.0)) / np.where(weights > 0, weights, 1.0)
    squares = np.where(seen, (left - gain * middle[item]) ** 2 / noise, 0.0)
    if params.cov is not None:
        spread = item_params.row_spread(params.cov, who, np.ascontiguousarray(middle[item].T)).T
        squares += np.where(seen, spread / noise * (1 - 1 / np.maximum(answers[item], 1)), 0.0)
    return Within(by_item(squares), answers)


def _unknown_gains(items: ItemPosteriors) -> np.ndarray:
    """(D,) variance of everybody's gains around the fitted ones, from answers on truths that others gave."""
    data = items.data
    sums = paired_sums(items.left_out.mean, data.value, data.annotator_of, data.K)
    return gain_variance(sums, np.einsum("kdd->kd", items.params.F)[: data.K])
