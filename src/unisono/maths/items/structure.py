"""Structure of the model: which parameters are free, as a few words that are checked once.

transform   identity | gain (diagonal F_k) | full
bias        whether annotators have an offset b_k
noise       isotropic | diagonal | full | scaled (r_k s_d) | shared (r_k R, R a full covariance; `bayes` only)
latent      isotropic | diagonal | full covariance of the truth given its features
intercept   whether the truth has a mean mu of its own
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.words import ITEM_WORDS, Latent, Noise, Transform, require_word


class Structure(NamedTuple):
    """The words. The defaults are those of the Bayesian joint model."""

    transform: Transform = "full"
    bias: bool = True
    noise: Noise = "shared"
    latent: Latent = "full"
    intercept: bool = True

    def validate(self) -> Structure:
        """Self, or a ValueError that lists the words there are."""
        for name in ("transform", "noise", "latent"):
            require_word(name, getattr(self, name), ITEM_WORDS[name])
        return self

    @property
    def couples_dimensions(self) -> bool:
        """Whether the errors of one judgement may be correlated, so that the rows of an annotator go together."""
        return self.noise in ("full", "shared")


def free_coefficients(structure: Structure, D: int) -> np.ndarray:
    """(D, D+1) true where [F_k, b_k] is estimated; elsewhere it stays [I, 0]."""
    free = np.zeros((D, D + 1), dtype=bool)
    if structure.transform == "gain":
        free[:, :D] = np.eye(D, dtype=bool)
    elif structure.transform == "full":
        free[:, :D] = True
    free[:, D] = structure.bias
    return free


def identity_rows(D: int) -> np.ndarray:
    """(D, D+1) the rows [I, 0] of an annotator who answers the truth itself."""
    return np.hstack([np.eye(D), np.zeros((D, 1))])
