"""What every question takes: ratings and tables of items as objects, paths or data frames."""

from __future__ import annotations

from typing import Any

from unisono.data import ItemTable, Ratings
from unisono.data.checks import require_known_items
from unisono.data.rating_numbers import RatingNumbers
from unisono.errors import DataError, SettingsError
from unisono.io.align import align_to
from unisono.io.reading.covariates import read_covariates
from unisono.io.reading.source import open_table
from unisono.io.tables import read_item_table, read_ratings

# Keyword arguments that say how to read a table of ratings, wherever one may be given.
READING = (
    *("item", "annotator", "time", "dims", "dimension", "value", "annotators_in_columns", "items_in_columns"),
    *("labels", "duplicates", "sheet", "time_unit", "rate", "max_gap"),
)


def rating_table(source: Any, scale: Any = None, **reading: Any) -> Ratings:
    """Ratings from an object, a path or a data frame; `reading` are keyword arguments of `read_ratings`."""
    if not isinstance(source, Ratings):
        return read_ratings(source, scale=scale, **reading)
    if reading:
        raise SettingsError(f"These are ratings already: {', '.join(reading)} would say how to read a table.")
    return source.with_scale(scale)


def covariate_table(source: Any, covariates: Any, reading: dict[str, Any]) -> RatingNumbers | None:
    """Covariates of ratings from columns of the table that the ratings were read from; None stays None."""
    if covariates is None or isinstance(covariates, RatingNumbers):
        return covariates
    names = [name.strip() for name in covariates.split(",")] if isinstance(covariates, str) else list(covariates)
    if isinstance(source, Ratings) or (isinstance(source, str) and source == "-"):
        raise DataError("Covariates are columns of a table of ratings: give the table, as a file or a data frame.")
    where = {name: reading[name] for name in ("item", "annotator", "sheet") if name in reading}
    return read_covariates(source, names, **where)


def without_covariates(ratings: Ratings, numbers: RatingNumbers | None) -> Ratings:
    """The ratings without dimensions that are covariates."""
    kept = [name for name in ratings.dimensions if numbers is None or name not in numbers.names]
    return ratings if len(kept) == ratings.D else ratings.select_dimensions(kept)


def item_table(source: Any, like: Ratings | None = None, **reading: Any) -> ItemTable | None:
    """Features, gold or a reference from an object, a path or a data frame (read with `reading`); None stays None.

    A table that calls its items as the table of the ratings `like` does needs no word about it.
    """
    if source is None or isinstance(source, ItemTable):
        return source
    return read_item_table(source, **({"item": _same_name(source, like)} | reading))


def _same_name(source: Any, ratings: Ratings | None) -> list[str] | str | None:
    """What the ratings' table calls its items, if this one has columns of that name."""
    how = None if ratings is None else ratings.reading
    if how is None or (isinstance(source, str) and source == "-"):
        return None  # standard input can be read once
    columns = set(open_table(source).columns)
    names = list(how.item_parts) or [how.item]
    return (names if how.item_parts else how.item) if columns >= set(names) else None


def on_clock(table: ItemTable | None, ratings: Ratings, *, complete: bool = False) -> ItemTable | None:
    """Features, gold or a reference at the frames of traces; tables of items, and of other recordings, as they are."""
    if table is None or not ratings.is_series:
        return table
    if complete:
        # The last frames of a recording often have no features any more: the last ones hold for a moment.
        return align_to(table, ratings, hold=1.0, complete=True)
    require_known_items(table, ratings)
    return align_to(table, ratings)
