"""The series model exactly as published: free filters, hard EM with an unweighted E-step, random starts.

Ratings are taken in the units they come in, because an E-step that forgets the variances depends on them. Before the
first frame the truth is zero. Without a reference, the width of the filters is chosen by held-out stretches and the
start by the log-likelihood; `un.cross_validate` chooses both on validation recordings, as the paper does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.fusers.fuser import OnState
from unisono.fusers.fuser_settings import ITERATIONS, JOBS, SEED, TOLERANCE, Number
from unisono.fusers.held_out_stretches import TRIED, HeldOutError, UndeterminedError, least_error, windows_tried
from unisono.fusers.standardisation import Scaling, identity_scaling
from unisono.fusers.trace_data import Watcher, one_dimension
from unisono.fusers.trace_fuser import SeriesFuser
from unisono.fusers.trace_model import Estimated, SeriesModel, combined, plain_model, whole, with_inactive
from unisono.maths.em_loop import EmTrace, OnStep, relative_change, run_em
from unisono.maths.series import trace_em_fit, trace_layout
from unisono.maths.series.trace_data import Priors, SeriesData, SeriesParams, Structure, identity_params
from unisono.maths.series.trace_em import paper_step, start_from_truth
from unisono.maths.series.trace_estep import log_likelihood
from unisono.scale.executors import run_tasks
from unisono.tables import ItemTable, Ratings

WIDTHS = (5, 10, 20, 50)  # published: frames, the paper's


class Climbed(NamedTuple):
    """A finished run from one start."""

    params: SeriesParams
    trace: EmTrace


class LearnedJoint(SeriesFuser):
    """What the published model settles before a fit."""

    width_: int | None
    report_: tuple[HeldOutError, ...]


@dataclass(kw_only=True, eq=False, repr=False)
class PaperJoint(LearnedJoint):
    """All dimensions together. `width` is the number of frames a filter sees; None chooses from 5, 10, 20 and 50."""

    kind: ClassVar[str] = "series-paper-joint"
    numbers: ClassVar[Mapping[str, Number]] = {
        "width": Number("give a number of frames from 1 on, or leave it out", least=1, whole=True),
        "restarts": Number("give the number of random starts, at least 1", least=1, whole=True),
        "tol": TOLERANCE,
        "max_iter": ITERATIONS,
        "variance_floor": Number("give a share of the ratings' variance above 0", with_least=False),
        "seed": SEED,
        "jobs": JOBS,
    }
    standardise_features = False

    width: int | None = None
    restarts: int = 20
    tol: float = 0.005
    max_iter: int = 100
    variance_floor: float = 1e-6
    seed: int = 0
    jobs: int = 1

    @property
    def labels_can_switch(self) -> bool:  # type: ignore[override]
        return not self.one_by_one

    def candidates(self, ratings: Ratings) -> tuple[PaperJoint, ...]:
        """Every width and start by itself, for whoever can choose between them with a reference."""
        widths = (self.width,) if self.width is not None else usable_widths(ratings)
        seeds = np.random.SeedSequence(self.seed).generate_state(self.restarts)
        return tuple(self.alike(restarts=1, jobs=1, width=W, seed=int(s)) for W in widths for s in seeds)

    def _scaling(self, ratings: Ratings) -> Scaling:
        return identity_scaling(ratings.D)

    def refuses_gold(self) -> str:
        return "The published model has no place for gold frames; 'auto' and 'joint' have."

    def _require_sense(self, ratings: Ratings, gold: np.ndarray | None) -> None:
        if self.width is not None and self.width > int(ratings.length.max()):
            raise DataError(
                f"{ratings.source}: filters of {self.width} frames are wider than every recording; "
                f"the longest has {int(ratings.length.max())} frames."
            )

    def _tasks(self, ratings: Ratings, features: ItemTable | None, gold: ItemTable | None) -> int:
        widths = usable_widths(ratings) if self.width is None else ()
        tried = TRIED * len(widths) if len(widths) > 1 else 0
        return tried + self.restarts * (ratings.D if self.one_by_one else 1)

    def _choose(self, ratings: Ratings, features: ItemTable | None, watch: Watcher) -> None:
        self.width_, self.report_ = self.width, ()
        widths = usable_widths(ratings)
        if self.width is None and len(widths) == 1:
            self.width_ = widths[0]
        elif self.width is None:
            tried = [(f"{W} frames", self.alike(width=W, jobs=1)) for W in widths]
            longest = max(widths) / self.rate_
            best, self.report_ = least_error(
                tried, ratings, features, window=longest, seed=self.seed, jobs=self._workers(), on_task=watch.task_done
            )
            watch.tasks_done(TRIED * len(widths))  # short recordings may leave no stretch for one of the folds
            self.width_ = widths[best]

    def _adopt(self, other: PaperJoint) -> None:
        self.width_, self.report_ = other.width_, other.report_

    def _estimate(
        self, data: SeriesData, gold: np.ndarray | None, watch: Watcher, on_state: OnState | None
    ) -> Estimated:
        return self._best_start(data, watch, on_state)

    def _best_start(self, data: SeriesData, watch: Watcher, on_state: OnState | None) -> Estimated:
        assert self.width_ is not None
        structure = paper_structure(self.width_)
        seeds = np.random.SeedSequence(self.seed).spawn(self.restarts)
        common = data, structure, self.tol, self.max_iter, self.variance_floor
        if on_state is None and self.restarts > 1:
            climbed = run_tasks(climb, [(seed,) for seed in seeds], self._workers(), watch.task_done, common=common)
        else:
            # Whoever wants to see every state has to be asked here, not in another process.
            count = iter(range(10**9))

            def on_params(iteration: int, params: SeriesParams, objective: float) -> None:
                watch.step(iteration, params, objective)
                if on_state is not None:
                    one = Climbed(params, EmTrace(np.array([objective]), "max_iter"))
                    on_state(next(count), self._at(self._estimated(one, structure, data)))

            climbed = []
            for seed in seeds:
                climbed.append(climb(seed, *common, on_params=on_params))
                watch.task_done()
        best = max(climbed, key=lambda one: one.trace.objective[-1])
        if np.isneginf(best.trace.objective[-1]):
            raise UndeterminedError(
                f"The traces say too little for free filters of {self.width_} frames, from whatever start. "
                "Give a smaller --width, or use 'auto'."
            )
        return self._estimated(best, structure, data)

    def _estimated(self, one: Climbed, structure: Structure, data: SeriesData) -> Estimated:
        model = plain_model(one.params, structure)
        used = np.isin(np.arange(data.K), data.annotator_of)
        model = model._replace(mean_lag=trace_em_fit.filter_lag(one.params, used) / self.rate_)
        return Estimated((whole(model),), one.trace)

    def _everybody(self, model: SeriesModel) -> SeriesModel:
        return with_inactive(model, self._active, average=False)

    def _with(self, model: SeriesModel, newcomers: tuple[str, ...]) -> SeriesModel:
        if newcomers:
            raise DataError(
                f"Annotator '{newcomers[0]}' was not in the fit, and the published model knows nothing of newcomers. "
                "Fit all traces together, or use 'auto'."
            )
        return model

    def notes(self) -> dict[str, Any]:
        return super().notes() | windows_tried(self)


class PaperIndependent(PaperJoint):
    """Each dimension by itself."""

    kind: ClassVar[str] = "series-paper-independent"
    one_by_one = True

    def _estimate(
        self, data: SeriesData, gold: np.ndarray | None, watch: Watcher, on_state: OnState | None
    ) -> Estimated:
        states: list[list[Estimated]] = [[] for _ in range(data.D)]
        found = []
        for d, own in enumerate(states):
            keep = None if on_state is None else lambda _, fuser, own=own: own.append(_estimate_of(fuser))
            found.append(self._best_start(one_dimension(data, d), watch, keep))
        if on_state is not None:
            # The dimensions went one after the other; told as if they had gone side by side.
            for i in range(max(map(len, states))):
                on_state(i, self._at(combined([own[min(i, len(own) - 1)] for own in states])))
        return combined(found)


def _estimate_of(fuser: Any) -> Estimated:
    return Estimated(fuser.parts_, fuser.trace_)


def usable_widths(ratings: Ratings) -> tuple[int, ...]:
    """The paper's widths, as far as a recording is long enough for them."""
    longest = int(ratings.length.max())
    return tuple(W for W in WIDTHS if longest >= W) or (longest,)


def paper_structure(width: int) -> Structure:
    """Free filters, no bias, one noise variance per annotator, one variance of the truth, zeros before the start."""
    return Structure(W=width, bias=False, isotropic=True, level=False, start="zero")


def climb(
    seed: np.random.SeedSequence,
    data: SeriesData,
    structure: Structure,
    tol: float,
    max_iter: int,
    floor: float,
    on_params: OnStep[SeriesParams] | None = None,
) -> Climbed:
    """Hard EM from a random truth, until the log-likelihood moves by less than `tol` of its size.

    The joint density that hard EM climbs is no guide: a smaller truth with larger filters always has a greater one.
    Filters with more freedom than the traces may grow without end: the run ends at the last state with a likelihood.
    """
    layout = trace_layout.make_layout(data, structure)
    square = float(np.nanmean(data.y**2))
    priors = Priors(noise_floor=floor * square, sigma_floor=floor * square)
    start = start_from_truth(layout, random_truth(data, seed), identity_params(data, structure), structure, priors)

    def step(params: SeriesParams) -> tuple[SeriesParams, float]:
        return paper_step(layout, params, structure, priors), log_likelihood(layout, params, structure)

    seen: list[tuple[SeriesParams, float]] = []

    def watch(iteration: int, params: SeriesParams, value: float) -> None:
        seen.append((params, value))
        if on_params is not None:
            on_params(iteration, params, value)

    try:
        return Climbed(*run_em(step, start, stop_when=relative_change(tol), max_iter=max_iter, on_step=watch))
    except np.linalg.LinAlgError:
        last = seen[-1][0] if seen else start
        return Climbed(last, EmTrace(np.array([value for _, value in seen] or [-np.inf]), "max_iter"))


def random_truth(data: SeriesData, seed: np.random.SeedSequence) -> np.ndarray:
    """(sum T, D) any value in the range of each dimension's ratings."""
    low, high = np.nanmin(data.y, axis=0), np.nanmax(data.y, axis=0)
    return np.random.default_rng(seed).uniform(low, high, (int(data.length.sum()), data.D))
