"""Random signals: walks that hold still and move on, smooth delays, noise that lasts, stretches without ratings.

Imports NumPy alone.
"""

from __future__ import annotations

import numpy as np

HOLD = (2, 4)  # frames: the paper's features hold still for two to four frames ...
MOVE = (2, 4)  # ... and then move on in a straight line, for as long
GAP = 20  # frames that a stretch without ratings lasts on average


def held_walks(T: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """(T, n) random walks without drift that all hold and move at the same times."""
    most = T // (HOLD[0] + MOVE[0]) + 2
    hold = rng.integers(HOLD[0], HOLD[1] + 1, most)
    move = rng.integers(MOVE[0], MOVE[1] + 1, most)
    begin = np.cumsum(hold + move) - hold - move  # a level is taken from begin to begin + hold - 1
    level = np.cumsum(rng.standard_normal((most, n)), axis=0)
    knot = np.stack([begin, begin + hold - 1], axis=1).ravel()
    height = np.repeat(level, 2, axis=0)
    right = np.clip(np.searchsorted(knot, np.arange(T), side="right"), 1, len(knot) - 1)
    share = (np.arange(T) - knot[right - 1]) / (knot[right] - knot[right - 1])
    return np.asarray(height[right - 1] + share[:, None] * (height[right] - height[right - 1]))


def bump(centre: float, W: int) -> np.ndarray:
    """(W,) smooth kernel around a delay in frames; its sum is 1."""
    width = max(W / 10.0, 0.5)
    weight = np.exp(-0.5 * ((np.arange(W) - centre) / width) ** 2)
    return np.asarray(weight / weight.sum())


def lasting_noise(shape: tuple[int, ...], rho: float, rng: np.random.Generator) -> np.ndarray:
    """Standard normal noise, AR(1) along the axis before the last."""
    noise = rng.standard_normal(shape)
    fresh = np.sqrt(1.0 - rho**2)
    for t in range(1, shape[-2]):
        noise[..., t, :] = rho * noise[..., t - 1, :] + fresh * noise[..., t, :]
    return noise


def gaps(shape: tuple[int, ...], share: float, rng: np.random.Generator) -> np.ndarray:
    """Bool, true on stretches along the last axis that make up about `share` of it."""
    if share <= 0.0:
        return np.zeros(shape, dtype=bool)
    stay = 1.0 - 1.0 / GAP
    enter = min(share * (1.0 - stay) / max(1.0 - share, 1e-12), 1.0)
    lost = np.empty(shape, dtype=bool)
    lost[..., 0] = rng.random(shape[:-1]) < share
    for t in range(1, shape[-1]):
        lost[..., t] = rng.random(shape[:-1]) < np.where(lost[..., t - 1], stay, enter)
    return lost
