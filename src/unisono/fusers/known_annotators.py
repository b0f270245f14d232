"""Ratings by annotators of an earlier fit, and by newcomers about whom only the population is known."""

from __future__ import annotations

import numpy as np

from unisono.data import Ratings
from unisono.data.labels import listed
from unisono.errors import DataError
from unisono.maths.global_params import GlobalParams
from unisono.maths.structure import Structure, free_coefficients, identity_rows


def params_for(
    ratings: Ratings,
    known: tuple[str, ...],
    params: GlobalParams,
    precision: np.ndarray,
    pool: np.ndarray,
    structure: Structure,
) -> tuple[GlobalParams, np.ndarray]:
    """Parameters with one more annotator, the newcomer, and the annotator index (J,) of each judgement.

    Under `bayes` a newcomer answers the truth as surely as the priors say, with the pool's noise; under `ml` nothing is
    known of a newcomer, and that is an error. `precision` (D, q) is zero under ml.
    """
    place = {label: k for k, label in enumerate(known)}
    newcomer = len(known)
    index = np.array([place.get(label, newcomer) for label in ratings.annotators], dtype=np.int32)
    annotator_of = index[ratings.annotator_of]
    if not (annotator_of == newcomer).any():
        return params, annotator_of
    if params.cov is None:
        unknown = [label for label in ratings.annotators if label not in place]
        raise DataError(
            f"{ratings.source}: annotator {listed(unknown)} was not in the fit. "
            "Fit all ratings together, or use a model with inference 'bayes'."
        )
    D = len(pool)
    free = free_coefficients(structure, D)
    variance = np.where(free, 1 / np.where(precision > 0, precision, 1.0), 0.0)
    return params._replace(
        B=np.concatenate([params.B, identity_rows(D)[None]]),
        N=np.concatenate([params.N, pool[None]]),
        cov=np.concatenate([params.cov, (variance[:, :, None] * np.eye(D + 1))[None]]),
    ), annotator_of
