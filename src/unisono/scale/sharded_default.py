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
from unisono.fusers import Fuser, Joint, revive
from unisono.fusers.crowd import Copies
from unisono.fusers.item_estimation import anchored_settings, estimate_at
from unisono.fusers.item_preparation import (
    DEFAULT_MAX_ITER,
    DEFAULT_TOL,
    earlier_kinds,
    find_ends,
    kinds_on,
    typical_annotators,
)
from unisono.fusers.saved_fit import load_fit
from unisono.fusers.standardisation import Scaling, learn_space
from unisono.fusers.warm_start import PriorFit, absent_annotators, continued, evidence_counts, prior_fit_of
from unisono.maths.items.censored_estep import EndAnswers
from unisono.maths.items.item_priors import Priors
from unisono.maths.items.item_variances import own_noise
from unisono.maths.raters.rater_diagnosis import Diagnosis
from unisono.maths.raters.rater_signal import SharedSignal
from unisono.maths.rating_values import SAME_ANSWER
from unisono.scale.executors import Executor, Shard, Task, pairwise_sum
from unisono.scale.shard_em import Checkpoint, fit_shards, statistics_of
from unisono.scale.shard_folder import ShardFolder
from unisono.scale.shard_parts import Look, Source, Tally, make_item_shard
from unisono.scale.shard_sums import (
    Crowd,
    agreement_of,
    calibrated,
    find_crowd,
    find_diagnosis,
    find_pairs,
    find_phases,
    find_signal,
    sweep,
    units_of_parts,
)
from unisono.tables.answer_scale import Ends, Scale
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
    scale: Scale


class Fitted(NamedTuple):
    """A fit of shards, and what was found on the way."""

    fuser: Joint
    crowd: Crowd
    signal: SharedSignal
    diagnosis: Diagnosis
    noise: np.ndarray  # (K, D) error variances of the voices, standardised
    agreement: np.ndarray  # (K, D) of the voices
    left_out: np.ndarray  # (K, D) mean variances of the truths that the others leave


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
    scaling = Scaling(*units_of_parts(executor, counted.parts, np.abs(ends).max(axis=0)))

    def phases(d: int, own: Ends, step: float) -> Phases:
        return find_phases(executor, counted.parts, d, own, step)

    kinds = [
        kinds_on(tally.value, tally.times, own, d, phases) if fuser.censored else NUMBERS
        for d, (tally, own) in enumerate(zip(counted.tallies, counted.scale, strict=True))
    ]
    executor.forget(counted.parts)
    at_ends = find_ends(kinds, counted.scale, scaling)
    shards = _in_units(executor, counted, scaling, at_ends)
    crowd = find_crowd(executor, shards, look.items, K)
    on_phase("shared signal")
    signal, correlation = find_signal(executor, shards, crowd.data)
    on_phase("diagnosis of annotators")
    close = SAME_ANSWER * scaling.scale
    equal_pairs = np.array([tally.equal_pairs(own) for tally, own in zip(counted.tallies, close, strict=True)])
    ranges = look.low / scaling.scale, look.high / scaling.scale
    diagnosis = find_diagnosis(executor, shards, crowd.data, signal, correlation, ranges, equal_pairs)
    if earlier is not None:
        scaling = earlier.scaling
        if fuser.censored:
            at_ends = find_ends(earlier_kinds(earlier.ends, scaling), counted.scale, scaling)
        executor.forget(shards)
        shards = _in_units(executor, counted, scaling, at_ends)
        crowd = find_crowd(executor, shards, look.items, K)
    settings = anchored_settings(
        crowd.data,
        fuser.structure(),
        Priors(**(fuser.priors or {})),
        np.full(crowd.data.D, fuser.variance_floor),
        fuser.anchor,
        (lambda: diagnosis) if earlier is None else None,
        pairs=lambda levels, gain: find_pairs(executor, shards, levels, gain),
    )
    if earlier is not None:
        settings = continued(settings, earlier, counted.annotators)
    state, trace = fit_shards(
        executor,
        shards,
        crowd,
        settings,
        tol=DEFAULT_TOL["bayes"] if fuser.tol is None else fuser.tol,
        max_iter=DEFAULT_MAX_ITER["bayes"] if fuser.max_iter is None else fuser.max_iter,
        checkpoint=Checkpoint(checkpoint, resume=resume, belongs_to=_identity(counted, fuser, earlier)),
        on_step=on_step,
    )
    estimate = estimate_at(crowd.data, state, trace, settings)
    on_phase("calibration")
    typical = typical_annotators(at_ends, estimate.params)
    found = sweep(executor, shards, estimate.params, typical)
    span = (ends[1] - ends[0]) / scaling.scale
    honest = calibrated(found, crowd, estimate.params, signal, span, fuser.panel, continued=earlier is not None)
    honest = honest._replace(level=estimate.level)
    fuser.set_calibration(honest._replace(rescaling=None) if fuser.estimate == "posterior" else honest)
    fuser.params_, fuser.trace_, fuser.theta_var_ = estimate.params, trace, estimate.theta_var
    fuser.ends_ = typical
    fuser.scaling_, fuser.scale_ = scaling, counted.scale.for_origins(look.low, look.high)
    fuser.space_ = learn_space(None, (), intercept=True, standardise=True)[0]
    fuser.dimensions_, fuser.annotators_ = counted.dimensions, counted.annotators
    judgements = crowd.data.by_annotator(crowd.data.judgements)
    fuser.judgements_, fuser.items_behind_ = evidence_counts(judgements, look.items, counted.annotators, earlier)
    stats = statistics_of(executor, shards, crowd, estimate.params)
    noise = own_noise(crowd.data, stats, estimate.params, Priors().noise_numbers)
    executor.forget(shards)
    left_out = found.left_out / np.maximum(crowd.data.answers(), 1)
    return Fitted(fuser, crowd, signal, diagnosis, noise, agreement_of(found.answers), left_out)


def _in_units(executor: Executor, counted: Counted, scaling: Scaling, at_ends: EndAnswers | None) -> list[Shard]:
    """The parts as the item model wants them."""
    how = scaling.loc, scaling.scale, None if at_ends is None else at_ends.cuts
    return executor.load([Task(make_item_shard, (source, *how)) for source in counted.sources])


def look_at_all(executor: Executor, parts: list[Shard]) -> tuple[Look, list[Tally]]:
    """Counts and answers of all parts."""
    from unisono.scale.shard_parts import joined_looks, joined_tallies, look_at, tallied

    look = pairwise_sum(executor.map(look_at, parts), joined_looks)
    return look, pairwise_sum(executor.map(tallied, parts), joined_tallies)


def _identity(counted: Counted, fuser: Joint, earlier: PriorFit | None) -> str:
    """Which fit it is: the ratings, the settings, where it starts and the version; not who did the work."""
    settings: dict[str, Any] = fuser.saved_params()
    words = json.dumps([settings, counted.annotators, counted.dimensions, __version__], sort_keys=True, default=repr)
    found = hashlib.sha256(counted.look.digest + words.encode())
    if earlier is not None:
        for part in (earlier.judgements, *earlier.params):
            found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()


def prior_fit(start: Any, fuser: Joint) -> PriorFit | None:
    """What an earlier fit (a fuser, or the directory of a saved one) knows, if this one can start from it."""
    if start is None:
        return None
    earlier = start if isinstance(start, Fuser) else revive(load_fit(Path(start)))
    if not isinstance(earlier, Joint):
        raise DataError(f"Shards start from an earlier fit of the model 'auto' or 'joint', not of '{earlier.kind}'.")
    fuser.start_from(earlier)
    return prior_fit_of(earlier)


class Everybody(NamedTuple):
    """Those who rated in the shards, and those of the earlier fit who did not, after them."""

    folder: ShardFolder
    look: Look
    copies: Copies
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
