"""Latent classes of annotators: on each dimension one is usual, a spammer, or uses the scale the other way round.

    F_kdd given z_kd = z  ~  N(c_z r_k^(kappa/2), 1/gain),      c = (1, .3, -1)                               eq. B18

p(z_kd) is fixed before the first step; q(z_kd) has its place in the bound and is updated with everything else. Given
q(z), gains have a normal prior around E[c_z] r^(kappa/2); given the gains, q(z) has a closed form:

    log q(z_kd = z) = log p(z_kd = z) + gain (c_z r^(kappa/2) E[F_kdd] - 1/2 c_z^2 r^kappa) + constant        eq. B22

    K annotators, D dimensions, Z classes
"""

from __future__ import annotations

import numpy as np
from scipy.special import rel_entr

from unisono.maths.items.priors import SPAMMER_GAIN

CLASSES = ("usual", "spammer", "flipped")
USUAL_CLASS, SPAMMER_CLASS, FLIPPED_CLASS = range(len(CLASSES))
CLASS_GAINS = np.array([1.0, SPAMMER_GAIN, -1.0])  # c_z; 1 and -1 are what the words mean


def usual_classes(K: int, D: int) -> np.ndarray:
    """(K, D, Z) nobody is anything but usual."""
    return np.tile(np.eye(len(CLASSES))[USUAL_CLASS], (K, D, 1))


def expected_gain(classes: np.ndarray) -> np.ndarray:
    """(K, D) E[c_z] under probabilities (K, D, Z)."""
    return np.asarray(classes @ CLASS_GAINS)


def gain_square(classes: np.ndarray) -> np.ndarray:
    """(K, D) E[c_z^2]."""
    return np.asarray(classes @ CLASS_GAINS**2)


def gain_variance(classes: np.ndarray) -> np.ndarray:
    """(K, D) var c_z."""
    away = CLASS_GAINS - expected_gain(classes)[:, :, None]
    return np.asarray((classes * away**2).sum(axis=2))


def update_classes(prior: np.ndarray, gains: np.ndarray, scale: np.ndarray, precision: float) -> np.ndarray:
    """(K, D, Z) the q(z) with the highest bound, from gains (K, D) and what is expected of them, `scale` (K,) times c.

    eq. B22
    """
    at = scale[:, None, None]
    with np.errstate(divide="ignore"):  # who is something for sure remains so
        log_q = np.log(prior) + precision * at * CLASS_GAINS * (gains[:, :, None] - 0.5 * at * CLASS_GAINS)
    q = np.exp(log_q - log_q.max(axis=2, keepdims=True))
    return np.asarray(q / q.sum(axis=2, keepdims=True))


def class_term(classes: np.ndarray, prior: np.ndarray, scale: np.ndarray, precision: float) -> float:
    """What not knowing the classes adds to the bound: -KL(q(z) | p(z)), and gains that spread with their centers."""
    spread = precision * (scale[:, None] ** 2 * gain_variance(classes)).sum()
    return float(-rel_entr(classes, prior).sum() - 0.5 * spread)
