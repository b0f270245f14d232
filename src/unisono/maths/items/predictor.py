"""The predictor a = mu + Theta' x + e, in coordinates where it is trivial.

Features are turned into orthogonal scores Z = (X - xbar) V, Z'Z = diag(l), once. A least-squares fit is then one
division per score; leaving out the directions with l = 0 is exactly the minimum-norm solution, which is what the
paper's (X'X)^-1 has to mean when there are more features than items, and a ridge adds one number to every l.

    X (M, P) features, V (P, R) directions, Z (M, R) scores, l (R,) their sums of squares, theta (R, D)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Scores(NamedTuple):
    """Orthogonal feature scores of the items, and the way from features to scores."""

    Z: np.ndarray  # (M, R) scores
    l: np.ndarray  # (R,) sums of squares of the scores
    V: np.ndarray  # (P, R) directions: Z = (X - center) V
    center: np.ndarray  # (P,) subtracted from the features

    @property
    def M(self) -> int:
        return len(self.Z)

    @property
    def R(self) -> int:
        return int(self.Z.shape[1])

    def of(self, X: np.ndarray) -> np.ndarray:
        """(M', R) the scores of other items."""
        return np.asarray((X - self.center) @ self.V)


def no_features(M: int) -> Scores:
    """Scores of items that have no features."""
    return Scores(np.zeros((M, 0)), np.zeros(0), np.zeros((0, 0)), np.zeros(0))


def orthogonal_scores(X: np.ndarray, *, intercept: bool, rcond: float = 1e-10) -> Scores:
    """Scores of the features X (M, P); directions with less than `rcond` of the largest sum of squares are left out.

    With an intercept the features are centred, so that mu and Theta do not depend on each other.
    """
    M, P = X.shape
    if P == 0:
        return no_features(M)
    center = X.mean(axis=0) if intercept else np.zeros(P)
    Xc = X - center
    wide = P > M
    l, E = np.linalg.eigh(Xc @ Xc.T if wide else Xc.T @ Xc)
    keep = l > rcond * max(float(l[-1]), np.finfo(float).tiny)
    l, E = l[keep], E[:, keep]
    V = Xc.T @ E / np.sqrt(l) if wide else E
    return Scores(Xc @ V, l, V, center)


def fit_theta(scores: Scores, Sza: np.ndarray, ridge: float = 0.0) -> np.ndarray:
    """(R, D) coefficients from the cross products Sza = Z' E[a]; `ridge` = 0 is minimum-norm least squares.

    eq. G8
    """
    return np.asarray(Sza / (scores.l + ridge)[:, None])


class Ridge(NamedTuple):
    """A predictor fitted to known truths, with the ridge that maximises its evidence."""

    theta: np.ndarray  # (R, D)
    mu: np.ndarray  # (D,)
    Sigma: np.ndarray  # (D, D) covariance of the residuals
    theta_var: np.ndarray  # (R,) variances of theta's rows relative to Sigma


def empirical_ridge(
    scores: Scores, a: np.ndarray, *, floor: float = 1e-12, max_iter: int = 200, tol: float = 1e-6
) -> Ridge:
    """Ridge regression of truths a (M, D) on centred scores; the ridge is estimated as under `bayes`.  eq. B4"""
    M, D = a.shape
    mu = a.mean(axis=0)
    Sza = scores.Z.T @ (a - mu)
    ridge = float(scores.l.mean()) if scores.R else 1.0
    for _ in range(max_iter):
        theta, theta_var = fit_theta(scores, Sza, ridge), 1 / (scores.l + ridge)
        residual = a - mu - scores.Z @ theta
        Sigma = (residual.T @ residual + ridge * theta.T @ theta) / M + floor * np.eye(D)
        before = ridge
        if scores.R:
            squares = np.trace(np.linalg.solve(Sigma, theta.T @ theta)) + D * theta_var.sum()
            ridge = scores.R * D / float(squares)
        if abs(ridge - before) <= tol * before:
            break
    return Ridge(theta, mu, Sigma, theta_var)
