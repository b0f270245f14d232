"""State, hyper-parameters and settings of variational EM of the item model.

Units are those of standardised ratings: each dimension has pooled mean 0 and standard deviation 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items.classes import class_centers
from unisono.maths.items.data import ItemData
from unisono.maths.items.params import ItemParams
from unisono.maths.items.priors import Priors
from unisono.maths.items.readings import Completed, FittedReading, Reading
from unisono.maths.items.rows import RowPrior
from unisono.maths.items.structure import Structure

SINGLE_OUT = 1e-9  # numerical: stands for the zero annotators beyond two, who could tell which of two is right


class Targets(NamedTuple):
    """Covariances (D, D) that estimates are drawn to, from the moments of the ratings."""

    latent: np.ndarray
    noise: np.ndarray
    bias: np.ndarray
    offset: np.ndarray | None = None  # (K, D) biases as annotators' levels predict them; None: nothing is known
    tie: np.ndarray | None = None  # (K,) how far they are tied to `bias`


class Hyper(NamedTuple):
    """Estimated hyper-parameters."""

    gain: float  # precision of gains around what is expected of them
    leak: float
    hold: np.ndarray  # (K,) how strongly gains and noise of each are held to the others; 1 is as much as usual
    bias: np.ndarray  # (D, D) covariance of the biases between annotators, of those whose tie is 1
    tie: np.ndarray  # (K,) precision of an annotator's biases relative to that: less for who lies far off
    ridge: float  # precision of the predictor's coefficients, relative to Sigma
    theta_var: np.ndarray  # (R,) posterior variances of theta's rows, relative to Sigma
    r: np.ndarray  # (K,) noise of each annotator relative to the pool, for scaled and shared noise
    pool: np.ndarray  # (D, D) the noise of an annotator with r = 1, or the one that annotators are shrunk to
    unexplained: np.ndarray  # (D,) standard deviations of the target of Sigma relative to that without features
    classes: np.ndarray  # (K, D, Z) q(z_kd), what annotators are on each dimension

    def precisions(self, D: int) -> np.ndarray:
        """(K, D, q) prior precision of every coefficient of [F_k, b_k] by itself."""
        rows = np.tile(self.precision(D), (len(self.hold), 1, 1))
        rows[:, np.arange(D), np.arange(D)] *= self.hold[:, None]
        return rows

    def precision(self, D: int) -> np.ndarray:
        """(D, q) the same for somebody of whom nothing is known."""
        rows = np.full((D, D + 1), self.leak)
        rows[np.arange(D), np.arange(D)] = self.gain
        rows[:, D] = np.diagonal(np.linalg.inv(self.bias))
        return rows


class BayesState(NamedTuple):
    """Parameters, hyper-parameters, the truths that the last E-step found, and ratings as they are read."""

    params: ItemParams
    hyper: Hyper
    mean: np.ndarray  # (M, D) NaN before the first step
    completed: Completed | None = None  # numbers behind ratings; None: they are numbers themselves

    def seen(self, data: ItemData) -> ItemData:
        """The ratings with the numbers behind them in their place."""
        return data if self.completed is None else self.completed.of(data)

    def read(self, reading: Reading) -> FittedReading:
        """The reading with what is known of annotators by it."""
        shape = None if self.completed is None else self.completed.shape
        return FittedReading(reading, reading.start(len(self.params.B)) if shape is None else shape)

    @property
    def entropy(self) -> float:
        """Of the numbers behind ratings, with the prior of how annotators' ratings are read."""
        return 0.0 if self.completed is None else self.completed.entropy + self.completed.log_prior


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
    anchored: bool = True  # coordinates of the truth are moved to where the bound is highest
    told_apart: float = 1.0  # (K - 2) / K: how far K annotators can be told apart
    classes: np.ndarray | None = None  # (K, D, Z) p(z_kd); None: everybody is usual
    reading: Reading | None = None  # what ratings stand for; None: numbers on a straight scale
    mixing: np.ndarray | None = None  # (D, D) prior mean of F_k; None: the identity
    earlier: KnownAnnotators | None = None
    earlier_judgements: float = 0.0  # behind the target of the errors' covariance

    def class_centers(self, r: np.ndarray) -> np.ndarray:
        """(K, Z) gains expected of every class, from noise scales r (K,): both follow the scale used."""
        return class_centers(r if self.gains_follow_noise else np.ones_like(r), self.told_apart)

    @property
    def gains_follow_noise(self) -> bool:
        """Whether gains are expected to go with the noise; those that are fixed at 1 do not."""
        return self.priors.gain_follows_noise and self.structure.transform != "identity"

    def noise_judgements(self, data: ItemData) -> float:
        """Imaginary judgements behind the target of the errors' covariance, which has no correlations."""
        return self.earlier_judgements + self.priors.noise_share * float(data.judgements.sum())

    def noise_scale_prior(self, data: ItemData, hold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many imaginary numbers say where an annotator's r is, and where; (K,) each."""
        nu = self.priors.noise_numbers * data.D * hold / self.told_apart
        return (nu, np.ones_like(nu)) if self.earlier is None else (nu + self.earlier.numbers, self.earlier.r)


def told_apart(data: ItemData) -> float:
    """How far annotators can be told apart: of two who differ nothing says which one is right, it takes a third.

    The fewer there are, the closer their noise and their gains are held together, and the less does the noise of one
    say about his gain.
    """
    raters = int((data.by_annotator(data.judgements) > 0).sum())
    return max(raters - 2, SINGLE_OUT) / max(raters, 1)
