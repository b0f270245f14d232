"""The anchor `average`: coordinates of the truth in which annotators are as close to "answers the truth" as can be.

A change of coordinates a' = A a + c leaves the likelihood as it is (`gauge`), not the priors: of all coordinates the
step takes those with the highest bound. With A = diag(1/w) that is

    max over w of   sum_e lin_e w_e + count_e log w_e - 1/2 w'H w                                            eq. B7

which is concave; c is a linear system. Without this step EM would come to the same coordinates, in many more steps.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.items.bound import coordinates_term
from unisono.maths.items.data import ItemData
from unisono.maths.items.gauge import allowed, change_of_truth
from unisono.maths.items.rows import RowPrior
from unisono.maths.items.state import BayesSettings, BayesState
from unisono.maths.items.structure import free_coefficients

GAUGE_SWEEPS = 10  # numerical: sweeps over the coordinates of a concave maximum


def best_coordinates(data: ItemData, state: BayesState, prior: RowPrior, settings: BayesSettings) -> BayesState:
    """The state in the coordinates with the highest bound that the structure allows."""
    rated = data.answers().sum(axis=1) > 0
    structure = settings.structure
    if structure.transform == "full" and structure.latent == "full":
        state = _turned(data, state, prior, settings)
    if structure.transform != "identity":
        w = _best_scales(data, state, prior, settings, rated)
        state = moved(state, np.diag(1 / w), np.zeros(data.D))
    if structure.bias and structure.intercept:
        state = moved(state, np.eye(data.D), _best_shift(state, prior, rated))
    return state


def moved(state: BayesState, A: np.ndarray, c: np.ndarray) -> BayesState:
    """The same model with a' = A a + c as its truth."""
    return state._replace(params=change_of_truth(state.params, A, c), mean=state.mean @ A.T + c)


def highest(lin: np.ndarray, H: np.ndarray, count: np.ndarray, start: np.ndarray, most: float = np.inf) -> np.ndarray:
    """(D,) w > 0, at most `most`, with the highest lin'w + count'log w - 1/2 w'Hw, one coordinate at a time."""
    w = start.copy()
    for _ in range(GAUGE_SWEEPS):
        before = w.copy()
        for e in range(len(w)):
            slope = lin[e] - H[e] @ w + H[e, e] * w[e]
            w[e] = min((slope + np.sqrt(slope**2 + 4 * H[e, e] * count[e])) / (2 * H[e, e]), most)
        if (w == before).all():
            break
    return w


def _best_scales(
    data: ItemData,
    state: BayesState,
    prior: RowPrior,
    settings: BayesSettings,
    rated: np.ndarray,
) -> np.ndarray:
    D, cov = data.D, state.params.cov
    assert cov is not None
    free = free_coefficients(settings.structure, D)[:, :D]
    weight = np.einsum("kdii->kdi", prior.precision)[rated][:, :, :D] * free
    F = state.params.F[rated]
    lin = np.einsum("kdi,kdi,kdi->i", weight, F, prior.center[rated][..., :D])
    square = F**2 + np.einsum("kdii->kdi", cov)[rated][..., :D]
    items = settings.priors.latent_items
    target = settings.targets.latent * state.hyper.unexplained[:, None] * state.hyper.unexplained
    H = np.diag(np.einsum("kdi,kdi->i", weight, square)) + items * np.linalg.inv(state.params.Sigma) * target
    count = rated.sum() * free.sum(axis=0) + items
    if settings.structure.latent == "isotropic":  # one scale for all
        one = highest(lin.sum(keepdims=True), H.sum(keepdims=True), count.sum(keepdims=True), np.ones(1))
        return np.repeat(one, D)
    return highest(lin, H, count, np.ones(D))


def _best_shift(state: BayesState, prior: RowPrior, rated: np.ndarray) -> np.ndarray:
    """(D,) the c under which biases b - F c are smallest in the metric of their prior."""
    F, b, cov = state.params.F[rated], state.params.b[rated], state.params.cov
    assert cov is not None
    D = F.shape[1]
    own = prior.precision[rated][:, :, -1, -1]  # (K, D)
    P = prior.coupling[rated] + own[:, :, None] * np.eye(D)
    pulled = P @ F  # biases have symmetric precisions
    H = np.einsum("kdi,kdj->ij", F, pulled) + np.einsum("kd,kdij->ij", own, cov[rated][:, :, :D, :D])
    g = np.einsum("kdi,kd->i", pulled, b) + np.einsum("kd,kdi->i", own, cov[rated][:, :, :D, D])
    return np.asarray(np.linalg.solve(H, g))


def _turned(data: ItemData, state: BayesState, prior: RowPrior, settings: BayesSettings) -> BayesState:
    """Coordinates in which the average annotator mixes nothing, if the bound is no lower there."""
    share = data.shares()
    A = allowed(settings.structure, np.einsum("k,kdi->di", share, state.params.F))
    if A is None:
        return state
    proposal = moved(state, A, np.zeros(data.D))
    now, then = (coordinates_term(data, s, prior, settings) for s in (state, proposal))
    return proposal if then >= now else state
