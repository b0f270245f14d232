"""Readings of ratings that are no numbers on a straight scale: each rating stands for a number y* behind it.

    ordinal   y* lies between two thresholds of the annotator                                      `thresholds`
    warp      y* is a monotone function of the rating, the annotator's own                          `warp`

Both are updates of the variational model: given everything else, one dimension after the other, y*_nd has precision
W_dd and the center that truth, annotator and the errors on the other dimensions give it. `shape` (K, D, C) is what is
learned of each annotator, NaN beyond what a dimension has.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from unisono.maths.items.data import ItemData, profile_sums
from unisono.maths.items.estep import Posterior, posterior
from unisono.maths.items.params import ItemParams, noise_precision

COMPLETION_ROUNDS = 50  # numerical: rounds of reading ratings under fixed parameters, at most
COMPLETION_TOLERANCE = 1e-3  # numerical: change of any truth that ends them


class Completed(NamedTuple):
    """Ratings with the numbers behind them in their place."""

    y: np.ndarray  # (J, D)
    Sy: np.ndarray  # (U, D)
    Syy: np.ndarray  # (U, D, D) what is unknown of the numbers included
    entropy: float  # of the numbers
    log_prior: float  # of what was learned of annotators ...
    shape: np.ndarray  # ... and that itself

    def of(self, data: ItemData) -> ItemData:
        """The data with these ratings."""
        return data._replace(y=self.y, Sy=self.Sy, Syy=self.Syy)


class Numbers(NamedTuple):
    """Ratings of one dimension, in the order of `rows`, with what the rest of the model expects of them."""

    rows: np.ndarray  # (n,) judgements that answer the dimension
    y: np.ndarray  # (n,) as given
    annotator: np.ndarray  # (n,)
    center: np.ndarray  # (n,) expected y*
    sd: np.ndarray  # (n,) around it


class Read(NamedTuple):
    """The numbers behind ratings of one dimension, and what is learned of annotators by them."""

    mean: np.ndarray  # (n,)
    variance: np.ndarray  # (n,)
    shape: np.ndarray  # (K, C)
    entropy: float  # of the numbers; of a monotone function, the logarithm of its slopes
    log_prior: float  # of the shape, relative to its highest value


class Reading(Protocol):
    """A way to read ratings. `learn` moves the shapes to where the bound is highest."""

    @property
    def exact(self) -> bool:
        """Whether the shape of an annotator says which number a rating stands for."""

    def reads(self, d: int) -> bool:
        """Whether ratings of this dimension are read so; the others are numbers."""

    def start(self, K: int) -> np.ndarray:
        """(K, D, C) the shape of annotators of whom nothing is known."""

    def read(self, d: int, numbers: Numbers, shape: np.ndarray, *, learn: bool) -> Read:
        """The numbers behind the ratings of dimension d, from the shapes (K, C) there."""


class FittedReading(NamedTuple):
    """A reading with the shapes that were learned; the last one is the newcomer's."""

    reading: Reading
    shape: np.ndarray  # (K, D, C)


def complete_reading(
    current: ItemData,
    given: ItemData,
    fitted: FittedReading,
    params: ItemParams,
    mean: np.ndarray,
    *,
    learn: bool,
) -> Completed:
    """One sweep over dimensions: the numbers behind ratings `given`, with others at their current expectation.

    `mean` (M, D) expected truths.
    """
    reading, shape = fitted.reading, fitted.shape.copy()
    y, added = current.y.copy(), np.zeros((len(given.annotator), given.D))
    W, _ = noise_precision(params.N, given.annotator, given.answered)
    answered, who = given.answered[given.profile_of], given.annotator_of
    abar = np.hstack([mean[given.item_of], np.ones((len(y), 1))])
    expected = np.einsum("ndi,ni->nd", params.B[who], abar)
    error = np.where(answered, y - expected, 0.0)
    entropy = log_prior = 0.0
    for d in filter(reading.reads, range(given.D)):
        rows = np.flatnonzero(answered[:, d])
        profile = given.profile_of[rows]
        own = W[profile, d]
        weight = own[:, d]
        center = expected[rows, d] - (np.einsum("ne,ne->n", own, error[rows]) - weight * error[rows, d]) / weight
        numbers = Numbers(rows, given.y[rows, d], who[rows], center, 1 / np.sqrt(weight))
        found = reading.read(d, numbers, shape[:, d], learn=learn)
        shape[:, d] = found.shape
        y[rows, d], error[rows, d] = found.mean, found.mean - expected[rows, d]
        added[:, d] = np.bincount(profile, weights=found.variance, minlength=len(added))
        entropy, log_prior = entropy + found.entropy, log_prior + found.log_prior
    Sy, Syy = profile_sums(y, given.profile_of, len(given.annotator))
    dims = np.arange(given.D)
    Syy[:, dims, dims] += added
    return Completed(y, Sy, Syy, entropy, log_prior, shape)


def read_posterior(data: ItemData, fitted: FittedReading, params: ItemParams) -> tuple[Posterior, ItemData]:
    """Truths of items under fixed parameters, and their ratings as read, until nothing moves."""
    found, completed = posterior(data, params), data
    for _ in range(COMPLETION_ROUNDS):
        completed = complete_reading(completed, data, fitted, params, found.mean, learn=False).of(data)
        before, found = found, posterior(completed, params)
        if np.max(np.abs(found.mean - before.mean), initial=0.0) < COMPLETION_TOLERANCE:
            break
    return found, completed
