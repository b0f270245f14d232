"""Parameters of the model of groups.

    truth     a_m  = mu + theta' z_m + e,       e ~ N(0, Sigma)                                          eq. J1
    view      c_gm = A_g a_m + t_g + u_gm,      u ~ N(0, S_g);  the reference sees c_0m = a_m            eq. J2
    rating    y_nd = f_kd c_gmd + beta_kd' x_n + eta,  eta ~ N(0, r_k s_gd)                              eq. J3

A_g holds the gain and the leakage that a group has in common, t_g its leniency, S_g the errors its members share: with
many members their mean comes to A a + t + u and no further. beta_kd = [bias, effects of the rating's covariates].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LOG_2PI = float(np.log(2 * np.pi))


class Rows(NamedTuple):
    """What annotators make of their group's view: [f_kd, beta_kd], independent normals over k and d."""

    mean: np.ndarray  # (K, D, 1 + X)
    cov: np.ndarray  # (K, D, 1 + X, 1 + X)


class GroupParams(NamedTuple):
    """One point in parameter space, with the posterior of the annotators' rows."""

    mu: np.ndarray  # (D,)
    theta: np.ndarray  # (R, D)
    Sigma: np.ndarray  # (D, D)
    A: np.ndarray  # (G, D, D)
    t: np.ndarray  # (G, D)
    S: np.ndarray  # (G, D, D)
    rows: Rows
    r: np.ndarray  # (K,) noise of each annotator, relative to the group
    s: np.ndarray  # (G, D) noise variances of a group's typical annotator

    @property
    def B(self) -> np.ndarray:
        """(G, D, D + 1) the maps [A_g, t_g]."""
        return np.concatenate([self.A, self.t[:, :, None]], axis=2)

    def noise(self, group: np.ndarray) -> np.ndarray:
        """(K, D) noise variances of all annotators."""
        return np.asarray(self.r[:, None] * self.s[group])


class Hyper(NamedTuple):
    """How annotators of a group differ, the group's mean of each coefficient, and how sure the predictor is."""

    precision: np.ndarray  # (G, 1 + X) of gain, bias and the effects of covariates
    center: np.ndarray  # (G, D, 1 + X) gain 1, bias 0, effects of covariates as estimated
    ridge: float  # precision of theta, relative to Sigma
    theta_var: np.ndarray  # (R,) variances of theta's rows relative to Sigma


def row_seconds(rows: Rows) -> np.ndarray:
    """(K, D, 1 + X, 1 + X) E[row row']."""
    return np.asarray(rows.mean[..., :, None] * rows.mean[..., None, :] + rows.cov)


def shared_root(S: np.ndarray) -> np.ndarray:
    """(D, D) a root L with L L' = S, also of a singular S."""
    values, vectors = np.linalg.eigh(S)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
