"""The mixed model of scores with every matrix written out: N by N covariances, no elimination."""

import numpy as np


def covariances(effects):
    """One N by N matrix for every random effect, the noise last."""
    codes = [*effects.nested.values(), *effects.crossed.values()]
    N = len(codes[0]) if codes else 0
    return [*((code[:, None] == code).astype(float) for code in codes), np.eye(N)]


def dense(y, X, parts, theta):
    """-2 log restricted likelihood, means and their covariance."""
    V = sum(t * part for t, part in zip(theta, parts, strict=True))
    inverse = np.linalg.inv(V)
    A = X.T @ inverse @ X
    mean = np.linalg.solve(A, X.T @ inverse @ y)
    r = y - X @ mean
    objective = np.linalg.slogdet(V)[1] + np.linalg.slogdet(A)[1] + r @ inverse @ r
    return objective, mean, np.linalg.inv(A)


def dense_moments(y, X, parts):
    """The equations of eq. L5: matrix and right-hand side."""
    P = np.eye(len(y)) - X @ np.linalg.pinv(X)
    left = [[np.trace(P @ a @ P @ b) for b in parts] for a in parts]
    return np.array(left), np.array([y @ P @ a @ P @ y for a in parts])
