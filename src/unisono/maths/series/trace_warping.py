"""Dynamic time warping inside a band, and the average of traces under it (DTW barycentre).

A path goes from the first pair of frames to the last, by one frame of either trace or of both, and never further than
`reach` frames off the diagonal (Sakoe and Chiba, 1978). Cost: squared distance over dimensions. The barycentre
(Petitjean, Ketterlin and Gancarski, 2011) is the trace whose frames are means of the frames that are aligned to them.
"""

from __future__ import annotations

import numpy as np

ROUNDS = 10  # numerical: of aligning and averaging, at most; paths repeat long before


Path = tuple[np.ndarray, np.ndarray]  # frames of the target and of the trace that belong together, (L,) each


def warp_paths(traces: np.ndarray, target: np.ndarray, reach: int) -> list[Path]:
    """The cheapest path of every trace. traces: (p, T, D), target: (T, D) or one for each of the traces."""
    # eq. S62
    p, T, width = *traces.shape[:2], 2 * reach + 1
    targets = np.broadcast_to(target, traces.shape)
    frame = np.arange(T)[:, None] + np.arange(-reach, reach + 1)  # (T, width) frame of the trace, by target frame
    inside, at = (frame >= 0) & (frame < T), np.clip(frame, 0, T - 1)
    total = np.empty((T, p, width))
    entered = np.where(frame[0] == 0, 0.0, np.inf)
    best = np.broadcast_to(entered, (p, width))
    for t in range(T):
        cost = ((traces[:, at[t]] - targets[:, t, None]) ** 2).sum(axis=2)
        total[t] = _along(best, cost, inside[t])
        best = np.minimum(total[t], np.concatenate([total[t][:, 1:], np.full((p, 1), np.inf)], axis=1))
    return [_way_back(total[:, i]) for i in range(p)]


def _along(best: np.ndarray, cost: np.ndarray, usable: np.ndarray) -> np.ndarray:
    """Total costs of one target frame, which may take several frames of the trace: the cheapest place to enter."""
    run = np.cumsum(np.where(usable, cost, 0.0), axis=1)
    enter = np.where(usable, best - np.concatenate([np.zeros((len(run), 1)), run[:, :-1]], axis=1), np.inf)
    return np.asarray(np.where(usable, run + np.minimum.accumulate(enter, axis=1), np.inf))


def _way_back(total: np.ndarray) -> Path:
    """The path that led to the last pair; of equal ways the diagonal one."""
    T, width = total.shape
    rows, u, t = total.tolist(), T - 1, T - 1
    shift = width // 2  # place j of row t is frame t + j - shift of the trace
    path = [(t, u)]
    while t > 0 or u > 0:
        j = u - t + shift
        diagonal = rows[t - 1][j] if t else np.inf
        above = rows[t - 1][j + 1] if t and j + 1 < width else np.inf
        left = rows[t][j - 1] if j else np.inf
        if diagonal <= min(above, left):
            t, u = t - 1, u - 1
        elif above <= left:
            t -= 1
        else:
            u -= 1
        path.append((t, u))
    there, here = np.array(path[::-1]).T
    return there, here


def warped(trace: np.ndarray, path: Path, T: int) -> np.ndarray:
    """(T, D) mean of the trace's known frames that are aligned to each frame of the target, NaN where none is."""
    there, here = path
    value = trace[here]
    seen = ~np.isnan(value)
    total, count = np.zeros((T, trace.shape[1])), np.zeros((T, trace.shape[1]))
    np.add.at(total, there, np.where(seen, value, 0.0))
    np.add.at(count, there, seen)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def filled(trace: np.ndarray) -> np.ndarray:
    """The trace with linear interpolation in gaps, held at its ends; zeros where nothing is known. trace: (T, D)."""
    out = np.zeros_like(trace)
    for d in range(trace.shape[1]):
        known = np.flatnonzero(~np.isnan(trace[:, d]))
        if len(known):
            out[:, d] = np.interp(np.arange(len(trace)), known, trace[known, d])
    return out


def barycentre(y: np.ndarray, reach: int) -> np.ndarray:
    """(p, T, D) the traces as they are aligned to their barycentre; its frames are the means over annotators.

    Traces are aligned less their own mean, so that levels do not look like time. y: (p, T, D).
    """  # eq. S63
    seen = ~np.isnan(y)
    level = np.where(seen, y, 0.0).sum(axis=1, keepdims=True) / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    centred = np.stack([filled(trace) for trace in y - level])
    used = seen.any(axis=1, keepdims=True)  # (p, 1, D) a dimension that somebody left out aligns nobody
    out, paths = y, list[Path]()
    for _ in range(ROUNDS):
        weight = ~np.isnan(out) & used
        total, count = np.where(weight, out - level, 0.0).sum(axis=0), weight.sum(axis=0)
        target = filled(np.where(count > 0, total / np.maximum(count, 1), np.nan))
        found = warp_paths(centred * used, target * used, reach)
        if paths and all(np.array_equal(a, b) for a, b in zip(found, paths, strict=True)):
            break
        paths = found
        out = np.stack([warped(trace, path, y.shape[1]) for trace, path in zip(y, paths, strict=True)])
    return out
