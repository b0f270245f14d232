"""What goes into the series model and what comes out: plain tuples of arrays, and the data by recording.

Letters: M recordings, K annotators, D dimensions, P features, W taps, T_m frames of recording m, J judgements.
    truth    a[t] = mu + theta' x[t] + e[t],   e[t] = phi e[t-1] + eps,   eps ~ N(0, sigma)        # eq. S1
    rating   y_k[t] = b_k + sum_w F_k[w] a[t-w] + eta_k[t],   eta_k[t] ~ N(0, N_k)                   # eq. S2
    with AR(1) noise  eta_kd[t] = rho_kd eta_kd[t-1] + N(0, N_k[d,d]), afresh after every gap        # eq. S3
Noise of different dimensions is independent.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

SeriesTransform = Literal["delay", "taps"]  # one gain and one delay per row, or every tap free
Start = Literal["preroll", "zero"]


class SeriesData(NamedTuple):
    y: np.ndarray  # (S, D) ratings of the judgements end to end, NaN where missing; S = sum over j of T_item_of[j]
    item_of: np.ndarray  # (J,) recording of each judgement
    annotator_of: np.ndarray  # (J,) annotator of each judgement
    length: np.ndarray  # (M,) frames per recording
    X: np.ndarray  # (sum T, P) features per frame, recordings end to end; P = 0 for none
    K: int  # number of annotators, with or without ratings

    @property
    def D(self) -> int:
        return int(self.y.shape[1])

    @property
    def P(self) -> int:
        return int(self.X.shape[1])


class SeriesParams(NamedTuple):
    F: np.ndarray  # (K, W, D, D) filters, lag 0 first; row = rated dimension, column = true dimension
    b: np.ndarray  # (K, D) biases
    N: np.ndarray  # (K, D, D) noise covariances; of the innovations where rho is not 0
    rho: np.ndarray  # (K, D) lag-1 autocorrelation of the noise
    lag: np.ndarray  # (K, D) delay in frames; what the filters hold when the transform is `delay`, else 0
    mu: np.ndarray  # (D,) level of the truth
    theta: np.ndarray  # (P, D) effect of the features
    sigma: np.ndarray  # (D, D) covariance of the truth's innovations
    phi: float  # lag-1 autocorrelation of the truth around its level


class Structure(NamedTuple):
    W: int = 1
    transform: SeriesTransform = "taps"
    bias: bool = True
    isotropic: bool = False  # one variance of the truth, and one of each annotator's noise, for all dimensions
    autocorrelated: bool = False  # AR(1) noise, whose annotators are all held
    level: bool = True  # mu is estimated; else it stays where it is
    start: Start = "preroll"  # before the first frame: the truth goes on into the past, or it is zero (the paper)
    fixed: tuple[int, ...] = ()  # annotators whose filter, bias and noise are known (gold)

    @property
    def taps(self) -> int:
        """Taps of the whitened filters: AR(1) noise needs the filter of y[t] - rho y[t-1], one tap more."""
        return self.W + self.autocorrelated


class Priors(NamedTuple):
    """Gaussian on filters and biases (sd inf: none), scaled inverse chi-square on noise, floors, all named.

    `kappa` is the effective number of independent frames over the number of frames: prior precisions are divided by it,
    which gives the same maximum as multiplying every rating's weight by it. The objective is log p(y) + log prior /
    kappa.
    """

    filter_sd: float = np.inf  # of every tap, around 0
    bias_sd: float = np.inf  # around 0
    noise_nu: float = 0.0  # weight of the pool in frames (after kappa)
    noise_scale: np.ndarray | None = None  # (D,) variance the noise is shrunk to; None: this step's pooled residual
    theta_precision: float = 0.0  # ridge on theta, in units of sigma^-1
    kappa: float = 1.0
    noise_floor: float = 0.0  # least noise variance
    sigma_floor: float = 0.0  # least eigenvalue of sigma


def lag_kernel(lag: float, W: int) -> np.ndarray:
    """(W,) unit impulse at a lag; between two frames it is split in proportion."""
    return np.asarray(np.maximum(1.0 - np.abs(np.arange(W) - lag), 0.0))


def identity_params(
    data: SeriesData, structure: Structure, *, noise: float = 1.0, phi: float = 0.0, lag: np.ndarray | None = None
) -> SeriesParams:
    """Everybody sees the truth as it is, some with a delay, with noise variance `noise`; sigma is the identity.

    lag: (K, D) delays in frames; None: no delay.
    """
    K, D, W = data.K, data.D, structure.W
    lag = np.zeros((K, D)) if lag is None else np.asarray(lag, dtype=float)
    F = np.zeros((K, W, D, D))
    for k in range(K):
        for d in range(D):
            F[k, :, d, d] = lag_kernel(lag[k, d], W)
    return SeriesParams(
        F=F,
        b=np.zeros((K, D)),
        N=np.tile(noise * np.eye(D), (K, 1, 1)),
        rho=np.zeros((K, D)),
        lag=lag,
        mu=np.zeros(D),
        theta=np.zeros((data.P, D)),
        sigma=np.eye(D),
        phi=phi,
    )


def recordings_of(data: SeriesData) -> list[np.ndarray]:
    """(K, T_m, D) ratings of each recording, NaN where missing."""
    offset = np.concatenate([[0], np.cumsum(data.length[data.item_of])])
    out = [np.full((data.K, int(T), data.D), np.nan) for T in data.length]
    for j, (m, k) in enumerate(zip(data.item_of.tolist(), data.annotator_of.tolist(), strict=True)):
        out[m][k] = data.y[offset[j] : offset[j + 1]]
    return out


def recordings_with(data: SeriesData, frames: np.ndarray) -> np.ndarray:
    """(M,) bool, recordings with a frame where `frames` (sum T,) is true."""
    return np.asarray(np.logical_or.reduceat(frames, np.cumsum(data.length) - data.length))


def with_recordings(data: SeriesData, held: np.ndarray) -> SeriesData:
    """Some of the recordings. held: (M,) bool."""
    place, keep = np.cumsum(held) - 1, held[data.item_of]
    return data._replace(
        y=data.y[np.repeat(keep, data.length[data.item_of])],
        item_of=place[data.item_of[keep]],
        annotator_of=data.annotator_of[keep],
        length=data.length[held],
        X=data.X[np.repeat(held, data.length)],
    )


def connected(data: SeriesData) -> np.ndarray:
    """(K,) which group of annotators each belongs to; groups share no recording, so nothing relates their delays."""
    M = len(data.length)
    ties = coo_array((np.ones(len(data.item_of)), (data.item_of, M + data.annotator_of)), shape=(M + data.K,) * 2)
    return np.asarray(connected_components(ties.tocsr(), directed=False)[1][M:])


def truth_frames(data: SeriesData, lag: np.ndarray) -> np.ndarray:
    """(S, D) the frame of the truth, recordings end to end, that each rating is about; -1 where outside."""
    length = data.length[data.item_of]
    begin = (np.cumsum(data.length) - data.length)[data.item_of]
    frame = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
    at = frame[:, None] - np.round(np.repeat(lag[data.annotator_of], length, axis=0)).astype(np.int64)
    return np.where((at >= 0) & (at < np.repeat(length, length)[:, None]), at + np.repeat(begin, length)[:, None], -1)


def nearest_rated(precision: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(sum T, D) the nearest frame of the recording that was rated, and how far it is; the frame itself where none was.

    precision: (sum T, D), 0 where nobody spoke of a frame.
    """
    frame = np.arange(len(precision))
    near = np.tile(frame[:, None], (1, precision.shape[1]))
    end = np.cumsum(length)
    for lo, hi in zip((end - length).tolist(), end.tolist(), strict=True):
        for d in range(precision.shape[1]):
            rated = lo + np.flatnonzero(precision[lo:hi, d] > 0)
            if 0 < len(rated) < hi - lo:
                after = np.minimum(np.searchsorted(rated, frame[lo:hi]), len(rated) - 1)
                before = np.maximum(after - 1, 0)
                earlier = frame[lo:hi] - rated[before] < rated[after] - frame[lo:hi]
                later = rated[after] < frame[lo:hi]  # beyond the last
                near[lo:hi, d] = rated[np.where(earlier & ~later, before, after)]
    return near, np.abs(near - frame[:, None])


def frame_precision(
    data: SeriesData, seen: np.ndarray, at: np.ndarray, gain: np.ndarray, noise: np.ndarray
) -> np.ndarray:
    """(sum T, D) Q, what all annotators together say of each frame."""
    weight = np.repeat((gain**2 / noise)[data.annotator_of], data.length[data.item_of], axis=0)
    total, use = int(data.length.sum()), seen & (at >= 0)
    columns = range(data.D)
    return np.stack([np.bincount(at[use[:, d], d], weight[use[:, d], d], minlength=total) for d in columns], axis=1)


def trace_levels(y: np.ndarray, judgement: np.ndarray, count: np.ndarray) -> np.ndarray:
    """(J, D) mean of each trace, NaN where nothing is rated. y: (S, D)."""
    total = np.stack([np.bincount(judgement, v, minlength=len(count)) for v in np.nan_to_num(y).T], axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
