"""Channels: the ratings of one annotator that are missing together, whitened, so that one algebra serves every noise.

A channel is (annotator, dimensions, role). Noise without correlation between dimensions has one channel per dimension.
Full noise has one channel per set of dimensions that somebody gave together. AR(1) noise splits a dimension into the
frames with a predecessor (role FOLLOWING, rated y[t] - rho y[t-1]) and the first frames of runs (role FIRST).

Raw rows are numbers as rated: one per channel and dimension, and a second one, the predecessor, for FOLLOWING.
Rows are what the E-step sees: one per channel and dimension; `mix` takes raw rows to rows.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series.params import SeriesData, SeriesParams, Structure

WHITE, FOLLOWING, FIRST = 0, 1, 2


class Channel(NamedTuple):
    annotator: int
    dims: tuple[int, ...]
    role: int


class Channels(NamedTuple):
    channel: tuple[Channel, ...]  # C of them
    row_channel: np.ndarray  # (Q,) channel of each row
    row_dim: np.ndarray  # (Q,) rated dimension of each row
    raw_channel: np.ndarray  # (H,) channel of each raw row
    raw_dim: np.ndarray  # (H,)
    raw_back: np.ndarray  # (H,) 1 where the raw row is the predecessor, else 0


class Whitened(NamedTuple):
    """The parameters as the E-step sees them."""

    G: np.ndarray  # (Q, n, D) filters of the rows, n = structure.taps
    beta: np.ndarray  # (Q,) biases of the rows
    weight: np.ndarray  # (Q, Q) inverse noise covariance, zero between channels
    mix: np.ndarray  # (H, Q) raw rows to rows
    log_noise: np.ndarray  # (C,) log determinant of each channel's noise covariance


def find_channels(data: SeriesData, structure: Structure) -> Channels:
    """The channels that occur in the data, by annotator, dimensions, role."""
    offset = np.concatenate([[0], np.cumsum(data.length[data.item_of])])
    found: set[Channel] = set()
    for j, k in enumerate(data.annotator_of.tolist()):
        found |= set(split(~np.isnan(data.y[offset[j] : offset[j + 1]]), k, structure))
    return index_channels(sorted(found))


def split(seen: np.ndarray, annotator: int, structure: Structure) -> dict[Channel, np.ndarray]:
    """Channels of one judgement and the frames (T,) bool of each. seen: (T, D) bool."""
    D = seen.shape[1]
    frames: dict[Channel, np.ndarray] = {}
    if structure.noise == "full":
        patterns, which = np.unique(seen, axis=0, return_inverse=True)
        for i, pattern in enumerate(patterns):
            dims = tuple(np.flatnonzero(pattern).tolist())
            frames[Channel(annotator, dims, WHITE)] = which.ravel() == i
    elif structure.autocorrelation == "none":
        frames = {Channel(annotator, (d,), WHITE): seen[:, d] for d in range(D)}
    else:
        follows = seen & np.concatenate([np.zeros((1, D), dtype=bool), seen[:-1]])
        for d in range(D):
            frames[Channel(annotator, (d,), FOLLOWING)] = follows[:, d]
            frames[Channel(annotator, (d,), FIRST)] = seen[:, d] & ~follows[:, d]
    return {channel: mask for channel, mask in frames.items() if channel.dims and mask.any()}


def index_channels(channel: list[Channel]) -> Channels:
    rows = [(c, d) for c, q in enumerate(channel) for d in q.dims]
    raws = [(c, d, back) for c, q in enumerate(channel) for d in q.dims for back in range(1 + (q.role == FOLLOWING))]
    row = np.array(rows, dtype=np.int64).reshape(-1, 2)
    raw = np.array(raws, dtype=np.int64).reshape(-1, 3)
    return Channels(tuple(channel), row[:, 0], row[:, 1], raw[:, 0], raw[:, 1], raw[:, 2])


def whiten(channels: Channels, params: SeriesParams, structure: Structure) -> Whitened:
    """Filters, biases and weights of the rows."""  # eq. S3
    Q, n, D = len(channels.row_channel), structure.taps, params.F.shape[3]
    G, beta = np.zeros((Q, n, D)), np.zeros(Q)
    weight, mix = np.zeros((Q, Q)), np.zeros((len(channels.raw_channel), Q))
    log_noise = np.zeros(len(channels.channel))
    for c, (k, dims, role) in enumerate(channels.channel):
        rows = np.flatnonzero(channels.row_channel == c)
        rho = params.rho[k, dims[0]] if role != WHITE else 0.0
        back = rho if role == FOLLOWING else 0.0
        G[rows, : structure.W] = np.moveaxis(params.F[k][:, dims, :], 0, 1)
        if role == FOLLOWING:
            G[rows, 1:] -= back * params.F[k][None, :, dims[0], :]
        beta[rows] = (1.0 - back) * params.b[k, list(dims)]
        covariance = params.N[k][np.ix_(dims, dims)] / (1.0 - rho**2 if role == FIRST else 1.0)
        weight[np.ix_(rows, rows)] = np.linalg.inv(covariance)
        log_noise[c] = np.linalg.slogdet(covariance)[1]
        raws = np.flatnonzero(channels.raw_channel == c)
        mix[raws, rows if role != FOLLOWING else rows[0]] = np.where(channels.raw_back[raws] == 1, -back, 1.0)
    return Whitened(G, beta, weight, mix, log_noise)
