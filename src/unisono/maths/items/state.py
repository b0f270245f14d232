"""State, hyper-parameters and settings of variational EM of the item model.

Units are those of standardised ratings: each dimension has pooled mean 0 and standard deviation 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items.params import ItemParams
from unisono.maths.items.priors import Guards, Priors
from unisono.maths.items.rows import RowPrior
from unisono.maths.items.structure import Structure


class Targets(NamedTuple):
    """Covariances (D, D) that estimates are drawn to, from the moments of the ratings."""

    latent: np.ndarray
    noise: np.ndarray
    bias: np.ndarray


class Hyper(NamedTuple):
    """Estimated hyper-parameters."""

    gain: float
    leak: float
    bias: np.ndarray  # (D, D) covariance of the biases between annotators
    latent: np.ndarray  # (D, D) covariance of the truth as estimated, before borrowing is limited
    ridge: float  # precision of the predictor's coefficients, relative to Sigma
    theta_var: np.ndarray  # (R,) posterior variances of theta's rows, relative to Sigma
    r: np.ndarray  # (K,) noise of each annotator relative to the pool, for scaled and shared noise
    pool: np.ndarray  # (D, D) the noise of an annotator with r = 1, or the one that annotators are shrunk to
    error_correlation: np.ndarray  # (D, D) correlations of the errors, a moving average over steps

    def precision(self, D: int) -> np.ndarray:
        """(D, q) prior precision of every coefficient of [F_k, b_k] by itself."""
        rows = np.full((D, D + 1), self.leak)
        rows[np.arange(D), np.arange(D)] = self.gain
        rows[:, D] = np.diagonal(np.linalg.inv(self.bias))
        return rows


class BayesState(NamedTuple):
    """Parameters, hyper-parameters, and the truths that the last E-step found."""

    params: ItemParams
    hyper: Hyper
    mean: np.ndarray  # (M, D) NaN before the first step


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
    guards: Guards = Guards()
    expected_gain: np.ndarray | None = None  # (K, D) prior means of the gains; None: 1
    mixing: np.ndarray | None = None  # (D, D) prior mean of F_k, instead of the expected gains; None: the identity
    earlier: KnownAnnotators | None = None

    def noise_scale_prior(self, D: int) -> tuple[np.ndarray | float, np.ndarray | float]:
        """How many imaginary numbers say where an annotator's r is, and where; (K,) each with an earlier fit."""
        nu = self.priors.noise_numbers * D
        if self.earlier is None:
            return nu, 1.0
        return nu + self.earlier.numbers, self.earlier.r
