"""What every call takes and what every result writes: objects, paths or data frames in; a folder and a report out.

Tables are read here, once, and by keyword arguments that say how; behind the front door there are `Ratings` and
`ItemTable` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from unisono.errors import DataError, SettingsError
from unisono.fusers import Fit
from unisono.fusers.saved_fit import in_folder
from unisono.tables import ItemTable, RatingNumbers, Ratings, labels, rating_checks
from unisono.tables.exporting.result_folder import csv_text, write_results
from unisono.tables.reading import clock_alignment, ratings_reader, side_information
from unisono.tables.reading.open_table import open_table
from unisono.version import __version__

# Keyword arguments that say how to read a table of ratings, wherever one may be given.
READING = (
    *("item", "annotator", "time", "dims", "dimension", "value", "annotators_in_columns", "items_in_columns"),
    *("without", "labels", "missing", "duplicates", "sheet", "time_unit", "rate", "max_gap"),
)


def rating_table(source: Any, scale: Any = None, **reading: Any) -> Ratings:
    """Ratings from an object, a path or a data frame; `reading` are keyword arguments of `read_ratings`."""
    if not isinstance(source, Ratings):
        return ratings_reader.read_ratings(source, scale=scale, **reading)
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
    return side_information.read_covariates(source, names, **where)


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
    return ratings_reader.read_item_table(source, **({"item": _same_name(source, like)} | reading))


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
        return clock_alignment.align_to(table, ratings, hold=1.0, complete=True)
    rating_checks.require_known_items(table, ratings)
    return clock_alignment.align_to(table, ratings)


OnPhase = Callable[[str], None]  # hears what begins


def provenance(table: Any, seed: int) -> dict[str, Any]:
    """Where a result comes from: the version, the seed and the data."""
    return {"unisono": __version__, "seed": seed, "source": table.source, "data_sha256": table.data_hash}


class Saving(labels.Introduced):
    """A result that has tables, a summary and a report, and perhaps a fit that can be used again."""

    def _truth_columns(self, *, rounded: bool = False) -> dict[str, Any]:
        """The columns of truth.csv, which are rounded there."""
        raise NotImplementedError

    def truth_csv(self) -> str:
        """The text of truth.csv."""
        return csv_text(self._truth_columns(rounded=True))

    def fused_rows(self) -> list[dict[str, Any]]:
        """The rows of truth.csv as plain values."""
        return pl.DataFrame(self._truth_columns()).to_dicts()

    @property
    def summary_data(self) -> dict[str, Any]:
        """What summary.json says."""
        raise NotImplementedError

    def files(self) -> dict[str, dict[str, Any]]:
        """The tables of the folder that `save` writes, by name."""
        raise NotImplementedError

    @property
    def fit(self) -> Fit | None:
        """What fit/ keeps, if there is anything."""
        return None

    def _report_files(self, command: str | None = None, on_phase: OnPhase | None = None) -> dict[str, str]:
        raise NotImplementedError

    def report(self, path: str | Path = "report.html") -> Path:
        """Writes the report, one HTML file that needs nothing else."""
        from unisono.report.report_page import write_page

        return write_page(Path(path), self._report_files())

    def save(
        self,
        directory: str | Path,
        *,
        report: bool = True,
        command: str | None = None,
        on_phase: OnPhase | None = None,
        overwrite: bool = False,
    ) -> Path:
        """Writes truth.csv, annotators.csv, annotators_overall.csv, summary.json and the report; all or none.

        Numbers have a folder fit/ besides, categories tables of their own. `command` is how the report says it can be
        made again; `on_phase` hears what the report is at.
        """
        target = Path(directory)
        texts = self._report_files(command, on_phase) if report else {}
        fit = [] if self.fit is None else [in_folder(self.fit)]
        write_results(target, self.files(), self.summary_data, texts, fit, overwrite=overwrite)
        return target
