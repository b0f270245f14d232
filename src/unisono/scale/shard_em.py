"""Variational EM on shards: an E-step in every shard, the rest of the step on the driver; and its checkpoints.

Truths stay in the shards. How far they moved, which is what stops EM, is asked of the shards: those who still have the
truths of the last two E-steps compare them, others compute them again from the parameters. Precisions of judgements and
items stay there too. They come from those before them, so whoever lost them goes through the parameters of all steps
once more (`replay`), to the same bits.

The state of a fit is kept in one file, replaced as a whole every few iterations: climbs that are done, and the one that
is not. What is written is numbers alone (npz), bit for bit, so that a fit that is continued ends at the same bytes as
one that was never interrupted. A checkpoint says which ratings and settings it belongs to, and fits no others.
"""

from __future__ import annotations

import uuid
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.fusers.learned_arrays import packed, unpacked
from unisono.maths.em_loop import EmTrace, run_em
from unisono.maths.items import bayes_em, judgement_weights
from unisono.maths.items.bayes_bound import BayesSettings, BayesState
from unisono.maths.items.item_data import ItemData
from unisono.maths.items.item_estep import Stats, expectation
from unisono.maths.items.item_params import ItemParams
from unisono.scale.shard_parts import ItemShard
from unisono.scale.shard_sums import KeyedStats, ProfileSums, ShardRows, joined_profiles, joined_stats
from unisono.tables.atomic_files import atomic_path

FILE = "checkpoint.npz"
EVERY = 3  # iterations between two writings


class Progress(NamedTuple):
    """How far a climb has come."""

    state: BayesState  # where the last step led to; `mean` says how it moved the coordinates
    history: list[ItemParams]  # parameters of E-steps: of all where judgements are weighed, else of the last one
    objective: list[float]


class Done(NamedTuple):
    """A climb that has ended."""

    state: BayesState
    trace: EmTrace


class Checkpoint:
    """Where a fit is kept; without a folder nowhere."""

    def __init__(self, folder: Path | None = None, *, resume: bool = False, belongs_to: str = "") -> None:
        self.path = None if folder is None else folder / FILE
        self.belongs_to = belongs_to
        self._done: list[Done] = []
        self._latest: Progress | None = None
        self._left: Iterator[Done] = iter(())
        if resume and self.path is not None:
            self._read(self.path)

    def _read(self, path: Path) -> None:
        """What an interrupted fit of the same ratings left."""
        if not path.is_file():
            raise DataError(f"{path.parent} holds no checkpoint to resume from. Leave --resume away to begin anew.")
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = dict(file.items())
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise DataError(f"{path} is damaged ({error}). Leave --resume away to begin anew.") from None
        if str(arrays.pop("belongs_to")) != self.belongs_to:
            raise DataError(
                f"{path} belongs to a fit of other ratings or with other settings. Give those, or leave --resume "
                "away to begin anew."
            )
        self._left = iter(unpacked(list[Done], arrays, "done"))
        self._latest = unpacked(Progress, arrays, "latest")

    def next_done(self) -> Done | None:
        """The next climb, if the interrupted fit had done it."""
        found = next(self._left, None)
        if found is not None:
            self._done.append(found)
        return found

    def progress(self) -> Progress | None:
        """Where the interrupted fit was in the climb that it had not done."""
        return self._latest

    def note(self, progress: Progress) -> None:
        """Takes note after an iteration, and writes now and then."""
        self._latest = progress
        if len(progress.objective) % EVERY == 0:
            self._write()

    def note_done(self, state: BayesState, trace: EmTrace) -> None:
        self._done.append(Done(state, trace))
        self._latest = None

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
        if self.path is None or (self._latest is None and not self._done):
            return
        arrays = {"belongs_to": np.array(self.belongs_to)} | packed(self._done, "done") | packed(self._latest, "latest")
        with atomic_path(self.path) as temporary, temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)


class Climber:
    """EM on the rows of `data.elsewhere`, from a start, or from where a checkpoint was left."""

    def __init__(
        self, checkpoint: Checkpoint, tol: float, max_iter: int, on_step: Callable[[int, float], None] | None = None
    ) -> None:
        self.checkpoint = checkpoint
        self.tol = tol
        self.max_iter = max_iter
        self.on_step = on_step

    def __call__(self, data: ItemData, start: BayesState, settings: BayesSettings) -> tuple[BayesState, EmTrace]:
        done = self.checkpoint.next_done()
        if done is not None:
            return done
        rows = data.elsewhere
        assert isinstance(rows, ShardRows)
        # The point 0 and the unit vectors: where they come to lie says how a step moved all truths.
        probe = np.vstack([np.zeros(data.D), np.eye(data.D)])
        at = self.checkpoint.progress() or Progress(start._replace(mean=probe), [], [])
        steps = _Steps(rows, data.gold, at.history, weighed=start.weights is not None)
        objective, before = list(at.objective), at.history[-1] if at.history else None
        if steps.weighed and at.history:
            before = at.history[-2]
        previous = None  # parameters of the E-step that found the truths of the state before the last one

        def step(state: BayesState) -> tuple[BayesState, float]:
            steps.begin(len(objective), state.params)
            after, bound = bayes_em.maximised(state.seen(data), steps.statistics(), probe, state, settings)
            if state.weights is not None:
                weights = steps.reweighed(after.params)
                after = after._replace(weights=weights, params=after.params._replace(tails=weights.tails))
            objective.append(bound)
            return after, bound

        def settled(seen: list[float], state: BayesState, after: BayesState) -> bool:
            nonlocal before, previous
            moved = np.inf if before is None else steps.largest_move((before, state.params), (state.mean, after.mean))
            before, previous = state.params, before
            self.checkpoint.note(Progress(after, list(steps.history), list(objective)))
            return moved < self.tol

        def report(iteration: int, state: BayesState, value: float) -> None:
            if self.on_step is not None:
                self.on_step(iteration, value)

        try:
            state, trace = run_em(
                step, at.state, stop_when=settled, max_iter=self.max_iter, on_step=report, seen=at.objective
            )
        finally:
            steps.end()
        state = state._replace(mean=_known_truths(rows, data.gold, previous, state.mean))
        self.checkpoint.note_done(state, trace)
        return state, trace


def _known_truths(rows: ShardRows, gold: np.ndarray | None, before: ItemParams | None, probe: np.ndarray) -> np.ndarray:
    """(G, D) truths of the known items by the last E-step but one, in the coordinates that it led to."""
    if before is None:
        return np.full((rows.known, len(probe[0])), np.nan)
    return _in_coordinates(rows.truths(before, gold), probe)


def _in_coordinates(mean: np.ndarray, probe: np.ndarray) -> np.ndarray:
    """Truths (n, D) where the probe says they have come to lie."""
    return np.asarray(mean @ (probe[1:] - probe[0]) + probe[0])


class _Steps:
    """What a climb asks of the shards, step by step."""

    def __init__(self, rows: ShardRows, gold: np.ndarray | None, history: list[ItemParams], *, weighed: bool) -> None:
        self.rows = rows
        self.gold = gold
        self.weighed = weighed
        self.history = list(history)  # as `Progress` has it
        self._run, self._n = uuid.uuid4().hex, 0

    def begin(self, n: int, params: ItemParams) -> None:
        """Step n begins at these parameters."""
        self._n = n
        if not self.weighed:
            self.history = [params]
        elif not self.history:
            self.history.append(params)

    def statistics(self) -> Stats:
        """Sufficient statistics of all shards, by the profiles of the whole crowd."""
        found: KeyedStats = self._total(joined_stats, e_step, self.history[-1], self.gold, self.weighed)
        return found.stats

    def reweighed(self, params: ItemParams) -> judgement_weights.Weights:
        """Precisions of judgements and items under parameters that a step has led to."""
        nu = judgement_weights.best_freedom(self._total(np.add, slips, params))
        tails = judgement_weights.best_of_items(self._total(np.add, unclear, params, nu))
        sums = self._total(joined_profiles, weigh, params, nu, tails)
        nothing, found = np.zeros(0), np.array([nu, *tails])
        self.history.append(params._replace(tails=found))
        return judgement_weights.Weights(nothing, nothing, found, sums.Sy, sums.Syy, sums.own)

    def largest_move(self, params: tuple[ItemParams, ItemParams], probes: tuple[np.ndarray, np.ndarray]) -> float:
        """The largest change of a truth between the last two E-steps."""
        return float(self._total(max, largest_move, params, probes, self.gold, self.weighed))

    def end(self) -> None:
        if self.weighed:
            list(self.rows.executor.map(drop, self.rows.shards, self._run))

    def _total(self, add: Callable[[Any, Any], Any], function: Callable[..., Any], *arguments: Any) -> Any:
        """The sum over all shards; those that have lost their weights find them again first."""
        executor, shards = self.rows.executor, self.rows.shards
        asked = self._run, self._n, *arguments
        while isinstance(found := executor.total(function, shards, *asked, add=partial(_unless_lost, add)), Lost):
            # All are asked, so that each is where it will be asked again.
            list(executor.map(replay, shards, self._run, self.history, found.shards))
        return found


class Lost(NamedTuple):
    """Shards, by their first items, that have lost their weights."""

    shards: tuple[int, ...]


def _unless_lost(add: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    lost = [part for part in (one, other) if isinstance(part, Lost)]
    return Lost(sum((part.shards for part in lost), ())) if lost else add(one, other)


@dataclass
class Weighed:
    """What a shard keeps between the steps of a climb whose judgements are weighed."""

    step: int
    weights: judgement_weights.Weights
    means: dict[int, np.ndarray] = field(default_factory=dict)  # truths by step
    errors: judgement_weights.Errors | None = None
    judged: judgement_weights.Judged | None = None


_weighed: dict[tuple[str, int], Weighed] = {}  # of this process, by climb and first item of the shard


def _kept(shard: ItemShard, run: str, step: int) -> Weighed | None:
    own = _weighed.get((run, shard.first))
    if own is None and step == 0:
        own = _weighed[run, shard.first] = Weighed(0, judgement_weights.equal_weights(shard.data))
    return own if own is not None and own.step == step else None


def e_step(
    shard: ItemShard, run: str, n: int, params: ItemParams, gold: np.ndarray | None, weighed: bool
) -> KeyedStats | Lost:
    """Sufficient statistics of a shard by profile, with the keys of its profiles; its truths are kept."""
    if not weighed:
        mean, stats = expectation(shard.with_known(gold), params)
        shard.means = dict([*shard.means.items(), (f"{run}-{n}", mean)][-2:])
        return KeyedStats(shard.keys, stats)
    own = _kept(shard, run, n)
    if own is None:
        return Lost((shard.first,))
    mean, stats = expectation(own.weights.of(shard.data), params)
    own.means = {step: found for step, found in own.means.items() if step == n - 1} | {n: mean}
    return KeyedStats(shard.keys, stats)


def slips(shard: ItemShard, run: str, n: int, params: ItemParams) -> np.ndarray | Lost:
    """What says how often judgements of a shard slip."""
    own = _kept(shard, run, n)
    if own is None:
        return Lost((shard.first,))
    own.errors = judgement_weights.errors_under(shard.data, params, own.weights)
    return own.errors.slips()


def unclear(shard: ItemShard, run: str, n: int, params: ItemParams, nu: float) -> np.ndarray | Lost:
    """What says how unclear items of a shard are, when judgements slip so often."""
    own = _kept(shard, run, n)
    if own is None:
        return Lost((shard.first,))
    own.judged = (own.errors or judgement_weights.errors_under(shard.data, params, own.weights)).judged(nu)
    return own.judged.unclear()


def weigh(
    shard: ItemShard, run: str, n: int, params: ItemParams, nu: float, tails: tuple[float, float]
) -> ProfileSums | Lost:
    """Weighed sums of the ratings of a shard, whose judgements and items have their precisions from now on."""
    own = _kept(shard, run, n) or _kept(shard, run, n + 1)  # who has done it is asked again where others were lost
    if own is None:
        return Lost((shard.first,))
    if own.step == n:
        judged = own.judged or judgement_weights.errors_under(shard.data, params, own.weights).judged(nu)
        own = _weighed[run, shard.first] = Weighed(n + 1, judged.weights(*tails), own.means)
    weights = own.weights
    return ProfileSums(shard.keys, shard.data.judgements, weights.Sy, weights.Syy, weights.log_density)


def replay(shard: ItemShard, run: str, history: Sequence[ItemParams], lost: Sequence[int]) -> None:
    """Finds the weights of a lost shard, and the truths of the last E-steps, by the parameters of all steps."""
    if shard.first not in lost:
        return
    own = Weighed(0, judgement_weights.equal_weights(shard.data))
    for n, params in enumerate(history):
        if n:
            own.weights, own.step = judgement_weights.reweighed(shard.data, params, own.weights, params.tails), n
        if n >= len(history) - 3:
            own.means[n] = expectation(own.weights.of(shard.data), params)[0]
    _weighed[run, shard.first] = own


def drop(shard: ItemShard, run: str) -> None:
    """The climb is over."""
    _weighed.pop((run, shard.first), None)


def largest_move(
    shard: ItemShard,
    run: str,
    n: int,
    params: tuple[ItemParams, ItemParams],
    probes: tuple[np.ndarray, np.ndarray],
    gold: np.ndarray | None,
    weighed: bool,
) -> float | Lost:
    """The largest change of a truth of the shard between two E-steps, each in the coordinates that its probe says."""
    if weighed:
        own = _kept(shard, run, n + 1)
        if own is None or not {n - 1, n} <= set(own.means):
            return Lost((shard.first,))
        means = [own.means[n - 1], own.means[n]]
    else:
        data, kept = shard.with_known(gold), [shard.means.get(f"{run}-{step}") for step in (n - 1, n)]
        means = [expectation(data, at)[0] if own is None else own for own, at in zip(kept, params, strict=True)]
    one, other = (_in_coordinates(mean, probe) for mean, probe in zip(means, probes, strict=True))
    return float(np.max(np.abs(other - one), initial=0.0))
