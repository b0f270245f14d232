"""Ratings at the minimum or maximum of the scale, treated as censored.

Whoever has 7 in mind on a scale that ends at 5 answers 5. The latent rating y* behind such an answer is a normal,
truncated half a step inside the end:

    y* ~ N(c, v) given everything else, y* <= low + step/2 or y* >= high - step/2                              eq. B14
    H[q] = log(sd Phi(t) sqrt(2 pi e)) - t phi(t) / (2 Phi(t)),  t the distance of the cut from c in sd
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, ndtr

from unisono.maths.items import item_data, item_params

FAR_BEYOND = -30.0  # numerical: standard deviations from which the variance of a cut-off normal is its series
UNTOUCHED = 37.0  # numerical: standard deviations from which nothing is cut off that has digits
WHOLE = 0.5 * (item_params.LOG_2PI + 1)  # numerical: entropy of a standard normal


class EndAnswers(NamedTuple):
    """Answers at the ends of the scale, where they are kinds; all (D,), in standardised units."""

    low: np.ndarray  # infinite where answers are numbers
    high: np.ndarray
    step: np.ndarray  # between neighbouring answers
    weight: np.ndarray  # how much answers are kinds, from 0 to 1

    @property
    def cuts(self) -> item_data.Cuts:
        """Half a step inside the ends: the numbers beyond are answered with the end."""
        half = self.step / 2
        return item_data.Cuts(self.low + half, self.high - half, self.low - half, self.high + half, self.weight)

    @property
    def read(self) -> np.ndarray:
        """(D,) bool, whether a dimension has such an end."""
        return np.asarray(np.isfinite(self.low) | np.isfinite(self.high))

    @property
    def any(self) -> bool:
        return bool(self.read.any())

    def of(self, dims: list[int]) -> EndAnswers:
        """Those of some of the dimensions."""
        return EndAnswers(*(part[dims] for part in self))

    def answer(self, number: np.ndarray) -> np.ndarray:
        """(J, D) answers of whoever has these numbers (J, D) in mind; inside the cuts the numbers themselves."""
        cuts, kinds = self.cuts, self.weight >= 0.5  # an answer is one or the other
        low, high = kinds & (number <= cuts.low), kinds & (number >= cuts.high)
        return np.where(low, self.low, np.where(high, self.high, number))

    def kept(self, number: np.ndarray, given: np.ndarray) -> np.ndarray:
        """(J, D) numbers cut off at the ends, as far as answers are kinds and were `given` (J, D) on the scale."""
        cut = np.clip(number, np.minimum(self.low, given), np.maximum(self.high, given))
        return np.asarray(number + self.weight * (cut - number))


class Typical(NamedTuple):
    """Typical annotators on a scale that ends; all (D,), in standardised units."""

    ends: EndAnswers
    spread: np.ndarray  # variance of the numbers that they have in mind around the truth; infinite: they do not count
    scale: np.ndarray  # truths are `scale` times what they mean to these annotators ...
    offset: np.ndarray  # ... plus `offset`, where known truths say so

    def answer(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """(M, D) what is expected of their answers to truths N(mean, variance), in units of the truth."""
        meant, counts = (mean - self.offset) / self.scale, np.isfinite(self.spread)
        found = expected_answer(meant, variance / self.scale**2 + np.where(counts, self.spread, 1.0), self.ends)
        return np.where(counts, self.scale * found + self.offset, mean)

    def narrowed(self, cov: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """(M, D, D) covariances of errors of these answers, from those of truths N(mean, variance).

        Where most answers are an end, they hardly move with the truth.
        """
        meant, counts = (mean - self.offset) / self.scale, np.isfinite(self.spread)
        slope = answer_slope(meant, variance / self.scale**2 + np.where(counts, self.spread, 1.0), self.ends)
        slope = np.where(counts, slope, 1.0)
        return np.asarray(cov * slope[:, :, None] * slope[:, None, :])

    def mapped(self, scale: np.ndarray, offset: np.ndarray) -> Typical:
        """The same for truths that are `scale` times these plus `offset`."""
        return self._replace(scale=scale * self.scale, offset=scale * self.offset + offset)


class Truncated(NamedTuple):
    """Moments and entropy of normals that are cut off."""

    mean: np.ndarray
    variance: np.ndarray
    entropy: np.ndarray


def mills_ratio(t: np.ndarray) -> np.ndarray:
    """phi(t) / Phi(t), with all digits however far out."""
    return np.asarray(np.sqrt(2 / np.pi) / erfcx(-t / np.sqrt(2)))


def truncated_above(center: np.ndarray, sd: np.ndarray | float, bound: np.ndarray | float) -> Truncated:
    """N(center, sd^2) given that it is at most `bound`."""
    t = (bound - center) / sd
    ratio = mills_ratio(t)
    variance, entropy = cut_off(t, ratio)
    return Truncated(center - sd * ratio, sd**2 * variance, np.log(sd) + entropy)


def cut_off(t: np.ndarray, ratio: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Variance and entropy of a standard normal below t, whose Mills ratio is known."""
    variance, log_ratio = 1 - ratio * (t + ratio), np.log(np.maximum(ratio, np.finfo(float).tiny))
    far = t < FAR_BEYOND
    if far.any():
        variance[far] = (1 - 6 / t[far] ** 2) / t[far] ** 2
    # log Phi(t) is log phi(t) - log(ratio).
    return variance, np.where(t > UNTOUCHED, WHOLE, 0.5 - log_ratio - 0.5 * t * (t + ratio))


def expected_answer(mean: np.ndarray, variance: np.ndarray, ends: EndAnswers) -> np.ndarray:
    """(M, D) E of the answer of whoever has N(mean, variance) in mind: an end beyond the cuts, else the number.

    As far as answers are kinds.
    """
    sd, cuts = np.sqrt(variance), ends.cuts
    a, b = (cuts.low - mean) / sd, (cuts.high - mean) / sd
    below, above = ndtr(a), ndtr(-b)
    low, high = (np.where(np.isfinite(end), end, 0.0) for end in (ends.low, ends.high))
    density = (np.exp(-0.5 * a**2) - np.exp(-0.5 * b**2)) / np.sqrt(2 * np.pi)
    answer = low * below + high * above + mean * (1 - below - above) + sd * density
    return np.asarray(ends.weight * answer + (1 - ends.weight) * mean)


def answer_slope(mean: np.ndarray, variance: np.ndarray, ends: EndAnswers) -> np.ndarray:
    """(M, D) derivative of the expected answer by the mean: the share inside the cuts, and half a step at these."""
    sd, cuts = np.sqrt(variance), ends.cuts
    a, b = (cuts.low - mean) / sd, (cuts.high - mean) / sd
    jumps = ends.step / 2 * (np.exp(-0.5 * a**2) + np.exp(-0.5 * b**2)) / (np.sqrt(2 * np.pi) * sd)
    return np.asarray(1 - ends.weight * (ndtr(a) + ndtr(-b) - jumps))
