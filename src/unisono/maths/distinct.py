"""The distinct values of many numbers, and which of them each is, without sorting where it can be spared."""

from __future__ import annotations

import numpy as np


def category_codes(y: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The distinct values and which of them each number is; None if there are more than `most`."""
    # Values seen in a part are nearly always all of them, and looking numbers up is faster than sorting them.
    values = np.unique(y[:: max(len(y) // 1000, 1)])
    if len(values) > most:
        return None
    code = np.minimum(np.searchsorted(values, y), max(len(values) - 1, 0))
    if len(y) and (values[code] != y).any():
        values, code = np.unique(y, return_inverse=True)
    return (values, code) if len(values) <= most else None


def sorted_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values, however many, and which of them each number is."""
    found = category_codes(y, 1000)
    if found is None:
        values, code = np.unique(y, return_inverse=True)
        return values, code
    return found
