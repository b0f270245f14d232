"""Mixture of spammers and response styles by EM: shares in this crowd, and memberships of each annotator.

An annotator is either a spammer, whose answers follow no truth on any dimension, or somebody who has some style on each
dimension. How common both are is learned from the crowd; imaginary annotators keep it from jumping to conclusions.

    p(answers of k) = pi prod_d sum_h u_h p(y_kd | h)  +  (1 - pi) prod_d sum_h w_h p(y_kd | h)            eq. Q4
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items.priors import CONSTANT_SPAMMERS, SPAMMER_COUNTS, STYLE_COUNTS
from unisono.maths.raters.styles import CONSTANT, FOLLOWING, KINDS, OWN, SWAPPED, UNRELATED, USUAL, Evidence

MIXTURE_STEPS = 2  # numerical: of EM over the shares; five give the same results

_KINDS = np.arange(len(KINDS))
_STYLES = np.where(_KINDS == USUAL, *STYLE_COUNTS)
_OF_SPAMMERS = (_KINDS == UNRELATED) * (1 - CONSTANT_SPAMMERS) + (_KINDS == CONSTANT) * CONSTANT_SPAMMERS  # u of eq. Q4


class Membership(NamedTuple):
    """Posterior probabilities of the mixture."""

    spammer: np.ndarray  # (K,) no dimension follows any truth
    style: np.ndarray  # (K, D, H) of each style of a dimension; they add up to one


def prior_membership(evidence: Evidence, answered: np.ndarray) -> Membership:
    """Prior memberships: those of annotators without answers."""
    nothing = evidence._replace(loglik=np.zeros_like(evidence.loglik))
    return _membership(nothing, _as_spammer(nothing), answered, *_prior())


def fit_mixture(evidence: Evidence, answered: np.ndarray) -> Membership:
    """EM over how common styles are; `answered` (K, D) says which dimensions an annotator answered at all."""
    pi, w = _prior()
    as_spammer = _as_spammer(evidence)
    for _ in range(MIXTURE_STEPS):
        spam, style = _responsibilities(evidence, as_spammer, pi, w)
        rated = answered.any(axis=1)
        pi = float((SPAMMER_COUNTS[0] + spam[rated].sum()) / (sum(SPAMMER_COUNTS) + rated.sum()))
        found = ((1 - spam)[:, None, None] * style * answered[:, :, None]).sum(axis=0)
        evidence = _without_swaps_of_most(evidence, found)
        counts = np.zeros(len(KINDS))
        np.add.at(counts, evidence.kind, found)
        w = (_STYLES + counts) / (_STYLES.sum() + counts.sum())
    return _membership(evidence, as_spammer, answered, pi, w)


def _without_swaps_of_most(evidence: Evidence, found: np.ndarray) -> Evidence:
    """A dimension is what most annotators mean by it: they cannot all mistake it for another.

    Where dimensions go together closely, the truth of one of them may come to be the view of a few; what the others
    do then is no mistake, and nothing is said of it. found: (D, H) expected annotators of every style.
    """
    own = (found * OWN[evidence.kind]).sum(axis=1)
    ruled_out = (evidence.kind == SWAPPED) & (found >= own[:, None])
    return evidence._replace(loglik=np.where(ruled_out, -np.inf, evidence.loglik))


def _prior() -> tuple[float, np.ndarray]:
    return SPAMMER_COUNTS[0] / sum(SPAMMER_COUNTS), _STYLES / _STYLES.sum()


def _log_weights(evidence: Evidence, w: np.ndarray) -> np.ndarray:
    """(D, H) log weight of every style; the other dimensions share the weight of being mistaken for."""
    others = max(len(evidence.kind) - 1, 1)
    usable = np.where(evidence.kind == SWAPPED, w[SWAPPED] / others, w[evidence.kind])
    with np.errstate(divide="ignore"):
        # With one dimension nothing can be swapped, and the weight goes to the other styles.
        return np.asarray(np.log(usable / usable.sum(axis=1, keepdims=True)))


class _AsSpammer(NamedTuple):
    """The spammers' side of eq. Q4, which no share of styles changes."""

    loglik: np.ndarray  # (K, D) of the answers
    style: np.ndarray  # (K, D, H) probability of each style


def _as_spammer(evidence: Evidence) -> _AsSpammer:
    spamming = evidence.loglik + _log_weights(evidence, _OF_SPAMMERS)
    loglik = _log_sum(spamming)
    return _AsSpammer(loglik, np.exp(spamming - loglik[:, :, None]))


def _responsibilities(
    evidence: Evidence, as_spammer: _AsSpammer, pi: float, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Probability (K,) of the spammers' side of eq. Q4, and of each style (K, D, H) on the other side."""
    engaged = evidence.loglik + _log_weights(evidence, w)
    per_dimension = _log_sum(engaged)
    log_odds = np.log(pi / (1 - pi)) + (as_spammer.loglik - per_dimension).sum(axis=1)
    spam = np.exp(-np.logaddexp(0.0, -log_odds))
    return spam, np.exp(engaged - per_dimension[:, :, None])


def _log_sum(terms: np.ndarray) -> np.ndarray:
    """(K, D) log of the sum of exp(terms) over styles; some term of each is finite."""
    peak = terms.max(axis=2)
    return np.asarray(peak + np.log(np.exp(terms - peak[:, :, None]).sum(axis=2)))


def _membership(
    evidence: Evidence, as_spammer: _AsSpammer, answered: np.ndarray, pi: float, w: np.ndarray
) -> Membership:
    spam, style = _responsibilities(evidence, as_spammer, pi, w)
    empty = ~FOLLOWING[evidence.kind]
    nothing = np.where(answered, (style * empty).sum(axis=2), 1.0).prod(axis=1)
    # Somebody who happens to follow no truth on any answered dimension is a spammer by another way.
    nothing = np.where(answered.any(axis=1), nothing, 0.0)
    both = spam[:, None, None] * as_spammer.style + (1 - spam)[:, None, None] * style
    return Membership(spam + (1 - spam) * nothing, both)
