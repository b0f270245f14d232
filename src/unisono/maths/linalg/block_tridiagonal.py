"""Symmetric positive definite block tridiagonal matrices: factor, solve, log determinant, draws, selected inverse.

Two forms. `factor` takes large blocks: nb block rows of a few kinds, row i with the diagonal block A and the block B
towards block i - 1 of its kind, made when they are needed. Inside a run of equal kinds the factor tends to a fixed
point; once two neighbours agree to `fixed_tol`, the rest of the run shares the factor. Scattered kinds leave no runs,
and the same loop is then the plain algorithm.

    D_0 = A_0,  G_i = B_i D_{i-1}^-1,  D_i = A_i - G_i B_i',  D_i = U_i' U_i

`factor_chain` takes very small blocks, one per frame: the precision of a Markov chain. LAPACK's banded Cholesky runs
over all frames at once, whatever the blocks are; gaps cost nothing. Run from either end it leaves the Schur complements
that the inverse is made of.

    forward   P_u = A_u - B_u P_{u-1}^-1 B_u'              all earlier frames eliminated
    backward  Q_u = A_u - B_{u+1}' Q_{u+1}^-1 B_{u+1}      all later frames eliminated
    inverse   V_u = (P_u + Q_u - A_u)^-1,   V_{u,u-l} = -Q_u^-1 B_u V_{u-1,u-l}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, blas, lapack

from unisono.maths.linalg.small_spd import inverse_and_logdet

FIXED_TOL = 1e-13  # numerical: relative change of the factor below which the rest of a run shares it


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


class Chain(NamedTuple):
    A: np.ndarray  # (L, D, D) diagonal blocks
    B: np.ndarray  # (L, D, D) blocks towards the previous frame; entry 0 stands for nothing
    root: np.ndarray  # (2 D, L D) lower banded Cholesky factor as LAPACK keeps it

    @property
    def logdet(self) -> float:
        return float(2.0 * np.log(self.root[0]).sum())


def factor_chain(A: np.ndarray, B: np.ndarray) -> Chain:
    """Cholesky factor from the first frame to the last. A, B: (L, D, D)."""  # eq. S31
    return Chain(A, B, _factored(A, B))


def solve_chain(chain: Chain, h: np.ndarray) -> np.ndarray:
    """(R, L, D) solution for the right-hand sides `h` (R, L, D)."""
    R = len(h)
    return np.asarray(lapack.dpbtrs(chain.root, h.reshape(R, -1).T, lower=1)[0]).T.reshape(h.shape)


def draw_chain(chain: Chain, R: int, rng: np.random.Generator) -> np.ndarray:
    """(R, L, D) draws from the normal distribution with mean 0 whose precision was factored."""  # eq. S9
    z = rng.standard_normal((R, chain.root.shape[1]))
    return np.asarray(lapack.dtbtrs(chain.root, z.T, uplo="L", trans="T")[0]).T.reshape(R, *chain.A.shape[:2])


def chain_covariances(chain: Chain, lags: int) -> np.ndarray:
    """(L, lags, D, D) blocks u, u-l of the inverse, l = 0..lags-1; zero before the first frame."""  # eq. S32
    A, B = chain.A, chain.B
    backward = _mirrored(_complements(_factored(_mirrored(A), _mirrored(_towards_next(B))), A.shape[2]))
    out = np.zeros((len(A), lags, *A.shape[1:]))
    out[:, 0] = inverse_and_logdet(_complements(chain.root, A.shape[2]) + backward - A)[0]
    if lags > 1:
        step = -inverse_and_logdet(backward)[0] @ B
        for lag in range(1, lags):
            out[1:, lag] = step[1:] @ out[:-1, lag - 1]
    return out


def _factored(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    L, D, _ = A.shape
    band = np.zeros((L, D, 2 * D))  # entry [u, e, r] is r below the diagonal in column (u, e)
    for e in range(D):
        band[:, e, : D - e] = A[:, e:, e]
        band[:-1, e, D - e : 2 * D - e] = B[1:, :, e]
    root, info = lapack.dpbtrf(band.reshape(L * D, 2 * D).T, lower=1, overwrite_ab=1)
    if info != 0:
        raise LinAlgError(f"precision of the truth is not positive definite at frame {(info - 1) // D} of {L}")
    return np.asarray(root)


def _complements(root: np.ndarray, D: int) -> np.ndarray:
    """(L, D, D) what is left of every diagonal block when all blocks before it are eliminated."""
    band = root.T.reshape(-1, D, 2 * D)
    lower = np.zeros((len(band), D, D))
    for e in range(D):
        lower[:, e:, e] = band[:, e, : D - e]
    return lower @ np.swapaxes(lower, 1, 2)


def _mirrored(blocks: np.ndarray) -> np.ndarray:
    """The same with the order of all rows and columns turned round."""
    return blocks[::-1, ::-1, ::-1]


def _towards_next(B: np.ndarray) -> np.ndarray:
    """Blocks towards the next frame, so placed that mirroring makes them blocks towards the previous one."""
    return np.roll(np.swapaxes(B, 1, 2), -1, axis=0)
