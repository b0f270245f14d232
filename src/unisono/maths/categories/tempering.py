"""How far class probabilities are to be trusted, from answers that the model has not seen.

Models of annotators take their errors for independent. Where an item misleads several annotators at once, their answers
are counted as more evidence than they are, and probabilities come out too close to 0 and 1. Tempered probabilities are

    p_T(c)  proportional to  p(c)^(1/T)                     (eq. K1)

and an answer that was held out is expected to be l with probability sum_c p_T(c) theta_k(l | c) (eq. K2). The one with
the highest likelihood of the answers held out is taken; T = 1 leaves probabilities as they are.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.categories.votes import Votes, confusion, expected_confusion

TEMPERATURES = np.array([1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0])
CROWD_ANSWERS = 10.0  # answers of the crowd that complete what is known of one annotator's confusion
LEAST_HELD_OUT = 20  # answers below which a temperature would follow chance
FLOOR = 1e-6  # a model that is certain is never taken at its word: one answer in a million


def temper(p: np.ndarray, temperature: float) -> np.ndarray:
    """(M, C) probabilities at a temperature; above 1 they move away from certainty, the order of classes stays."""
    if temperature == 1.0:
        return p
    log = np.log(np.maximum(p, FLOOR)) / temperature
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def hold_out(votes: Votes, rng: np.random.Generator) -> np.ndarray:
    """(n,) true for one answer, drawn at random, of every item that has three or more: two at least are left."""
    order = rng.permutation(votes.n)
    _, first = np.unique(votes.item[order], return_index=True)
    held = np.zeros(votes.n, dtype=bool)
    held[order[first]] = True
    return np.asarray(held & (np.bincount(votes.item, minlength=votes.M)[votes.item] >= 3))


def held_out_likelihood(p: np.ndarray, seen: Votes, unseen: Votes, temperatures: np.ndarray) -> np.ndarray:
    """(len(temperatures),) mean log probability of answers that p (M, C), fitted to `seen` alone, has not seen."""
    theta = confusion(expected_confusion(seen, p), CROWD_ANSWERS)
    answered = theta[unseen.annotator, :, unseen.answer]  # (n, C) probability of the answer, by true class
    expected = [np.sum(temper(p, T)[unseen.item] * answered, axis=1) for T in temperatures]
    return np.array([np.log(np.maximum(e, FLOOR)).mean() for e in expected])


def best_temperature(p: np.ndarray, seen: Votes, unseen: Votes) -> float:
    """The temperature that suits answers held out best; 1 where they are too few to tell."""
    if unseen.n < LEAST_HELD_OUT:
        return 1.0
    return float(TEMPERATURES[int(np.argmax(held_out_likelihood(p, seen, unseen, TEMPERATURES)))])
