"""All traces of a fusion with its estimate and band, small enough for a page.

Values become whole steps of a 2000th of a dimension's range, those of single traces of a 500th, as fine as a screen; a
curve is its first value and the changes after it, and the whole is JSON, compressed and written as base64. The ends of
the band are told by their distance from the estimate, which hardly changes. `decoded` reads it back.
"""

from __future__ import annotations

import base64
import gzip
import json
from itertools import pairwise
from typing import Any

import numpy as np

from unisono.data import Ratings
from unisono.fusers import Fused

STEPS = 2000
COARSER = 4  # times, for single traces: most of the page, drawn thin and grey, and never read as numbers
MOST_NUMBERS = 3_000_000  # about 2 MB of page; beyond, recordings are left out, and it is said
CURVES = ("estimate", "low", "high", "mean")
BESIDE = ("low", "high")  # told by their distance from the estimate
SKETCHED = 120  # points of the course that is shown first
GAP = None  # where nobody answered


def curves(ratings: Ratings, fused: Fused, mean: Fused) -> dict[str, Any]:
    """Which recordings are drawn and how to read their curves, and the packed curves."""
    assert ratings.clock is not None
    drawn = _drawn(ratings)
    low, high = fused.interval()
    everything = {"estimate": fused.mean, "low": low, "high": high, "mean": mean.mean}
    floor, step = _grid([ratings.value, *everything.values()])
    first = np.cumsum(ratings.length) - ratings.length
    packed = []
    for m in drawn:
        own = slice(int(first[m]), int(first[m] + ratings.length[m]))
        steps = {name: _steps(values[own], floor, step) for name, values in everything.items()}
        packed.append(
            {name: _coded(of - steps["estimate"] * (name in BESIDE)) for name, of in steps.items()}
            | {"traces": [_coded(_steps(trace, floor, COARSER * step)) for trace in _traces(ratings, m)]}
        )
    text = json.dumps(packed, separators=(",", ":")).encode()
    return {
        "rate": float(ratings.clock.rate),
        "floor": floor.tolist(),
        "step": step.tolist(),
        "trace_step": (COARSER * step).tolist(),
        "recordings": [
            {
                "name": ratings.items[m],
                "start": float(ratings.clock.start[m]),
                "frames": int(ratings.length[m]),
                "annotators": [ratings.annotators[k] for k in _who(ratings, m)],
            }
            for m in drawn
        ],
        "of": ratings.M,
        "sketch": _sketch(fused.mean[first[drawn[0]] :][: ratings.length[drawn[0]]]),
        # Level 6: the last percent of size takes most of the time. No time of making, so equal data give equal bytes.
        "packed": base64.b64encode(gzip.compress(text, compresslevel=6, mtime=0)).decode("ascii"),
    }


def decoded(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The curves of every drawn recording: (T, D) by name, and a list of (T, D) for the traces; NaN in gaps."""
    packed = json.loads(gzip.decompress(base64.b64decode(data["packed"])))
    floor, step, coarse = (np.array(data[name]) for name in ("floor", "step", "trace_step"))
    found = []
    for one in packed:
        steps = {name: _read(one[name]) for name in CURVES}
        found.append(
            {name: (of + steps["estimate"] * (name in BESIDE)) * step + floor for name, of in steps.items()}
            | {"traces": [_read(trace) * coarse + floor for trace in one["traces"]]}
        )
    return found


def _drawn(ratings: Ratings) -> list[int]:
    """Recordings in their order, at equal steps where all would be too many."""
    rows = np.bincount(ratings.item_of, minlength=ratings.M) + len(CURVES)
    numbers = int((rows * ratings.length).sum()) * ratings.D
    if numbers <= MOST_NUMBERS:
        return list(range(ratings.M))
    count = max(int(ratings.M * MOST_NUMBERS / numbers), 1)
    return sorted(set(np.linspace(0, ratings.M - 1, count).astype(int).tolist()))


def _sketch(course: np.ndarray) -> list[list[float | None]]:
    """For each dimension the means of the estimate over equal parts of the first recording that is drawn."""
    edges = np.unique(np.linspace(0, len(course), min(SKETCHED, len(course)) + 1).astype(int))
    parts = [course[a:b].mean(axis=0) for a, b in pairwise(edges.tolist())]
    return [[float(v) if np.isfinite(v) else None for v in column] for column in np.array(parts).T]


def _grid(tables: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(D,) lowest value and (D,) step of every dimension."""
    low = np.fmin.reduce([np.fmin.reduce(table, axis=0) for table in tables])
    high = np.fmax.reduce([np.fmax.reduce(table, axis=0) for table in tables])
    low = np.where(np.isfinite(low), low, 0.0)
    width = np.where(np.isfinite(high), high, 0.0) - low
    return low, np.where(width > 0, width, 1.0) / STEPS


def _who(ratings: Ratings, m: int) -> list[int]:
    return [int(k) for k in ratings.annotator_of[ratings.item_ptr[m] : ratings.item_ptr[m + 1]]]


def _traces(ratings: Ratings, m: int) -> list[np.ndarray]:
    judgements = range(int(ratings.item_ptr[m]), int(ratings.item_ptr[m + 1]))
    return [ratings.value[ratings.offset[j] : ratings.offset[j + 1]] for j in judgements]


def _steps(values: np.ndarray, floor: np.ndarray, step: np.ndarray) -> np.ndarray:
    """(T, D) whole steps above the floor; NaN in gaps."""
    return np.asarray(np.rint((values - floor) / step))


def _coded(steps: np.ndarray) -> list[list[int | None]]:
    """For each dimension the changes from the last known step to the next, beginning at zero; null in gaps."""
    coded: list[list[int | None]] = []
    for column in steps.T:
        known = np.isfinite(column)
        changes = np.full(len(column), GAP, dtype=object)
        changes[known] = np.diff(column[known].astype(np.int64), prepend=0).tolist()
        coded.append(changes.tolist())
    return coded


def _read(coded: list[list[int | None]]) -> np.ndarray:
    """(T, D) steps; NaN in gaps."""
    table = np.full((len(coded[0]) if coded else 0, len(coded)), np.nan)
    for d, changes in enumerate(coded):
        known = np.array([change is not None for change in changes], dtype=bool)
        table[known, d] = np.cumsum([change for change in changes if change is not None])
    return table
