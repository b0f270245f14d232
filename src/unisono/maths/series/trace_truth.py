"""The fused truth of annotators whose gains, noise, levels and delays are known, of any recordings they rated.

The course comes from the exact smoother of the chain, all dimensions together, and is then shrunk as if every frame
stood alone, as far as errors outlast the smoother: neighbouring frames then make an estimate smoother and no surer. The
level of a recording is a weighted mean of levels. The band adds what is unknown of the annotators.

Design: what one more annotator would tell of a stretch, and the error to expect of so many annotators. Annotator k adds
q_k = g^2/s2 to the precision of every frame of the course, and g^2/n to that of the level of a recording. A stretch
with precision Q has the variance                                                                        eq. S46
    V(Q) = c [lambda (A^-1 + Q)^-1 + (1 - lambda) sigma / sqrt((1 + phi^2 + sigma Q)^2 - 4 phi^2)],
    sigma = (1 - phi^2) A, c the widening of left_out_traces,
the first term for errors that outlast the smoother, the second that of a long chain with errors new in every frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unisono.maths.series import trace_data, trace_layout, trace_parts
from unisono.maths.series.error_bands import Spread, no_spread, shift_variance
from unisono.maths.series.trace_data import SeriesData, SeriesParams, Structure
from unisono.maths.series.trace_estep import Truth, draw_truth, infer, posterior_mean
from unisono.maths.series.trace_weights import SETTLED, STEPS, expected_precision, trace_weights

ROUNDS = 3  # numerical: between levels and course, where traces have gaps


class Levels(NamedTuple):
    """What annotators do to the level of a recording, in the units of the ratings."""

    gain: np.ndarray  # (K, D)
    leak: np.ndarray  # (K, D, D) of the levels of other dimensions, 0 for the own
    noise: np.ndarray  # (K, D) variance
    bias: np.ndarray  # (K, D) where the level of an annotator lies when that of the truth is `mu`
    bias_variance: np.ndarray  # (K, D) of what is known of it
    prior: np.ndarray  # (D, D) covariance of the levels of recordings
    lasting: np.ndarray  # (D,) share of the errors of the courses that outlasts the smoother
    widening: np.ndarray  # (D,) error variance of courses over that of the model, see left_out_traces.py
    kappa: np.ndarray  # (D,) what a frame counts for as evidence on the noise of its trace; 0: all traces are as usual
    freedom: np.ndarray  # (D,) degrees of freedom of the errors of traces


def rescaled_levels(levels: Levels, factor: np.ndarray) -> Levels:
    """Levels of a truth that is `factor` (D,) times as large."""
    return levels._replace(
        gain=levels.gain / factor, leak=levels.leak / factor, prior=levels.prior * factor[:, None] * factor
    )


class TwoScaleTruth(NamedTuple):
    mean: np.ndarray  # (sum T, D)
    cov: np.ndarray  # (sum T, D, D) of the band
    inside: np.ndarray  # (sum T, D) variance of the course alone, without the level and what defines the scale
    course: np.ndarray  # (sum T, D) what varies inside recordings
    level: np.ndarray  # (J, D) of every trace, gaps allowed for; NaN where nothing is rated
    loglik: float  # log p(courses) + log p(levels)


def two_scale_truth(
    data: SeriesData, params: SeriesParams, structure: Structure, levels: Levels, spread: Spread
) -> TwoScaleTruth:
    """params: of the courses; `mu` is the centre of the levels. spread: what is unknown of the average annotator."""
    # eq. S43
    data, params, levels = _trace_by_trace(data, params, levels)
    D, frames = data.D, _frames(data, params, levels)
    level, course, found = _smoothed(data, params, structure, frames, infer)
    levels = _with_level_noise(data, level, levels)
    L, VL, loglik = level_posterior(data, level, levels)
    recording = np.repeat(np.arange(len(data.length)), data.length)
    away = L[recording] + course
    mean = params.mu + away
    alone = np.linalg.inv(np.linalg.inv(frames.A) + frames.held[:, :, None] * np.eye(D))
    d, last, wide = np.arange(D), np.sqrt(levels.lasting), np.sqrt(levels.widening)
    inside = wide[:, None] * wide * (alone + (found.cov - alone) * (1.0 - last[:, None] * last))
    inside[:, d, d] += (1.0 - params.phi ** (2 * frames.far)) * (np.diagonal(frames.A) - alone[:, d, d])
    cov = inside + (VL + bias_doubt(data, level, levels, VL))[recording]
    cov[:, d, d] += spread.gain * away**2 + spread.bias + shift_variance(mean, data.length, np.sqrt(spread.lag))
    return TwoScaleTruth(mean, cov, inside[:, d, d], course, level, found.loglik + loglik)


def two_scale_mean(data: SeriesData, params: SeriesParams, structure: Structure, levels: Levels) -> np.ndarray:
    """(sum T, D) the means of `two_scale_truth` alone."""
    data, params, levels = _trace_by_trace(data, params, levels)
    level, course, _ = _smoothed(data, params, structure, _frames(data, params, levels), _means)
    L, _, _ = level_posterior(data, level, _with_level_noise(data, level, levels))
    return np.asarray(params.mu + np.repeat(L, data.length, axis=0) + course)


def _trace_by_trace(data: SeriesData, params: SeriesParams, levels: Levels) -> tuple[SeriesData, SeriesParams, Levels]:
    """Every trace as an annotator of its own, with noise of its own."""
    if not levels.kappa.any():
        return data, params, levels
    k, weight = data.annotator_of, trace_weights(data, params, levels.kappa, levels.freedom)
    rows = {name: getattr(params, name)[k] for name in ("F", "b", "rho", "lag")}
    known = {name: getattr(levels, name)[k] for name in ("gain", "leak", "noise", "bias", "bias_variance")}
    params = params._replace(**rows, N=params.N[k] / weight[:, :, None])
    return data._replace(annotator_of=np.arange(len(k)), K=len(k)), params, levels._replace(**known)


def _with_level_noise(data: SeriesData, level: np.ndarray, levels: Levels) -> Levels:
    """Noise of the level of every trace, which may be far off where the course is not. level: (J, D)."""
    if not levels.kappa.any():
        return levels
    rated, G, noise = ~np.isnan(level), _followed_levels(levels), levels.noise
    for _ in range(STEPS):
        L, V, _ = level_posterior(data, level, levels)
        left = level - levels.bias - np.einsum("jde,je->jd", G, L[data.item_of])
        square = left**2 + np.einsum("jde,jef,jdf->jd", G, V[data.item_of], G)
        before = levels.noise
        levels = levels._replace(
            noise=noise / np.where(rated, expected_precision(np.ones(1), square / noise, levels.freedom), 1.0)
        )
        if np.abs(np.log(levels.noise / before)).max() < SETTLED:
            break
    return levels


class _Frames(NamedTuple):
    """What is known of frames before they are smoothed."""

    judgement: np.ndarray  # (S,)
    given: np.ndarray  # (J, D) ratings of each trace
    at: np.ndarray  # (S, D) frame of the truth
    follows: np.ndarray  # (K, D, D) gains, and leakage
    A: np.ndarray  # (D, D) variance of the truth inside recordings
    held: np.ndarray  # (sum T, D) precision at the nearest rated frame
    far: np.ndarray  # (sum T, D) frames to it
    shrink: np.ndarray  # (sum T, D)


def _frames(data: SeriesData, params: SeriesParams, levels: Levels) -> _Frames:
    length = data.length[data.item_of]
    judgement, seen = np.repeat(np.arange(len(length)), length), ~np.isnan(data.y)
    count = np.stack([np.bincount(judgement, seen[:, d], minlength=len(length)) for d in range(data.D)], axis=1)
    at = trace_data.truth_frames(data, params.lag)
    follows = params.F.sum(axis=1)
    gain = np.diagonal(follows, axis1=1, axis2=2)
    precision = trace_data.frame_precision(data, seen, at, gain, np.diagonal(params.N, axis1=1, axis2=2))
    A = params.sigma / (1.0 - params.phi**2)
    near, far = trace_data.nearest_rated(precision, data.length)
    held = np.take_along_axis(precision, near, axis=0)  # delays leave the last frames unrated: what was known holds
    return _Frames(judgement, count, at, follows, A, held, far, held / (held + levels.lasting / np.diagonal(A)))


def _smoothed(
    data: SeriesData,
    params: SeriesParams,
    structure: Structure,
    frames: _Frames,
    smoother: Callable[[trace_layout.Layout, np.ndarray, SeriesParams, Structure], Truth],
) -> tuple[np.ndarray, np.ndarray, Truth]:
    """Levels of traces (J, D), the course (sum T, D), and what the smoother found."""
    total = int(data.length.sum())
    inner = params._replace(mu=np.zeros(data.D), b=np.zeros_like(params.b), theta=np.zeros((0, data.D)))
    partial = (frames.given > 0) & (frames.given < data.length[data.item_of][:, None])
    course, bare = np.zeros((total, data.D)), data._replace(X=np.zeros((total, 0)))
    for _ in range(ROUNDS if partial.any() else 1):
        y = data.y
        if partial.any():
            followed = _followed(frames.follows[data.annotator_of[frames.judgement]], course, frames.at)
            y = y - np.where(partial[frames.judgement], followed, 0.0)
        level = trace_data.trace_levels(y, frames.judgement, frames.given)
        rest = bare._replace(y=data.y - level[frames.judgement])
        found = smoother(trace_layout.make_layout(rest, structure), rest.X, inner, structure)
        course = frames.shrink * found.mean
    return level, course, found


def _means(layout: trace_layout.Layout, X: np.ndarray, params: SeriesParams, structure: Structure) -> Truth:
    return Truth(posterior_mean(layout, X, params, structure), np.zeros((0, len(params.mu), len(params.mu))), np.nan)


def part_truth(
    part: trace_parts.Part, params: SeriesParams, structure: Structure, levels: Levels, spread: Spread
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the frames of some recordings."""
    found = two_scale_truth(part.data, params, structure, levels, spread)
    return found.mean, found.cov


def two_scale_truths(
    parts: trace_parts.Parts, params: SeriesParams, structure: Structure, levels: Levels, spread: Spread
) -> tuple[np.ndarray, np.ndarray]:
    """(sum T, D), (sum T, D, D) mean and covariance of all frames, part by part."""
    found = parts.map(part_truth, params, structure, levels, spread)
    return np.concatenate([mean for mean, _ in found]), np.concatenate([cov for _, cov in found])


def part_errors(part: trace_parts.Part, params: SeriesParams, structure: Structure, levels: Levels) -> np.ndarray:
    """(n, 2, D) error variances of the course and of the level at every frame of some recordings."""
    found = two_scale_truth(part.data, params, structure, levels, no_spread(part.data.D))
    whole = np.diagonal(found.cov, axis1=1, axis2=2)
    return np.stack([found.inside, whole - found.inside], axis=1)


def draw_two_scales(
    data: SeriesData,
    params: SeriesParams,
    structure: Structure,
    levels: Levels,
    draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """(draws, sum T, D) paths around the fused truth: smooth errors of the course, one error of each level."""
    found = two_scale_truth(data, params, structure, levels, no_spread(data.D))
    data, params, levels = _trace_by_trace(data, params, levels)
    judgement = np.repeat(np.arange(len(data.item_of)), data.length[data.item_of])
    rest = data._replace(y=data.y - found.level[judgement], X=np.zeros((len(found.mean), 0)))
    inner = params._replace(mu=np.zeros(data.D), b=np.zeros_like(params.b), theta=np.zeros((0, data.D)))
    layout = trace_layout.make_layout(rest, structure)
    course = draw_truth(layout, inner, structure, draws, rng) - infer(layout, rest.X, inner, structure).mean
    _, V, _ = level_posterior(data, found.level, _with_level_noise(data, found.level, levels))
    xi = rng.standard_normal((draws, len(data.length), data.D))
    level = np.einsum("mde,rme->rmd", np.linalg.cholesky(V), xi)
    return np.asarray(found.mean + course + np.repeat(level, data.length, axis=1))


def level_posterior(data: SeriesData, level: np.ndarray, levels: Levels) -> tuple[np.ndarray, np.ndarray, float]:
    """Levels of the recordings (M, D), their covariances (M, D, D), and log p of the traces' levels."""  # eq. S42
    k, m, M, D = data.annotator_of, data.item_of, len(data.length), data.D
    rated = ~np.isnan(level)
    left = np.where(rated, level - levels.bias[k], 0.0)
    G, weight = _followed_levels(levels)[k], np.where(rated, 1.0 / levels.noise[k], 0.0)
    Q, S = np.zeros((M, D, D)), np.zeros((M, D))
    np.add.at(Q, m, np.einsum("jde,jd,jdf->jef", G, weight, G))
    np.add.at(S, m, np.einsum("jde,jd->je", G, weight * left))
    V = np.linalg.inv(np.linalg.inv(levels.prior) + Q)
    L = np.einsum("mde,me->md", V, S)
    noise = np.where(rated, levels.noise[k], 1.0)
    loglik = -0.5 * np.sum(np.log(2.0 * np.pi * noise)[rated]) - 0.5 * np.sum(left**2 / noise)
    loglik += 0.5 * np.sum(np.linalg.slogdet(V)[1] - np.linalg.slogdet(levels.prior)[1]) + 0.5 * np.sum(S * L)
    return L, V, float(loglik)


def bias_doubt(data: SeriesData, level: np.ndarray, levels: Levels, V: np.ndarray) -> np.ndarray:
    """(M, D, D) what the levels of recordings may be off by because annotators' biases are not known exactly.

    V: (M, D, D) covariances of the levels if they were.
    """  # eq. S48
    k, m = data.annotator_of, data.item_of
    G, weight = _followed_levels(levels)[k], np.where(np.isnan(level), 0.0, 1.0 / levels.noise[k])
    doubt = np.zeros(V.shape)
    np.add.at(doubt, m, np.einsum("jde,jd,jdf->jef", G, weight**2 * levels.bias_variance[k], G))
    return np.asarray(V @ doubt @ V)


def _followed_levels(levels: Levels) -> np.ndarray:
    """(K, D, D) gains and leakage."""
    return np.asarray(levels.gain[:, :, None] * np.eye(levels.gain.shape[1]) + levels.leak)


def _followed(follows: np.ndarray, course: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(S, D) what ratings owe to the course at the frames they are about, 0 outside. follows: (S, D, D)."""
    seen = np.where(at[:, :, None] >= 0, course[np.maximum(at, 0)], 0.0)  # of every dimension, at the frame of each
    return np.asarray(np.einsum("sde,sde->sd", follows, seen))


DRAWS = 500  # numerical: of annotators


class TraceDesign(NamedTuple):
    """What annotators tell, in the units of the model."""

    course: np.ndarray  # (K, D) precision that each adds to a frame; NaN without ratings
    level: np.ndarray  # (K, D) to the level of a recording
    A: np.ndarray  # (D,) variance of the true course
    AB: np.ndarray  # (D,) of true levels
    lasting: np.ndarray  # (D,) share of the errors that outlasts the smoother
    widening: np.ndarray  # (D,) error variance of courses over that of the model
    phi: float


class Stretches(NamedTuple):
    """What is known of stretches of recordings."""

    recording: np.ndarray  # (n,)
    first: np.ndarray  # (n,) frame in the recording
    last: np.ndarray  # (n,) frame after it
    course: np.ndarray  # (n, D) mean precision of the frames
    level: np.ndarray  # (n, D) precision of the recording's level


def trace_design(params: SeriesParams, levels: Levels, noise: np.ndarray) -> TraceDesign:
    """noise: (K, D), NaN for who gave no ratings."""
    gain = np.diagonal(params.F.sum(axis=1), axis1=1, axis2=2)
    unknown = np.where(np.isnan(noise), np.nan, 1.0)
    return TraceDesign(
        course=unknown * gain**2 / np.diagonal(params.N, axis1=1, axis2=2),
        level=unknown * levels.gain**2 / levels.noise,
        A=np.diagonal(params.sigma) / (1.0 - params.phi**2),
        AB=np.diagonal(levels.prior).copy(),
        lasting=levels.lasting,
        widening=levels.widening,
        phi=params.phi,
    )


def stretches_of(data: SeriesData, params: SeriesParams, levels: Levels, frames: int) -> Stretches:
    """Recordings cut into stretches of about so many frames, with what all annotators together say of each."""
    seen, at = ~np.isnan(data.y), trace_data.truth_frames(data, params.lag)
    gain = np.diagonal(params.F.sum(axis=1), axis1=1, axis2=2)
    Q = trace_data.frame_precision(data, seen, at, gain, np.diagonal(params.N, axis1=1, axis2=2))
    QL = np.zeros((len(data.length), data.D))
    judgement = np.repeat(np.arange(len(data.item_of)), data.length[data.item_of])
    rated = np.stack([np.bincount(judgement, seen[:, d], minlength=len(data.item_of)) for d in range(data.D)], axis=1)
    who = data.annotator_of
    np.add.at(QL, data.item_of, np.where(rated > 0, levels.gain[who] ** 2 / levels.noise[who], 0.0))
    recording, first, last, mean = [], [], [], []
    start = np.cumsum(data.length) - data.length
    for m, T in enumerate(data.length.tolist()):
        edge = np.unique(np.round(np.linspace(0, T, max(round(T / frames), 1) + 1)).astype(np.int64))
        for lo, hi in zip(edge[:-1].tolist(), edge[1:].tolist(), strict=True):
            recording.append(m)
            first.append(lo)
            last.append(hi)
            mean.append(Q[start[m] + lo : start[m] + hi].mean(axis=0))
    of = np.array(recording)
    return Stretches(of, np.array(first), np.array(last), np.array(mean), QL[of])


def course_error(Q: np.ndarray, design: TraceDesign) -> np.ndarray:
    """(..., D) variance of the course where annotators together tell Q (..., D)."""  # eq. S46
    phi, sigma = design.phi, (1.0 - design.phi**2) * design.A
    alone = 1.0 / (1.0 / design.A + Q)
    chain = sigma / np.sqrt((1.0 + phi**2 + sigma * Q) ** 2 - 4.0 * phi**2)
    return np.asarray(design.widening * (design.lasting * alone + (1.0 - design.lasting) * chain))


def level_error(QL: np.ndarray, design: TraceDesign) -> np.ndarray:
    """(..., D) variance of the level of a recording."""
    return np.asarray(1.0 / (1.0 / design.AB + QL))


def typical(precision: np.ndarray) -> np.ndarray:
    """(D,) of the median annotator."""
    return np.asarray(np.nan_to_num(np.nanmedian(precision, axis=0)))


def error_to_expect(design: TraceDesign, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n, D) variance of the truth, course and level, with so many of these annotators drawn at random.

    Where these are not enough, they are joined by others who are like them.
    """
    rated = ~np.isnan(design.course).all(axis=1)
    course, level = np.nan_to_num(design.course[rated]), np.nan_to_num(design.level[rated])
    order = np.argsort(rng.random((DRAWS, len(course))), axis=1)
    found = []
    for n in counts.tolist():
        rounds, rest = divmod(n, len(course))
        drawn = order[:, :rest]
        Q, QL = (one[drawn].sum(axis=1) + rounds * one.sum(axis=0) for one in (course, level))
        found.append((course_error(Q, design) + level_error(QL, design)).mean(axis=0))
    return np.array(found)
