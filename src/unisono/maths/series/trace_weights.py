"""What each trace counts for: nobody is as careful in every recording.

Errors of a trace have Student's t: noise s2_k / w, w ~ Gamma(nu / 2, nu / 2), for the course and for the level of every
trace. Of courses, by EM over condensed frames of the truth that stand alone, as where gains are found; leakage counts
as noise. With n frames that count for kappa each, and their expected squares,
    E w = (nu + kappa n) / (nu + kappa sum E (y - g x)^2 / s2).
The degrees of freedom nu are the posterior mean of their logarithm over octaves, the evidence being the bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from unisono.maths.series import trace_priors
from unisono.maths.series.trace_data import SeriesData, SeriesParams
from unisono.maths.series.trace_frames import Hands, Stratum, aligned, strata_of
from unisono.maths.series.trace_parts import Part, Parts, courses_of

STEPS, SETTLED = 200, 1e-9  # numerical: of EM at most; change of the logarithm of a weight that is none
OCTAVES = 2.0 ** np.arange(1, 9)  # degrees of freedom that are tried; the last are as good as normal errors


class _Said(NamedTuple):
    """Traces of all dimensions, n of them, and S strata of frames; what nobody fills has n for `who`."""

    who: np.ndarray  # (S, most)
    products: np.ndarray  # (S, most, most) sums over frames
    frames: np.ndarray  # (S, 1)
    gain: np.ndarray  # (n,)
    noise: np.ndarray  # (n,)
    A: np.ndarray  # (n,) variance of the truth
    kappa: np.ndarray  # (n,)
    recording: np.ndarray  # (n,) numbered anew on every dimension


def trace_weights(data: SeriesData, params: SeriesParams, kappa: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """(J, D) what the course of each trace counts for, over what is usual of its annotator.

    kappa: (D,) what a frame counts for. freedom: (D,) degrees of freedom.
    """  # eq. S68
    J = len(data.item_of)
    weight, _ = _settled(_said(data, params, kappa), np.repeat(freedom, J))
    return np.asarray(weight.reshape(data.D, J).T)


def trace_freedom(parts: Parts, params: SeriesParams, kappa: np.ndarray) -> np.ndarray:
    """(D,) degrees of freedom of the errors of traces."""
    bound = np.sum(parts.map(part_bounds, params, kappa), axis=0)
    log = bound - 0.5 * (np.log(OCTAVES / trace_priors.TRACE_FREEDOM) / trace_priors.FREEDOM_SD) ** 2
    share = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(np.exp(share @ np.log(OCTAVES) / share.sum(axis=1)))


def part_bounds(part: Part, params: SeriesParams, kappa: np.ndarray) -> np.ndarray:
    """(D, n) bound of the traces of some recordings, for all degrees of freedom that are tried."""
    said, D = _said(part.data, params, kappa), part.data.D
    bounds = [_settled(said, np.full(len(said.gain), nu))[1] for nu in OCTAVES.tolist()]
    return np.asarray(np.array(bounds).reshape(len(OCTAVES), D, -1).sum(axis=2).T)


def expected_precision(count: np.ndarray, square: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """Expected precisions, over the usual one, of so many errors with this sum of squares, over the usual variance."""
    return np.asarray((freedom + count) / (freedom + square))


def _said(data: SeriesData, params: SeriesParams, kappa: np.ndarray) -> _Said:
    k, J, D, M = data.annotator_of, len(data.item_of), data.D, len(data.length)
    gain = np.diagonal(params.F.sum(axis=1), axis1=1, axis2=2)[k]
    noise, lag = np.diagonal(params.N, axis1=1, axis2=2)[k], np.round(params.lag).astype(np.int64)[k]
    A = np.diagonal(params.sigma) / (1.0 - params.phi**2)
    end, strata = np.cumsum(data.length[data.item_of]), list[Stratum]()
    for m, T in enumerate(data.length.tolist()):
        own = np.flatnonzero(data.item_of == m)
        y = np.stack([data.y[end[j] - T : end[j]] for j in own]) if len(own) > 1 else np.zeros((0, T, D))
        for d in range(D) if len(y) else ():
            hands = Hands(1.0, gain[:, d] == 0.0, lag[:, d], gain[:, d], noise[:, d], float(A[d]))
            courses = aligned(courses_of(own, y[:, :, d]), hands)
            if len(courses.who) > 1:  # who is alone differs from nobody
                strata += [one._replace(who=one.who + d * J) for one in strata_of(courses)]
    size = max((len(one.who) for one in strata), default=0)
    who, products = np.full((len(strata), size), D * J), np.zeros((len(strata), size, size))
    for i, one in enumerate(strata):
        n = len(one.who)
        who[i, :n], products[i, :n, :n] = one.who, one.rows.T @ one.rows
    frames = np.array([one.frames for one in strata], dtype=float).reshape(-1, 1)
    recording = np.concatenate([data.item_of + d * M for d in range(D)])
    return _Said(
        who, products, frames, gain.T.ravel(), noise.T.ravel(), np.repeat(A, J), np.repeat(kappa, J), recording
    )


def _settled(said: _Said, nu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n,) weights, 1 of who says nothing, in every recording until it has settled; (n,) parts of the bound, up to a
    constant. nu: (n,)."""
    n, who, here = len(said.gain), said.who, said.who < len(said.gain)
    columns = zip((said.gain, said.noise, said.A, said.kappa), (0.0, 1.0, 1.0, 0.0), strict=True)
    g, s2, A, kappa = (np.append(v, nobody)[who] for v, nobody in columns)
    own, count = np.diagonal(said.products, axis1=1, axis2=2), np.bincount(who[here], (kappa * said.frames)[here], n)
    weight, open_, bound = np.ones(n + 1), count > 0, np.zeros(n)
    for _ in range(STEPS if open_.any() else 0):
        l = weight[who] * g / s2
        V = 1.0 / (1.0 / A[:, :1] + np.sum(l * g, axis=1, keepdims=True))
        x = V * np.einsum("sij,sj->si", said.products, l)  # sums of products of the truth and what each says
        xx = V * np.sum(x * l, axis=1, keepdims=True) + said.frames * V  # expected squares of the truth
        square = np.bincount(who[here], (kappa * (own - 2.0 * g * x + g**2 * xx) / s2)[here], n)
        new = np.where(open_, expected_precision(count, square, nu), weight[:-1])
        moved = np.abs(np.log(new / weight[:-1])) > SETTLED
        weight[:-1] = new
        open_ &= np.bincount(said.recording, moved, said.recording.max() + 1)[said.recording] > 0
        if not open_.any():
            break
    if count.any():
        a, b = 0.5 * (nu + count), 0.5 * (nu + square)
        known = 0.5 * nu * np.log(0.5 * nu) - gammaln(0.5 * nu) + gammaln(a) - a * np.log(b)
        of_truth = 0.5 * kappa[:, 0] * (said.frames * (1.0 + np.log(V / A[:, :1])) - xx / A[:, :1])[:, 0]
        bound = np.where(count > 0, known, 0.0) + np.bincount(who[:, 0], of_truth, n)
    return weight[:-1], bound
