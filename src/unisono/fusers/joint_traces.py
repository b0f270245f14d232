"""The joint model of traces: all dimensions at once, one gain and one delay per annotator and dimension, pooled.

Features and gold change what can be known: features may show the common delay, gold frames make free filters safe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unisono.errors import DataError, SettingsError
from unisono.fusers import fuser, trace_fuser, trace_model
from unisono.fusers.fuser_settings import ITERATIONS, JOBS, SHARED, TOLERANCE, Number
from unisono.fusers.trace_data import Watcher, in_own_units
from unisono.fusers.trace_model import Estimated, SeriesModel
from unisono.maths.series import error_bands, trace_features, trace_parts, tracer_fit
from unisono.maths.series.trace_data import SeriesData, Structure
from unisono.maths.series.trace_em_fit import DefaultFit, Settings, filter_lag
from unisono.maths.series.trace_gold import GoldSettings, choose_taps, delay_by_gold, fit_with_gold, gold_slopes
from unisono.tables import ItemTable, Ratings

WINDOW = 3.0  # convention: seconds, where none is given
DELAYS = "delays"  # the phase of a fit that searches for them
LEAST_GOLD = 10  # convention: frames of every dimension that have to be known


@dataclass(kw_only=True, eq=False, repr=False)
class Joint(trace_fuser.SeriesFuser):
    """Gains, delays, biases and noise of every annotator, jointly over dimensions.

    `window` is how many seconds delays, and with gold free filters, reach back, `lag` the annotators' mean delay in
    seconds (None: by the rule of the earliest), `memory` the seconds that the truth remembers (None: estimated).
    `features_drive` says that features move the truth instead of being its level; `shared` is the share of the rating
    errors that all annotators have in common, which widens the bands (None: instead of it, doubt about the unit they
    share). `jobs` processes work at once.
    """

    kind: ClassVar[str] = "series-joint"
    numbers: ClassVar[Mapping[str, Number]] = {
        "window": Number("give seconds from 0 on, or leave it out"),
        "lag": Number("give seconds from 0 on, or leave it out"),
        "memory": Number("give seconds above 0, or leave it out: it is then estimated", with_least=False),
        "shared": SHARED,
        "tol": TOLERANCE,
        "max_iter": ITERATIONS,
        "jobs": JOBS,
    }
    window: float | None = None
    lag: float | None = None
    memory: float | None = None
    features_drive: bool = False
    shared: float | None = None
    tol: float | None = None
    max_iter: int | None = None
    jobs: int = 1
    gold_anyway: bool = False

    # ---- sense

    def check_settings(self) -> None:
        super().check_settings()
        if self.lag is not None and self.window is not None and self.lag > self.window:
            raise SettingsError(f"A lag of {self.lag:g} s does not fit into a window of {self.window:g} s.")

    def _require_sense(self, ratings: Ratings, gold: np.ndarray | None) -> None:
        seconds = self.lag if self.window is None else self.window
        require_window(ratings, seconds, "window" if seconds is self.window else "lag")
        if gold is not None:
            self._require_gold(ratings, gold)

    def _require_gold(self, ratings: Ratings, gold: np.ndarray) -> None:
        few = [name for d, name in enumerate(ratings.dimensions) if (~np.isnan(gold[:, d])).sum() < LEAST_GOLD]
        if few:
            raise DataError(
                f"Gold has to know at least {LEAST_GOLD} frames of every dimension that was rated; of {few[0]} it does "
                "not. Add frames, or leave gold out."
            )
        if self.window is not None:
            trace_model.require_movement(ratings.dimensions, gold)

    def _heard(self, ratings: Ratings) -> Ratings:
        """Without single frames that stand far outside everything else of their annotator."""
        y = trace_parts.without_outliers(in_own_units(ratings))
        return ratings if y is ratings.value else ratings.with_value(y)

    # ---- estimation

    def _tasks(self, ratings: Ratings, features: ItemTable | None, gold: ItemTable | None) -> int:
        return ratings.D if self.one_by_one else 1

    def _estimate(
        self, data: SeriesData, gold: np.ndarray | None, watch: Watcher, on_state: fuser.OnState | None
    ) -> Estimated:
        found = trace_model.finished(self._default(data, watch)) if gold is None else self._with_gold(data, gold, watch)
        watch.task_done()
        if on_state is not None:  # the delays are where they should be only at the end
            on_state(max(found.trace.iterations - 1, 0), self._at(found))
        return found

    def _default(self, data: SeriesData, watch: Watcher, lag: float | None = None) -> DefaultFit:
        """The default model, with features if there are any; or at another mean delay, in seconds."""
        settings = self._settings(data)
        told: dict[str, Any] = {"watch": watch.step, "on_delay": watch.phase(DELAYS)}
        plain = data._replace(X=data.X[:, :0])
        told["parts"] = self._parts(plain)
        if lag is not None:
            settings = settings._replace(lag=lag)
        elif data.P:
            return trace_features.fit_with_features(data, self.rate_, settings, **told).fit
        return tracer_fit.fit_two_scales(plain, self.rate_, settings, **told)

    def _with_gold(self, data: SeriesData, gold: np.ndarray, watch: Watcher) -> Estimated:
        W = 0 if self.window is None else self._taps(data)
        if self.window is not None:
            trace_model.require_enough(gold, W, self.window, self.rate_)
        plain = self._default(data, watch)
        slopes = gold_slopes(plain.mean, gold, data.length, self._taps(data) - 1)
        W = W or choose_taps(data, gold, self.rate_)
        if not W:
            return self._calibrated(data, plain, gold, watch)._replace(slopes=slopes)
        fit = fit_with_gold(data, gold, GoldSettings(W=W), watch=watch.step)
        used = ~np.isnan(fit.noise).all(axis=1)
        words = Structure(W=W, transform="taps"), fit.noise, fit.extra, error_bands.no_spread(data.D)
        model = SeriesModel(fit.params, *words, filter_lag(fit.params, used) / self.rate_, "gold")
        cov = np.eye(data.D) * (fit.sd**2)[:, :, None]
        return Estimated((trace_model.whole(model),), fit.trace, (fit.mean, cov), gold=True, slopes=slopes)

    def _calibrated(self, data: SeriesData, plain: DefaultFit, gold: np.ndarray, watch: Watcher) -> Estimated:
        """The default with the gold's scale and level, and its time, unless the user has said what that is."""
        later = 0 if self.lag is not None else delay_by_gold(plain.mean, gold, data.length, self._taps(data) - 1)
        if not later:
            return trace_model.calibrated(plain, gold)
        fit = self._default(data, watch, lag=plain.mean_lag + later / self.rate_)._replace(convention="gold")
        return trace_model.calibrated(fit, gold)

    def _settings(self, data: SeriesData) -> Settings:
        usual = Settings()
        return Settings(
            window=(self._taps(data) - 1) / self.rate_,
            memory=self.memory,
            lag=self.lag,
            shared=self.shared,
            tol=usual.tol if self.tol is None else self.tol,
            max_iter=usual.max_iter if self.max_iter is None else self.max_iter,
        )

    def _taps(self, data: SeriesData) -> int:
        """Frames a filter reaches over; the default makes room for a given delay and gives way to short recordings."""
        if self.window is not None:
            return round(self.window * self.rate_) + 1
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
