"""Gold: frames whose truth is known, as one more annotator who sees the truth as it is, with hardly any noise.

Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.series.params import SeriesData, SeriesParams, Structure


def with_gold(data: SeriesData, gold: np.ndarray) -> SeriesData:
    """The data with annotator K, who gives the gold. gold: (sum T, D), NaN where the truth is not known."""  # eq. S23
    first_row = np.concatenate([[0], np.cumsum(data.length)])
    known = [gold[first_row[m] : first_row[m + 1]] for m in range(len(data.length))]
    members = [m for m, part in enumerate(known) if not np.isnan(part).all()]
    return data._replace(
        y=np.concatenate([data.y, *(known[m] for m in members)]),
        item_of=np.concatenate([data.item_of, np.array(members, dtype=data.item_of.dtype)]),
        annotator_of=np.concatenate([data.annotator_of, np.full(len(members), data.K, dtype=data.annotator_of.dtype)]),
        K=data.K + 1,
    )


def gold_structure(structure: Structure, K: int) -> Structure:
    """The structure with annotator K held fixed."""
    return structure._replace(fixed=(*structure.fixed, K))


def gold_params(params: SeriesParams, variance: float) -> SeriesParams:
    """The parameters with one more annotator: the identity at lag 0, no bias, noise of the given variance."""
    _, W, D, _ = params.F.shape
    F = np.zeros((1, W, D, D))
    F[0, 0] = np.eye(D)
    zeros = np.zeros((1, D))
    return params._replace(
        F=np.concatenate([params.F, F]),
        b=np.concatenate([params.b, zeros]),
        N=np.concatenate([params.N, variance * np.eye(D)[None]]),
        rho=np.concatenate([params.rho, zeros]),
        lag=np.concatenate([params.lag, zeros]),
    )


def without_gold(params: SeriesParams) -> SeriesParams:
    """The parameters of the annotators proper."""
    rest = {name: getattr(params, name)[:-1] for name in ("F", "b", "N", "rho", "lag")}
    return params._replace(**rest)
