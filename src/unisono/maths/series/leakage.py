"""Leakage: what an annotator puts into one dimension of what is true on another, once gains are known.

    w_kd = g_kd x_d + sum_e c_kde x_e + noise,   c_kde ~ N(0, omega2 A_d / A_e),   sum_k c_kde = 0,
levels of recordings likewise. Leakage that all annotators have in common looks like truth and is not looked for. Where
nobody leaks yet, leakage counts as noise and, where the other dimension is not 0 on average, as bias: so that noise,
biases and their spreads are open again. Rows are annotators on dimensions, dimension after dimension; here is what is
said of them, and the objective; leakage_steps.py climbs it.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series import priors
from unisono.maths.series.frames import Hands, aligned
from unisono.maths.series.parts import Courses, Part, Parts
from unisono.maths.series.strata import Stratum, merged, strata_of
from unisono.maths.series.tracers import Tracers
from unisono.maths.series.two_scales import TwoScales


class Row(NamedTuple):
    """What is held of every row."""

    gain: np.ndarray  # (K D,)
    scale: np.ndarray  # (K D,) most probable gain, with its sign: the unit of what leaks
    unsigned: np.ndarray  # (K D,) what an uncertain sign makes of the truth's variance
    moving: np.ndarray  # (K D,) bool
    present: np.ndarray  # (K D,) bool
    bias_variance: np.ndarray  # (K D,)
    bias_weight: np.ndarray  # (K D,) of biases, as the climb left them: who has an origin of their own keeps it
    expected: np.ndarray  # (K D,) mean of the log noise variance, given the gain
    precision: np.ndarray  # (K D,) of that
    least: np.ndarray  # (K D,) of log noise variances: nobody counts for more


class Said(NamedTuple):
    """What rows say, all dimensions together."""

    row: Row
    strata: tuple[Stratum, ...]  # of frames, `who` are rows
    frames: np.ndarray  # (K D,) that each speaks of
    square: np.ndarray  # (K D,) of the courses
    level: np.ndarray  # (J,)
    recording: np.ndarray  # (J,)
    of: np.ndarray  # (J,) row
    recordings: int
    A: np.ndarray  # (D,) variance of the truth inside recordings
    AB: np.ndarray  # (D,) of levels
    expected: np.ndarray  # (2, D, D) precision of the truth inside recordings, and of levels, before anything is said
    kappa: float


class Leakage(NamedTuple):
    share: np.ndarray  # (K D, D) c, 0 for the own dimension
    known: np.ndarray  # (K D, D) variance of what is known of it, held
    variance: float  # omega2
    bias: np.ndarray  # (K D,)
    beta: np.ndarray  # (K D,) log noise variance of a frame
    eta: np.ndarray  # (D,) variance of a level's error over that of a frame
    tau2: np.ndarray  # (D,) of biases


def joint_strata(part: Part, hands: tuple[Hands, ...]) -> tuple[Stratum, ...]:
    """Frames of some recordings with what is said of them on all dimensions, condensed."""
    found, K = [], len(hands[0].lag)
    for dims in part.courses:
        own = [aligned(one, hand) for one, hand in zip(dims, hands, strict=True)]
        who = np.concatenate([one.who + d * K for d, one in enumerate(own)])
        mean, value, seen = (np.concatenate([one[i] for one in own]) for i in (1, 2, 3))
        found += strata_of(Courses(who, mean, value, seen))
    return merged(found)


def said(
    parts: Parts,
    scales: list[TwoScales],
    tracers: list[Tracers],
    hands: tuple[Hands, ...],
    kappa: float,
    correlation: np.ndarray,
) -> Said:
    """hands: the same annotators, as frames need them. correlation: (D, D) of the true courses."""
    K, A, AB = len(hands[0].lag), np.array([now.A for now in tracers]), np.array([now.AB for now in tracers])
    strata = merged([one for part in parts.map(joint_strata, hands) for one in part])
    frames, square = np.zeros(K * len(hands)), np.zeros(K * len(hands))
    for one in strata:
        frames[one.who] += one.frames
        square[one.who] += np.einsum("rn,rn->n", one.rows, one.rows)
    return Said(
        row=_rows(scales, tracers),
        strata=strata,
        frames=frames,
        square=square,
        level=np.concatenate([s.level for s in scales]),
        recording=np.concatenate([s.recording_of for s in scales]),
        of=np.concatenate([s.annotator_of + d * K for d, s in enumerate(scales)]),
        recordings=scales[0].recordings,
        A=A,
        AB=AB,
        expected=np.linalg.inv([correlation * np.sqrt(v)[:, None] * np.sqrt(v) for v in (A, AB)]),
        kappa=kappa,
    )


def _rows(scales: list[TwoScales], tracers: list[Tracers]) -> Row:
    parts = []
    for one, now in zip(scales, tracers, strict=True):
        held = np.einsum("ks,sde->kde", now.prior.weigh(now.square)[1], now.prior.precision)
        relative = (now.beta - 2.0 * now.alpha)[one.moving]
        typical = float(np.median(relative)) if len(relative) else 0.0
        least = min([typical - np.log(priors.MOST_WEIGHT), *relative])  # rounding may leave somebody below
        precision = held[:, 1, 1]
        expected = now.prior.mean[1] - held[:, 0, 1] / precision * now.away[:, 0]
        scale = np.where(now.sign < 0, -1.0, 1.0) * np.exp(now.alpha)
        known = now.gain, scale, now.unsigned, one.moving, one.present, now.bias_variance, now.bias_weight
        parts.append((*known, expected, precision, 2.0 * now.alpha + least))
    return Row(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def nobody_leaks(tracers: list[Tracers]) -> Leakage:
    """Annotators as they were found, every dimension by itself."""
    D, n = len(tracers), sum(len(now.alpha) for now in tracers)
    return Leakage(
        share=np.zeros((n, D)),
        known=np.zeros((n, D)),
        variance=priors.LEAKAGE_SD**2,
        bias=np.concatenate([now.bias for now in tracers]),
        beta=np.concatenate([now.beta for now in tracers]),
        eta=np.array([now.eta for now in tracers]),
        tau2=np.array([now.tau2 for now in tracers]),
    )


def of_rows(data: Said, value: np.ndarray) -> np.ndarray:
    """(K D,) a number of every dimension, for every row of it."""
    return np.repeat(value, len(data.row.gain) // len(value))


def design(data: Said, now: Leakage) -> np.ndarray:
    """(K D, D) what every row follows."""
    n, D = now.share.shape
    own = np.zeros((n, D))
    own[np.arange(n), np.repeat(np.arange(D), n // D)] = data.row.gain
    return np.asarray(own + now.share)


def noises(data: Said, now: Leakage) -> tuple[np.ndarray, np.ndarray]:
    """(K D,) twice: noise variance of a frame and of a level."""
    own, AB = np.exp(now.beta), of_rows(data, data.AB)
    return own + data.row.unsigned * of_rows(data, data.A), of_rows(data, now.eta) * own + data.row.unsigned * AB


def objective(data: Said, now: Leakage) -> float:
    """kappa log p(courses) + log p(levels) + log prior, up to a constant."""
    G, (noise, level_noise), moving = design(data, now), noises(data, now), data.row.moving
    total = -data.kappa * float(np.sum((data.frames * np.log(noise) + data.square / noise)[moving]))
    for one in data.strata:
        g = G[one.who] / noise[one.who, None]
        P, h = data.expected[0] + G[one.who].T @ g, one.rows @ g
        total += data.kappa * (float(np.sum(h * np.linalg.solve(P, h.T).T)) - one.frames * np.linalg.slogdet(P)[1])
    P, h = level_system(data, G, now.bias, level_noise)
    left, variance = data.level - now.bias[data.of], level_noise[data.of]
    total -= float(np.sum(np.log(variance) + left**2 / variance))
    total += float(np.sum(h * np.linalg.solve(P, h[:, :, None])[:, :, 0]) - np.sum(np.linalg.slogdet(P)[1]))
    return 0.5 * total + log_prior(data, now)


def log_prior(data: Said, now: Leakage) -> float:
    """Of leakage, noise, biases and their spreads."""
    square, count = squares(data, now)
    total = -square / now.variance - count * np.log(now.variance)
    away = (now.beta - data.row.expected)[data.row.moving]
    total -= float(np.sum(away**2 * data.row.precision[data.row.moving]))
    biases, people = bias_squares(data, now)
    total -= float(np.sum(biases / now.tau2 + people * np.log(now.tau2)))
    total -= priors.PRIOR_LEVELS * float(np.sum(np.log(now.eta) + 1.0 / now.eta))
    return 0.5 * float(total)


def level_system(data: Said, G: np.ndarray, bias: np.ndarray, level_noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M, D, D), (M, D) precision of the levels of recordings, and what is said of them."""
    g = G[data.of] / level_noise[data.of, None]
    P = np.tile(data.expected[1], (data.recordings, 1, 1))
    h = np.zeros((data.recordings, len(data.A)))
    np.add.at(P, data.recording, g[:, :, None] * G[data.of][:, None])
    np.add.at(h, data.recording, g * (data.level - bias[data.of])[:, None])
    return P, h


def unit(data: Said) -> np.ndarray:
    """(K D, D) the leakage that moves a row, in its own scale, by a standard deviation of its dimension for one of the
    other."""
    return np.asarray(data.row.scale[:, None] * np.sqrt(of_rows(data, data.A)[:, None] / data.A))


def squares(data: Said, now: Leakage) -> tuple[float, float]:
    """Squares of all leakages in their unit, with what is unknown of them; and how many. Imaginary ones included."""
    square = (now.share**2 + now.known) / unit(data) ** 2
    count = int(data.row.moving.sum()) * (len(data.A) - 1) + priors.PRIOR_LEAKAGES
    return float(np.sum(square[data.row.moving])) + priors.PRIOR_LEAKAGES * priors.LEAKAGE_SD**2, count


def bias_squares(data: Said, now: Leakage) -> tuple[np.ndarray, np.ndarray]:
    """(D,) twice: squares of biases, with what is unknown of them; and how many. Imaginary ones included."""
    D, present = len(data.A), data.row.present
    weight = np.where(present, data.row.bias_weight, 0.0)
    square = (weight * (now.bias**2 + data.row.bias_variance)).reshape(D, -1).sum(axis=1)
    people = weight.reshape(D, -1).sum(axis=1)
    return square + priors.PRIOR_BIASES * priors.BIAS_VARIANCE, people + priors.PRIOR_BIASES
