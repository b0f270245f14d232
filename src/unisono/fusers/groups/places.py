"""Where annotators are among the rows of a fitted model of groups; newcomers are typical members of their kind."""

from __future__ import annotations

import numpy as np

from unisono.data import Ratings
from unisono.data.labels import listed
from unisono.errors import DataError
from unisono.fusers.groups.saved import GroupFit
from unisono.fusers.newcomers import places_by_label


def annotator_places(ratings: Ratings, annotators: tuple[str, ...], fit: GroupFit) -> np.ndarray:
    """(J,) the annotator of each judgement as a row of the parameters; newcomers by their kind."""
    known = len(annotators)
    place = places_by_label(ratings, annotators)
    new = place == known
    if not new.any() or len(fit.names) == 1:
        return place
    kinds = ratings.kinds
    unknown = [ratings.annotators[k] for k in np.unique(ratings.annotator_of[new])]
    if kinds is None or not {kinds[ratings.annotators.index(name)] for name in unknown} <= set(fit.names):
        raise DataError(
            f"{ratings.source}: annotator {listed(unknown)} was not in the fit. "
            f"Say of which kind (one of {listed(fit.names)}) they are, in a column 'kind'."
        )
    of = np.array([known + fit.names.index(kind) if kind in fit.names else known for kind in kinds])
    return np.asarray(np.where(new, of[ratings.annotator_of], place))
