"""Traces drawn from the series model, with the truth they were drawn from.

The defaults are the paper's synthetic experiment: 18 recordings of 350 frames, 6 annotators, 2 dimensions, 500 features
that walk at random; the truth is a random linear map of them, scaled to 0..1; filters have elements from U(0, 1), and
before the first frame the truth is zero. The paper gives neither its noise nor the width of the true filters: sd .2 to
.8 of each annotator's own signal, and 10 frames, are ours.

`realistic` draws annotators as people are: one smooth delay, a gain, a little leakage between the dimensions, a bias,
and a truth that was there before the first frame.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unisono.data import Clock, ItemTable, Ratings
from unisono.errors import DataError
from unisono.simulate.simulation import Simulation
from unisono.simulate.walks import bump, gaps, held_walks, lasting_noise

NOISE = (0.4, 1.6)  # an annotator's noise, in the noise asked for
GAIN = (0.6, 1.4)  # realistic annotators: total gain,
LEAK = 0.2  # sd of the leakage of one dimension into another,
DELAY = (0.2, 0.6)  # centre of the kernel, in windows,
BIAS = 0.3  # and sd of the bias, in standard deviations of the truth


class _People(NamedTuple):
    F: np.ndarray  # (K, W, D, D) filters, lag 0 first; row = rated dimension
    b: np.ndarray  # (K, D)
    delay: np.ndarray  # (K, D) frames, NaN where the filter is no delay


def simulate_series(
    *,
    recordings: int = 18,
    frames: int = 350,
    annotators: int = 6,
    dimensions: int = 2,
    features: int = 500,
    window: int = 10,
    rate: float = 5.0,
    noise: float = 0.5,
    realistic: bool = False,
    correlation: float = 0.0,
    autocorrelation: float = 0.0,
    spammers: int = 0,
    missing: float = 0.0,
    seed: int = 0,
) -> Simulation:
    """Draws a data set.

    `window` is the width of the true filters in frames, `noise` the noise sd in sds of the annotator's signal, on
    average, `correlation` that of the true dimensions, `autocorrelation` that of neighbouring noise; the first
    `spammers` annotators trace a random walk of their own; a share `missing` of the frames is lost in stretches.
    """
    if not 0 <= spammers < annotators:
        raise DataError(f"{spammers} spammers among {annotators} annotators: at least one must rate honestly.")
    if not (-1.0 < correlation < 1.0 and 0.0 <= autocorrelation < 1.0):
        raise DataError(f"Correlation {correlation} and autocorrelation {autocorrelation} must lie below 1.")
    rng = np.random.default_rng(seed)
    before = window - 1 if realistic else 0
    X, truth = _truth(recordings, before + frames, dimensions, features, correlation, rng)
    size = truth.std(axis=(0, 1))
    people = _realistic(annotators, window, size, rng) if realistic else _uniform(annotators, window, dimensions, rng)
    seen = _filtered(truth, people.F)[:, :, before:]  # (K, M, T, D)
    sd = noise * rng.uniform(*NOISE, annotators)[:, None] * seen.std(axis=(1, 2))  # (K, D)
    y = seen + people.b[:, None, None] + sd[:, None, None] * lasting_noise(seen.shape, autocorrelation, rng)
    for k in range(spammers):
        y[k] = _own_walks(seen[k], rng)
    y[gaps(y.shape[:3], missing, rng)] = np.nan
    described = [
        {
            "F": people.F[k].tolist(),
            "bias": people.b[k].tolist(),
            "noise_sd": sd[k].tolist(),
            "delay_seconds": None if np.isnan(people.delay[k]).any() else (people.delay[k] / rate).tolist(),
            "spammer": k < spammers,
        }
        for k in range(annotators)
    ]
    return _labelled(y, X[:, before:], truth[:, before:], described, rate)


def _truth(
    M: int, T: int, D: int, P: int, correlation: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Features (M, T, P) and truth (M, T, D), every dimension of it between 0 and 1."""
    walks = np.stack([held_walks(T, P or D, rng) for _ in range(M)])
    mix = np.linalg.cholesky(np.full((D, D), correlation) + (1.0 - correlation) * np.eye(D))
    truth = walks @ ((rng.standard_normal((P, D)) if P else np.eye(D)) @ mix.T)
    low, high = truth.min(axis=(0, 1)), truth.max(axis=(0, 1))
    return (walks if P else walks[:, :, :0]), (truth - low) / (high - low)


def _uniform(K: int, W: int, D: int, rng: np.random.Generator) -> _People:
    """The paper's: every tap from U(0, 1), no bias."""
    return _People(rng.uniform(0, 1, (K, W, D, D)), np.zeros((K, D)), np.full((K, D), np.nan))


def _realistic(K: int, W: int, size: np.ndarray, rng: np.random.Generator) -> _People:
    """Gain, leakage and bias around one smooth delay per annotator and dimension. size: (D,) sd of the truth."""
    D = len(size)
    delay = rng.uniform(*DELAY, (K, D)) * (W - 1)
    total = LEAK * rng.standard_normal((K, D, D))
    total[:, np.arange(D), np.arange(D)] = rng.uniform(*GAIN, (K, D))
    F = np.zeros((K, W, D, D))
    for k, d in np.ndindex(K, D):
        F[k, :, d] = np.outer(bump(float(delay[k, d]), W), total[k, d])
    return _People(F, BIAS * size * rng.standard_normal((K, D)), delay)


def _filtered(truth: np.ndarray, F: np.ndarray) -> np.ndarray:
    """(K, M, T, D) what every annotator sees; before the first frame there is nothing."""
    T = truth.shape[1]
    out = np.zeros((len(F), *truth.shape))
    for w in range(min(F.shape[1], T)):
        out[:, :, w:] += np.einsum("kdp,mtp->kmtd", F[:, w], truth[:, : T - w])
    return out


def _own_walks(seen: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(M, T, D) walks that have nothing to do with the recordings, as wide as an honest trace."""
    M, T, D = seen.shape
    walks = np.stack([held_walks(T, D, rng) for _ in range(M)])
    centred = (walks - walks.mean(axis=(0, 1))) / walks.std(axis=(0, 1))
    return np.asarray(centred * seen.std(axis=(0, 1)) + seen.mean(axis=(0, 1)))


def _labelled(
    y: np.ndarray, X: np.ndarray, truth: np.ndarray, described: list[dict[str, Any]], rate: float
) -> Simulation:
    K, M, T, D = y.shape
    items = tuple(f"recording{m + 1}" for m in range(M))
    annotators = tuple(f"annotator{k + 1}" for k in range(K))
    dimensions = tuple(f"dim{d + 1}" for d in range(D))
    length, clock = np.full(M, T), Clock(rate, np.zeros(M))
    ratings = Ratings.from_judgements(
        np.moveaxis(y, 0, 1).reshape(-1, D),
        np.repeat(np.arange(M), K),
        np.tile(np.arange(K), M),
        items=items,
        annotators=annotators,
        dimensions=dimensions,
        length=length,
        clock=clock,
        source="simulation",
    )
    columns = tuple(f"x{p + 1}" for p in range(X.shape[2]))
    features = ItemTable.from_rows(
        X.reshape(M * T, -1), items=items, columns=columns, length=length, clock=clock, source="simulated features"
    )
    table = ItemTable.from_rows(
        truth.reshape(M * T, D), items=items, columns=dimensions, length=length, clock=clock, source="simulated truth"
    )
    return Simulation(ratings, features, table, dict(zip(annotators, described, strict=True)))
