"""What variational EM of the global model carries from step to step, and the priors it starts from.

Units are those of standardised ratings: each dimension has pooled mean 0 and standard deviation 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.global_params import GlobalParams
from unisono.maths.structure import Structure


class Priors(NamedTuple):
    """How far annotators may stray from "answers the truth". Precisions are 1/variance in standardised units."""

    gain: float = 30.0  # F_kdd around 1: where its estimation starts
    leak: float = 100.0  # F_kde around 0
    bias: float = 10.0  # b_kd around 0: where its estimation starts
    gain_limits: tuple[float, float] = (15.0, 100.0)  # estimated precisions stay inside these limits
    leak_limits: tuple[float, float] = (100.0, 100.0)
    bias_limits: tuple[float, float] = (0.5, 1000.0)
    gain_guess: float = 0.05  # variances that the estimates are drawn to by two imaginary coefficients
    leak_guess: float = 0.01
    bias_guess: float = 0.1
    noise_numbers: float = 15.0  # imaginary numbers per annotator and dimension behind the pooled noise
    noise_limits: tuple[float, float] = (0.25, 20.0)  # an annotator's noise relative to the pool
    latent_items: float = 10.0  # imaginary items behind the diagonal target of Sigma


class Hyper(NamedTuple):
    """Estimated hyper-parameters."""

    gain: float
    leak: float
    bias: float
    ridge: float  # precision of the predictor's coefficients, relative to Sigma
    theta_var: np.ndarray  # (R,) posterior variances of theta's rows, relative to Sigma
    r: np.ndarray  # (K,) noise of each annotator relative to s, for scaled noise
    s: np.ndarray  # (D,) noise of an annotator with r = 1
    pool: np.ndarray  # (D, D) the noise that annotators are shrunk to, for the other kinds
    target: np.ndarray  # (D,) variances that Sigma is shrunk to

    def precision(self, D: int) -> np.ndarray:
        """(D, q) prior precision of every coefficient of [F_k, b_k]."""
        rows = np.full((D, D + 1), self.leak)
        rows[np.arange(D), np.arange(D)] = self.gain
        rows[:, D] = self.bias
        return rows


class BayesState(NamedTuple):
    """Parameters, hyper-parameters, and the truths that the last E-step found."""

    params: GlobalParams
    hyper: Hyper
    mean: np.ndarray  # (M, D) NaN before the first step


class BayesSettings(NamedTuple):
    """What a variational step needs beside data and state."""

    structure: Structure
    priors: Priors
    floor: np.ndarray  # (D,) no variance falls below this
    recentred: bool = True  # the anchor `average`
