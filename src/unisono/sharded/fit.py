"""Variational EM on shards: an E-step in every shard, the rest of the step on the driver.

Truths stay in the shards. How far they moved, which is what stops EM, is asked of the shards: those who still have the
truths of the last two E-steps compare them, others compute them again from the parameters.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable

import numpy as np

from unisono.engines.protocol import Executor, Shard
from unisono.engines.sums import pairwise_sum
from unisono.maths.em import EmTrace, run_em
from unisono.maths.items.estep import Stats, expectation
from unisono.maths.items.params import ItemParams
from unisono.maths.items.start import bayes_start
from unisono.maths.items.state import BayesSettings, BayesState
from unisono.maths.items.vb import maximised
from unisono.sharded.checkpoint import Checkpoint, Progress
from unisono.sharded.crowd import Crowd, everywhere
from unisono.sharded.parts import ItemShard


def fit_shards(
    executor: Executor,
    shards: list[Shard],
    crowd: Crowd,
    settings: BayesSettings,
    *,
    tol: float,
    max_iter: int,
    checkpoint: Checkpoint,
    on_step: Callable[[int, float], None] | None = None,
) -> tuple[BayesState, EmTrace]:
    """The fit of all shards, from the start or from where a checkpoint was left."""
    run, data = uuid.uuid4().hex, crowd.data
    # The point 0 and the unit vectors: where they come to lie says how a step moved the coordinates of all truths.
    probe = np.vstack([np.zeros(data.D), np.eye(data.D)])
    at = checkpoint.progress(data.scores.R) or Progress(bayes_start(data, settings)._replace(mean=probe), None, [])
    objective = list(at.objective)
    before = at.before  # parameters of the E-step before the one that is being made

    def step(state: BayesState) -> tuple[BayesState, float]:
        key = f"{run}-{len(objective)}"
        stats = statistics_of(executor, shards, crowd, state.params, key)
        after, bound = maximised(data, stats, probe, state, settings)
        objective.append(bound)
        return after, bound

    def settled(seen: list[float], state: BayesState, after: BayesState) -> bool:
        nonlocal before
        moved = np.inf
        if before is not None:
            keys = f"{run}-{len(seen) - 2}", f"{run}-{len(seen) - 1}"
            moves = executor.map(largest_move, shards, keys, (before, state.params), (state.mean, after.mean))
            moved = max(moves)
        before = state.params
        checkpoint.note(Progress(after, before, list(objective)))
        return moved < tol

    def report(iteration: int, state: BayesState, value: float) -> None:
        if on_step is not None:
            on_step(iteration, value)

    with checkpoint.kept():
        return run_em(step, at.state, stop_when=settled, max_iter=max_iter, on_step=report, seen=at.objective)


def statistics_of(
    executor: Executor, shards: list[Shard], crowd: Crowd, params: ItemParams, key: str = "last"
) -> Stats:
    """Sufficient statistics of all shards, by the profiles of the whole crowd."""
    parts = executor.map(e_step, shards, params, key)
    found: Stats = pairwise_sum((everywhere(crowd.keys, part) for part in parts), Stats.__add__)
    return found


def e_step(shard: ItemShard, params: ItemParams, key: str) -> tuple[np.ndarray, Stats]:
    """Sufficient statistics of a shard by profile, with the keys of its profiles; its truths are kept as `key`."""
    mean, stats = expectation(shard.data, params)
    shard.means = dict([*shard.means.items(), (key, mean)][-2:])
    return shard.keys, stats


def largest_move(
    shard: ItemShard,
    keys: tuple[str, str],
    params: tuple[ItemParams, ItemParams],
    probes: tuple[np.ndarray, np.ndarray],
) -> float:
    """The largest change of a truth of the shard between two E-steps, each in the coordinates that its probe says."""
    found = []
    for key, at, probe in zip(keys, params, probes, strict=True):
        mean = shard.means[key] if key in shard.means else expectation(shard.data, at)[0]
        found.append(mean @ (probe[1:] - probe[0]) + probe[0])
    return float(np.max(np.abs(found[1] - found[0]), initial=0.0))
