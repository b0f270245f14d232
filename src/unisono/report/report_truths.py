"""The fused truth in report.json: rows of items or recordings beside the plain mean, and the curves of traces.

Curves are made small enough for a page. Values become whole steps of a 2000th of a dimension's range, those of single
traces of a 500th, as fine as a screen; a curve is its first value and the changes after it, and the whole is JSON,
compressed and written as base64. The ends of the band are stored by their distance from the estimate, which hardly
changes. The page's script reads it back.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from unisono.evaluate.agreement_measure import annotator_codes
from unisono.fusers import Fused
from unisono.maths.grouped_sums import segment_sum
from unisono.tables.coverage_and_outliers import coverage
from unisono.tables.ratings import Ratings

MOST_CELLS = 45_000  # numbers in the table of items: what a browser sorts at once and a page of 3 MB holds
FURTHEST = 10  # items or recordings named where estimate and mean differ most
DUST = 1e-9  # of the spread of answers: what is left of zero after a change of units and back
ITEM_COLUMNS = ("estimate", "sd", "low", "high", "mean")
TRACE_COLUMNS = ("average", "lowest", "highest", "typical_sd", "r_with_mean", "largest_difference", "at_second")


def truth_rows(ratings: Ratings, fused: Fused, mean: Fused) -> dict[str, Any]:
    """Rows with the estimate, its uncertainty and the plain mean; `of` says how many there are in all."""
    dust = DUST * np.nan_to_num(np.nanstd(ratings.value, axis=0))
    values = _of_recordings(fused, mean) if ratings.is_series else _of_items(fused, mean, dust)
    apart = _apart(ratings, fused, mean)
    shown, chosen_by = _chosen(fused, apart, values)
    raters = coverage(ratings).per_item
    low, high = fused.interval()
    return {
        "columns": list(TRACE_COLUMNS if ratings.is_series else ITEM_COLUMNS),
        "of": ratings.M,
        "chosen_by": chosen_by,
        "rows": [
            {"item": fused.items[m], "annotators": int(raters[m]), "values": _numbers(values[m])}
            for m in shown.tolist()
        ],
        "furthest": [
            {"item": fused.items[m], "dimension": fused.dimensions[d], "apart": float(apart[m, d])}
            for m, d in _furthest(apart)
        ],
        "extremes": []
        if ratings.is_series
        else [_extremes(fused.items, values[:, d, 0], dust[d]) for d in range(ratings.D)],
        "typical_width": [float(w) for w in np.median(high - low, axis=0)],
        "typical_sd": [float(s) for s in np.median(fused.sd, axis=0)],
        "spread": [float(s) for s in fused.mean.std(axis=0)],
        "r_with_mean": [_correlation(fused.mean[:, d], mean.mean[:, d]) for d in range(ratings.D)],
    }


def _extremes(items: Sequence[str], estimate: np.ndarray, dust: float) -> dict[str, Any]:
    """Who is highest and who is lowest on a dimension, and how many are: at the end of a scale many are equal."""
    at = {"highest": int(np.nanargmax(estimate)), "lowest": int(np.nanargmin(estimate))}
    return {
        name: {
            "item": items[m],
            "estimate": float(estimate[m]),
            "equal": int((np.abs(estimate - estimate[m]) <= dust).sum()),
        }
        for name, m in at.items()
    }


def correlations(ratings: Ratings, fused: Fused) -> dict[str, Any]:
    """Between dimensions: of single answers, everybody's level taken out, and of the estimates."""
    return {"ratings": _matrix(_without_levels(ratings)), "truth": _matrix(fused.mean)}


def _without_levels(ratings: Ratings) -> np.ndarray:
    """(S, D) answers less the mean of their annotator; else the levels of people would be correlated, too."""
    who = annotator_codes(ratings)
    seen = np.isfinite(ratings.value)
    count = segment_sum(seen.astype(float), who, ratings.K)
    mean = segment_sum(np.where(seen, ratings.value, 0.0), who, ratings.K) / np.maximum(count, 1)
    return np.asarray(ratings.value - mean[who])


def _of_items(fused: Fused, mean: Fused, dust: np.ndarray) -> np.ndarray:
    """(M, D, 5) in the order of ITEM_COLUMNS; zero where nothing but dust is left."""
    low, high = fused.interval()
    found = np.stack([fused.mean, fused.sd, low, high, mean.mean], axis=2)
    return np.where(np.abs(found) <= dust[:, None], 0.0, found)


def _of_recordings(fused: Fused, mean: Fused) -> np.ndarray:
    """(M, D, 7) in the order of TRACE_COLUMNS."""
    assert fused.clock is not None
    ends = np.cumsum(fused.length)
    found = np.full((len(fused.items), len(fused.dimensions), len(TRACE_COLUMNS)), np.nan)
    for m, (end, T) in enumerate(zip(ends.tolist(), fused.length.tolist(), strict=True)):
        own = slice(end - T, end)
        x, y, sd = fused.mean[own], mean.mean[own], fused.sd[own]
        for d in range(x.shape[1]):
            known = np.isfinite(x[:, d]) & np.isfinite(y[:, d])
            if not known.any():
                continue
            away = np.where(known, np.abs(x[:, d] - y[:, d]), -1.0)
            at = int(away.argmax())
            found[m, d] = (
                *(x[:, d].mean(), x[:, d].min(), x[:, d].max(), np.median(sd[:, d])),
                *(_correlation(x[:, d], y[:, d]), away[at], fused.clock.start[m] + at / fused.clock.rate),
            )
    return found


def _apart(ratings: Ratings, fused: Fused, mean: Fused) -> np.ndarray:
    """(M, D) how far estimate and mean lie apart, the largest within a recording."""
    away = np.abs(fused.mean - mean.mean)
    if not ratings.is_series:
        return np.asarray(np.nan_to_num(away, nan=0.0))
    first = np.cumsum(fused.length) - fused.length
    return np.asarray(np.fmax.reduceat(np.nan_to_num(away, nan=0.0), first, axis=0))


def _furthest(apart: np.ndarray) -> list[tuple[int, int]]:
    """Where estimate and mean differ most, as (item, dimension), each dimension in its own spread."""
    unit = np.where((spread := apart.std(axis=0)) > 0, spread, 1.0)
    order = np.argsort(-(apart / unit).ravel(), kind="stable")[:FURTHEST]
    return [(int(i) // apart.shape[1], int(i) % apart.shape[1]) for i in order if apart.ravel()[i] > 0]


def _chosen(fused: Fused, apart: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, str | None]:
    """The items that the table shows, in their own order, and by what rule they were chosen if not all are."""
    M = len(values)
    most = max(MOST_CELLS // values[0].size, 30)
    if most >= M:
        return np.arange(M), None
    share = most // 4
    differ = np.argsort(-(apart / np.maximum(apart.std(axis=0), 1e-300)).max(axis=1), kind="stable")[:share]
    level = values[:, :, 0] if fused.clock is not None else fused.mean
    unsure = values[:, :, 3] if fused.clock is not None else fused.sd
    vague = np.argsort(-(unsure / np.maximum(unsure.std(axis=0), 1e-300)).max(axis=1), kind="stable")[:share]
    spaced = np.argsort(level[:, 0], kind="stable")[np.linspace(0, M - 1, most - 2 * share).astype(int)]
    words = (
        f"the {share:,} that differ most from the plain mean, the {share:,} that are least certain, and others at "
        f"equal steps along {fused.dimensions[0]}"
    )
    return np.unique(np.concatenate([differ, vague, spaced])), words


def _matrix(values: np.ndarray) -> list[list[float | None]]:
    D = values.shape[1]
    return [[_correlation(values[:, d], values[:, e]) for e in range(D)] for d in range(D)]


def _correlation(x: np.ndarray, y: np.ndarray) -> float | None:
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.clip(np.corrcoef(x, y)[0, 1], -1.0, 1.0))


def _numbers(values: np.ndarray) -> list[list[float | None]]:
    return [[float(v) if np.isfinite(v) else None for v in row] for row in values]


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
    floor, step = _grid([fused.mean, low, high])
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
