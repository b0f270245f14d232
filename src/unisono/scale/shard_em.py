"""Variational EM on shards: an E-step in every shard, the rest of the step on the driver; and its checkpoints.

Truths stay in the shards. How far they moved, which is what stops EM, is asked of the shards: those who still have the
truths of the last two E-steps compare them, others compute them again from the parameters. The state of a fit is kept
in one file, replaced as a whole every few iterations. What is written is numbers alone (npz), bit for bit, so that a
fit that is continued ends at the same bytes as one that was never interrupted. A checkpoint says which ratings and
settings it belongs to, and fits no others.
"""

from __future__ import annotations

import uuid
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.maths.em_loop import EmTrace, run_em
from unisono.maths.items.bayes_bound import BayesSettings, BayesState, Hyper
from unisono.maths.items.bayes_em import maximised
from unisono.maths.items.bayes_start import bayes_start
from unisono.maths.items.item_estep import Stats, expectation
from unisono.maths.items.item_params import ItemParams
from unisono.scale.executors import Executor, Shard, pairwise_sum
from unisono.scale.shard_parts import ItemShard
from unisono.scale.shard_sums import Crowd, everywhere
from unisono.tables.atomic_files import atomic_path

FILE = "checkpoint.npz"
EVERY = 3  # iterations between two writings


class Progress(NamedTuple):
    """How far a fit has come."""

    state: BayesState  # where the last step led to; `mean` says how it moved the coordinates
    before: ItemParams | None  # parameters of the last E-step
    objective: list[float]


class Checkpoint:
    """Where a fit is kept; without a folder nowhere."""

    def __init__(self, folder: Path | None = None, *, resume: bool = False, belongs_to: str = "") -> None:
        self.path = None if folder is None else folder / FILE
        self.resume = resume
        self.belongs_to = belongs_to
        self._latest: Progress | None = None

    def progress(self, R: int) -> Progress | None:
        """What an interrupted fit of the same ratings left, if it is to be continued."""
        if not self.resume or self.path is None:
            return None
        if not self.path.is_file():
            raise DataError(
                f"{self.path.parent} holds no checkpoint to resume from. Leave --resume away to begin anew."
            )
        try:
            with np.load(self.path, allow_pickle=False) as file:
                arrays = dict(file.items())
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise DataError(f"{self.path} is damaged ({error}). Leave --resume away to begin anew.") from None
        if str(arrays["belongs_to"]) != self.belongs_to:
            raise DataError(
                f"{self.path} belongs to a fit of other ratings or with other settings. Give those, or leave --resume "
                "away to begin anew."
            )
        return _progress(arrays)

    def note(self, progress: Progress) -> None:
        """Takes note after an iteration, and writes now and then."""
        self._latest = progress
        if len(progress.objective) % EVERY == 0:
            self._write()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Whatever ends the fit inside, its last state is written; after one that ended well none is kept."""
        try:
            yield
        except BaseException:
            self._write()
            raise
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _write(self) -> None:
        if self.path is None or self._latest is None:
            return
        with atomic_path(self.path) as temporary, temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, belongs_to=np.array(self.belongs_to), **_arrays(self._latest))


def _arrays(progress: Progress) -> dict[str, np.ndarray]:
    state, before, objective = progress
    assert before is not None
    return {
        "objective": np.array(objective),
        "probe": state.mean,
        **{
            f"{which}_{name}": value
            for which, params in (("params", state.params), ("before", before))
            for name, value in params._asdict().items()
            if value is not None
        },
        **{f"hyper_{name}": np.asarray(value) for name, value in state.hyper._asdict().items()},
    }


def _progress(arrays: dict[str, np.ndarray]) -> Progress:
    params, before = (
        ItemParams(**{name: arrays.get(f"{which}_{name}") for name in ItemParams._fields})  # type: ignore[arg-type]
        for which in ("params", "before")
    )
    numbers = {name: arrays[f"hyper_{name}"] for name in Hyper._fields}
    hyper = Hyper(**{name: float(value) if value.ndim == 0 else value for name, value in numbers.items()})  # type: ignore[arg-type]
    return Progress(BayesState(params, hyper, arrays["probe"]), before, arrays["objective"].tolist())


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
