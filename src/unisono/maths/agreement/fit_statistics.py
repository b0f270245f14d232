"""Severity, infit and outfit of each rater: how far answers scatter about what the answers of the others predict.

Under y_ir = mu + unit_i + rater_r + rest, with components of variance s2_i, s2_r, s2_e, effects of units and raters are
their best linear predictions. Each answer is then predicted from the other answers to its unit:

    m = mu + rater_r + unit_i without r         v = s2_e + s2_i s2_e / (s2_e + (n_i - 1) s2_i)
    outfit = mean (y - m)^2 / v                 infit = sum (y - m)^2 / sum v

Both are about 1 for a rater like the others, larger for answers that scatter more, smaller for answers that scatter
less (which a rater who copies also shows). Outfit is moved more by a few answers far off.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.agreement.coded import Coded, sums_by
from unisono.maths.agreement.variance_components import Components, variance_components

MOST_ROUNDS = 200
TOLERANCE = 1e-8  # standard deviations of all ratings


class RaterFit(NamedTuple):
    """(R,) each; NaN where undefined."""

    severity: np.ndarray  # rating units above the average rater; drawn to zero where answers are few
    infit: np.ndarray
    outfit: np.ndarray


def rater_fit(data: Coded, components: Components | None = None) -> RaterFit:
    """Severity and fit of the raters of one dimension, given its variance components if they are known already."""
    components = variance_components(data) if components is None else components
    found = [float(part[0]) / data.scale**2 for part in components]
    nothing = np.full(data.R, np.nan)
    if not np.isfinite(found).all() or found[2] <= 0:
        return RaterFit(nothing, nothing, nothing)
    s2_i, s2_r, s2_e = max(found[0], 0.0), max(found[1], 0.0), found[2]
    mu, rater = _effects(data, s2_i, s2_r, s2_e)
    left = data.y - mu - rater[data.rater]
    others = data.per_unit[data.unit] - 1
    shrink = s2_i / (s2_e + others * s2_i)
    error = left - shrink * (sums_by(data.unit, left, data.I)[data.unit] - left)
    variance = s2_e + s2_e * shrink
    paired = others > 0
    who, error, variance = data.rater[paired], error[paired], variance[paired]
    count = np.bincount(who, minlength=data.R)
    some = np.maximum(count, 1)
    outfit = sums_by(who, error**2 / variance, data.R) / some
    infit = sums_by(who, error**2, data.R) / np.where(count > 0, sums_by(who, variance, data.R), 1.0)
    return RaterFit(rater * data.scale, np.where(count > 0, infit, np.nan), np.where(count > 0, outfit, np.nan))


def _effects(data: Coded, s2_i: float, s2_r: float, s2_e: float) -> tuple[float, np.ndarray]:
    """Mean and best linear predictions of the effects of raters (R,), in turn with those of units until they stay.

    At the solution effects of raters, and those of units, sum to zero; moving their mean into mu after each round saves
    most of the rounds.
    """
    mu, rater = 0.0, np.zeros(data.R)
    n_i, n_r = data.per_unit, data.per_rater
    for _ in range(MOST_ROUNDS):
        before = mu + rater
        total = sums_by(data.unit, data.y - before[data.rater], data.I)
        unit = s2_i * total / (s2_e + s2_i * n_i)
        mu += float(unit.mean())
        unit -= unit.mean()
        rest = sums_by(data.rater, data.y - unit[data.unit], data.R)
        rater = s2_r * (rest - mu * n_r) / (s2_e + s2_r * n_r)
        mu = float(np.sum(rest - n_r * rater) / data.n)
        mu, rater = mu + float(rater.mean()), rater - rater.mean()
        if np.abs(mu + rater - before).max(initial=0.0) < TOLERANCE:
            break
    return mu, rater
