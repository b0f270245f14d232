"""The steps of the default one after the other, from parts of ratings to a fitted fuser."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unisono.data.lattice import NUMBERS
from unisono.data.scale import Scale
from unisono.engines.protocol import Executor, Shard, Task
from unisono.engines.sums import pairwise_sum
from unisono.fusers import Joint
from unisono.fusers.features import learn_space
from unisono.fusers.items.ends import earlier_kinds, find_ends, kinds_on, typical_annotators
from unisono.fusers.items.estimate import anchored_settings, estimate_at
from unisono.fusers.items.settings import DEFAULT_MAX_ITER, DEFAULT_TOL
from unisono.fusers.items.warm_start import PriorFit, continued, evidence_counts
from unisono.fusers.scaling import Scaling
from unisono.maths.distinct import SAME_ANSWER
from unisono.maths.items.ends import EndAnswers
from unisono.maths.items.noise import own_noise
from unisono.maths.items.priors import Priors
from unisono.maths.raters.diagnosis import Diagnosis
from unisono.maths.raters.signal import SharedSignal
from unisono.sharded.calibration import agreement_of, calibrated, sweep
from unisono.sharded.checkpoint import Checkpoint
from unisono.sharded.crowd import Crowd, find_crowd, units_of_parts
from unisono.sharded.diagnosis import find_diagnosis, find_signal
from unisono.sharded.fit import fit_shards, statistics_of
from unisono.sharded.look import Look
from unisono.sharded.parts import Source, make_item_shard
from unisono.sharded.tally import Tally
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
    executor.forget(counted.parts)
    kinds = [
        kinds_on(tally.value, tally.times, own) if fuser.censored else NUMBERS
        for tally, own in zip(counted.tallies, counted.scale, strict=True)
    ]
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
        moments=crowd.moments,
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
    fuser.set_calibration(honest._replace(rescaling=None) if fuser.estimate == "posterior" else honest)
    fuser.params_, fuser.trace_, fuser.theta_var_ = estimate.params, trace, estimate.theta_var
    fuser.ends_, fuser.reading_ = typical, None
    fuser.scaling_, fuser.scale_ = scaling, counted.scale.for_origins(look.low, look.high)
    fuser.space_ = learn_space(None, (), intercept=True, standardise=True)[0]
    fuser.dimensions_, fuser.annotators_ = counted.dimensions, counted.annotators
    judgements = crowd.data.by_annotator(crowd.data.judgements)
    fuser.judgements_, fuser.items_behind_ = evidence_counts(judgements, look.items, counted.annotators, earlier)
    stats = statistics_of(executor, shards, crowd, estimate.params)
    noise = own_noise(crowd.data, stats, estimate.params, Priors().noise_numbers)
    executor.forget(shards)
    return Fitted(fuser, crowd, signal, diagnosis, noise, agreement_of(found.answers))


def _in_units(executor: Executor, counted: Counted, scaling: Scaling, at_ends: EndAnswers | None) -> list[Shard]:
    """The parts as the item model wants them."""
    how = scaling.loc, scaling.scale, None if at_ends is None else at_ends.cuts
    return executor.load([Task(make_item_shard, (source, *how)) for source in counted.sources])


def look_at_all(executor: Executor, parts: list[Shard]) -> tuple[Look, list[Tally]]:
    """Counts and answers of all parts."""
    from unisono.sharded.look import joined_looks, look_at
    from unisono.sharded.tally import joined_tallies, tallied

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
