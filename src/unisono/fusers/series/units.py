"""The unit of a fused truth: whose it is, and how far annotators' scales differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.fusers.series.model import SeriesModel

PRIVATE = 1.5  # factor between the gains of typical annotators from which there is no common scale to speak of


def unit_notes(models: list[SeriesModel], scale: np.ndarray, by_gold: bool) -> dict[str, Any]:
    """`unit`: gold, annotators (the typical one's) or private (the same, but annotators' scales differ).

    `gain_factor` is one standard deviation of the gains as a factor, and `truth_sd` that of the truth by dimension,
    in the units of the ratings; scale (D,): of the standardised ratings. Nothing for models with a common scale.
    """
    if any(model.levels is None for model in models):
        return {}
    spread, sd = [], []
    for model in models:
        assert model.levels is not None
        gain = np.abs(np.diagonal(model.params.F.sum(axis=1), axis1=1, axis2=2))
        moving = (gain > 0) & ~np.isnan(model.noise)
        spread += [float(np.log(gain[moving[:, d], d]).std()) for d in range(gain.shape[1]) if moving[:, d].any()]
        A = np.diagonal(model.params.sigma) / (1.0 - model.params.phi**2)
        sd += np.sqrt(A + np.diagonal(model.levels.prior)).tolist()
    factor = float(np.exp(max(spread, default=0.0)))
    unit = "gold" if by_gold else "private" if factor >= PRIVATE else "annotators"
    return {
        "unit": unit,
        "gain_factor": round(factor, 2),
        "truth_sd": [float(f"{v:.4g}") for v in np.array(sd) * scale],
    }
