"""The steps of the default on shards one after the other, from parts of ratings to a fitted fuser.

An earlier fit to start from has its annotators among those of the shards, and what it knows is the prior.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.fusers import (
    Fuser,
    Joint,
    crowd,
    gold_items,
    item_estimation,
    item_preparation,
    revive,
    saved_fit,
    standardisation,
)
from unisono.fusers.item_estimation import Estimate, Run, TurnedEstimate
from unisono.fusers.warm_start import PriorFit, absent_annotators, continued, evidence_counts, prior_fit_of
from unisono.maths.items.censored_answers import EndAnswers
from unisono.maths.items.item_priors import Priors
from unisono.maths.items.item_variances import own_noise
from unisono.maths.raters import rater_diagnosis, rater_signal
from unisono.maths.rating_values import SAME_ANSWER
from unisono.scale import shard_em, shard_folder, shard_sums
from unisono.scale.executors import Executor, Shard
from unisono.scale.shard_parts import Look, Source, Tally, Units
from unisono.scale.shard_sums import ShardRows
from unisono.tables import answer_scale, item_table
from unisono.tables.scale_inference import NUMBERS, Phases
from unisono.version import __version__

OnPhase = Callable[[str], None]


class Counted(NamedTuple):
    """Ratings as a fit sees them, copies as one voice."""

    sources: list[Source]
    parts: list[Shard]
    look: Look
    tallies: list[Tally]
    annotators: tuple[str, ...]  # the voices
    dimensions: tuple[str, ...]
    scale: answer_scale.Scale
    features: tuple[str, ...] = ()
    gold: item_table.ItemTable | None = None  # known truths, in the dimensions of the ratings


class Found(NamedTuple):
    """A fit of shards, and what describes its annotators."""

    fuser: Joint
    rows: ShardRows
    units: Units
    noise: np.ndarray  # (K, D) error variances of the voices, standardised
    agreement: np.ndarray  # (K, D) of the voices
    left_out: np.ndarray  # (K, D) mean variances of the truths that the others leave
    turned: Found | None = None  # of dimensions that known truths turned


class Fitted(NamedTuple):
    """The same, and what was found on the way."""

    found: Found
    signal: rater_signal.SharedSignal
    diagnosis: rater_diagnosis.Diagnosis


class _Work(NamedTuple):
    """What a fit of shards goes by, for all dimensions or some of them."""

    counted: Counted
    rows: ShardRows
    units: Units
    signal: rater_signal.SharedSignal
    ends: tuple[np.ndarray, np.ndarray]  # lowest and highest answers, (D,) each
    at_ends: EndAnswers | None
    scale: answer_scale.Scale  # of the truth
    earlier: PriorFit | None


def fit_default(
    executor: Executor,
    counted: Counted,
    fuser: Joint,
    earlier: PriorFit | None = None,
    *,
    checkpoint: Path | None,
    resume: bool,
    on_step: Callable[[int, float], None] | None,
    on_phase: OnPhase,
) -> Fitted:
    """Units, signal, diagnosis, EM and calibration; the fuser learns. An `earlier` fit has the units."""
    look, K = counted.look, len(counted.annotators)
    on_phase("units")
    ends = np.nan_to_num(look.span)
    scaling = standardisation.Scaling(*shard_sums.units_of_parts(executor, counted.parts, np.abs(ends).max(axis=0)))

    def phases(d: int, own: answer_scale.Ends, step: float) -> Phases:
        return shard_sums.find_phases(executor, counted.parts, d, own, step)

    kinds = [
        item_preparation.kinds_on(tally.value, tally.times, own, d, phases) if fuser.censored else NUMBERS
        for d, (tally, own) in enumerate(zip(counted.tallies, counted.scale, strict=True))
    ]
    space, scores = shard_sums.find_space(executor, counted.parts, counted.features, look.items)
    executor.forget(counted.parts)
    at_ends = item_preparation.find_ends(kinds, counted.scale, scaling)

    def rows_in(scaling: standardisation.Scaling, at_ends: EndAnswers | None) -> tuple[Units, ShardRows]:
        units = Units(scaling, None if at_ends is None else at_ends.cuts, space, look.usual)
        return units, ShardRows(executor, counted.sources, units, scores, K)

    units, rows = rows_in(scaling, at_ends)
    on_phase("shared signal")
    signal, correlation = shard_sums.find_signal(rows)
    on_phase("diagnosis of annotators")
    close = SAME_ANSWER * scaling.scale
    equal_pairs = np.array([tally.equal_pairs(own) for tally, own in zip(counted.tallies, close, strict=True)])
    ranges = look.low / scaling.scale, look.high / scaling.scale
    diagnosis = shard_sums.find_diagnosis(rows, signal, correlation, ranges, equal_pairs)
    if earlier is not None:
        scaling = earlier.scaling
        if fuser.censored:
            at_ends = item_preparation.find_ends(
                item_preparation.earlier_kinds(earlier.ends, scaling), counted.scale, scaling
            )
        rows.forget()
        units, rows = rows_in(scaling, at_ends)
    data, known = rows.data, None
    scale = counted.scale.for_origins(look.low, look.high)
    if counted.gold is not None:
        scale = scale.widened(counted.gold.value, counted.dimensions, counted.gold.source, counted.gold.items)
        known = scaling.standardise(counted.gold.value)
        data = data._replace(gold=known)
    settings = item_estimation.anchored_settings(
        data,
        fuser.structure(),
        Priors(**(fuser.priors or {})),
        np.full(data.D, fuser.variance_floor),
        fuser.anchor,
        (lambda: diagnosis) if earlier is None else None,
    )
    if earlier is not None:
        settings = continued(settings, earlier, counted.annotators)
    run = Run(
        tol=item_preparation.DEFAULT_TOL["bayes"] if fuser.tol is None else fuser.tol,
        max_iter=item_preparation.DEFAULT_MAX_ITER["bayes"] if fuser.max_iter is None else fuser.max_iter,
    )
    kept = shard_em.Checkpoint(checkpoint, resume=resume, belongs_to=_identity(counted, fuser, earlier))
    with kept.kept():
        climb = shard_em.Climber(kept, run.tol, run.max_iter, on_step)
        estimate = item_estimation.estimate_bayes(data, settings._replace(slips=fuser.slips), run, climb)
    on_phase("calibration")
    work = _Work(counted, rows, units, signal, (ends[0], ends[1]), at_ends, scale, earlier)
    found = _learned(fuser, estimate, work, known)
    rows.forget()
    return Fitted(found, signal, diagnosis)


def _learned(
    fuser: Joint, estimate: Estimate, work: _Work, known: np.ndarray | None, *, observed: bool = False
) -> Found:
    """Gives the fuser an estimate, as `learn` does in memory; known truths (G, D) may have been `observed`."""
    counted, rows, earlier = work.counted, work.rows, work.earlier
    gold = known if observed else None
    typical = item_preparation.typical_annotators(work.at_ends, estimate.params, observed)
    fuser.params_, fuser.trace_, fuser.theta_var_ = estimate.params, estimate.trace, estimate.theta_var
    fuser.ends_ = typical
    fuser.scaling_, fuser.scale_, fuser.space_ = work.units.scaling, work.scale, work.units.space
    fuser.dimensions_, fuser.annotators_ = counted.dimensions, counted.annotators
    judgements = rows.data.by_annotator(rows.data.judgements)
    behind = evidence_counts(judgements, counted.look.items, counted.annotators, earlier)
    fuser.judgements_, fuser.items_behind_ = behind
    seen = shard_sums.sweep(rows, estimate.params, typical, gold)
    span = (work.ends[1] - work.ends[0]) / work.units.scaling.scale
    honest = shard_sums.calibrated(
        seen, rows.data, estimate.params, work.signal, span, fuser.panel, continued=earlier is not None
    )
    if observed or fuser.estimate == "posterior":
        honest = honest._replace(rescaling=None)
    fuser.calibration_ = honest._replace(level=None if observed else estimate.level)
    turned = None
    if known is not None and not observed:
        turned = None if estimate.turned is None else _turned(fuser, estimate.turned, work, known)
        ends = item_preparation.standardised_ends(counted.scale, fuser.scaling_)
        item_estimation.set_level(
            fuser, known, shard_sums.estimates(rows, estimate.params, typical, fuser.calibration_, ends)
        )
        seen = shard_sums.sweep(rows, fuser.params_, fuser.ends_)
    noise = own_noise(shard_sums.read_by(rows, seen), seen.stats.stats, fuser.params_, Priors().noise_numbers)
    left_out = seen.left_out / np.maximum(rows.data.answers(), 1)
    return Found(fuser, rows, work.units, noise, shard_sums.agreement_of(seen.answers), left_out, turned)


def _turned(fuser: Joint, turned: TurnedEstimate, work: _Work, known: np.ndarray) -> Found:
    """The fit of the dimensions that known truths turned."""
    dims, rows = turned.dims.tolist(), turned.data.elsewhere
    assert isinstance(rows, ShardRows)
    at_ends = None if work.at_ends is None else work.at_ends.of(dims)
    whole = len(dims) == len(work.counted.dimensions)
    own = work._replace(
        counted=work.counted._replace(
            dimensions=tuple(work.counted.dimensions[d] for d in dims), scale=work.counted.scale.select(dims)
        ),
        rows=rows,
        units=work.units if whole else work.units._replace(scaling=work.units.scaling.of(dims)),
        signal=work.signal if whole else shard_sums.find_signal(rows)[0],
        ends=(work.ends[0][dims], work.ends[1][dims]),
        at_ends=at_ends if at_ends is not None and at_ends.any else None,
        scale=work.scale.select(dims),
        earlier=None,
    )
    found = _learned(fuser.alike(), turned.estimate, own, known[:, dims], observed=True)
    fuser.turned_ = gold_items.TurnedFit(found.fuser, turned.dims, turned.better, turned.missed)
    everything = fuser.turned_.everything(len(fuser.dimensions_))
    fuser.trace_ = (
        found.fuser.trace_ if everything else item_estimation.sum_of_traces([fuser.trace_, found.fuser.trace_])
    )
    return found


def look_at_all(executor: Executor, parts: list[Shard]) -> tuple[Look, list[Tally]]:
    """Counts and answers of all parts."""
    from unisono.scale.shard_parts import joined_looks, joined_tallies, look_at, tallied

    look = executor.total(look_at, parts, add=joined_looks)
    return look, executor.total(tallied, parts, add=joined_tallies)


def _identity(counted: Counted, fuser: Joint, earlier: PriorFit | None) -> str:
    """Which fit it is: the ratings, the settings, where it starts and the version; not who did the work."""
    settings: dict[str, Any] = fuser.saved_params()
    words = json.dumps([settings, counted.annotators, counted.dimensions, __version__], sort_keys=True, default=repr)
    found = hashlib.sha256(counted.look.digest + words.encode())
    if counted.gold is not None:
        found.update(np.ascontiguousarray(counted.gold.value).tobytes())
    if earlier is not None:
        for part in (earlier.judgements, *earlier.params):
            found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()


def prior_fit(start: Any, fuser: Joint) -> PriorFit | None:
    """What an earlier fit (a fuser, or the directory of a saved one) knows, if this one can start from it."""
    if start is None:
        return None
    earlier = start if isinstance(start, Fuser) else revive(saved_fit.load_fit(Path(start)))
    if not isinstance(earlier, Joint):
        raise DataError(f"Shards start from an earlier fit of the model 'auto' or 'joint', not of '{earlier.kind}'.")
    fuser.start_from(earlier)
    return prior_fit_of(earlier)


class Everybody(NamedTuple):
    """Those who rated in the shards, and those of the earlier fit who did not, after them."""

    folder: shard_folder.ShardFolder
    look: Look
    copies: crowd.Copies
    counted: Counted


def with_earlier(everybody: Everybody, earlier: PriorFit | None) -> Everybody:
    """Nobody is forgotten; the scale is as wide as that of the earlier fit."""
    if earlier is None:
        return everybody
    folder, look, copies, counted = everybody
    absent = absent_annotators(folder.annotators, folder.dimensions, folder.source, earlier)
    more = len(absent)
    silent = np.arange(len(copies.voice), len(copies.voice) + more)
    return Everybody(
        replace(folder, annotators=(*folder.annotators, *absent)),
        _with_silent(look, more),
        replace(
            copies,
            voice=np.concatenate([copies.voice, silent]),
            probability=np.concatenate([copies.probability, np.zeros(more)]),
        ),
        counted._replace(
            sources=[source._replace(silent=more) for source in counted.sources],
            look=_with_silent(counted.look, more),
            annotators=(*counted.annotators, *absent),
            # A batch that shows less of the scale than the one before was given on the same one.
            scale=counted.scale.joined(earlier.scale).widened(look.span, folder.dimensions, folder.source),
        ),
    )


def _with_silent(look: Look, more: int) -> Look:
    """The look with so many annotators after the others who answered nothing."""

    def extended(part: np.ndarray, value: float) -> np.ndarray:
        return np.concatenate([part, np.full((more, *part.shape[1:]), value, dtype=part.dtype)])

    return look._replace(
        given=extended(look.given, 0),
        rated=extended(look.rated, 0),
        answered=extended(look.answered, 0),
        low=extended(look.low, np.inf),
        high=extended(look.high, -np.inf),
        tied=extended(look.tied, -1),
    )
