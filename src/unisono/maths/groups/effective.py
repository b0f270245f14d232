"""What a panel is worth: the share of its members' errors that they have in common, and the votes that leaves."""

from __future__ import annotations

import numpy as np


def shared_share(S: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """(D,) rho: shared error over all error, for S (D, D) and the noise variances (K, D) of a group's members.

    eq. J19
    """
    own = noise.mean(axis=0)
    shared = np.diagonal(S)
    return np.asarray(shared / (shared + own))


def effective_number(members: int, rho: np.ndarray) -> np.ndarray:
    """(D,) how many independent annotators are worth as much as this panel: K / (1 + (K - 1) rho).    eq. J20"""
    return np.asarray(members / (1 + (members - 1) * rho))
