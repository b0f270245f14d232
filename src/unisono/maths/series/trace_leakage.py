"""Leakage: what an annotator puts into one dimension of what is true on another, once gains are known.

    w_kd = g_kd x_d + sum_e c_kde x_e + noise,   c_kde ~ N(0, omega2 A_d / A_e),   sum_k c_kde = 0,
levels of recordings likewise. Leakage that all annotators have in common looks like truth and is not looked for. Where
nobody leaks yet, leakage counts as noise and, where the other dimension is not 0 on average, as bias: so that noise,
biases and their spreads are open again. Rows are annotators on dimensions, dimension after dimension.

The most probable leakage, by EM over all dimensions together, the truth integrated out: steps never lower the
objective. Given what is expected of the truth, leakage and bias of a row are a regression, under the linear constraint
that leakages into a dimension sum to 0; then noise, and what errors of levels have in common, go to where the expected
log density is greater. If nobody leaks, omega2 says so and shrinks everybody to 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series import trace_priors
from unisono.maths.series.trace_frames import Hands, Stratum, aligned, merged, strata_of
from unisono.maths.series.trace_parts import Courses, Part, Parts, TwoScales
from unisono.maths.series.tracer_rows import Tracers


class Row(NamedTuple):
    """What is held of every row."""

    gain: np.ndarray  # (K D,)
    scale: np.ndarray  # (K D,) most probable gain, with its sign: the unit of what leaks
    unsigned: np.ndarray  # (K D,) what an uncertain sign makes of the truth's variance
    moving: np.ndarray  # (K D,) bool
    levelled: np.ndarray  # (K D,) bool, whose biases count
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
        least = min([typical - np.log(trace_priors.MOST_WEIGHT), *relative])  # rounding may leave somebody below
        precision = held[:, 1, 1]
        expected = now.prior.mean[1] - held[:, 0, 1] / precision * now.away[:, 0]
        scale = np.where(now.sign < 0, -1.0, 1.0) * np.exp(now.alpha)
        known = now.gain, scale, now.unsigned, one.moving, one.levelled, now.bias_variance, now.bias_weight
        parts.append((*known, expected, precision, 2.0 * now.alpha + least))
    return Row(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def nobody_leaks(tracers: list[Tracers]) -> Leakage:
    """Annotators as they were found, every dimension by itself."""
    D, n = len(tracers), sum(len(now.alpha) for now in tracers)
    return Leakage(
        share=np.zeros((n, D)),
        known=np.zeros((n, D)),
        variance=trace_priors.LEAKAGE_SD**2,
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
    total -= trace_priors.PRIOR_LEVELS * float(np.sum(np.log(now.eta) + 1.0 / now.eta))
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
    count = int(data.row.moving.sum()) * (len(data.A) - 1) + trace_priors.PRIOR_LEAKAGES
    return float(np.sum(square[data.row.moving])) + trace_priors.PRIOR_LEAKAGES * trace_priors.LEAKAGE_SD**2, count


def bias_squares(data: Said, now: Leakage) -> tuple[np.ndarray, np.ndarray]:
    """(D,) twice: squares of biases, with what is unknown of them; and how many. Imaginary ones included."""
    D = len(data.A)
    weight = np.where(data.row.levelled, data.row.bias_weight, 0.0)
    square = (weight * (now.bias**2 + data.row.bias_variance)).reshape(D, -1).sum(axis=1)
    people = weight.reshape(D, -1).sum(axis=1)
    return square + trace_priors.PRIOR_BIASES * trace_priors.BIAS_VARIANCE, people + trace_priors.PRIOR_BIASES


STEPS = 50  # numerical: of EM at most
SETTLED = 1e-3  # numerical: change of a leakage or bias, in sds, or of a log noise variance, that is none
LONGEST_STEP = 1.0  # numerical: of a log variance
HALVINGS = 5  # numerical: of a step of a log variance, until it rises
ROUNDING = 1e-13  # numerical: share of a cost that sums may be off by; without it chance may refuse the last step


class Moments(NamedTuple):
    """Expected sums of products of the truth of all dimensions and, of levels, 1, with themselves and what rows say."""

    courses: np.ndarray  # (K D, D, D)
    said: np.ndarray  # (K D, D)
    levels: np.ndarray  # (K D, D + 1, D + 1)
    level_said: np.ndarray  # (K D, D + 1)


def leakages(data: Said, now: Leakage) -> tuple[Leakage, list[float]]:
    """The most probable leakage, and the objective on the way. now: where nobody leaks."""  # eq. S53
    now = now._replace(known=_leaking(data, now, _expected(data, now))[2])
    values = [objective(data, now)]
    for _ in range(STEPS):
        before, now = now, _step(data, now)
        values.append(objective(data, now))
        if _moved(data, before, now) < SETTLED:
            break
    return now, values


def _moved(data: Said, before: Leakage, after: Leakage) -> float:
    sd = np.sqrt(of_rows(data, data.A))
    changes = (
        (after.share - before.share) / unit(data),
        (after.bias - before.bias) / sd,
        after.beta - before.beta,
        np.log(after.eta / before.eta),
    )
    return max(float(np.abs(change).max()) for change in changes)


def _step(data: Said, now: Leakage) -> Leakage:
    found = _expected(data, now)
    share, bias, _ = _leaking(data, now, found)
    now = now._replace(share=share, bias=bias)
    square, count = squares(data, now)
    biases, people = bias_squares(data, now)
    now = now._replace(variance=square / count, tau2=biases / people)
    return _with_noise(data, now, found)


def _expected(data: Said, now: Leakage) -> Moments:
    n, D = now.share.shape
    G, (noise, level_noise) = design(data, now), noises(data, now)
    courses, said = np.zeros((n, D, D)), np.zeros((n, D))
    for one in data.strata:
        g = G[one.who] / noise[one.who, None]
        V = np.linalg.inv(data.expected[0] + G[one.who].T @ g)
        m = one.rows @ g @ V
        courses[one.who] += m.T @ m + one.frames * V
        said[one.who] += one.rows.T @ m
    P, h = level_system(data, G, now.bias, level_noise)
    V = np.linalg.inv(P)
    L = np.concatenate([np.einsum("mde,me->md", V, h), np.ones((data.recordings, 1))], axis=1)
    second = L[:, :, None] * L[:, None]
    second[:, :D, :D] += V
    levels, level_said = np.zeros((n, D + 1, D + 1)), np.zeros((n, D + 1))
    np.add.at(levels, data.of, second[data.recording])
    np.add.at(level_said, data.of, L[data.recording] * data.level[:, None])
    return Moments(courses, said, levels, level_said)


def _leaking(data: Said, now: Leakage, found: Moments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leakage (K D, D) and biases (K D,) that are expected to be most probable; variances (K D, D) of leakage there."""
    n, D = now.share.shape
    K, units, (noise, level_noise) = n // D, unit(data), noises(data, now)
    H, h = found.levels / level_noise[:, None, None], found.level_said / level_noise[:, None]
    H[:, :D, :D] += data.kappa / noise[:, None, None] * found.courses
    h[:, :D] += data.kappa / noise[:, None] * found.said
    H[:, D, D] += np.where(data.row.levelled, data.row.bias_weight, 0.0) / of_rows(data, now.tau2)
    share, bias, known = np.zeros((n, D)), np.zeros(n), np.zeros((n, D))
    for d in range(D):
        rows, others = d * K + np.flatnonzero(data.row.moving[d * K : (d + 1) * K]), np.delete(np.arange(D), d)
        still = d * K + np.flatnonzero(~data.row.moving[d * K : (d + 1) * K])
        said = H[still, D, D] > 0  # who answered nothing has no bias
        still = still[said]
        bias[still] = (h[still, D] - data.row.gain[still] * H[still, D, d]) / H[still, D, D]
        if not len(rows):
            continue
        asked, c = np.append(others, D), np.arange(D - 1)  # leakages, then the bias
        left = h[np.ix_(rows, asked)] - data.row.gain[rows, None] * H[rows][:, asked, d]
        precision = H[np.ix_(rows, asked, asked)]
        precision[:, c, c] += 1.0 / (now.variance * units[np.ix_(rows, others)] ** 2)
        C = np.linalg.inv(precision)
        free = np.einsum("kde,ke->kd", C, left)
        own = 1.0 / data.row.scale[rows]  # in their own scale leakages sum to 0: what all have in common is truth
        common = np.linalg.solve(np.einsum("k,kde->de", own**2, C[:, :-1, :-1]), own @ free[:, :-1])
        best = free - C[:, :, :-1] @ common * own[:, None]
        share[np.ix_(rows, others)], bias[rows] = best[:, :-1], best[:, -1]
        known[np.ix_(rows, others)] = np.diagonal(C, axis1=1, axis2=2)[:, :-1]
    return share, bias, known


# ---- noise


def _with_noise(data: Said, now: Leakage, found: Moments) -> Leakage:
    """Log noise variances of rows, then what errors of levels have in common."""
    D, u, moving = len(data.A), data.row.unsigned, data.row.moving
    G = design(data, now)
    left = _left(data.square, G, found.courses, found.said)
    level_square = np.bincount(data.of, data.level**2, minlength=len(u))
    level_left = _left(level_square, np.column_stack([G, now.bias]), found.levels, found.level_said)
    given, levels, AB = data.kappa * data.frames, found.levels[:, D, D], of_rows(data, data.AB)
    own = Variances(
        given=np.stack([given, levels], axis=1),
        square=np.stack([data.kappa * left, level_left], axis=1),
        factor=np.stack([np.ones(len(u)), of_rows(data, now.eta)], axis=1),
        more=np.stack([u * of_rows(data, data.A), u * AB], axis=1),
        mean=data.row.expected,
        precision=data.row.precision,
    )
    beta = np.where(moving, greater(own, now.beta, np.where(moving, data.row.least, -np.inf)), now.beta)
    imagined = np.full((D, 1), trace_priors.PRIOR_LEVELS)
    level = Variances(
        given=np.column_stack([levels.reshape(D, -1), imagined]),
        square=np.column_stack([level_left.reshape(D, -1), imagined]),
        factor=np.column_stack([np.exp(beta).reshape(D, -1), np.ones(D)]),
        more=np.column_stack([(u * AB).reshape(D, -1), np.zeros(D)]),
        mean=np.zeros(D),
        precision=np.zeros(D),
    )
    bounds = np.log([trace_priors.LEAST_LEVEL_ERROR, trace_priors.MOST_LEVEL_ERROR])
    eta = np.exp(greater(level, np.log(now.eta), bounds[0], bounds[1]))
    return now._replace(beta=beta, eta=eta)


def _left(square: np.ndarray, follows: np.ndarray, second: np.ndarray, said: np.ndarray) -> np.ndarray:
    """(n,) expected squares of what rows say, less what they follow."""
    followed = np.einsum("nd,nde,ne->n", follows, second, follows)
    return np.asarray(np.maximum(square - 2.0 * np.sum(follows * said, axis=1) + followed, 0.0))


class Variances(NamedTuple):
    """n log variances t, each of which makes several variances exp(t) factor + more."""

    given: np.ndarray  # (n, m) how many errors of each variance there are
    square: np.ndarray  # (n, m) their squares
    factor: np.ndarray  # (n, m)
    more: np.ndarray  # (n, m)
    mean: np.ndarray  # (n,) of a normal prior
    precision: np.ndarray  # (n,)

    def cost(self, t: np.ndarray) -> np.ndarray:
        """(n,) minus twice the log density."""
        v = np.exp(t)[:, None] * self.factor + self.more
        return np.asarray(
            np.sum(self.given * np.log(v) + self.square / v, axis=1) + self.precision * (t - self.mean) ** 2
        )

    def step(self, t: np.ndarray) -> np.ndarray:
        """(n,) of Fisher's scoring."""
        own = np.exp(t)[:, None] * self.factor
        v = own + self.more
        slope = np.sum((self.given - self.square / v) * own / v, axis=1) + 2.0 * self.precision * (t - self.mean)
        curve = np.sum(self.given * (own / v) ** 2, axis=1) + 2.0 * self.precision
        step = -slope / np.where(curve > 0, curve, 1.0)
        return np.asarray(np.clip(step, -LONGEST_STEP, LONGEST_STEP))


def greater(of: Variances, t: np.ndarray, least: np.ndarray | float, most: float = np.inf) -> np.ndarray:
    """(n,) log variances that are no less probable than t, by a step towards the most probable ones."""
    before, step = of.cost(t), of.step(t)
    found, todo = t.copy(), np.ones(len(t), bool)
    for _ in range(HALVINGS):
        there = np.clip(t + step, least, most)
        better = todo & (of.cost(there) <= before + ROUNDING * np.abs(before))
        found[better], todo[better] = there[better], False
        step = 0.5 * step
    return found
