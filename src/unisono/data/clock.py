"""The common clock of a series: frame t of item m happens at start[m] + t / rate seconds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Clock:
    """Frames per second, and the second at which each item's first frame lies."""

    rate: float
    start: np.ndarray  # (M,) seconds

    def seconds(self, length: np.ndarray) -> np.ndarray:
        """Times of all frames, end to end, for items of the given lengths (M,)."""
        first = np.repeat(np.cumsum(length) - length, length)
        frame = np.arange(int(length.sum())) - first
        return np.asarray(np.repeat(self.start, length) + frame / self.rate)

    def select(self, index: np.ndarray) -> Clock:
        """The clock of some of the items."""
        return Clock(self.rate, self.start[index])
