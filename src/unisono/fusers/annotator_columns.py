"""The columns of annotators.csv and annotators_overall.csv, each in one line.

A new figure about annotators is a field of `Annotators` and a line in `BY_DIMENSION` (one number per annotator and
dimension) or in `OVERALL` (one per annotator), and is explained in docs/annotators.md, which a test holds against these
lists. A column that has nothing to say of a model, as delays of items, is None and left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from unisono.fusers.results import Annotators
from unisono.maths.raters.styles import KINDS
from unisono.maths.series.tracer_diagnosis import KINDS as TRACING


class Column(NamedTuple):
    """The name of a column and its numbers: (K, D) by dimension, (K,) overall; None: nothing to say."""

    name: str
    of: Callable[[Annotators], np.ndarray | None]


def _style(annotators: Annotators, kind: str) -> np.ndarray | None:
    if annotators.diagnosis is None:
        return (annotators.tracing or {}).get(kind)
    return annotators.diagnosis.of_kind(kind)


def _style_of_traces(annotators: Annotators, kind: str) -> np.ndarray | None:
    return (annotators.tracing or {}).get(kind)


def _spammer(annotators: Annotators) -> np.ndarray | None:
    return None if annotators.diagnosis is None else annotators.diagnosis.spammer


def _copy_set(annotators: Annotators) -> np.ndarray | None:
    return None if annotators.voice is None else np.array(annotators.copy_sets(), dtype=object)


def mean_of(annotators: Annotators, name: str) -> np.ndarray:
    """(K,) the mean over the dimensions where the figure is known; NaN where it is on none."""
    figure = np.asarray(getattr(annotators, name))
    known = np.isfinite(figure)
    total = np.where(known, figure, 0.0).sum(axis=1)
    return np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), np.nan)


def by_reliability(annotators: Annotators) -> np.ndarray:
    """(K,) annotators, the most reliable on average first, those of whom nothing is known last."""
    mean = mean_of(annotators, "reliability")
    return np.argsort(np.where(np.isnan(mean), np.inf, -mean), kind="stable")


BY_DIMENSION = (
    Column("ratings", attrgetter("answered")),
    *(Column(name, attrgetter(name)) for name in ("bias", "gain", "noise", "reliability", "agreement")),
    *(Column(name, attrgetter(name)) for name in ("delay", "delay_low", "delay_high")),
    *(Column(kind, partial(_style, kind=kind)) for kind in KINDS),
    *(Column(kind, partial(_style_of_traces, kind=kind)) for kind in TRACING if kind not in KINDS),
)
OVERALL = (
    Column("ratings", attrgetter("ratings")),
    *(Column(name, partial(mean_of, name=name)) for name in ("reliability", "agreement")),
    Column("spammer", _spammer),
    Column("copy", attrgetter("copy")),
    Column("copy_set", _copy_set),
)


def dimension_columns(annotators: Annotators) -> dict[str, Any]:
    """One row per annotator and dimension: the columns of annotators.csv."""
    K, D = len(annotators.annotators), len(annotators.dimensions)
    table: dict[str, Any] = {
        "annotator": [name for name in annotators.annotators for _ in range(D)],
        "dimension": list(annotators.dimensions) * K,
        **_kinds(annotators, D),
    }
    table |= {column.name: found.ravel() for column in BY_DIMENSION if (found := column.of(annotators)) is not None}
    return table | _leakage(annotators)


def overall_columns(annotators: Annotators) -> dict[str, Any]:
    """One row per annotator: the columns of annotators_overall.csv."""
    found = {column.name: column.of(annotators) for column in OVERALL}
    return {"annotator": list(annotators.annotators), **_kinds(annotators, 1)} | {
        k: v for k, v in found.items() if v is not None
    }


def _kinds(annotators: Annotators, times: int) -> dict[str, list[str]]:
    """What annotators are, if somebody said, each so many times."""
    return {} if annotators.kind is None else {"kind": [kind for kind in annotators.kind for _ in range(times)]}


def _leakage(annotators: Annotators) -> dict[str, np.ndarray]:
    """`from_<dimension>`: what each truth does to the answers on a row's dimension, its own aside."""
    D = len(annotators.dimensions)
    if D == 1:
        return {}
    foreign = np.where(np.eye(D, dtype=bool), np.nan, annotators.leakage)
    return {f"from_{name}": foreign[:, :, e].ravel() for e, name in enumerate(annotators.dimensions)}
