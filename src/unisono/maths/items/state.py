"""What variational EM of the global model carries from step to step, and the priors it starts from.

Units are those of standardised ratings: each dimension has pooled mean 0 and standard deviation 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items.params import ItemParams
from unisono.maths.items.rows import RowPrior
from unisono.maths.items.structure import Structure


class Priors(NamedTuple):
    """How far annotators may stray from "answers the truth". Precisions are 1/variance in standardised units."""

    gain: float = 50.0  # F_kdd around 1: where its estimation starts
    leak: float = 100.0  # F_kde around 0
    gain_limits: tuple[float, float] = (50.0, 100.0)  # estimated precisions stay inside these limits
    leak_limits: tuple[float, float] = (100.0, 100.0)
    gain_guess: float = 0.05  # variances that the estimates are drawn to by two imaginary coefficients
    leak_guess: float = 0.01
    bias_annotators: float = 5.0  # imaginary annotators behind the target of the biases' covariance
    noise_numbers: float = 8.0  # imaginary numbers per annotator and dimension behind the pooled noise
    noise_judgements: float = 20.0  # imaginary judgements behind the target of the shared noise
    noise_limits: tuple[float, float] = (0.25, 20.0)  # an annotator's noise relative to the pool
    latent_items: float = 20.0  # imaginary items behind the target of Sigma
    # Targets take their correlations from those of the ratings, raised to these powers; 0: none.
    latent_correlation: float = 1.0
    noise_correlation: float = 1.0
    bias_correlation: float = 0.5


class Guards(NamedTuple):
    """Departures from the bound that made the estimate better or safer on every kind of crowd it was tried on."""

    recentred: bool = True  # the anchor `average`
    gain_follows_noise: float = 0.5  # who uses more of the scale is also noisier: F_kdd around r_k^(this / 2)
    error_correlation: float = 0.75  # share of the estimated correlation between errors that is kept
    borrowing: float = 2.0  # correlations of truths may be this many times those of errors
    features_explain: bool = True  # what features explain of the truth is not expected of what they leave open


UNGUARDED = Guards(
    recentred=False, gain_follows_noise=0.0, error_correlation=1.0, borrowing=np.inf, features_explain=False
)


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
    together: np.ndarray  # (D, D) how errors of dimensions go together, a moving average over steps

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
    direction: np.ndarray | None = None  # (K, D) where an annotator's gains are expected; None: at 1
    mixing: np.ndarray | None = None  # (D, D) where F_k is expected, whatever the direction; None: at the identity
    earlier: KnownAnnotators | None = None

    def noise_scale_prior(self, D: int) -> tuple[np.ndarray | float, np.ndarray | float]:
        """How many imaginary numbers say where an annotator's r is, and where; (K,) each with an earlier fit."""
        nu = self.priors.noise_numbers * D
        if self.earlier is None:
            return nu, 1.0
        return nu + self.earlier.numbers, self.earlier.r
