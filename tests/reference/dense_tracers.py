"""The two-scale model of traces written naively: one dense normal distribution per frame and per recording, loops.

Rows are (gain with its sign, noise variance) of each annotator; a frame of the course is rated by some of them.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln
from scipy.stats import multivariate_normal

from unisono.maths.series.trace_frames import Stratum


def courses(data, scales):
    """(recording, annotator, frame, value) of every rating of the only dimension, less the mean of its trace."""
    row = 0
    for m, k in zip(data.item_of.tolist(), data.annotator_of.tolist(), strict=True):
        y = data.y[row : row + data.length[m], 0]
        row += data.length[m]
        for frame in np.flatnonzero(~np.isnan(y)).tolist():
            yield m, k, frame, float(y[frame] - np.nanmean(y)) / scales.unit


def log_course(data, scales, lag, gain, noise, A):
    """log p(courses): every frame of the truth N(0, A), every rating of it gain x + N(0, noise)."""
    said = {}
    for recording, k, frame, course in courses(data, scales):
        at = int(frame - lag[k])
        if not scales.flat[k] and 0 <= at < data.length[recording]:
            said.setdefault((recording, at), []).append((k, course))
    return sum(_log_normal(pairs, gain, noise, A) for pairs in said.values())


def log_levels(scales, gain, noise, bias, AB):
    """log p(levels): every recording's N(0, AB), every annotator's level of it bias + gain L + N(0, noise)."""
    said = {}
    for level, recording, k in zip(scales.level, scales.recording_of, scales.annotator_of, strict=True):
        said.setdefault(int(recording), []).append((int(k), float(level - bias[k])))
    return sum(_log_normal(pairs, gain, noise, AB) for pairs in said.values())


def _log_normal(pairs, gain, noise, variance):
    who, y = [k for k, _ in pairs], np.array([value for _, value in pairs])
    g = gain[who]
    return multivariate_normal(np.zeros(len(y)), variance * np.outer(g, g) + np.diag(noise[who])).logpdf(y)


def autocorrelation(course, most):
    """(most + 1,) of one complete trace, by loops."""
    square = sum(x * x for x in course)
    return np.array(
        [sum(course[t] * course[t + lag] for t in range(len(course) - lag)) / square for lag in range(most + 1)]
    )


def delay_evidence(data, scales, now, kappa, lag, k, most):
    """(2 most + 1,) kappa sum over frames of V l_k course_k[t + lag] S_-k[t], by loops."""
    weight, q = now.gain / now.noise, now.gain**2 / now.noise
    others, precision = {}, {}
    own = {}
    for recording, j, frame, course in courses(data, scales):
        if j == k:
            own[recording, frame] = course
            continue
        at = (recording, int(frame - lag[j]))
        others[at] = others.get(at, 0.0) + weight[j] * course
        precision[at] = precision.get(at, 0.0) + q[j]
    out = []
    for step in range(-most, most + 1):
        total = 0.0
        for (recording, frame), course in own.items():
            at = (recording, frame - step)
            if 0 <= at[1] < data.length[recording]:
                total += course * others.get(at, 0.0) / (1.0 / now.A + precision.get(at, 0.0) + q[k])
        out.append(kappa * weight[k] * total)
    return np.array(out)


def dense_course(y, gain, noise, A, phi, lasting):
    """Course of one recording and its variance from dense matrices. y: (K, T), NaN rows for who did not rate it."""
    T = y.shape[1]
    prior = A * phi ** np.abs(np.subtract.outer(np.arange(T), np.arange(T)))
    Q = sum(g * g / n for g, n, own in zip(gain, noise, y, strict=True) if not np.isnan(own).any())
    S = sum(g / n * own for g, n, own in zip(gain, noise, y, strict=True) if not np.isnan(own).any())
    V = np.linalg.inv(np.linalg.inv(prior) + Q * np.eye(T))
    alone = 1.0 / (1.0 / A + Q)
    return Q / (Q + lasting / A) * (V @ S), lasting * alone + (1.0 - lasting) * np.diagonal(V)


def left_out_products(courses, folds, gain, noise, A, phi, lasting):
    """Found, expected and its variance: sums over recordings, folds, frames and ordered pairs, by loops."""
    found = expected = variance = 0.0
    for y, fold in zip(courses, folds, strict=True):
        for f in range(max(fold) + 1):
            out = [k for k in range(len(fold)) if fold[k] == f]
            others = y.copy()
            others[out] = np.nan
            x, V = dense_course(others, gain, noise, A, phi, lasting)
            for t in range(y.shape[1]):
                for j in out:
                    for k in out:
                        if j == k:
                            continue
                        weight = gain[j] / noise[j] * gain[k] / noise[k]
                        found += weight * (y[j, t] - gain[j] * x[t]) * (y[k, t] - gain[k] * x[t])
                        expected += weight * gain[j] * gain[k] * V[t]
                        spread = [gain[i] ** 2 * V[t] + noise[i] for i in (j, k)]
                        variance += 2.0 * weight**2 * spread[0] * spread[1]
    return found, expected, variance


def left_out_deviates(traces, folds, person, A, AB, phi, lasting):
    """By loops, of one dimension without delays: deviates of ratings whose level is known, and of strangers' ratings.

    traces: (K, T) of every recording; person: gain, noise, level, bias, bias_variance, each (K,). Two more columns have
    the shares of a stranger's variance that stay for a recording, and with the annotator.
    """
    gain, noise, level, bias, doubt = person
    rows = []
    for y, fold in zip(traces, folds, strict=True):
        means = y.mean(axis=1)
        for f in range(max(fold) + 1):
            out = [k for k in range(len(fold)) if fold[k] == f]
            rest = [k for k in range(len(fold)) if fold[k] != f and not np.isnan(means[k])]
            others = y - means[:, None]
            others[out] = np.nan
            x, V = dense_course(others, gain, noise, A, phi, lasting)
            VL = 1.0 / (1.0 / AB + sum(gain[k] ** 2 / level[k] for k in rest))
            L = VL * sum(gain[k] / level[k] * (means[k] - bias[k]) for k in rest)
            VL += VL**2 * sum(gain[k] ** 2 / level[k] ** 2 * doubt[k] for k in rest)
            for k in out:
                crowd = [j for j in range(len(fold)) if j != k]
                n, g = len(crowd), np.mean(gain[crowd])
                gains, biases = (v[crowd].var(ddof=1) * (1 + 1 / n) for v in (gain, bias))
                biases += np.mean(doubt[crowd])
                stays = biases + np.mean(level[crowd]) + gains * AB + g**2 * VL
                for t in range(y.shape[1]):
                    whole = stays + np.mean(noise[crowd]) + gains * A + g**2 * V[t]
                    known = (y[k, t] - means[k] - gain[k] * x[t]) / np.sqrt(gain[k] ** 2 * V[t] + noise[k])
                    new = (y[k, t] - np.mean(bias[crowd]) - g * (L + x[t])) / np.sqrt(whole)
                    rows.append((known, new, stays / whole, biases / whole))
    return np.array(rows)


def uncondensed(data, scales, lag):
    """Courses by the frames of the truth they speak of, every frame by itself."""
    said = {}
    for recording, k, frame, course in courses(data, scales):
        at = int(frame - lag[k])
        if not scales.flat[k] and 0 <= at < data.length[recording]:
            said.setdefault((recording, at), {})[k] = course
    sets = {}
    for own in said.values():
        sets.setdefault(tuple(sorted(own)), []).append([own[k] for k in sorted(own)])
    return tuple(Stratum(np.array(who), len(rows), np.array(rows)) for who, rows in sets.items())


def left_out_fit(data, scales, now, lag, phi):
    """Sums of l w x_-k and of q x_-k^2 over annotators and frames of the only dimension, by dense matrices."""
    said = {}
    for recording, k, frame, course in courses(data, scales):
        at = int(frame - lag[k])
        if not scales.flat[k] and 0 <= at < data.length[recording]:
            said.setdefault(recording, {}).setdefault(k, {})[at] = course
    cross = square = 0.0
    for recording, traces in said.items():
        T = data.length[recording]
        prior = now.A * phi ** np.abs(np.subtract.outer(np.arange(T), np.arange(T)))
        for k, own in traces.items():
            rows = [(t, j, w) for j, other in traces.items() if j != k for t, w in other.items()]
            if not rows:
                continue
            G = np.zeros((len(rows), T))
            for i, (t, j, _) in enumerate(rows):
                G[i, t] = now.gain[j]
            C = G @ prior @ G.T + np.diag([now.noise[j] for _, j, _ in rows])
            x = prior @ G.T @ np.linalg.solve(C, np.array([w for _, _, w in rows]))
            for t, w in own.items():
                cross += now.gain[k] / now.noise[k] * w * x[t]
                square += now.gain[k] ** 2 / now.noise[k] * x[t] ** 2
    return cross, square


def log_joint(data, scales, tracers, lag, leak, kappa, correlation):
    """kappa log p(courses) + log p(levels) of all dimensions, whose truths leak into each other, by dense matrices.

    lag: (K,) frames on every dimension; leak: (K, D, D), 0 for the own dimension; correlation: (D, D) of the truths.
    """
    D, said, levels = data.D, {}, {}
    for d in range(D):
        for m, k, frame, course in courses(data._replace(y=data.y[:, [d]]), scales[d]):
            at = int(frame - lag[k])
            if not scales[d].flat[k] and 0 <= at < data.length[m]:
                said.setdefault((m, at), []).append((k, d, course))
        for level, m, k in zip(scales[d].level, scales[d].recording_of, scales[d].annotator_of, strict=True):
            levels.setdefault(int(m), []).append((int(k), d, float(level - tracers[d].bias[k])))

    def density(rows, noise, variance):
        G = np.array([[tracers[d].gain[k] if e == d else leak[k, d, e] for e in range(D)] for k, d, _ in rows])
        sd = np.sqrt(variance)
        C = G @ (correlation * sd[:, None] * sd) @ G.T + np.diag([getattr(tracers[d], noise)[k] for k, d, _ in rows])
        return multivariate_normal(np.zeros(len(rows)), C).logpdf([value for _, _, value in rows])

    inside = sum(density(rows, "noise", [now.A for now in tracers]) for rows in said.values())
    return kappa * inside + sum(density(rows, "level_noise", [now.AB for now in tracers]) for rows in levels.values())


def dense_leaking_course(y, follows, noise, A, phi):
    """(T, D) the course of one recording that all rated, before it is shrunk. y: (K, T, D), follows: (K, D, D)."""
    K, T, D = y.shape
    time = phi ** np.abs(np.subtract.outer(np.arange(T), np.arange(T)))
    prior = np.kron(time, A)  # frame after frame
    G = np.concatenate([np.kron(np.eye(T), follows[k]) for k in range(K)])
    N = np.diag(np.concatenate([np.tile(noise[k], T) for k in range(K)]))
    return (prior @ G.T @ np.linalg.solve(G @ prior @ G.T + N, y.reshape(K * T * D))).reshape(T, D)


def student_traces(y, lag, gain, noise, A, kappa, nu):
    """Expected precisions of the traces y (K, T) of one recording, NaN where missing, over the usual ones, if errors of
    traces have Student's t; and the variational bound after every step."""
    K, T = y.shape
    course = y - np.array([np.mean(own[~np.isnan(own)]) if (~np.isnan(own)).any() else np.nan for own in y])[:, None]
    frames = [
        [(k, course[k, t + lag[k]]) for k in range(K) if 0 <= t + lag[k] < T and not np.isnan(course[k, t + lag[k]])]
        for t in range(T)
    ]
    shape, scale, bounds = np.full(K, nu / 2.0), np.full(K, nu / 2.0), []
    for _ in range(200):  # as many as the fast code takes, at most
        count, square, bound, w = np.zeros(K), np.zeros(K), 0.0, shape / scale
        log_w = digamma(shape) - np.log(scale)
        for said in frames:
            if not said:
                continue
            k, z = np.array([j for j, _ in said]), np.array([v for _, v in said])
            V = 1.0 / (1.0 / A + np.sum(w[k] * gain[k] ** 2 / noise[k]))
            x = V * np.sum(w[k] * gain[k] * z / noise[k])
            left = (z - gain[k] * x) ** 2 + gain[k] ** 2 * V
            count[k] += kappa
            square[k] += kappa * left / noise[k]
            bound += 0.5 * kappa * np.sum(log_w[k] - np.log(2.0 * np.pi * noise[k]) - w[k] * left / noise[k])
            bound += 0.5 * kappa * (1.0 + np.log(V / A) - (x * x + V) / A)
        for a, b, e, log in zip(shape, scale, w, log_w, strict=True):
            prior = nu / 2.0 * np.log(nu / 2.0) - gammaln(nu / 2.0) + (nu / 2.0 - 1.0) * log - nu / 2.0 * e
            bound += prior - (a * np.log(b) - gammaln(a) + (a - 1.0) * log - b * e)
        bounds.append(bound)
        shape, scale = (nu + count) / 2.0, (nu + square) / 2.0
        if np.abs(np.log(shape / scale / w)).max() < 1e-9:
            break
    return shape / scale, np.array(bounds)
