"""Inverses and log determinants of very many very small positive definite matrices at once.

LAPACK's cost per call dwarfs the arithmetic of a 3 x 3 matrix. Here the loops run over rows and columns, and every
operation is over all matrices together; entries of one place lie next to each other.
"""

from __future__ import annotations

import numpy as np

LARGEST = 8  # numerical: from here on LAPACK wins
FEW = 200  # numerical: and with fewer matrices, if they come one by one


def inverse_and_logdet(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverses (m, D, D) and log determinants (m,) of positive definite matrices A (m, D, D)."""
    D = A.shape[1]
    if D > LARGEST or len(A) < FEW:
        root = np.linalg.cholesky(A)
        return np.linalg.inv(A), 2 * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
    L = _cholesky(np.ascontiguousarray(A.transpose(1, 2, 0)))
    return _inverse_from(L), _logdet(L)


def logdets(A: np.ndarray) -> np.ndarray:
    """Log determinants (m,) of positive definite matrices A (m, D, D)."""
    if A.shape[1] > LARGEST or len(A) < FEW:
        return np.asarray(np.linalg.slogdet(A)[1])
    return _logdet(_cholesky(np.ascontiguousarray(A.transpose(1, 2, 0))))


def inverse_of_entries(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of matrices A (D, D, m) whose entries of one place lie next to each other; so do the inverses'."""
    if len(A) > LARGEST:
        V, logdet = inverse_and_logdet(A.transpose(2, 0, 1))
        return np.ascontiguousarray(V.transpose(1, 2, 0)), logdet
    L = _cholesky(A)
    V = np.empty_like(A)
    _fill_inverse(L, V)
    return V, _logdet(L)


def solution_of_entries(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x (D, m) with A x = b, for positive definite A (D, D, m) and b (D, m)."""
    D = len(A)
    if D > LARGEST:
        return np.ascontiguousarray(np.linalg.solve(A.transpose(2, 0, 1), b.T[:, :, None])[:, :, 0].T)
    L, x = _cholesky(A), b.copy()
    for i in range(D):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] *= L[i, i]
    for i in reversed(range(D)):
        for k in range(i + 1, D):
            x[i] -= L[k, i] * x[k]
        x[i] *= L[i, i]
    return x


def solution_without_pivots(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """X (D, R, m) with A X = B, for A (D, D, m) whose rows are positive definite matrices' times factors."""
    D = len(A)
    if D > LARGEST:
        return np.linalg.solve(A.transpose(2, 0, 1), B.transpose(2, 0, 1)).transpose(1, 2, 0)
    A, X = np.array(A, order="C"), np.array(B, order="C")
    for j in range(D):
        for i in range(j + 1, D):
            factor = A[i, j] / A[j, j]
            A[i, j + 1 :] -= factor * A[j, j + 1 :]
            X[i] -= factor * X[j]
    for i in reversed(range(D)):
        for k in range(i + 1, D):
            X[i] -= A[i, k] * X[k]
        X[i] /= A[i, i]
    return X


def _cholesky(A: np.ndarray) -> np.ndarray:
    """L (D, D, m), its lower triangle alone, with the reciprocals of its diagonal in place of the diagonal."""
    D, L = len(A), A.copy()
    for j in range(D):
        for i in range(j, D):
            for k in range(j):
                L[i, j] -= L[i, k] * L[j, k]
        if not (L[j, j] > 0).all():
            raise np.linalg.LinAlgError("matrix is not positive definite")
        L[j, j] = 1 / np.sqrt(L[j, j])
        for i in range(j + 1, D):
            L[i, j] *= L[j, j]
    return L


def _logdet(L: np.ndarray) -> np.ndarray:
    """(m,) log determinants, for L as `_cholesky` leaves it."""
    return np.asarray(-2 * sum(np.log(L[j, j]) for j in range(len(L))))


def _inverse_from(L: np.ndarray) -> np.ndarray:
    """(m, D, D) the inverse of L L', for L as `_cholesky` leaves it."""
    D, _, m = L.shape
    V = np.empty((m, D, D))
    _fill_inverse(L, V.transpose(1, 2, 0))
    return V


def _fill_inverse(L: np.ndarray, V: np.ndarray) -> None:
    """Writes the inverse of L L' to V (D, D, m), in place."""
    D, _, m = L.shape
    X = np.zeros((D, D, m))  # L^-1, column by column
    for j in range(D):
        X[j, j] = L[j, j]
        for i in range(j + 1, D):
            X[i, j] = -np.einsum("km,km->m", L[i, j:i], X[j:i, j]) * L[i, i]
    for i in range(D):
        for j in range(i, D):
            V[i, j] = V[j, i] = np.einsum("km,km->m", X[j:, i], X[j:, j])
