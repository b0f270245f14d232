"""Values that ratings take: distinct ones, answers that count as equal, pooled location and scale, significant digits.

Distinct values are found without sorting where that can be spared. Answers that differ by less than anybody would on
purpose are made equal, unless the scale is continuous and densely used.
"""

from __future__ import annotations

import numpy as np

SAME_ANSWER = 1e-4  # numerical: standard deviations within which two answers are the same
FIRST_ROWS = 10_000  # numerical: numbers that are looked up before all are
MOST_APART = 10.0  # numerical: so many times as far may answers lie apart that are the same by others in between


def distinct(numbers: np.ndarray) -> np.ndarray:
    """The distinct ones of numbers (n,), in order; sorting is faster here than the hashing of `np.unique`."""
    found = np.sort(numbers)
    return np.asarray(found[np.append(True, found[1:] != found[:-1])[: len(found)]])


def category_codes(y: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The distinct values and which of them each number is; None if there are more than `most`."""
    # Values seen in a part are nearly always all of them, and looking numbers up is faster than sorting them.
    values = np.unique(y[:: max(len(y) // 1000, 1)])
    if len(values) > most:
        return None
    for part in (y[:FIRST_ROWS], y):
        code = np.minimum(np.searchsorted(values, part), max(len(values) - 1, 0))
        if len(y) and (values[code] != part).any():
            values, code = np.unique(y, return_inverse=True)
            break
    return (values, code) if len(values) <= most else None


def close_pairs(values: np.ndarray, times: np.ndarray, close: float) -> tuple[float, float]:
    """Pairs of equal numbers and of others at most `close` apart, both ways round.

    From the distinct values in order, and how often there is each.
    """
    total, count = np.concatenate([[0.0], np.cumsum(times)]), times.astype(float)
    near = total[np.searchsorted(values, values + close, "right")] - total[np.searchsorted(values, values - close)]
    return float((count * (count - 1)).sum()), float((count * (near - count)).sum())


def sorted_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values, however many, and which of them each number is."""
    found = category_codes(y, 1000)
    if found is None:
        values, code = np.unique(y, return_inverse=True)
        return values, code
    return found


def same_answers(value: np.ndarray) -> np.ndarray:
    """Answers (J, D), NaN where missing, with those made equal that differ by less than anybody would on purpose.

    Distinct answers of which each is so close to the next are one, unless together they reach far: then it is a
    continuous scale, so densely used that nothing is told from anything by its distance.
    """
    found = value.copy(order="K")
    for d, column in enumerate(value.T):
        low, high, middle = _made_equal(distinct(column[~np.isnan(column)]))
        if len(low):
            place = np.maximum(np.searchsorted(low, column, "right") - 1, 0)
            rows = np.flatnonzero((low[place] <= column) & (column <= high[place]))
            found[rows, d] = middle[place[rows]]
    return found


def _made_equal(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lowest, highest and middle of the distinct values, in order, that are one answer."""
    close = SAME_ANSWER * float(np.std(values)) if len(values) else 0.0
    first = np.flatnonzero(np.diff(values, prepend=-np.inf) > close)
    last = np.append(first[1:], len(values)) - 1
    several = (last > first) & (values[last] - values[first] <= MOST_APART * close)
    first, last = first[several], last[several]
    return values[first], values[last], values[(first + last) // 2]


NO_SPREAD = 1e-12  # numerical: share of the largest value: a smaller standard deviation is the rounding of a constant


def pooled_moments(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean (D,) and standard deviation (D,) of all ratings (J, D) of each dimension."""
    D = value.shape[1]
    loc, scale = np.zeros(D), np.ones(D)
    for d in range(D):
        seen = value[~np.isnan(value[:, d]), d]
        if len(seen):
            loc[d], scale[d] = _mean_and_sd(seen)
    return loc, scale


def _mean_and_sd(seen: np.ndarray) -> tuple[float, float]:
    """Of values without spread, the largest takes the place of the standard deviation; of zeros, 1."""
    # Divided by the largest first, so that squares of very large or very small ratings neither overflow nor vanish.
    largest = float(np.abs(seen).max())
    if largest == 0:
        return 0.0, 1.0
    part = seen / largest
    mean = float(part.mean())
    sd = float(np.sqrt(np.mean((part - mean) ** 2)))
    return mean * largest, sd * largest if sd > NO_SPREAD else largest


DIGITS = 6  # numerical: more than anybody's answers tell, and than processors and codecs agree on


def significant(values: np.ndarray, digits: int = DIGITS) -> np.ndarray:
    """Every number rounded in decimal, so that it is written with no more digits; what is not finite stays."""
    flat = [float(f"{number:.{digits}g}") for number in values.reshape(-1).tolist()]
    return np.array(flat, dtype=float).reshape(values.shape)
