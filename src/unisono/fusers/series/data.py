"""Traces with labels as the arrays of the series model: ratings, features per frame, gold frames."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.data import ItemTable, Ratings
from unisono.data.checks import require_known_items
from unisono.data.labels import listed
from unisono.errors import DataError
from unisono.fusers.newcomers import places_by_label
from unisono.fusers.scaling import Scaling, identity_scaling, pooled_scaling
from unisono.maths.series.features import accumulate
from unisono.maths.series.params import SeriesData

ALIGN = "Bring it there first with unisono.align_to(table, ratings, hold=1.0, complete=True)."


class FrameSpace(NamedTuple):
    """Which features a model was fitted on, how they enter, and their units."""

    columns: tuple[str, ...]
    drive: bool  # whether they drive the truth's change, and are summed up over time first
    scaling: Scaling  # of the columns, summed up or not

    def frames(self, features: ItemTable | None, items: tuple[str, ...], length: np.ndarray) -> np.ndarray:
        """(sum T, P) standardised features of these recordings."""
        if not self.columns:
            return np.zeros((int(length.sum()), 0))
        if features is None:
            raise DataError(f"The model was fitted with features {listed(self.columns)}: give them here too.")
        return self.scaling.standardise(frame_values(features.select_columns(self.columns), items, length, self.drive))

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            "feature_loc": self.scaling.loc,
            "feature_scale": self.scaling.scale,
            "feature_drive": np.array(self.drive),
        }


def restore_frame_space(columns: tuple[str, ...], arrays: dict[str, np.ndarray]) -> FrameSpace:
    """The space that `arrays` wrote down."""
    scaling = Scaling(arrays["feature_loc"], arrays["feature_scale"])
    return FrameSpace(columns, bool(arrays["feature_drive"]), scaling)


def learn_frame_space(features: ItemTable | None, ratings: Ratings, *, drive: bool, standardise: bool) -> FrameSpace:
    """The space of features on the clock of the ratings."""
    if features is None:
        return FrameSpace((), drive, identity_scaling(0))
    X = frame_values(features, ratings.items, ratings.length, drive)
    return FrameSpace(features.columns, drive, pooled_scaling(X) if standardise else identity_scaling(X.shape[1]))


def frame_values(features: ItemTable, items: tuple[str, ...], length: np.ndarray, drive: bool) -> np.ndarray:
    """(sum T, P) features of these recordings, every one of which must be known at every frame."""
    table = features.select_items(items)
    if table.clock is None or not np.array_equal(table.length, length):
        raise DataError(f"{table.source} is not on the clock of the ratings. {ALIGN}")
    if np.isnan(table.value).any():
        row, column = np.argwhere(np.isnan(table.value))[0].tolist()
        m = int(np.searchsorted(np.cumsum(table.length), row, side="right"))
        raise DataError(f"{table.source}: recording '{table.items[m]}' has a frame without {table.columns[column]}.")
    return accumulate(table.value, table.length) if drive else table.value


def gold_frames(gold: ItemTable, ratings: Ratings) -> np.ndarray:
    """(sum T, D) known truths at the frames of the ratings, NaN where not known."""
    dims = [name for name in ratings.dimensions if name in gold.columns]
    if not dims:
        raise DataError(
            f"{gold.source} has the columns {listed(gold.columns)}, none of which was rated: "
            f"the dimensions are {listed(ratings.dimensions)}."
        )
    require_known_items(gold, ratings)
    known = np.full((int(ratings.length.sum()), ratings.D), np.nan)
    first = np.concatenate([[0], np.cumsum(ratings.length)])
    begin = np.concatenate([[0], np.cumsum(gold.length)])
    for i, item in enumerate(gold.items):
        m = ratings.items.index(item)
        if gold.clock is None or gold.length[i] != ratings.length[m]:
            raise DataError(f"{gold.source} is not on the clock of the ratings. {ALIGN}")
        for name in dims:
            column = gold.value[begin[i] : begin[i + 1], gold.columns.index(name)]
            known[first[m] : first[m + 1], ratings.dimensions.index(name)] = column
    if np.isnan(known).all():
        raise DataError(f"{gold.source} knows the truth of no frame that was rated. Look at its time column.")
    return known


def to_series(ratings: Ratings, scaling: Scaling, X: np.ndarray) -> SeriesData:
    """The traces in standardised units; annotators by their place in the ratings."""
    return in_own_units(ratings)._replace(y=scaling.standardise(ratings.value), X=X)


def in_own_units(ratings: Ratings) -> SeriesData:
    """The traces as they are, without features."""
    return SeriesData(
        y=ratings.value,
        item_of=ratings.item_of.astype(np.int64),
        annotator_of=ratings.annotator_of.astype(np.int64),
        length=ratings.length,
        X=np.zeros((int(ratings.length.sum()), 0)),
        K=ratings.K,
    )


def to_known_series(
    ratings: Ratings, scaling: Scaling, X: np.ndarray, known: tuple[str, ...]
) -> tuple[SeriesData, tuple[str, ...]]:
    """The same with annotators by their place in an earlier fit, and who was not in it: they follow, one by one."""
    place = places_by_label(ratings, known).astype(np.int64)
    given = np.flatnonzero(np.bincount(ratings.annotator_of, minlength=ratings.K))
    newcomers = tuple(ratings.annotators[k] for k in given.tolist() if ratings.annotators[k] not in known)
    extra = {label: len(known) + i for i, label in enumerate(newcomers)}
    new = place == len(known)
    place[new] = [extra[ratings.annotators[k]] for k in ratings.annotator_of[new].tolist()]
    data = to_series(ratings, scaling, X)._replace(annotator_of=place, K=len(known) + len(newcomers))
    return data, newcomers


def active_annotators(data: SeriesData) -> tuple[SeriesData, np.ndarray]:
    """The traces with a number in them, annotators without any left out, and (K,) who is left."""
    active = np.zeros(data.K, dtype=bool)
    active[data.annotator_of[rated_traces(data).any(axis=1)]] = True
    if active.all():
        return data, active
    keep = active[data.annotator_of]
    part = data._replace(
        y=data.y[np.repeat(keep, data.length[data.item_of])],
        item_of=data.item_of[keep],
        annotator_of=(np.cumsum(active) - 1)[data.annotator_of[keep]],
        K=int(active.sum()),
    )
    return part, active


def rated_traces(data: SeriesData) -> np.ndarray:
    """(J, D) bool, traces with a number in them."""
    size = data.length[data.item_of]
    return np.asarray(np.logical_or.reduceat(~np.isnan(data.y), np.cumsum(size) - size, axis=0))


def one_dimension(data: SeriesData, d: int) -> SeriesData:
    """The traces of one dimension alone."""
    return data._replace(y=data.y[:, [d]])


def require_series(ratings: Ratings) -> float:
    """Frames per second of traces; DataError for ratings of items."""
    if ratings.clock is None:
        raise DataError(f"{ratings.source} has no time column, and this model is for traces over time.")
    return ratings.clock.rate


def require_rated(ratings: Ratings) -> None:
    """Refuses a dimension without a single number."""
    empty = [name for d, name in enumerate(ratings.dimensions) if np.isnan(ratings.value[:, d]).all()]
    if empty:
        raise DataError(f"{ratings.source}: nobody rated {listed(empty)}. Leave it out with --dim.")
