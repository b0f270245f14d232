"""Latent classes of annotators, dimension by dimension: usual, a spammer, or flipped.

    F_kdd given z_kd = z  ~  N(m_kz, 1/(gain h_k)),      m_kz = c_z r_k^(e_z t/2)                             eq. B18

with c = (1, .3, -1) and e = (1, 0, 1): who follows the truth on a small part of the scale, or on all of it, has gains
as small or as large as the standard deviation of his errors; what a spammer answers has no such scale. t and h_k: how
far annotators can be told apart, and how strongly each is held to the others (`state`). p(z_kd) is fixed before the
first step; q(z_kd) has its place in the bound and is updated with everything else. Given q(z), gains have a normal
prior around E[m_kz]; given the gains, q(z) has a closed form:

    log q(z_kd = z) = log p(z_kd = z) + gain h_k (m_kz E[F_kdd] - 1/2 m_kz^2) + constant                      eq. B22

    K annotators, D dimensions, Z classes
"""

from __future__ import annotations

import numpy as np
from scipy.special import rel_entr

from unisono.maths.items.priors import SPAMMER_GAIN

CLASSES = ("usual", "spammer", "flipped")
USUAL_CLASS, SPAMMER_CLASS, FLIPPED_CLASS = range(len(CLASSES))
CLASS_GAINS = np.array([1.0, SPAMMER_GAIN, -1.0])  # c_z; 1 and -1 are what the words mean
NOISE_EXPONENTS = np.array([1.0, 0.0, 1.0])  # e_z: 1 is as the standard deviation of the errors, 0 not at all


def usual_classes(K: int, D: int) -> np.ndarray:
    """(K, D, Z) nobody is anything but usual."""
    return np.tile(np.eye(len(CLASSES))[USUAL_CLASS], (K, D, 1))


def class_centers(r: np.ndarray, told_apart: float = 1.0) -> np.ndarray:
    """(K, Z) m_kz, the gains expected of annotators with noise scales r (K,) if they are of a class."""
    return np.asarray(CLASS_GAINS * r[:, None] ** (told_apart * NOISE_EXPONENTS / 2))


def weight_of_gain(gain: np.ndarray) -> np.ndarray:
    """How much gains say of following the truth: 0 at a spammer's and below, 1 from the usual one on."""
    return np.clip((gain - SPAMMER_GAIN) / (1 - SPAMMER_GAIN), 0.0, 1.0)


def expected_gain(classes: np.ndarray, centers: np.ndarray = CLASS_GAINS) -> np.ndarray:
    """(K, D) E[m_kz] under probabilities (K, D, Z); `centers` (K, Z), or of everybody with the noise of the pool."""
    return np.asarray((classes * centers[..., None, :]).sum(axis=2))


def gain_variance(classes: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """(K, D) var m_kz."""
    away = centers[:, None, :] - expected_gain(classes, centers)[:, :, None]
    return np.asarray((classes * away**2).sum(axis=2))


def update_classes(prior: np.ndarray, gains: np.ndarray, centers: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """(K, D, Z) the q(z) with the highest bound, from gains (K, D) and what is expected of them, `centers` (K, Z).

    `precision` (K,) is that of gains around their centers.                                              eq. B22
    """
    at = centers[:, None, :]
    with np.errstate(divide="ignore"):  # who is something for sure remains so
        log_q = np.log(prior) + precision[:, None, None] * at * (gains[:, :, None] - 0.5 * at)
    q = np.exp(log_q - log_q.max(axis=2, keepdims=True))
    return np.asarray(q / q.sum(axis=2, keepdims=True))


def class_term(classes: np.ndarray, prior: np.ndarray, centers: np.ndarray, precision: np.ndarray) -> float:
    """What not knowing the classes adds to the bound: -KL(q(z) | p(z)), and gains that spread with their centers."""
    spread = precision @ gain_variance(classes, centers).sum(axis=1)
    return float(-rel_entr(classes, prior).sum() - 0.5 * spread)
