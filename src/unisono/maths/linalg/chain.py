"""Symmetric positive definite matrices that are tridiagonal in very small blocks, one per frame: a Markov chain's.

LAPACK's banded Cholesky runs over all frames at once, whatever the blocks are: nothing has to be equal, and gaps cost
nothing. Run from either end it leaves the Schur complements that the inverse is made of.

    forward   P_u = A_u - B_u P_{u-1}^-1 B_u'              all earlier frames eliminated
    backward  Q_u = A_u - B_{u+1}' Q_{u+1}^-1 B_{u+1}      all later frames eliminated
    inverse   V_u = (P_u + Q_u - A_u)^-1,   V_{u,u-l} = -Q_u^-1 B_u V_{u-1,u-l}
Imports NumPy, SciPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, lapack

from unisono.maths.linalg.small_spd import inverse_and_logdet


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
