"""Design of traces from a finished fit: which recordings and stretches need another annotator, how many are enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.fusers.advice import NextRatings, Plan, Stretch
from unisono.fusers.base import Fuser
from unisono.fusers.results import Fit
from unisono.fusers.series.base import SeriesFuser
from unisono.fusers.series.model import SeriesModel
from unisono.maths.series.design import (
    Stretches,
    TraceDesign,
    course_error,
    error_to_expect,
    level_error,
    trace_design,
    typical,
)


class Part(NamedTuple):
    """One model of the fit: its dimensions, what annotators tell, what is known of stretches."""

    dims: list[int]
    design: TraceDesign
    stretches: Stretches


def next_recordings(fuser: Fuser, fit: Fit) -> NextRatings:
    """Recordings, and stretches of them, ranked by how much uncertainty one more typical annotator would remove."""
    parts = _parts(fuser, fit)
    first = parts[0].stretches
    weight = (first.last - first.first).astype(float)
    spread = sum(float(np.sum(part.design.A + part.design.AB)) for part in parts)
    now, after = np.zeros(len(weight)), np.zeros(len(weight))
    for part in parts:
        more, more_level = typical(part.design.course), typical(part.design.level)
        Q, QL = part.stretches.course, part.stretches.level
        now += (course_error(Q, part.design) + level_error(QL, part.design)).sum(axis=1)
        after += (course_error(Q + more, part.design) + level_error(QL + more_level, part.design)).sum(axis=1)
    of, M = first.recording, len(fit.items)
    frames = np.bincount(of, weight, minlength=M)
    before, left = (np.bincount(of, weight * v, minlength=M) / frames for v in (now, after))
    order = np.argsort(-(before - left), kind="stable")
    ranked = np.argsort(-(now - after), kind="stable")
    told = sum(
        np.nan_to_num(part.design.A + part.design.AB - _alone(part.design), nan=0.0).sum(axis=1) for part in parts
    )
    rated = ~np.all([np.isnan(part.design.course).all(axis=1) for part in parts], axis=0)
    best = np.argsort(-told, kind="stable")
    best = best[rated[best]]
    rate = _rate(fuser)
    return NextRatings(
        items=tuple(fit.items[m] for m in order),
        item_sd=np.sqrt(before / spread)[order],
        item_reduction=(1.0 - left / before)[order],
        annotators=tuple(fit.annotators[k] for k in best),
        information=(told / spread)[best],
        dimensions=fit.dimensions,
        stretches=tuple(
            Stretch(
                fit.items[of[i]],
                round(float(first.first[i] / rate), 3),
                round(float(first.last[i] / rate), 3),
                float(np.sqrt(now[i] / spread)),
                float(1.0 - after[i] / now[i]),
            )
            for i in ranked
        ),
        traces=True,
    )


def plan_annotators(fuser: Fuser, fit: Fit, *, most: int = 20, seed: int = 0) -> Plan:
    """The predicted error for 1 to `most` annotators per recording, drawn from those of the fit."""
    parts = _parts(fuser, fit)
    D, people = len(fit.dimensions), max(int((~np.isnan(p.design.course).all(axis=1)).sum()) for p in parts)
    counts = np.arange(1, min(most, people) + 1)
    sd, correlation = np.zeros((len(counts), D)), np.zeros((len(counts), D))
    for part in parts:
        variance = error_to_expect(part.design, counts, np.random.default_rng(seed))
        whole = part.design.A + part.design.AB
        sd[:, part.dims] = np.sqrt(variance) * fuser.scaling_.scale[part.dims]
        correlation[:, part.dims] = np.sqrt(np.clip(1.0 - variance / whole, 0.0, 1.0))
    return Plan(counts, sd, correlation, fit.dimensions, traces=True)


def _alone(design: TraceDesign) -> np.ndarray:
    """(K, D) variance of a truth that one annotator alone has told of."""
    return np.asarray(course_error(design.course, design) + level_error(design.level, design))


def _rate(fuser: Fuser) -> float:
    assert isinstance(fuser, SeriesFuser)
    return fuser.rate_


def _parts(fuser: Fuser, fit: Fit) -> list[Part]:
    assert isinstance(fuser, SeriesFuser)
    parts = getattr(fuser, "parts_", ())
    if not parts or any(part.model.levels is None for part in parts):
        raise DataError(
            "Advice on traces comes from the default, without features and without another structure: "
            "fuse with --model auto alone."
        )
    if "part0_stretch_recording" not in fit.arrays:
        raise DataError("This fit does not hold what is known of its recordings. Fuse again with this version.")
    return [_part(list(one.dims), one.model, fit, i) for i, one in enumerate(parts)]


def _part(dims: list[int], model: SeriesModel, fit: Fit, number: int) -> Part:
    assert model.levels is not None
    known = Stretches(*(fit.arrays[f"part{number}_stretch_{name}"] for name in Stretches._fields))
    return Part(dims, trace_design(model.params, model.levels, model.noise), known)
