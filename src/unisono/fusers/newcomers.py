"""Annotators of an earlier fit, and newcomers about whom only the population is known.

Under `bayes` the fitted parameters have one more row than there are annotators: the newcomer, who answers like the
average annotator, as surely as the priors say, with the pool's noise. Under `ml` nothing is known of a newcomer.
"""

from __future__ import annotations

import numpy as np

from unisono.data import Ratings
from unisono.data.labels import listed
from unisono.errors import DataError
from unisono.maths.items.params import ItemParams


def with_newcomer(params: ItemParams, given: np.ndarray, variance: np.ndarray, pool: np.ndarray) -> ItemParams:
    """Parameters with the newcomer as their last annotator.

    `given` (K,) judgements of each annotator, `variance` (D, q) of the rows between annotators, `pool` (D, D) noise.
    """
    assert params.cov is not None
    share = given / given.sum()
    mean = np.einsum("k,kdi->di", share, params.B)
    spread = variance[:, :, None] * np.eye(variance.shape[1])
    return params._replace(
        B=np.concatenate([params.B, mean[None]]),
        N=np.concatenate([params.N, pool[None]]),
        cov=np.concatenate([params.cov, spread[None]]),
    )


def places(ratings: Ratings, known: tuple[str, ...], params: ItemParams) -> np.ndarray:
    """(J,) the annotator of each judgement as a row of the parameters."""
    annotator_of = places_by_label(ratings, known)
    if len(params.B) == len(known) and (annotator_of == len(known)).any():
        unknown = [label for label in ratings.annotators if label not in known]
        raise DataError(
            f"{ratings.source}: annotator {listed(unknown)} was not in the fit. "
            "Fit all ratings together, or use a model with inference 'bayes'."
        )
    return annotator_of


def places_by_label(ratings: Ratings, known: tuple[str, ...]) -> np.ndarray:
    """(J,) the place of each judgement's annotator among the known ones; newcomers share the place after the last."""
    place = {label: k for k, label in enumerate(known)}
    index = np.array([place.get(label, len(known)) for label in ratings.annotators], dtype=np.int32)
    return np.asarray(index[ratings.annotator_of])
