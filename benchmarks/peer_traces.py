"""Other packages on traces over time, from arrays in memory to an estimate per frame.

One recording at 25 frames per second, six annotators with a delay of .4 to 1.2 seconds, gain, leakage, bias and noise
that lasts, two dimensions.

    mean, z-score mean      of all traces; of traces after each is standardised
    EWE                     mean weighted by each trace's correlation with the mean (Grimm and Kroschel 2005)
    Kalman smoother         statsmodels: a common random walk, noise per annotator, by maximum likelihood
    UnobservedComponents    statsmodels: smoothed local level of the z-score mean, by maximum likelihood
    DynamicFactorMQ         statsmodels: one factor per dimension, autoregressive, as are the errors; EM with its own
                            limit of 500 steps, and stopped after 50
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

RATE = 25.0
EM_STEPS, FEW_STEPS = 500, 50  # of DynamicFactorMQ: its own limit, and one that ends on long traces


class Traces(NamedTuple):
    """The same traces as our container and as the others take them."""

    table: Any  # Ratings
    value: np.ndarray  # (K, T, D)


def load(frames: int, seed: int = 0) -> tuple[np.ndarray, Traces]:
    """Truth (T, D) and traces of one recording."""
    from unisono.paper.simulation import simulate_series

    drawn = simulate_series(
        recordings=1,
        frames=frames,
        features=0,
        realistic=True,
        rate=RATE,
        window=50,
        autocorrelation=0.95,
        seed=seed,
    )
    K, D = len(drawn.ratings.annotators), len(drawn.ratings.dimensions)
    return np.asarray(drawn.truth.value), Traces(drawn.ratings, drawn.ratings.value.reshape(K, frames, D))


def ours(traces: Traces) -> np.ndarray:
    """The whole default: delays, fit, bands, table of annotators."""
    from unisono.api import fuse

    result = fuse(traces.table)
    _ = result.described
    return np.asarray(result.fused.mean)


def mean(traces: Traces) -> np.ndarray:
    return np.asarray(traces.value.mean(axis=0))


def _standardised(value: np.ndarray) -> np.ndarray:
    return np.asarray((value - value.mean(axis=1, keepdims=True)) / value.std(axis=1, keepdims=True))


def z_mean(traces: Traces) -> np.ndarray:
    return np.asarray(_standardised(traces.value).mean(axis=0))


def ewe(traces: Traces) -> np.ndarray:
    z = _standardised(traces.value)
    centre = z.mean(axis=0)
    weight = np.maximum(np.einsum("ktd,td->kd", z, centre) / centre.std(axis=0), 0.0)
    return np.asarray(np.einsum("ktd,kd->td", z, weight) / weight.sum(axis=0))


def kalman(traces: Traces) -> np.ndarray:
    from statsmodels.tsa.statespace.mlemodel import MLEModel

    class CommonWalk(MLEModel):  # type: ignore[misc]
        """K traces of one random walk; parameters are logarithms of the variances."""

        def __init__(self, endog: np.ndarray) -> None:
            super().__init__(endog, k_states=1, k_posdef=1, initialization="approximate_diffuse")
            self["design"] = np.ones((endog.shape[1], 1))
            self["transition"], self["selection"] = np.ones((1, 1)), np.ones((1, 1))
            self.ssm.filter_univariate = True

        @property
        def start_params(self) -> np.ndarray:
            return np.array([-4.0, *np.zeros(self.k_endog)])

        @property
        def param_names(self) -> list[str]:
            return ["walk", *(f"noise{k}" for k in range(self.k_endog))]

        def update(self, params: np.ndarray, **options: Any) -> None:
            variance = np.exp(super().update(params, **options))
            self["state_cov", 0, 0] = variance[0]
            self["obs_cov"] = np.diag(variance[1:])

    z = _standardised(traces.value)
    found = []
    for d in range(z.shape[2]):
        fitted = CommonWalk(z[:, :, d].T).fit(disp=False, maxiter=50, cov_type="none")
        found.append(fitted.smoothed_state[0])
    return np.stack(found, axis=1)


def unobserved_components(traces: Traces) -> np.ndarray:
    from statsmodels.tsa.statespace.structural import UnobservedComponents

    found = []
    for y in z_mean(traces).T:
        found.append(UnobservedComponents(y, "local level").fit(disp=False, cov_type="none").level["smoothed"])
    return np.stack(found, axis=1)


def dynamic_factor(traces: Traces, steps: int = EM_STEPS) -> np.ndarray:
    from statsmodels.tsa.statespace.dynamic_factor_mq import DynamicFactorMQ

    z = _standardised(traces.value)
    found = []
    for d in range(z.shape[2]):
        fitted = DynamicFactorMQ(z[:, :, d].T, factors=1, standardize=False).fit(disp=False, maxiter=steps)
        factor = fitted.smoothed_state[0]
        found.append(factor * np.sign(factor @ z[:, :, d].mean(axis=0)))
    return np.stack(found, axis=1)


METHODS: dict[str, Callable[[Traces], np.ndarray]] = {
    "unisono auto": ours,
    "mean": mean,
    "z-score mean": z_mean,
    "EWE": ewe,
    "statsmodels Kalman smoother": kalman,
    "statsmodels UnobservedComponents": unobserved_components,
    "statsmodels DynamicFactorMQ": dynamic_factor,
    "statsmodels DynamicFactorMQ, 50 steps": lambda traces: dynamic_factor(traces, FEW_STEPS),
}
NEEDS = {"statsmodels": "statsmodels"}
