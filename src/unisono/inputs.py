"""What is handed over beside ratings: features, gold and references as tables, and earlier fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unisono.data import ItemTable, Ratings
from unisono.data.checks import require_known_items
from unisono.errors import DataError
from unisono.fusers import Fuser, Joint, revive
from unisono.fusers.items.warm_start import prior_fit_of, with_earlier_annotators
from unisono.io.align import align_to
from unisono.io.saved import load_fit
from unisono.io.tables import read_item_table


def continue_from(start: Any, fuser: Fuser, ratings: Ratings) -> Ratings:
    """Tells the fuser what the earlier fit knows; the ratings with that fit's annotators among theirs."""
    earlier = start if isinstance(start, Fuser) else revive(load_fit(Path(start)))
    if not isinstance(fuser, Joint) or not isinstance(earlier, Joint):
        raise DataError(
            "Starting from an earlier fit works for ratings of items with the model 'auto' or 'joint'; "
            f"here the earlier fit is '{earlier.kind}' and the new one '{fuser.kind}'."
        )
    fuser.start_from(earlier)
    return with_earlier_annotators(ratings, prior_fit_of(earlier))


def on_clock(table: ItemTable | None, ratings: Ratings, *, complete: bool = False) -> ItemTable | None:
    """Features, gold or a reference at the frames of traces; tables of items, and of other recordings, as they are."""
    if table is None or not ratings.is_series:
        return table
    if complete:
        # The last frames of a recording often have no features any more: the last ones hold for a moment.
        return align_to(table, ratings, hold=1.0, complete=True)
    require_known_items(table, ratings)
    return align_to(table, ratings)


def item_table(source: Any) -> ItemTable | None:
    """An `ItemTable`, or what can be read as one."""
    return source if source is None or isinstance(source, ItemTable) else read_item_table(source)
