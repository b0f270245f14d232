"""All traces of a fusion with its estimate and band, small enough for a page.

Values become whole steps of a 2000th of a dimension's range, finer than any screen; a curve is its first value and the
changes after it, and the whole is JSON, compressed and written as base64. `decoded` reads it back.
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
MOST_NUMBERS = 3_000_000  # about 2 MB of page; beyond, recordings are left out, and it is said
CURVES = ("estimate", "low", "high", "mean")
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
        packed.append(
            {name: _coded(values[own], floor, step) for name, values in everything.items()}
            | {"traces": _traces(ratings, m, floor, step)}
        )
    text = json.dumps(packed, separators=(",", ":")).encode()
    return {
        "rate": float(ratings.clock.rate),
        "floor": floor.tolist(),
        "step": step.tolist(),
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
    floor, step = np.array(data["floor"]), np.array(data["step"])
    return [
        {name: _read(one[name], floor, step) for name in CURVES}
        | {"traces": [_read(trace, floor, step) for trace in one["traces"]]}
        for one in packed
    ]


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


def _traces(ratings: Ratings, m: int, floor: np.ndarray, step: np.ndarray) -> list[list[list[int | None]]]:
    judgements = range(int(ratings.item_ptr[m]), int(ratings.item_ptr[m + 1]))
    return [_coded(ratings.value[ratings.offset[j] : ratings.offset[j + 1]], floor, step) for j in judgements]


def _coded(values: np.ndarray, floor: np.ndarray, step: np.ndarray) -> list[list[int | None]]:
    """For each dimension the changes from the last known step to the next, beginning at zero; null in gaps."""
    coded: list[list[int | None]] = []
    for d in range(values.shape[1]):
        column = values[:, d]
        known = np.isfinite(column)
        steps = np.rint((column[known] - floor[d]) / step[d]).astype(np.int64)
        changes = np.full(len(column), GAP, dtype=object)
        changes[known] = np.diff(steps, prepend=0).tolist()
        coded.append(changes.tolist())
    return coded


def _read(coded: list[list[int | None]], floor: np.ndarray, step: np.ndarray) -> np.ndarray:
    table = np.full((len(coded[0]) if coded else 0, len(coded)), np.nan)
    for d, changes in enumerate(coded):
        known = np.array([change is not None for change in changes], dtype=bool)
        table[known, d] = np.cumsum([change for change in changes if change is not None]) * step[d] + floor[d]
    return table
