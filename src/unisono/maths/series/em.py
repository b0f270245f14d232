"""One EM iteration of the series model, exact or hard, as a function from parameters to parameters.

Every step returns (new parameters, objective of the parameters it was given), so that a loop that knows no model can
watch the objective: log p(y) + log prior for the exact step, log p(y, a) + log prior for the hard one.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unisono.maths.series.estep import expect, one_thread
from unisono.maths.series.gauge import competence, recentre
from unisono.maths.series.layout import Layout
from unisono.maths.series.moments import Moments, add_moments, group_moments
from unisono.maths.series.mstep import expected_log_density, log_prior, maximise
from unisono.maths.series.params import Priors, SeriesParams, Structure

Step = Callable[[SeriesParams], tuple[SeriesParams, float]]


def soft_step(
    layout: Layout, params: SeriesParams, structure: Structure, priors: Priors, *, gauge: bool = False
) -> tuple[SeriesParams, float]:
    """Exact EM. An exact EM step (the objective rises) unless `gauge` or a moving noise pool changes the prior."""
    with one_thread():  # the M-step's matrices are small as well
        found = expect(layout, params, structure)
        objective = found.loglik + log_prior(params, structure, priors)
        updated = maximise(layout, found.moments, params, structure, priors)
    if gauge:
        updated = recentre(updated, structure, competence(updated, rated(layout, structure)))
    return updated, objective


def hard_step(
    layout: Layout, params: SeriesParams, structure: Structure, priors: Priors, *, weighted: bool = True
) -> tuple[SeriesParams, float]:
    """Hard EM: the posterior mode stands for the posterior. `weighted=False` is the paper's E-step.

    The weighted step climbs log p(y, a) + log prior; the unweighted one climbs nothing in particular.
    """  # eq. S22
    with one_thread():
        moments = expect(layout, params if weighted else unweighted(params), structure, covariances=False).moments
        objective = expected_log_density(layout, moments, params, structure) + log_prior(params, structure, priors)
        return maximise(layout, moments, params, structure, priors), objective


def unweighted(params: SeriesParams) -> SeriesParams:
    """The paper's E-step forgets the variances: noise and innovations count as one, and nothing is autocorrelated."""
    D = len(params.mu)
    return params._replace(
        N=np.tile(np.eye(D), (len(params.N), 1, 1)), rho=np.zeros_like(params.rho), sigma=np.eye(D), phi=0.0
    )


def make_step(
    layout: Layout,
    structure: Structure,
    priors: Priors,
    *,
    inference: str = "soft",
    gauge: bool = False,
) -> Step:
    """The step as a function of the parameters alone. inference: soft, hard (weighted), paper (hard, unweighted)."""

    def step(params: SeriesParams) -> tuple[SeriesParams, float]:
        if inference == "soft":
            return soft_step(layout, params, structure, priors, gauge=gauge)
        return hard_step(layout, params, structure, priors, weighted=inference == "hard")

    return step


def start_from_truth(
    layout: Layout, a: np.ndarray, params: SeriesParams, structure: Structure, priors: Priors
) -> SeriesParams:
    """Parameters that a guess of the truth implies, e.g. random numbers as in the paper. a: (sum T, D)."""
    return maximise(layout, point_moments(layout, a), params, structure, priors)


def point_moments(layout: Layout, a: np.ndarray) -> Moments:
    """Moments of a truth known exactly; before the first frame its first value is held. a: (sum T, D)."""
    parts = []
    for group in layout.groups:
        paths = [a[layout.first_row[m] : layout.first_row[m + 1]] for m in group.recording]
        clock = [np.pad(p, ((group.pre, group.L - group.stop), (0, 0)), mode="edge") for p in paths]
        parts.append(group_moments(group, layout, np.stack(clock), None))
    return add_moments(parts)


def rated(layout: Layout, structure: Structure) -> np.ndarray:
    """(K,) bool, annotators with ratings whose parameters are estimated."""
    present = {q.annotator for q in layout.channels.channel} - set(structure.fixed)
    return np.isin(np.arange(layout.K), sorted(present))
