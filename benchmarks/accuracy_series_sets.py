"""The traces of the accuracy benchmark: what is fused, what it is compared with, and how it is scored.

    UNISONO_DATA/ceap360vr/ratings_5hz.csv.gz      UNISONO_DATA/green_intensity/published_fusions_10hz.csv.gz
Green intensity and Forrest Gump come with the package; the rest is simulated.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import signal

import unisono as un
from unisono.paper.simulation import Simulation
from unisono.tables.item_table import Clock, ItemTable
from unisono.tables.ratings import Ratings

# Settings of `simulate_series`; recordings, frames, annotators, dimensions are the paper's.
REALISTIC: dict[str, dict[str, Any]] = {
    "white noise": {},
    "lasting noise (.9)": {"autocorrelation": 0.9},
    "true dimensions correlate (.5)": {"correlation": 0.5},
    "1 of 6 a spammer": {"spammers": 1},
}
CROWDS = ("private gains, reversed, noise, drift, delays", "alike annotators")  # six annotators, six recordings
TURNED, UNRELATED = 3, 1  # of the annotators with private gains: who is reversed, who follows something else
WIDTHS = (5, 10, 20, 50)  # of the true filters in the paper's simulation
TASKS = ("A", "B")
FOUR = 4  # annotators of the film who are fused
REACH = 2.0  # seconds within which the best lag is looked for; green intensity: 4


def realistic(setting: str, seed: int) -> Simulation:
    return un.simulate_series(features=0, realistic=True, seed=seed, **REALISTIC[setting])


def made_crowd(setting: str, seed: int, K: int = 6, M: int = 6, T: int = 400) -> tuple[Ratings, np.ndarray, float]:
    """Traces at 2 per second with errors that last for 4 s, the truth (sum T, 1), and the mean delay in seconds.

    Of annotators with private gains (log-normal, .5) one is reversed and one follows something else.
    """
    rng, private, rate = np.random.default_rng(1000 + seed), setting == CROWDS[0], 2.0
    late = rng.integers(0, 4, K) if private else np.zeros(K, dtype=int)
    sign = np.where(private & (np.arange(K) == TURNED), -1, 1)
    gain = np.exp((0.5 if private else 0.1) * rng.standard_normal(K)) * sign
    bias, noise = 0.3 * rng.standard_normal(K), 0.6 * np.exp(0.3 * rng.standard_normal(K))
    truth, traces = np.zeros((M, T)), np.zeros((M, K, T))
    for m in range(M):
        path = 0.7 * rng.standard_normal() + _lasting(rng, T + 10, 30)
        truth[m] = path[10:]
        for k in range(K):
            error = (
                noise[k] * _lasting(rng, T, 8) + 0.2 * rng.standard_normal(T) + bias[k] + 0.3 * rng.standard_normal()
            )
            seen = path[10 - late[k] : 10 - late[k] + T]
            if private:
                error += 0.5 * np.cumsum(rng.standard_normal(T)) / np.sqrt(T)
                seen = 0.7 * rng.standard_normal() + _lasting(rng, T, 30) if k == UNRELATED else seen
            traces[m, k] = gain[k] * (seen + error) if private else gain[k] * seen + error
    ratings = Ratings.from_judgements(
        traces.reshape(-1, 1),
        np.repeat(np.arange(M), K),
        np.tile(np.arange(K), M),
        items=[f"r{m}" for m in range(M)],
        annotators=[f"a{k}" for k in range(K)],
        dimensions=["value"],
        length=np.full(M, T),
        clock=Clock(rate, np.zeros(M)),
        source=setting,
    )
    return ratings, truth.reshape(-1, 1), float(late.mean() / rate)


def with_known_hands(ratings: Ratings, setting: str) -> Ratings:
    """The same crowd for who knows who is who: the reversed hand turned, without the one who follows something else."""
    if setting != CROWDS[0]:
        return ratings
    who = np.repeat(ratings.annotator_of, ratings.length[ratings.item_of])
    turned = ratings.with_value(np.where((who == TURNED)[:, None], -ratings.value, ratings.value))
    return raters_only(turned.select_judgements(ratings.annotator_of != UNRELATED))


def _lasting(rng: np.random.Generator, T: int, memory: float) -> np.ndarray:
    """(T,) a path of variance 1 that forgets itself in so many frames."""
    phi = np.exp(-1.0 / memory)
    fresh = rng.standard_normal(T) * np.r_[1.0, np.full(T - 1, np.sqrt(1.0 - phi**2))]
    return np.asarray(signal.lfilter([1.0], [1.0, -phi], fresh))


def mean_delay(world: Simulation) -> float:
    """Seconds, of the honest annotators."""
    return float(np.mean([one["delay_seconds"] for one in world.annotators.values() if not one["spammer"]]))


def green(task: str) -> tuple[Ratings, np.ndarray, ItemTable]:
    """Ratings of one task, the true signal (T, 1) on their clock, and the features."""
    every = un.load_dataset("green_intensity")
    ratings = raters_only(every.select_items([f"Task{task}"]))
    truth = un.align_to(un.load_dataset_table("green_intensity", "reference"), ratings, hold=1.0)
    features = un.load_dataset_table("green_intensity", "features").select_items(ratings.items)
    return ratings, truth.value, un.align_to(features, ratings, hold=1.0, complete=True)


def halves(name: str, seed: int, folder: Path | None) -> tuple[Ratings, np.ndarray]:
    """Traces by a few annotators, and the plain mean of all the others."""
    ratings, few = (ceap(folder), 6) if name == "ceap" else (film(), FOUR)
    return against_the_others(ratings, np.random.default_rng(seed).permutation(np.unique(ratings.annotator_of))[:few])


def against_the_others(ratings: Ratings, who: np.ndarray) -> tuple[Ratings, np.ndarray]:
    """Traces by these annotators, and the plain mean of all the others."""
    chosen = np.isin(ratings.annotator_of, who)
    return raters_only(ratings.select_judgements(chosen)), frame_means(ratings.select_judgements(~chosen))


def fours() -> list[tuple[int, ...]]:
    """Every choice of four annotators of the film."""
    return list(combinations(np.unique(film().annotator_of).tolist(), FOUR))


@cache
def film() -> Ratings:
    """The whole film, by those who saw and heard it."""
    ratings = un.load_dataset("forrest_gump")
    return raters_only(ratings.select_items(["forrest_gump_av"]))


@cache
def ceap(folder: Path | None) -> Ratings:
    assert folder is not None
    return un.read_ratings(folder / "ceap360vr" / "ratings_5hz.csv.gz")


def raters_only(ratings: Ratings) -> Ratings:
    """Without the names of annotators who rated none of these recordings."""
    used, index = np.unique(ratings.annotator_of, return_inverse=True)
    return Ratings.from_judgements(
        ratings.value,
        ratings.item_of,
        index,
        items=ratings.items,
        annotators=[ratings.annotators[k] for k in used],
        dimensions=ratings.dimensions,
        length=ratings.length,
        clock=ratings.clock,
        source=ratings.source,
    )


def frame_means(ratings: Ratings) -> np.ndarray:
    """(sum T, D) plain means; every frame is rated by somebody in these sets."""
    first = np.concatenate([[0], np.cumsum(ratings.length)])
    out = np.zeros((int(first[-1]), ratings.D))
    for m in range(ratings.M):
        js = range(int(ratings.item_ptr[m]), int(ratings.item_ptr[m + 1]))
        traces = np.stack([ratings.value[ratings.offset[j] : ratings.offset[j + 1]] for j in js])
        out[first[m] : first[m + 1]] = np.nanmean(traces, axis=0)
    return out


def lagged(est: np.ndarray, truth: np.ndarray, length: np.ndarray, lag: int) -> tuple[np.ndarray, np.ndarray]:
    """Estimate and truth, the estimate `lag` frames late, without the frames that have no partner."""
    first = np.concatenate([[0], np.cumsum(length)])
    est_rows, truth_rows = [], []
    for lo, hi in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        est_rows.append(np.arange(lo + max(lag, 0), hi + min(lag, 0)))
        truth_rows.append(np.arange(lo + max(-lag, 0), hi + min(-lag, 0)))
    return est[np.concatenate(est_rows)], truth[np.concatenate(truth_rows)]


def best_lag(est: np.ndarray, truth: np.ndarray, length: np.ndarray, reach: int) -> tuple[int, float]:
    """The lag of one dimension with the greatest correlation, and that correlation. est, truth: (sum T,)."""
    lags = range(-reach, reach + 1)
    r = [float(np.corrcoef(*lagged(est, truth, length, lag))[0, 1]) for lag in lags]
    best = int(np.argmax(r))
    return lags[best], r[best]
