"""The joint model of traces: all dimensions at once, safe by default, with every structure of the family.

The default is one gain and one delay per annotator and dimension
with strong pooling. Features and gold change what can be known: features may show the common delay, gold frames make
free filters safe.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np

from unisono.errors import DataError, SettingsError
from unisono.fusers.fuser import OnState
from unisono.fusers.fuser_settings import ITERATIONS, JOBS, SEED, TOLERANCE, Number
from unisono.fusers.held_out_stretches import TRIED, HeldOutError, least_error, windows_tried
from unisono.fusers.trace_data import Watcher, in_own_units
from unisono.fusers.trace_fuser import SeriesFuser
from unisono.fusers.trace_model import (
    Estimated,
    SeriesModel,
    calibrated,
    finished,
    plain_model,
    require_enough,
    require_movement,
    whole,
)
from unisono.maths.em_loop import EmTrace
from unisono.maths.series.error_bands import no_spread
from unisono.maths.series.trace_data import SeriesData, SeriesParams, Structure
from unisono.maths.series.trace_em_fit import DefaultFit, Settings, filter_lag, fit_default
from unisono.maths.series.trace_features import fit_with_features
from unisono.maths.series.trace_gold import GoldSettings, choose_taps, delay_by_gold, fit_with_gold, gold_slopes
from unisono.maths.series.trace_parts import without_outliers
from unisono.maths.series.tracer_fit import fit_two_scales
from unisono.maths.structure_words import (
    SERIES_WORDS,
    Latent,
    SeriesInference,
    SeriesNoise,
    SeriesTransform,
    require_word,
)
from unisono.scale.parallel_tasks import run_tasks
from unisono.tables.item_table import ItemTable
from unisono.tables.ratings import Ratings

Phi = float | Literal["estimated"] | None
Window = float | Literal["choose"] | None
WINDOW = 3.0  # seconds, where none is given
WINDOWS = (0.0, 1.0, 2.0, 3.0, 5.0)  # seconds to choose from by held-out stretches
DELAYS = "delays"  # the phase of a fit that searches for them
LEAST_GOLD = 10  # frames of every dimension that have to be known


class Joint(SeriesFuser):
    """Filters, biases and noise of every annotator, jointly over dimensions.

    `window` is how many seconds a filter reaches back ("choose": by held-out stretches of ratings), `lag` the
    annotators' mean delay in seconds (None: by the rule of the earliest), `phi` the truth's autocorrelation from frame
    to frame (None: by `memory` in seconds; None: estimated in the default, 20 elsewhere). `features_drive` says that
    features move the truth instead of being its level; `shared` is the share of the rating errors that all annotators
    have in common, which widens the bands (None: 5 %; in the default, instead of it, doubt about the unit they share).
    `restarts` adds random starts to other structures than the default's, which takes none; the best objective is kept;
    `jobs` processes work on them at once.
    """

    kind: ClassVar[str] = "series-joint"
    numbers: ClassVar[Mapping[str, Number]] = {
        "window": Number("give seconds, or 'choose'", others=("choose",)),
        "lag": Number("give seconds from 0 on, or leave it out"),
        "phi": Number("give a number between -1 and 1, or 'estimated'", -1, 1, with_least=False, others=("estimated",)),
        "memory": Number("give seconds above 0, or leave it out: it is then estimated", with_least=False),
        "restarts": Number("give the number of random starts, 0 for none", whole=True),
        "shared": Number("give a share from 0 up to, but not including, 1", below=1),
        "tol": TOLERANCE,
        "max_iter": ITERATIONS,
        "seed": SEED,
        "jobs": JOBS,
    }
    window_: float | None

    def __init__(
        self,
        *,
        transform: SeriesTransform | None = None,
        bias: bool = True,
        noise: SeriesNoise = "diagonal",
        latent: Latent = "full",
        window: Window = None,
        lag: float | None = None,
        phi: Phi = None,
        memory: float | None = None,
        inference: SeriesInference = "soft",
        restarts: int = 0,
        features_drive: bool = False,
        shared: float | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
        seed: int = 0,
        jobs: int = 1,
        gold_anyway: bool = False,
    ) -> None:
        self.transform = transform
        self.bias = bias
        self.noise = noise
        self.latent = latent
        self.window = window
        self.lag = lag
        self.phi = phi
        self.memory = memory
        self.inference = inference
        self.restarts = restarts
        self.features_drive = features_drive
        self.shared = shared
        self.tol = tol
        self.max_iter = max_iter
        self.seed = seed
        self.jobs = jobs
        self.gold_anyway = gold_anyway

    # ---- sense

    def check_settings(self) -> None:
        super().check_settings()
        for name, words in SERIES_WORDS.items():
            if name != "transform" or self.transform is not None:
                require_word(name, getattr(self, name), words)
        if self.lag is not None and self.transform not in (None, "delay", "taps"):
            raise SettingsError(f"lag needs a transform with delays (delay, taps), not {self.transform}.")
        if self.lag is not None and isinstance(self.window, float | int) and self.lag > self.window:
            raise SettingsError(f"A lag of {self.lag:g} s does not fit into a window of {self.window:g} s.")
        if self.restarts and self._is_default:
            raise SettingsError(
                "The default for traces starts from the traces themselves and has no random starts: leave out restarts "
                "or choose another transform, noise or inference."
            )

    def _require_sense(self, ratings: Ratings, gold: np.ndarray | None) -> None:
        seconds = self.lag if self.window is None or isinstance(self.window, str) else self.window
        require_window(ratings, seconds, "window" if seconds is self.window else "lag")
        if gold is not None:
            self._require_gold(ratings, gold)

    def _require_gold(self, ratings: Ratings, gold: np.ndarray) -> None:
        if not self._is_default:
            raise DataError("Gold frames come with free filters of their own: leave out transform, noise, inference.")
        few = [name for d, name in enumerate(ratings.dimensions) if (~np.isnan(gold[:, d])).sum() < LEAST_GOLD]
        if few:
            raise DataError(
                f"Gold has to know at least {LEAST_GOLD} frames of every dimension that was rated; of {few[0]} it does "
                "not. Add frames, or leave gold out."
            )
        if self.window is not None:
            require_movement(ratings.dimensions, gold)

    def _heard(self, ratings: Ratings) -> Ratings:
        """Without single frames that stand far outside everything else of their annotator."""
        y = without_outliers(in_own_units(ratings))
        return ratings if y is ratings.value else ratings.with_value(y)

    @property
    def _is_default(self) -> bool:
        words = (self.transform in (None, "delay"), self.bias, self.noise == "diagonal", self.latent == "full")
        return all(words) and self.inference == "soft" and self.phi is None

    # ---- estimation

    def _windows(self, ratings: Ratings) -> list[float]:
        """Seconds to choose from; none where the window is settled."""
        longest = float(ratings.length.max() / self.rate_)
        return [window for window in WINDOWS if window < longest / 2] if isinstance(self.window, str) else []

    def _tasks(self, ratings: Ratings, features: ItemTable | None, gold: ItemTable | None) -> int:
        restarts = 0 if gold is not None else self.restarts
        return TRIED * len(self._windows(ratings)) + (1 + restarts) * (ratings.D if self.one_by_one else 1)

    def _choose(self, ratings: Ratings, features: ItemTable | None, watch: Watcher) -> None:
        self.report_: tuple[HeldOutError, ...] = ()
        if not isinstance(self.window, str):
            self.window_ = self.window
            return
        windows = self._windows(ratings)
        tried = [(f"{window:g} s", self.alike(window=window, jobs=1)) for window in windows]
        best, self.report_ = least_error(
            tried, ratings, features, window=max(windows), seed=self.seed, jobs=self._workers(), on_task=watch.task_done
        )
        watch.tasks_done(TRIED * len(windows))  # short recordings may leave no stretch for one of the folds
        self.window_ = windows[best]

    def _adopt(self, other: Self) -> None:
        self.window_, self.report_ = other.window_, other.report_

    def notes(self) -> dict[str, Any]:
        return super().notes() | windows_tried(self)

    def _estimate(
        self, data: SeriesData, gold: np.ndarray | None, watch: Watcher, on_state: OnState | None
    ) -> Estimated:
        if gold is None and not (data.P and self._is_default):
            found = self._restarted(data, watch, on_state)
        else:
            found = finished(self._default(data, watch)) if gold is None else self._with_gold(data, gold, watch)
            watch.task_done()
        if on_state is not None:
            on_state(max(found.trace.iterations - 1, 0), self._at(found))
        return found

    def _default(self, data: SeriesData, watch: Watcher, lag: float | None = None) -> DefaultFit:
        """The default model, with features if there are any; or at another mean delay, in seconds."""
        settings = self._settings(data)
        told: dict[str, Any] = {"watch": watch.step, "on_delay": watch.phase(DELAYS)}
        if lag is not None:
            settings = settings._replace(lag=lag)
        elif data.P:
            return fit_with_features(data, self.rate_, settings, **told).fit
        data = data._replace(X=data.X[:, :0])
        return fit_two_scales(data, self.rate_, settings, parts=self._parts(data), **told)

    def _restarted(self, data: SeriesData, watch: Watcher, on_state: OnState | None) -> Estimated:
        """The estimate from the deterministic start, or from a random one with a better objective."""
        structure, settings = self._structure(data), self._settings(data)
        if self._is_default:
            found = finished(self._default(data, watch))
            watch.task_done()
            return found

        def see(iteration: int, params: SeriesParams, objective: float) -> None:
            watch.step(iteration, params, objective)
            # Delays are where they should be only at the end: states on the way would be scored out of time.
            if on_state is not None and structure.transform != "delay":
                model = plain_model(params, structure, weighted=self.inference != "paper")
                trace = EmTrace(np.array([objective]), "max_iter")
                on_state(next(states), self._at(Estimated((whole(model),), trace)))

        states = iter(range(10**9))
        words: dict[str, Any] = {"inference": self.inference, "watch": see, "on_delay": watch.phase(DELAYS)}
        fits = [fit_default(data, self.rate_, settings, structure, **words)]
        watch.task_done()
        seeds = np.random.SeedSequence(self.seed).spawn(self.restarts)
        common = data, self.rate_, settings, structure, self.inference
        fits += run_tasks(_from_random, [(seed,) for seed in seeds], self._workers(), watch.task_done, common=common)
        best = max(fits, key=lambda fit: fit.trace.objective[-1])
        found = finished(best)
        if self.inference == "paper":
            model = found.parts[0].model._replace(weighted=False)
            found = Estimated((whole(model),), found.trace)  # its truth is another: that of the unweighted E-step
        return found

    def _with_gold(self, data: SeriesData, gold: np.ndarray, watch: Watcher) -> Estimated:
        W = 0 if self.window_ is None else self._taps(data)
        if self.window_ is not None:
            require_enough(gold, W, self.window_, self.rate_)
        plain = self._default(data, watch)
        slopes = gold_slopes(plain.mean, gold, data.length, self._taps(data) - 1)
        W = W or choose_taps(data, gold, self.rate_)
        if not W:
            return self._calibrated(data, plain, gold, watch)._replace(slopes=slopes)
        fit = fit_with_gold(data, gold, GoldSettings(W=W), watch=watch.step)
        used = ~np.isnan(fit.noise).all(axis=1)
        words = Structure(W=W, transform="taps"), fit.noise, fit.extra, no_spread(data.D)
        model = SeriesModel(fit.params, *words, filter_lag(fit.params, used) / self.rate_, "gold")
        cov = np.eye(data.D) * (fit.sd**2)[:, :, None]
        return Estimated((whole(model),), fit.trace, (fit.mean, cov), gold=True, slopes=slopes)

    def _calibrated(self, data: SeriesData, plain: DefaultFit, gold: np.ndarray, watch: Watcher) -> Estimated:
        """The default with the gold's scale and level, and its time, unless the user has said what that is."""
        later = 0 if self.lag is not None else delay_by_gold(plain.mean, gold, data.length, self._taps(data) - 1)
        if not later:
            return calibrated(plain, gold)
        fit = self._default(data, watch, lag=plain.mean_lag + later / self.rate_)._replace(convention="gold")
        return calibrated(fit, gold)

    def _settings(self, data: SeriesData) -> Settings:
        phi = self.phi if isinstance(self.phi, float | int) else None
        usual = Settings()
        return Settings(
            window=(self._taps(data) - 1) / self.rate_,
            memory=self.memory,
            phi=phi,
            lag=self.lag,
            shared=self.shared,
            tol=usual.tol if self.tol is None else self.tol,
            max_iter=usual.max_iter if self.max_iter is None else self.max_iter,
        )

    def _structure(self, data: SeriesData) -> Structure:
        transform: SeriesTransform = "delay" if self.transform is None else self.transform
        return Structure(
            W=self._taps(data) if transform in ("delay", "taps") else 1,
            transform=transform,
            crosstalk=transform == "delay" and Settings().crosstalk_sd > 0,
            bias=self.bias,
            noise="diagonal" if self.noise == "ar1" else self.noise,
            autocorrelation="shared" if self.noise == "ar1" else "none",
            latent=self.latent,
            estimate_phi=self.phi == "estimated",
        )

    def _taps(self, data: SeriesData) -> int:
        """Frames a filter reaches over; the default makes room for a given delay and gives way to short recordings."""
        if self.window_ is not None:
            return round(self.window_ * self.rate_) + 1
        window = max(WINDOW, (self.lag or 0.0) + 0.5 * WINDOW)
        return max(min(round(window * self.rate_) + 1, int(data.length.max()) // 2), 1)


def require_window(ratings: Ratings, window: float | None, name: str = "window") -> None:
    """Refuses a window, or a delay, that no recording can fill."""
    assert ratings.clock is not None
    longest = float(ratings.length.max() / ratings.clock.rate)
    if window is not None and window >= longest:
        raise DataError(
            f"{ratings.source}: a {name} of {window:g} s is longer than every recording, of which the longest has "
            f"{longest:g} s. Give a shorter --{name}."
        )


def _from_random(
    seed: np.random.SeedSequence,
    data: SeriesData,
    rate: float,
    settings: Settings,
    structure: Structure,
    inference: str,
) -> DefaultFit:
    """A fit that starts from a random truth."""
    a = np.random.default_rng(seed).standard_normal((int(data.length.sum()), data.D))
    return fit_default(data, rate, settings, structure, inference=inference, guess=a)
