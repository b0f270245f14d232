"""Draws from studies of real traces: who is fused, who is left out, and what is known.

    DIR/STUDY/ratings*.csv[.gz]       recording, time, annotator and one column per dimension
    DIR/STUDY/reference*.csv[.gz]     recording, time and dimensions, where the true signal is known
A draw has at most eight recordings, and six annotators or half of those of each recording: what a lab has.
"""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import unisono as un
from unisono.tables.ratings import Ratings

# What was rated and how, for the page; other studies of the folder are measured as well.
KNOWN = {
    "case_va": "two dimensions, joystick",
    "ceap360vr": "two dimensions, joystick in virtual reality",
    "forrest_gump": "two dimensions, a film",
    "gamevibe_engagement": "engagement, a wheel without ends",
    "green_intensity": "brightness of a screen",
    "movie_violence": "violence in films, crowd workers",
    "tense_music": "tension",
}
NO_DIMENSION = {"recording", "time", "annotator", "n_events"}
RECORDINGS, ANNOTATORS = 8, 6  # of a draw, at most
CROWDED = 12  # annotators of every recording from which on the same six are fused everywhere
FEWEST = 5  # times at which a trace has to be known in a recording


class TraceDraw(NamedTuple):
    fused: Ratings
    others: np.ndarray  # (n, sum T, D) traces of who was left out at the frames of the fused, NaN where there are none
    reference: np.ndarray | None  # (sum T, D) the known signal


def trace_studies(folder: Path | None) -> list[str]:
    """The studies of a folder that have traces, in order."""
    if folder is None:
        return []
    names = sorted({path.parent.name for path in folder.glob("*/ratings*.csv*")})
    return [name for name in names if {"recording", "time"} <= set(_columns(_file(folder, name, "ratings")))]


def draw_traces(folder: Path, study: str, seed: int) -> TraceDraw:
    """The same draw for the same name and seed."""
    table, reference = _load(folder, study)
    dimensions = [name for name, kind in table.schema.items() if name not in NO_DIMENSION and kind.is_numeric()]
    rng = np.random.default_rng(zlib.crc32(f"{study}{seed}".encode()))
    recordings = table["recording"].unique(maintain_order=True).to_numpy()
    if len(recordings) > RECORDINGS:
        recordings = rng.permutation(recordings)[:RECORDINGS]
    part = table.filter(pl.col("recording").is_in(list(recordings)))
    chosen = _chosen(part, rng)
    fused = un.read_ratings(part.filter(chosen).select("recording", "time", "annotator", *dimensions))
    left = part.filter(~chosen)
    people = sorted(left["annotator"].unique())
    shape = 0, int(fused.length.sum()), len(dimensions)
    others = [on_frames(left.filter(pl.col("annotator") == name), fused, dimensions) for name in people]
    known = None if reference is None else on_frames(reference, fused, dimensions)
    return TraceDraw(fused, np.stack(others) if others else np.zeros(shape), known)


def _chosen(part: pl.DataFrame, rng: np.random.Generator) -> pl.Series:
    """(rows,) whether the row is fused."""
    people = rng.permutation(part["annotator"].unique(maintain_order=True).to_numpy())
    groups = part.group_by("recording", maintain_order=True).agg(pl.col("annotator").unique(maintain_order=True))
    if groups["annotator"].list.len().min() >= CROWDED:
        return part["annotator"].is_in(list(people[:ANNOTATORS]))
    mine: list[tuple[str, str]] = []
    for recording, own in groups.sort("recording").iter_rows():
        mine += [(recording, name) for name in rng.permutation(np.array(own, dtype=object))[: max(len(own) // 2, 2)]]
    pairs = pl.DataFrame(mine, schema=["recording", "annotator"], orient="row").with_columns(chosen=True)
    return part.join(pairs, on=["recording", "annotator"], how="left", maintain_order="left")["chosen"].fill_null(False)


def on_frames(table: pl.DataFrame, ratings: Ratings, dimensions: list[str]) -> np.ndarray:
    """(sum T, D) one trace of each recording at the frames of the ratings; NaN outside its times."""
    assert ratings.clock is not None
    seconds, first = ratings.clock.seconds(ratings.length), np.cumsum(ratings.length) - ratings.length
    value = np.full((len(seconds), len(dimensions)), np.nan)
    for m, recording in enumerate(ratings.items):
        rows = slice(int(first[m]), int(first[m] + ratings.length[m]))
        own = table.filter(pl.col("recording") == recording).sort("time")
        for d, name in enumerate(dimensions):
            known = own.drop_nulls(name) if name in own.columns else own.head(0)
            if len(known) >= FEWEST:
                time, said = known["time"].to_numpy(), known[name].to_numpy()
                value[rows, d] = np.interp(seconds[rows], time, said, left=np.nan, right=np.nan)
    return value


def left_out_ratings(draw: TraceDraw) -> Ratings:
    """The left-out traces as ratings by people the fused have not met."""
    first = np.concatenate([[0], np.cumsum(draw.fused.length)])
    rows = [
        (m, k, trace[first[m] : first[m + 1]])
        for m in range(draw.fused.M)
        for k, trace in enumerate(draw.others)
        if not np.isnan(trace[first[m] : first[m + 1]]).all()
    ]
    used = sorted({k for _, k, _ in rows})
    return Ratings.from_judgements(
        np.concatenate([value for _, _, value in rows]),
        np.array([m for m, _, _ in rows]),
        np.array([used.index(k) for _, k, _ in rows]),
        items=draw.fused.items,
        annotators=[f"left out {k}" for k in used],
        dimensions=draw.fused.dimensions,
        length=draw.fused.length,
        clock=draw.fused.clock,
        source="left-out annotators",
    )


@cache
def _load(folder: Path, study: str) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Traces and, where there is one with their dimensions, the reference."""
    table = _read(_file(folder, study, "ratings"))
    known = sorted((folder / study).glob("reference*.csv*"))
    reference = _read(known[0]) if known else None
    shared = set() if reference is None else (set(table.columns) & set(reference.columns)) - NO_DIMENSION
    return table, reference if shared else None


def _read(path: Path) -> pl.DataFrame:
    names = {"recording": pl.String, "annotator": pl.String}
    kinds = {name: kind for name, kind in names.items() if name in _columns(path)}
    return pl.read_csv(path, schema_overrides=kinds, infer_schema_length=None)


def _file(folder: Path, study: str, kind: str) -> Path:
    return sorted((folder / study).glob(f"{kind}*.csv*"))[0]


@cache
def _columns(path: Path) -> tuple[str, ...]:
    return tuple(pl.read_csv(path, n_rows=0).columns)
