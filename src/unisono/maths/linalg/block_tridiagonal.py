"""Symmetric positive definite block tridiagonal matrices: factor, solve, log determinant, draws, selected inverse.

The matrix has nb block rows of a few kinds: row i has the diagonal block A and the block B towards block i - 1 of
its kind, made when they are needed. Inside a run of equal kinds the factor tends to a fixed point; once two
neighbours agree to `fixed_tol`, the rest of the run shares the factor. Scattered kinds leave no runs, and the same loop
is then the plain algorithm.

    D_0 = A_0,  G_i = B_i D_{i-1}^-1,  D_i = A_i - G_i B_i',  D_i = U_i' U_i
Imports NumPy and SciPy alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, blas, lapack

FIXED_TOL = 1e-13  # relative change of the factor below which the rest of a run shares it


class Blocks(NamedTuple):
    row: Callable[[int], tuple[np.ndarray, np.ndarray]]  # kind -> A (B, B), lower triangle, and B (B, B)
    kind: np.ndarray  # (nb,) kind of each block row


class Factor(NamedTuple):
    U: list[np.ndarray]  # (B, B) each: upper triangular, D = U'U
    G: list[np.ndarray]  # (B, B) each: gains B_i D_{i-1}^-1; entry 0 stands for the first block's, which is zero
    of: np.ndarray  # (nb,) which U and G block i uses
    logdet: float  # log determinant of the whole matrix


class InverseBlocks(NamedTuple):
    """Blocks lo..hi of the inverse share their diagonal block Z and the block towards the previous one."""

    lo: int
    hi: int
    Z: np.ndarray  # (B, B) inverse, diagonal block
    left: np.ndarray  # (B, B) inverse, block towards the previous one


def factor(blocks: Blocks, *, fixed_tol: float = FIXED_TOL) -> Factor:
    """Block Cholesky from the first block to the last, with jumps over runs. `fixed_tol=0` never jumps."""  # eq. S6
    kind, nb = blocks.kind, len(blocks.kind)
    run_end = _run_ends(kind)
    A, B = blocks.row(int(kind[0]))
    U, G = [_cholesky(A)], [np.zeros_like(A)]
    of = np.zeros(nb, dtype=np.int64)
    i = 1
    while i < nb:
        if kind[i] != kind[i - 1]:
            A, B = blocks.row(int(kind[i]))
        u, g = _next(A, B, U[-1])
        settled = kind[i] == kind[i - 1] and np.abs(u - U[-1]).max() <= fixed_tol * np.abs(u).max()
        U.append(u)
        G.append(g)
        end = run_end[i] if settled and fixed_tol > 0 else i + 1
        of[i:end] = len(U) - 1
        i = end
    log_diagonal = np.array([2.0 * np.log(np.diagonal(u)).sum() for u in U])
    return Factor(U, G, of, float(np.bincount(of, minlength=len(U)) @ log_diagonal))


def solve(factor: Factor, h: np.ndarray) -> np.ndarray:
    """(nb, R, B) solution for the right-hand sides `h` (nb, R, B)."""  # eq. S7
    v = h.copy()
    for i in range(1, len(v)):
        v[i] -= v[i - 1] @ factor.G[factor.of[i]].T
    for lo, hi in _runs(factor.of):
        v[lo:hi] = _rows(v[lo:hi], partial(_solve_both, factor.U[factor.of[lo]]))
    return _back(factor, v)


def draw(factor: Factor, R: int, rng: np.random.Generator) -> np.ndarray:
    """(nb, R, B) R draws from the normal distribution with mean 0 whose precision was factored."""  # eq. S9
    v = rng.standard_normal((len(factor.of), R, len(factor.U[0])))
    for lo, hi in _runs(factor.of):
        v[lo:hi] = _rows(v[lo:hi], partial(_solve_upper, factor.U[factor.of[lo]]))
    return _back(factor, v)


def selected_inverse(factor: Factor, *, fixed_tol: float = FIXED_TOL) -> Iterator[InverseBlocks]:
    """The inverse on and beside the block diagonal, from the last block to the first, equal neighbours together."""
    of, i = factor.of, len(factor.of) - 1  # eq. S8
    Z, previous = _inverse(factor.U[of[i]]), None
    while i >= 0:
        left = -Z @ factor.G[of[i]]
        settled = (
            previous is not None
            and fixed_tol > 0
            and of[i] == of[i + 1]
            and np.abs(Z - previous).max() <= fixed_tol * np.abs(Z).max()
        )
        lo = i
        while settled and lo > 0 and of[lo - 1] == of[i]:
            lo -= 1
        yield InverseBlocks(lo, i, Z, left)
        if lo > 0:
            # Block lo - 1 may have another factor; block lo shares Z and left with block i.
            previous = Z
            Z = _inverse(factor.U[of[lo - 1]]) - factor.G[of[lo]].T @ left
            Z = 0.5 * (Z + Z.T)
        i = lo - 1


def _next(A: np.ndarray, B: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factor and gain of a block from its diagonal block, its left block and the factor before it."""
    C = lapack.dtrtrs(u, B.T, lower=0, trans=1)[0]  # U^-T B', so that C'C = B D^-1 B'
    G = lapack.dtrtrs(u, C, lower=0)[0].T
    # A C-ordered lower triangle is, seen by LAPACK, a Fortran-ordered upper one: no copy to transpose.
    return _upper_factor(blas.dsyrk(-1.0, C, beta=1.0, c=A.T, trans=1)), G


def _cholesky(A: np.ndarray) -> np.ndarray:
    return _upper_factor(A.T)


def _upper_factor(upper: np.ndarray) -> np.ndarray:
    """U of U'U, zeros below the diagonal, from the upper triangle."""
    u, info = lapack.dpotrf(upper, lower=0, clean=1)
    if info != 0:
        raise LinAlgError(f"block is not positive definite (leading minor {info} of {len(upper)})")
    return np.asarray(u)


def _inverse(u: np.ndarray) -> np.ndarray:
    upper = lapack.dpotri(u, lower=0)[0]  # the zeros below the diagonal of u stay
    full = upper + upper.T
    diagonal = np.arange(len(u))
    full[diagonal, diagonal] *= 0.5
    return np.asarray(full)


def _solve_both(u: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    return np.asarray(lapack.dpotrs(u, rhs, lower=0)[0])


def _solve_upper(u: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    return np.asarray(lapack.dtrtrs(u, rhs, lower=0)[0])


def _back(factor: Factor, v: np.ndarray) -> np.ndarray:
    for i in range(len(v) - 2, -1, -1):
        v[i] -= v[i + 1] @ factor.G[factor.of[i + 1]]
    return v


def _rows(v: np.ndarray, apply: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Applies a column-wise LAPACK solve to the rows of `v` (n, R, B)."""
    n, R, B = v.shape
    return np.asarray(apply(v.reshape(n * R, B).T)).T.reshape(n, R, B)


def _run_ends(kind: np.ndarray) -> np.ndarray:
    """(nb,) one past the last block of the run each block is in."""
    ends = np.append(np.flatnonzero(np.diff(kind)) + 1, len(kind))
    return ends[np.searchsorted(ends, np.arange(len(kind)), side="right")]


def _runs(index: np.ndarray) -> Iterator[tuple[int, int]]:
    edges = np.concatenate([[0], np.flatnonzero(np.diff(index)) + 1, [len(index)]])
    return zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
