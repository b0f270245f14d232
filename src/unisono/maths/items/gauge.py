"""Gauge: changes of the truth's coordinates that leave the likelihood as it is.

If a' = A a + c, then F' = F A^-1, b' = b - F A^-1 c, Sigma' = A Sigma A', mu' = A mu + c predict the same ratings.
Recentring picks the A and c under which the average annotator answers the truth itself, so that a dimension means what
the typical annotator answers on it. What A may be depends on the structure: a diagonal Sigma allows a scale per
dimension, an isotropic one a rotation and one scale, and without full F_k dimensions cannot mix.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from unisono.maths.items.params import ItemParams
from unisono.maths.items.structure import Structure

ILL_CONDITIONED = 1e3  # numerical: average annotator matrices with a larger condition number are no coordinates


def change_of_truth(params: ItemParams, A: np.ndarray, c: np.ndarray) -> ItemParams:
    """The same model with a' = A a + c as its truth.                                                  eq. G13"""
    D = len(c)
    back = np.linalg.inv(A)
    T = np.eye(D + 1)
    T[:D, :D], T[:D, D] = back, -back @ c
    turn = _shifted if np.count_nonzero(A - np.diag(np.diagonal(A))) == 0 else np.matmul
    return params._replace(
        B=turn(params.B, T),
        theta=params.theta @ A.T,
        mu=A @ params.mu + c,
        Sigma=A @ params.Sigma @ A.T,
        cov=None if params.cov is None else np.swapaxes(turn(np.swapaxes(turn(params.cov, T), -1, -2), T), -1, -2),
    )


def _shifted(rows: np.ndarray, T: np.ndarray) -> np.ndarray:
    """rows @ T where T mixes no dimensions, so that a row costs D and not D^2."""
    found = rows * np.diagonal(T)
    found[..., -1] += rows[..., :-1] @ T[:-1, -1]
    return np.asarray(found)


def recentre(params: ItemParams, structure: Structure, weight: np.ndarray) -> ItemParams:
    """Coordinates in which the weighted average annotator is the identity, as far as the structure lets it."""
    share = weight / max(weight.sum(), np.finfo(float).tiny)
    mean = np.einsum("k,kdi->di", share, params.B)
    A = allowed(structure, mean[:, :-1])
    if A is None:
        return params
    # An offset can move into the truth only where the truth has a mean of its own to take it up.
    movable = structure.bias and structure.intercept
    c = mean[:, -1] if movable else np.zeros(len(A))
    return change_of_truth(params, A, c)


def allowed(structure: Structure, Fbar: np.ndarray) -> np.ndarray | None:
    """The part of the average F_k that may become the new coordinates, None if it cannot serve."""
    D = len(Fbar)
    if structure.transform == "identity":
        return np.eye(D)
    mixes = structure.transform == "full"
    if structure.latent == "isotropic":
        rotation = linalg.polar(Fbar)[0] if mixes else np.eye(D)
        A = np.trace(rotation.T @ Fbar) / D * rotation
    else:
        A = Fbar if mixes and structure.latent == "full" else np.diag(np.diagonal(Fbar))
    usable = np.isfinite(A).all() and np.linalg.cond(A) < ILL_CONDITIONED and (np.trace(A) > 0)
    return A if usable else None


def uncorrelate(params: ItemParams) -> ItemParams:
    """Coordinates in which the truths of different dimensions are uncorrelated given the features: the paper's A3.

    From coordinates where the average annotator is the identity, a' = s Sigma^-1/2 a with the symmetric root. The
    average F_k is then Sigma^1/2 / s, symmetric and positive definite: the rotation that polar decomposition finds,
    with signs and labels already those of the rated dimensions. s makes its diagonal average to one.     eq. G18
    """
    values, vectors = np.linalg.eigh(params.Sigma)
    root = (vectors * np.sqrt(values)) @ vectors.T
    A = np.trace(root) / len(root) * np.linalg.inv(root)
    # The center of the truth stays where it is, so that offsets do not change their meaning.
    return change_of_truth(params, A, params.mu - A @ params.mu)
