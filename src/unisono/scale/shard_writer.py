"""From a table of any size to a folder of shards, in memory that does not grow with the table.

Rows are read block by block and written with numbers made; then sorted into ranges of items, whose limits come from a
sample of the rows; then each range is sorted and becomes a part. Tables have one row per judgement.
"""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from unisono.errors import DataError, DataWarning, taken
from unisono.scale.shard_folder import ANNOTATOR, ITEM, ShardFolder, open_shards, write_manifest
from unisono.tables.atomic_files import atomic_directory
from unisono.tables.labels import sort_labels
from unisono.tables.reading.cell_meanings import Labels, Missing, explain, with_missing
from unisono.tables.reading.label_and_number_columns import NumberColumn
from unisono.tables.reading.open_table import open_table, source_name
from unisono.tables.reading.ratings_reader import Names, read_ratings
from unisono.tables.reading.raw_table import Chunk, Table, TableView

ROWS = 1_000_000  # judgements in a part: 10 to 100 MB while it is worked on
HEAD = 2_000  # rows that say which column is what
SAMPLED = 500  # rows per part from which the limits of the ranges are taken
STRETCH = 500_000  # rows of Parquet files that are read at once
TOGETHER = 8  # stretches that are sorted into ranges at once


def write_shards(
    source: str | Path,
    out: str | Path,
    *,
    rows: int = ROWS,
    item: str | None = None,
    annotator: str | None = None,
    dims: Names = None,
    labels: Labels | str | None = None,
    missing: Missing = None,
) -> ShardFolder:
    """Makes a folder of shards, whole or not at all, and returns what it holds.

    source: delimited text (CSV, ...), a Parquet file, or a pattern for several (`ratings/*.parquet`). rows: judgements
    in a part, about. item, annotator, dims: columns, as for `read_ratings`; recognised by their names otherwise.
    labels, missing: what cells mean, and codes for missing answers, as for `read_ratings`.
    """
    target = Path(out)
    if target.exists() and any(target.iterdir()):
        raise DataError(f"{target} exists and is not empty. Give another folder, or remove it first.")
    table = _open(os.fspath(source))
    meanings = with_missing(labels, missing) or {}
    roles = _roles(table, item, annotator, dims, meanings)
    with atomic_directory(target) as folder:
        with tempfile.TemporaryDirectory(prefix="stretches-", dir=folder) as scratch:
            found = _read(table, roles, Path(scratch), max(rows // SAMPLED, 1), meanings)
            ranges = _ranges(found, rows)
            pieces = _sorted_into(ranges, found, Path(scratch))
            parts = [_write_part(folder, n, files, found, table.name) for n, files in enumerate(pieces) if files]
        names, items, judgements = (tuple(column) for column in zip(*parts, strict=True))
        words = {"item": roles.item, "annotator": roles.annotator, "dimensions": roles.dimensions}
        write_manifest(
            ShardFolder(folder, table.name, words, tuple(roles.dimensions), found.annotators, names, items, judgements)
        )
    return open_shards(str(target))


class _Roles(NamedTuple):
    """Columns of the table."""

    item: str
    annotator: str
    dimensions: dict[str, str]


class _Found(NamedTuple):
    """The rows written down, and what they showed."""

    stretches: list[Path]
    annotators: tuple[str, ...]
    sample: pl.Series  # items of some rows
    judgements: int


class _ParquetTable(Table):
    """Parquet files with the same columns, read stretch by stretch."""

    def __init__(self, name: str, paths: list[str]) -> None:
        self._paths = paths
        try:
            self._rows = [int(pl.scan_parquet(path).select(pl.len()).collect().item()) for path in paths]
            columns = [tuple(pl.scan_parquet(path).collect_schema()) for path in paths]
        except (pl.exceptions.PolarsError, OSError) as error:
            raise DataError(f"{name} cannot be read as Parquet ({error}).") from None
        for path, own in zip(paths, columns, strict=True):
            if set(own) != set(columns[0]):
                raise DataError(f"{path} has the columns {own}, {paths[0]} has {columns[0]}. All need the same.")
        super().__init__(name, columns[0])

    def parts(self) -> Iterator[Chunk]:
        first = 0
        for path, rows in zip(self._paths, self._rows, strict=True):
            for start in range(0, rows, STRETCH):
                frame = pl.scan_parquet(path).slice(start, STRETCH).select(self.columns).collect()
                frame.columns = [str(index) for index in range(len(self.columns))]
                yield Chunk(frame, first + start)
            first += rows

    def where(self, record: int) -> str:
        for path, rows in zip(self._paths, self._rows, strict=True):
            if record < rows:
                return f"{Path(path).name} row {record + 1}"
            record -= rows
        raise IndexError(record)


class _Head(TableView):
    """The first rows of a table."""

    whole = False

    def __init__(self, table: Table) -> None:
        super().__init__(table, table.columns)

    def parts(self) -> Iterator[Chunk]:
        for chunk in self._table.parts():
            yield Chunk(chunk.frame.head(HEAD), chunk.first)
            return


def has_time(source: str | Path, **reading: Any) -> bool:
    """Whether a table holds traces, from its first rows; False where these cannot be read."""
    try:
        with taken(DataWarning):
            return read_ratings(_Head(_open(os.fspath(source))), **reading).is_series
    except DataError:
        return False


def _open(source: str) -> Table:
    """Text as it is read elsewhere, Parquet in stretches."""
    if any(sign in source for sign in "*?["):
        paths = sorted(glob.glob(source))
        if not paths:
            raise DataError(f"No file is called {source}.")
        return _ParquetTable(source, paths)
    if not Path(source).is_file():
        raise DataError(f"{source} is no file.")
    with Path(source).open("rb") as file:
        if file.read(4) == b"PAR1":
            return _ParquetTable(source_name(source), [source])
    return open_table(source)


def _roles(table: Table, item: str | None, annotator: str | None, dims: Names, meanings: Labels) -> _Roles:
    """Which column is what, from the first rows."""
    with taken(DataWarning):
        reading = read_ratings(
            _Head(table), item=item, annotator=annotator, dims=dims, labels=meanings, duplicates="first"
        ).reading
    assert reading is not None
    wanted = [reading.item, reading.annotator, *reading.dimensions.values()]
    if reading.time is not None or not set(wanted) <= set(table.columns):
        raise DataError(
            f"{table.name}: shards are made of tables with one row per judgement: a column for the item, one for the "
            "annotator, one per dimension, no time. Bring it into that shape, or name the columns (--item, "
            "--annotator, --dim)."
        )
    reserved = {ITEM, ANNOTATOR} & set(reading.dimensions)
    if reserved:
        raise DataError(f"{table.name}: a dimension cannot be called '{reserved.pop()}' here. Say --dim NAME=COLUMN.")
    return _Roles(reading.item, reading.annotator, dict(reading.dimensions))


def _read(table: Table, roles: _Roles, scratch: Path, step: int, meanings: Labels) -> _Found:
    """Every stretch of rows as a file with labels as text and answers as numbers."""
    place = {name: table.columns.index(name) for name in (roles.item, roles.annotator, *roles.dimensions.values())}
    stretches: list[Path] = []
    known: set[str] = set()
    sample, judgements = [], 0
    for chunk in table.parts():
        chunk = chunk.without_empty_rows(place[roles.item])
        if not chunk.frame.height:
            continue
        columns: dict[str, Any] = {
            ITEM: _labels(table, chunk, roles.item, place[roles.item]),
            ANNOTATOR: _labels(table, chunk, roles.annotator, place[roles.annotator]),
        }
        for name, column in roles.dimensions.items():
            columns[f"d_{name}"] = _numbers(table, chunk, column, place[column], meanings)
        frame = pl.DataFrame(columns)
        known |= set(frame[ANNOTATOR].unique().to_list())
        sample.append(frame[ITEM].gather_every(step))
        judgements += frame.height
        stretches.append(scratch / f"stretch-{len(stretches)}.parquet")
        frame.write_parquet(stretches[-1], compression="lz4", statistics=False)
    if not judgements:
        raise DataError(f"{table.name} has no rows.")
    return _Found(stretches, sort_labels(known), pl.concat(sample), judgements)


def _labels(table: Table, chunk: Chunk, name: str, index: int) -> pl.Series:
    labels = chunk.column(index).cast(pl.String).str.strip_chars()
    empty = (labels.is_null() | (labels == "")).fill_null(True)
    if empty.any():
        where = table.where(chunk.record(int(empty.arg_max() or 0)))
        raise DataError(f"{where}: {name} is empty. Fill it in, or remove the row.")
    return labels


def _numbers(table: Table, chunk: Chunk, name: str, index: int, meanings: Labels) -> np.ndarray:
    column = NumberColumn(name, index)
    column.add(chunk, table.decimal_comma)
    explain(column, meanings)
    trouble = column.trouble(table, wanted=column.kind != "empty")
    if trouble is not None:
        raise trouble
    return column.look()


def _ranges(found: _Found, rows: int) -> pl.Series:
    """The first items of all ranges but the first one, in order."""
    parts = -(-found.judgements // rows)
    sample = found.sample.sort()
    places = [len(sample) * n // parts for n in range(1, parts)]
    return sample.gather(places).unique().sort()


def _sorted_into(ranges: pl.Series, found: _Found, scratch: Path) -> list[list[Path]]:
    """Files of every range."""
    pieces: list[list[Path]] = [[] for _ in range(len(ranges) + 1)]
    codes = pl.Enum(list(found.annotators))
    for start in range(0, len(found.stretches), TOGETHER):
        group = found.stretches[start : start + TOGETHER]
        frame = pl.concat([pl.read_parquet(path) for path in group])
        frame = frame.with_columns(pl.col(ANNOTATOR).cast(codes).to_physical().cast(pl.Int32))
        of = np.asarray(ranges.search_sorted(frame[ITEM], side="right")) if len(ranges) else np.zeros(frame.height)
        for n in np.unique(of).astype(int).tolist():
            pieces[n].append(scratch / f"range-{n}-{len(pieces[n])}.parquet")
            frame.filter(pl.Series(of == n)).write_parquet(pieces[n][-1], compression="lz4", statistics=False)
        for path in group:
            path.unlink()
    return pieces


def _write_part(folder: Path, n: int, files: list[Path], found: _Found, source: str) -> tuple[str, int, int]:
    """One part: its name, its items and its judgements."""
    frame = pl.concat([pl.read_parquet(path) for path in files]).sort(ITEM, ANNOTATOR)
    twice = (frame[ITEM] == frame[ITEM].shift(1)) & (frame[ANNOTATOR] == frame[ANNOTATOR].shift(1))
    if twice.any():
        row = frame.row(int(twice.fill_null(False).arg_max() or 0), named=True)
        raise DataError(
            f"{source}: annotator '{found.annotators[row[ANNOTATOR]]}' rated item '{row[ITEM]}' more than once. "
            "Keep one rating, or give the repetitions different item names."
        )
    name = f"part-{n:05d}.parquet"
    columns = {column: column.removeprefix("d_") for column in frame.columns}
    frame.rename(columns).fill_nan(None).write_parquet(folder / name)
    for path in files:
        path.unlink()
    return name, int(frame[ITEM].rle_id()[-1]) + 1, frame.height
