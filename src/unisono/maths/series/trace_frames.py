"""What annotators say of every frame of the truth: sums over frames, strata of condensed frames, independent frames.

Functions of a part, for `parts.map`; `hands` has what is known of the annotators of every dimension.

Strata: frames that the same annotators speak of, condensed to as few frames as there are annotators, with the same
products. What the others say of a frame has the same precision in all frames of a stratum, so that of their courses
nothing matters but sums of products. The triangle of a QR decomposition has the same ones in at most n rows for n
annotators, and triangles of several recordings, one above the other, have a triangle again. A fit then costs no more
for frames. Neighbouring frames are nearly copies of each other: `independent_frames` says what one counts for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from unisono.maths.series import trace_priors
from unisono.maths.series.trace_parts import Courses, Part, Parts, TwoScales
from unisono.maths.series.trace_priors import FLAT


class Hands(NamedTuple):
    """What is known of the annotators of one dimension, as far as frames need it."""

    unit: float
    flat: np.ndarray  # (K,) bool
    lag: np.ndarray  # (K,) frames
    gain: np.ndarray  # (K,)
    noise: np.ndarray  # (K,)
    A: float  # variance of the truth inside recordings

    @property
    def weight(self) -> np.ndarray:
        """(K,)"""
        return np.asarray(self.gain / self.noise)

    @property
    def precision(self) -> np.ndarray:
        """(K,)"""
        return np.asarray(self.gain**2 / self.noise)


class Spoken(NamedTuple):
    """What annotators together say of the T frames of a recording."""

    Q: np.ndarray  # (T,)
    S: np.ndarray  # (T,)


def aligned(courses: Courses, hands: Hands) -> Courses:
    """Courses in their unit, moved to the frames of the truth they speak of; without annotators who are flat."""
    rows = np.flatnonzero(~hands.flat[courses.who])
    value, seen = np.zeros((len(rows), courses.value.shape[1])), np.zeros((len(rows), courses.value.shape[1]), bool)
    for i, row in enumerate(rows.tolist()):
        here, there = _overlap(int(hands.lag[courses.who[row]]), value.shape[1])
        value[i, here] = courses.value[row, there]
        seen[i, here] = courses.seen[row, there]
    value /= hands.unit
    return Courses(courses.who[rows], courses.mean[rows], value, seen)


def _overlap(lag: int, T: int) -> tuple[slice, slice]:
    """Frames of the truth that a trace with this delay speaks of, and the frames of the trace."""
    if lag >= 0:
        return slice(0, max(T - lag, 0)), slice(min(lag, T), T)
    return slice(min(-lag, T), T), slice(0, max(T + lag, 0))


def spoken(courses: Courses, hands: Hands) -> Spoken:
    """courses: aligned."""
    return Spoken(hands.precision[courses.who] @ courses.seen, hands.weight[courses.who] @ courses.value)


def residuals(courses: Courses, hands: Hands) -> np.ndarray:
    """(n, T) aligned courses less what the truth fused from the others makes of them; 0 where missing."""
    Q, S = spoken(courses, hands)
    q, weight, gain = (v[courses.who][:, None] for v in (hands.precision, hands.weight, hands.gain))
    others = (S - weight * courses.value) / (1.0 / hands.A + np.maximum(Q - q, 0.0))
    return np.where(courses.seen, courses.value - gain * others, 0.0)


def error_products(part: Part, hands: tuple[Hands, ...], steps: tuple[int, ...]) -> np.ndarray:
    """(D, 2) sums of products of errors of frames `steps` apart with none missing between, and of their squares."""
    out = np.zeros((len(hands), 2))
    for dims in part.courses:
        for d, (hand, step) in enumerate(zip(hands, steps, strict=True)):
            courses = aligned(dims[d], hand)
            left = residuals(courses, hand)
            if step >= left.shape[1]:
                continue
            given = np.cumsum(courses.seen, axis=1)
            apart = courses.seen[:, :-step] & (given[:, step:] - given[:, :-step] == step)
            before, after = left[:, :-step], left[:, step:]
            out[d] += np.sum((before * after)[apart]), 0.5 * np.sum((before**2 + after**2)[apart])
    return out


def delay_evidence(part: Part, dimensions: tuple[int, ...], hands: tuple[Hands, ...], k: int, most: int) -> np.ndarray:
    """(n, 2 most + 1) what each of n dimensions says of the delay of annotator k, by delay, the others held."""
    total = np.zeros((len(dimensions), 2 * most + 1))
    for dims in part.courses:
        for i, (d, hand) in enumerate(zip(dimensions, hands, strict=True)):
            courses = dims[d]
            row = np.flatnonzero(courses.who == k)
            if len(row) and not hand.flat[k]:
                total[i] += hand.weight[k] * _correlation(courses, hand, int(row[0]), most)
    return total


def _correlation(courses: Courses, hands: Hands, row: int, most: int) -> np.ndarray:
    """(2 most + 1,) sums over frames of a course, moved by each delay, times what the others expect."""
    T = courses.value.shape[1]
    S = _expected_by_others(courses, hands, row)
    n = scipy.fft.next_fast_len(T + min(most, T - 1), real=True)
    cross = scipy.fft.irfft(scipy.fft.rfft(courses.value[row] / hands.unit, n) * np.conj(scipy.fft.rfft(S, n)), n)
    reach, total = min(most, T - 1), np.zeros(2 * most + 1)
    total[most : most + reach + 1] = cross[: reach + 1]
    total[most - reach : most] = cross[n - reach : n]
    return total


def _expected_by_others(courses: Courses, hands: Hands, row: int) -> np.ndarray:
    """(T,) of the truth, by all but one annotator."""
    T, who = courses.value.shape[1], courses.who
    weight, precision, lag, flat = (v[who].tolist() for v in (hands.weight, hands.precision, hands.lag, hands.flat))
    S, Q = np.zeros(T), np.full(T, 1.0 / hands.A + precision[row])
    for i in range(len(who)):
        if i != row and not flat[i]:
            here, there = _overlap(lag[i], T)
            S[here] += weight[i] / hands.unit * courses.value[i, there]
            np.add(Q[here], precision[i], out=Q[here], where=courses.seen[i, there])
    return np.asarray(S / Q)


def delay_scores(part: Part, hands: tuple[Hands, ...], block: int) -> np.ndarray:
    """(D, K, 6) of the blocks of about so many frames of each annotator: how many, and sums of the slope a and the
    curvature c of the evidence on their delay, of a^2, a c and c^2."""
    out = np.zeros((len(hands), len(hands[0].lag), 6))
    for dims in part.courses:
        for d, hand in enumerate(hands):
            for row, k in enumerate(dims[d].who.tolist()):
                if not hand.flat[k]:
                    out[d, k] += _scores(dims[d], hand, row, block)
    return out


def _scores(courses: Courses, hands: Hands, row: int, block: int) -> np.ndarray:
    """(6,) of one trace, where it is now."""
    expected = _expected_by_others(courses, hands, row)
    here, there = _overlap(int(hands.lag[courses.who[row]]), len(expected))
    x, y, seen = expected[here], courses.value[row, there] / hands.unit, courses.seen[row, there]
    size = float(x[seen] @ x[seen])
    if len(x) < 2 or size == 0.0:
        return np.zeros(6)
    follows, turn = float(x[seen] @ y[seen]) / size, np.where(seen, np.gradient(x), 0.0)
    moves = np.where(_beside_seen(seen), np.gradient(y), 0.0)  # not `turn` again: errors of others bend nobody's trace
    blocks = max(round(len(x) / block), 1)
    first = np.arange(blocks) * len(x) // blocks
    weight = hands.weight[courses.who[row]]
    a = weight * np.add.reduceat(turn * (y - follows * x), first)
    c = weight * np.add.reduceat(turn * moves, first)
    return np.array([blocks, a.sum(), c.sum(), a @ a, a @ c, c @ c])


def _beside_seen(seen: np.ndarray) -> np.ndarray:
    """(T,) bool, frames that are seen with those before and after them."""
    return np.asarray(seen & np.append(seen[1:], seen[-1]) & np.insert(seen[:-1], 0, seen[0]))


class JointFrames(NamedTuple):
    """Frames of which the same annotators speak, on all dimensions."""

    frames: int
    Q: np.ndarray  # (D,)
    SS: np.ndarray  # (D, D) sum of the products of S


def joint_frames(part: Part, hands: tuple[Hands, ...]) -> list[JointFrames]:
    """Frames with anything said of them, by the precision of what is said."""
    out = []
    for dims in part.courses:
        moved = [aligned(one, hand) for one, hand in zip(dims, hands, strict=True)]
        said = [spoken(one, hand) for one, hand in zip(moved, hands, strict=True)]
        Q, S = (np.stack([getattr(one, name) for one in said], axis=1) for name in ("Q", "S"))
        for own in same_speakers(np.concatenate([one.seen for one in moved])):
            if (Q[own[0]] > 0).any():
                out.append(JointFrames(len(own), Q[own[0]], S[own].T @ S[own]))
    return out


def same_speakers(seen: np.ndarray) -> list[np.ndarray]:
    """Frames that the same annotators speak of, set by set as they first come; not those of nobody. seen: (n, T)."""
    if not seen.any():
        return []
    edge = np.flatnonzero(np.any(seen[:, 1:] != seen[:, :-1], axis=0)) + 1
    begin, end = np.concatenate([[0], edge]), np.concatenate([edge, [seen.shape[1]]])
    sets: dict[bytes, list[np.ndarray]] = {}
    for lo, hi, pattern in zip(begin.tolist(), end.tolist(), np.ascontiguousarray(seen[:, begin].T), strict=True):
        if pattern.any():
            sets.setdefault(pattern.tobytes(), []).append(np.arange(lo, hi))
    return [np.concatenate(own) for own in sets.values()]


def autocorrelations(part: Part, flat: tuple[np.ndarray, ...], unit: tuple[float, ...], n: int) -> np.ndarray:
    """(D, 2, n) autocorrelations of moving courses by lag in frames times their ratings, and these ratings."""
    out = np.zeros((len(flat), 2, n))
    for dims in part.courses:
        for d, courses in enumerate(dims):
            T = courses.value.shape[1]
            square = np.einsum("nt,nt->n", courses.value, courses.value)
            use = (square > courses.seen.sum(axis=1) * (FLAT * unit[d]) ** 2) & ~flat[d][courses.who]
            size, reach = scipy.fft.next_fast_len(2 * T, real=True), min(n, T)
            for i in np.flatnonzero(use).tolist():
                rho = scipy.fft.irfft(np.abs(scipy.fft.rfft(courses.value[i], size)) ** 2, size)[:reach] / square[i]
                given = int(courses.seen[i].sum())
                out[d, 0, :reach] += given * rho
                out[d, 1, :reach] += given
    return out


class Shapes(NamedTuple):
    """What is seen of single traces, J of them."""

    flat: np.ndarray  # (J,) bool
    waits: np.ndarray  # (J,) frames from the first rating until the first movement
    others: np.ndarray  # (J,) median of the other moving traces of the recording, from the same frame; NaN without any
    length: np.ndarray  # (J,) frames


def trace_shapes(part: Part, unit: tuple[float, ...]) -> list[Shapes]:
    """Flat traces of every dimension, and how long each stays where it began beside the others in the same frames.

    What is missing at the start is no waiting: a trace is asked for from its first rating on.
    """
    found: list[list[Shapes]] = [[] for _ in unit]
    for dims in part.courses:
        for d, courses in enumerate(dims):
            found[d].append(_shapes_of(courses, unit[d]))
    return [Shapes(*(np.concatenate([one[i] for one in own]) for i in range(len(Shapes._fields)))) for own in found]


def _shapes_of(courses: Courses, unit: float) -> Shapes:
    value, n = courses.value / unit, np.maximum(courses.seen.sum(axis=1), 1)
    sd = np.sqrt(np.einsum("nt,nt->n", value, value) / n)  # courses have mean 0
    flat, first = sd < FLAT, courses.seen.argmax(axis=1)
    waits, others = np.zeros(len(first)), np.full(len(first), np.nan)
    for begin in np.unique(first).tolist():
        moved = [_first_movement(*own, begin) for own in zip(value, courses.seen, sd, strict=True)]
        for i in np.flatnonzero(first == begin).tolist():
            waits[i] = moved[i]
            beside = [wait for j, wait in enumerate(moved) if j != i and not flat[j]]
            others[i] = np.median(beside) if beside else np.nan
    return Shapes(flat, waits, others, np.full(len(first), value.shape[1]))


def _first_movement(value: np.ndarray, seen: np.ndarray, sd: float, begin: int) -> int:
    """Frames from `begin`, or the first rating after it, until a trace (T,) is elsewhere; 0 where it never is."""
    frame = begin + np.flatnonzero(seen[begin:])
    moved = np.abs(value[frame] - value[frame[0]]) > max(FLAT, 0.1 * sd) if len(frame) else np.zeros(0, dtype=bool)
    return int(frame[moved.argmax()] - frame[0]) if moved.any() else 0


def trends(part: Part, hands: tuple[Hands, ...]) -> list[list[tuple[int, float]]]:
    """Of every dimension: annotators, and the share of their errors in a recording that goes steadily up or down."""
    out: list[list[tuple[int, float]]] = [[] for _ in hands]
    for dims in part.courses:
        for d, hand in enumerate(hands):
            courses = aligned(dims[d], hand)
            for k, left, seen in zip(courses.who.tolist(), residuals(courses, hand), courses.seen, strict=True):
                time, error = np.flatnonzero(seen).astype(float), left[seen]
                if len(time) > 2 and error.std() > 0:
                    time, around = (time - time.mean()) / time.std(), error - error.mean()
                    out[d].append((k, float((time @ around / len(time)) ** 2 / np.mean(around**2))))
    return out


class Stratum(NamedTuple):
    who: np.ndarray  # (n,) annotators who speak of these frames
    frames: int  # how many
    rows: np.ndarray  # (r, n) courses with the same products, r <= n, in the unit of the dimension


class Placed(NamedTuple):
    """Courses by the frames of the truth they speak of, once everybody's delay is known: N condensed frames."""

    row: tuple[np.ndarray, ...]  # K times: condensed frames that each speaks of; none of who is flat
    course: tuple[np.ndarray, ...]  # K times: what they say
    stratum: np.ndarray  # (N,)
    frames: np.ndarray  # (n,) true frames of each stratum
    first: np.ndarray  # (n,) condensed frame of each stratum that comes first
    given: np.ndarray  # (K,) true frames that each speaks of
    cross: np.ndarray  # (K, K) sums of products of the courses


def condensed(part: Part, hands: tuple[Hands, ...]) -> list[tuple[Stratum, ...]]:
    """Strata of every dimension in some recordings."""
    return [
        merged([one for dims in part.courses for one in strata_of(aligned(dims[d], hand))])
        for d, hand in enumerate(hands)
    ]


def placed(parts: Parts, hands: tuple[Hands, ...]) -> list[Placed]:
    """All courses of every dimension. hands: what is known of annotators; unit, flat and lag matter here."""
    found, K = parts.map(condensed, hands), len(hands[0].lag)
    return [place(merged([one for part in found for one in part[d]]), K) for d in range(len(hands))]


def strata_of(courses: Courses) -> list[Stratum]:
    """Strata of the frames of one recording, in the order in which they first come."""
    found = []
    for frames in same_speakers(courses.seen):
        members = np.flatnonzero(courses.seen[:, frames[0]])
        rows = courses.value[np.ix_(members, frames)].T
        found.append(Stratum(courses.who[members], len(frames), _triangle(rows)))
    return found


def merged(strata: list[Stratum]) -> tuple[Stratum, ...]:
    """Strata of the same annotators as one, in the order in which they first come."""
    sets: dict[bytes, list[Stratum]] = {}
    for one in strata:
        order = np.argsort(one.who, kind="stable")
        sets.setdefault(one.who[order].tobytes(), []).append(one._replace(who=one.who[order], rows=one.rows[:, order]))
    return tuple(
        Stratum(own[0].who, sum(one.frames for one in own), _triangle(np.concatenate([one.rows for one in own])))
        for own in sets.values()
    )


def _triangle(rows: np.ndarray) -> np.ndarray:
    """At most n rows with the same sums of products. rows: (r, n)."""
    return rows if len(rows) <= rows.shape[1] else np.asarray(np.linalg.qr(rows, mode="r"))


def place(strata: tuple[Stratum, ...], K: int) -> Placed:
    """The strata as frames that can be summed annotator by annotator."""
    size = np.array([len(one.rows) for one in strata], dtype=np.int64)
    first = np.cumsum(size) - size
    rows: list[list[np.ndarray]] = [[np.zeros(0, dtype=np.int64)] for _ in range(K)]
    courses: list[list[np.ndarray]] = [[np.zeros(0)] for _ in range(K)]
    given, cross = np.zeros(K), np.zeros((K, K))
    for begin, one in zip(first.tolist(), strata, strict=True):
        given[one.who] += one.frames
        cross[np.ix_(one.who, one.who)] += one.rows.T @ one.rows
        for i, k in enumerate(one.who.tolist()):
            rows[k].append(np.arange(begin, begin + len(one.rows)))
            courses[k].append(one.rows[:, i])
    return Placed(
        row=tuple(map(np.concatenate, rows)),
        course=tuple(map(np.concatenate, courses)),
        stratum=np.repeat(np.arange(len(strata)), size),
        frames=np.array([one.frames for one in strata], dtype=np.int64),
        first=first,
        given=given,
        cross=cross,
    )


def independent_frames(parts: Parts, scales: list[TwoScales], rate: float, longest: int) -> list[float]:
    """kappa of every dimension, what a frame counts for: EVIDENCE / (1 + 2 sum of squared autocorrelations).

    longest: frames of the longest recording.
    """
    most = int(trace_priors.LONGEST_CORRELATION * rate)  # eq. S36
    return [_share(rho) for rho in mean_autocorrelation(parts, scales, min(most, max(longest - 1, 0)))]


def _share(rho: np.ndarray) -> float:
    low = np.flatnonzero(rho < trace_priors.UNCORRELATED)
    until = int(low[0]) if len(low) else len(rho)
    return float(trace_priors.EVIDENCE / (1.0 + 2.0 * np.sum(rho[1:until] ** 2)))


def independent_stretch(kappa: float) -> int:
    """Frames with errors of their own, by Bartlett's number of them."""
    return max(round(trace_priors.EVIDENCE / trace_priors.INDEPENDENT / kappa), 1)


def mean_autocorrelation(parts: Parts, scales: list[TwoScales], most: int) -> np.ndarray:
    """(D, most + 1) autocorrelation of the courses by lag in frames, averaged over traces by their ratings; missing is
    0."""
    flat, unit = tuple(one.flat for one in scales), tuple(one.unit for one in scales)
    found = np.sum(parts.map(autocorrelations, flat, unit, most + 1), axis=0)
    return np.asarray(found[:, 0] / np.maximum(found[:, 1], 1.0))
