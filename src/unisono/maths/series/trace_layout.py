"""How frames, gaps and noise become one linear system: channels, the latent clock, and the posterior precision.

Channels are the ratings of one annotator on one dimension, whitened, so that one algebra serves white and AR(1) noise;
a channel is (annotator, dimension, role). AR(1) noise splits a dimension into the frames with a predecessor (role
FOLLOWING, rated y[t] - rho y[t-1]) and the first frames of runs (role FIRST). Raw rows are numbers as rated: one per
channel, and a second one, the predecessor, for FOLLOWING. `mix` takes raw rows to channels, which the E-step sees.

Clock: recordings of equal length and equal gaps become one group of right-hand sides, with `pre` frames before the
first rated one (start `preroll`: the n - 1 frames its filters reach back to; start `zero`: none), the T frames of the
recording, then unrated frames up to a whole block. L = nb S frames in all. Edges, gaps and the ragged end are unrated
frames and nothing else. A mask says on which frames a channel is rated; it is kept as "all frames but these" or "these
alone" (exceptions with a sign), so that few gaps cost little everywhere.

Precision, as block tridiagonal rows: a rated frame s adds g[w] g[w']' to the entries (s-w, s-w'), where g is a row's
filter over the root of its noise. Summed along the lags, frames that are all rated give the same block row everywhere.
What a block row lacks or has beyond that is one outer product of the filters concerned, made when the block is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.linalg import block_tridiagonal, causal_filters
from unisono.maths.series.trace_data import SeriesData, SeriesParams, Structure

WHITE, FOLLOWING, FIRST = 0, 1, 2  # layout: codes of kinds of rows


class Channel(NamedTuple):
    annotator: int
    dim: int
    role: int


class Channels(NamedTuple):
    channel: tuple[Channel, ...]  # C of them
    raw_channel: np.ndarray  # (H,) channel of each raw row
    raw_back: np.ndarray  # (H,) 1 where the raw row is the predecessor, else 0


class Whitened(NamedTuple):
    """The parameters as the E-step sees them."""

    G: np.ndarray  # (C, n, D) filters of the channels, n = structure.taps
    beta: np.ndarray  # (C,) biases
    weight: np.ndarray  # (C,) inverse noise variances
    mix: np.ndarray  # (H, C) raw rows to channels


def find_channels(data: SeriesData, structure: Structure) -> Channels:
    """The channels that occur in the data, by annotator, dimension, role."""
    offset = np.concatenate([[0], np.cumsum(data.length[data.item_of])])
    found: set[Channel] = set()
    for j, k in enumerate(data.annotator_of.tolist()):
        found |= set(split(~np.isnan(data.y[offset[j] : offset[j + 1]]), k, structure))
    return index_channels(sorted(found))


def split(seen: np.ndarray, annotator: int, structure: Structure) -> dict[Channel, np.ndarray]:
    """Channels of one judgement and the frames (T,) bool of each. seen: (T, D) bool."""
    frames: dict[Channel, np.ndarray] = {}
    for d, given in enumerate(seen.T):
        if structure.autocorrelated:
            follows = given & np.concatenate([[False], given[:-1]])
            frames[Channel(annotator, d, FOLLOWING)] = follows
            frames[Channel(annotator, d, FIRST)] = given & ~follows
        else:
            frames[Channel(annotator, d, WHITE)] = given
    return {channel: mask for channel, mask in frames.items() if mask.any()}


def index_channels(channel: list[Channel]) -> Channels:
    raws = [(c, back) for c, q in enumerate(channel) for back in range(1 + (q.role == FOLLOWING))]
    raw = np.array(raws, dtype=np.int64).reshape(-1, 2)
    return Channels(tuple(channel), raw[:, 0], raw[:, 1])


def whiten(channels: Channels, params: SeriesParams, structure: Structure) -> Whitened:
    """Filters, biases and weights of the channels."""  # eq. S3
    k, d, role = np.array(channels.channel, dtype=np.int64).reshape(-1, 3).T
    rho, C = np.where(role == WHITE, 0.0, params.rho[k, d]), len(k)
    back = np.where(role == FOLLOWING, rho, 0.0)
    own = params.F[k, :, d]  # (C, W, D)
    G = np.zeros((C, structure.taps, own.shape[2]))
    G[:, : structure.W] = own
    if structure.autocorrelated:
        G[:, 1:] -= back[:, None, None] * own
    variance = params.N[k, d, d] / np.where(role == FIRST, 1.0 - rho**2, 1.0)
    mix = np.zeros((len(channels.raw_channel), C))
    mix[np.arange(len(mix)), channels.raw_channel] = np.where(channels.raw_back == 1, -back[channels.raw_channel], 1.0)
    return Whitened(G, (1.0 - back) * params.b[k, d], 1.0 / variance, mix)


BLOCK_ENTRIES = 24  # numerical: least frames times dimensions of a block; below it loops cost more than algebra


class Masks(NamedTuple):
    base: np.ndarray  # (n_mask,) bool: the mask is all T frames plus its exceptions (sign -1), else only these (+1)
    mask: np.ndarray  # (n_exceptions,) mask of each exception
    frame: np.ndarray  # (n_exceptions,) its frame on the clock
    sign: np.ndarray  # (n_exceptions,) +1 or -1
    of: np.ndarray  # (C_g,) mask of each channel of the group
    n: np.ndarray  # (n_mask,) frames in each


class Group(NamedTuple):
    recording: np.ndarray  # (R,) recordings of the group
    T: int  # rated range is pre..pre+T-1
    pre: int
    S: int  # frames per block
    L: int  # frames of the clock
    y: np.ndarray  # (R, L, H_g) raw rows, 0 where missing
    X: np.ndarray  # (R, L, P) features, the first and last frame held outside the recording
    channel: np.ndarray  # (C_g,) channels present
    raw: np.ndarray  # (H_g,) raw rows present
    masks: Masks
    seen: np.ndarray  # (L, n_mask) bool, the masks on the clock
    kind: np.ndarray  # (nb,) which kind of block row each block is
    window: np.ndarray  # (n_kind, n_mask, 2 S) bool, the masks over a block of the kind and the one after it
    edge: np.ndarray  # (n_kind, 2) bool, the kind is the first block, the last block

    @property
    def stop(self) -> int:
        return self.pre + self.T


class Layout(NamedTuple):
    channels: Channels
    groups: tuple[Group, ...]
    first_row: np.ndarray  # (M+1,) recording m owns rows first_row[m]:first_row[m+1] of the (sum T, .) arrays
    features: causal_filters.Lagged  # lagged moments of [1, x]
    n: int  # taps of the whitened filters
    K: int
    D: int
    P: int


def make_layout(data: SeriesData, structure: Structure) -> Layout:
    """Groups the recordings; do it once per fit."""
    channels = find_channels(data, structure)
    place = {channel: c for c, channel in enumerate(channels.channel)}
    offset = np.concatenate([[0], np.cumsum(data.length[data.item_of])])
    first_row = np.concatenate([[0], np.cumsum(data.length)])
    judgements = [np.flatnonzero(data.item_of == m) for m in range(len(data.length))]
    seen: dict[tuple[int, bytes], list[int]] = {}
    for m, js in enumerate(judgements):
        bits = np.packbits(~np.isnan(np.concatenate([data.y[offset[j] : offset[j + 1]] for j in js] or [data.y[:0]])))
        key = (int(data.length[m]), data.annotator_of[js].tobytes() + b"|" + bits.tobytes())
        seen.setdefault(key, []).append(m)
    groups = []
    for (T, _), members in seen.items():
        frames: dict[int, np.ndarray] = {}
        for j in judgements[members[0]]:
            given = ~np.isnan(data.y[offset[j] : offset[j + 1]])
            parts = split(given, int(data.annotator_of[j]), structure)
            frames |= {place[channel]: mask for channel, mask in parts.items()}
        if frames:
            groups.append(_group(data, structure, channels, T, members, frames, judgements, offset, first_row))
    features = causal_filters.add_lagged(
        [
            causal_filters.lagged_moments(
                causal_filters.with_one(g.X[:, : g.stop]), causal_filters.with_one(g.X[:, : g.stop])
            )
            for g in groups
        ]
    )
    return Layout(channels, tuple(groups), first_row, features, structure.taps, data.K, data.D, data.P)


def _group(
    data: SeriesData,
    structure: Structure,
    channels: Channels,
    T: int,
    members: list[int],
    frames: dict[int, np.ndarray],
    judgements: list[np.ndarray],
    offset: np.ndarray,
    first_row: np.ndarray,
) -> Group:
    n, D = structure.taps, data.D
    pre = n - 1 if structure.start == "preroll" else 0
    S = max(n - 1, 1, min(-(-BLOCK_ENTRIES // D), pre + T))
    L = -(-(pre + T) // S) * S
    channel = np.array(sorted(frames), dtype=np.int64)
    raw = np.flatnonzero(np.isin(channels.raw_channel, channel))
    mask = np.stack([frames[c] for c in channel.tolist()])
    first, of = _distinct(mask)
    mask = mask[first]
    clock = np.zeros((len(mask), L), dtype=bool)
    clock[:, pre : pre + T] = mask
    kind, window, edge = _kinds(clock, S)
    y = np.zeros((len(members), L, len(raw)))
    for r, m in enumerate(members):
        y[r, pre : pre + T] = _raw_rows(data, channels, raw, judgements[m], offset, frames, T)
    X = np.stack([_held(data.X[first_row[m] : first_row[m + 1]], pre, L) for m in members])
    return Group(
        recording=np.array(members, dtype=np.int64),
        T=T,
        pre=pre,
        S=S,
        L=L,
        y=y,
        X=X,
        channel=channel,
        raw=raw,
        masks=_exceptions(mask, of, pre),
        seen=np.ascontiguousarray(clock.T),
        kind=kind,
        window=window,
        edge=edge,
    )


def _raw_rows(
    data: SeriesData,
    channels: Channels,
    raw: np.ndarray,
    js: np.ndarray,
    offset: np.ndarray,
    frames: dict[int, np.ndarray],
    T: int,
) -> np.ndarray:
    """(T, H_g) the ratings of one recording by raw row, 0 where missing."""
    judgement_of = {int(data.annotator_of[j]): j for j in js}
    out = np.zeros((T, len(raw)))
    for h, index in enumerate(raw.tolist()):
        c = int(channels.raw_channel[index])
        j = judgement_of[channels.channel[c].annotator]
        value = data.y[offset[j] : offset[j + 1], channels.channel[c].dim]
        if channels.raw_back[index]:
            value = np.concatenate([[0.0], value[:-1]])
        out[:, h] = np.where(frames[c], value, 0.0)
    return out


def _held(X: np.ndarray, pre: int, L: int) -> np.ndarray:
    """(L, P) features on the clock: before and after the recording the nearest frame is held."""
    return np.pad(X, ((pre, L - pre - len(X)), (0, 0)), mode="edge")


def _exceptions(mask: np.ndarray, of: np.ndarray, pre: int) -> Masks:
    """mask: (n_mask, T) bool."""
    base = mask.mean(axis=1) > 0.5
    which, frame = np.nonzero(mask != base[:, None])
    return Masks(base, which, frame + pre, np.where(base[which], -1.0, 1.0), of, mask.sum(axis=1))


def _kinds(clock: np.ndarray, S: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct block rows: the masks over the block and the next one, and whether it is the first or the last."""
    n_mask, L = clock.shape
    nb = L // S
    block = np.moveaxis(clock.reshape(n_mask, nb, S), 1, 0)
    after = np.concatenate([block[1:], np.zeros((1, n_mask, S), dtype=bool)])
    window = np.concatenate([block, after], axis=2)
    edge = np.zeros((nb, 2), dtype=bool)
    edge[0, 0] = edge[-1, 1] = True
    first, kind = _distinct(np.concatenate([window.reshape(nb, -1), edge], axis=1))
    return kind, window[first], edge[first]


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of the distinct rows, and which of them each row is. rows: (n, m) bool."""
    packed = np.packbits(rows, axis=1)
    # Rows as single strings of bytes: sorting them by columns takes as long as an EM iteration.
    _, first, of = np.unique(packed.view(f"V{packed.shape[1]}").ravel(), return_index=True, return_inverse=True)
    return first, of


class Changes(NamedTuple):
    """Rows and frames in which the kinds of blocks differ from a block that is rated throughout."""

    first: np.ndarray  # (n_kind + 1,) kind i owns entries first[i]:first[i+1]
    row: np.ndarray  # (n,) row of the group
    frame: np.ndarray  # (n,) frame from the block's first one on, 0..2 S - 1: in the block, or in the one after it
    sign: np.ndarray  # (n,) +1 where it is rated beyond, -1 where it is missing


def lags_kept(n: int) -> int:
    """Lags of the band: those of the filters, and at least the one of the dynamics."""
    return max(n, 2)


def unit_rows(group: Group, whitened: Whitened) -> np.ndarray:
    """(C_g, n, D) filters of the group's channels, scaled so that their noise has variance 1."""  # eq. S4
    return np.asarray(np.sqrt(whitened.weight[group.channel])[:, None, None] * whitened.G[group.channel])


def precision_blocks(group: Group, rows: np.ndarray, params: SeriesParams) -> block_tridiagonal.Blocks:
    """Block rows of the posterior precision on the group's clock. rows: (C_g, n, D), see `unit_rows`."""  # eq. S5
    D, S = rows.shape[2], group.S
    diagonal, left = _full_row(rows[group.masks.base[group.masks.of]], params, S)
    template = causal_filters.filter_template(rows, S).reshape(S, len(rows), 2 * S * D)
    changes = _changes(group)
    corner = params.phi**2 * np.linalg.inv(params.sigma)

    def block(kind: int) -> tuple[np.ndarray, np.ndarray]:
        here = slice(changes.first[kind], changes.first[kind + 1])
        row, frame, sign = changes.row[here], changes.frame[here], changes.sign[here, None]
        inside = frame < S
        own = template[frame[inside], row[inside]]  # over the previous block and this one
        after = template[frame[~inside] - S, row[~inside], : S * D]  # what the next block's frames see of this one
        now, before = own[:, S * D :], own[:, : S * D]
        signed = now * sign[inside]
        A = diagonal + signed.T @ now + (after * sign[~inside]).T @ after
        if group.edge[kind, 0]:
            A[:D, :D] -= corner
        if group.edge[kind, 1]:
            A[-D:, -D:] -= corner
        return A, left + signed.T @ before

    return block_tridiagonal.Blocks(block, group.kind)


def prior_band(params: SeriesParams, lags: int) -> np.ndarray:
    """(lags, D, D) prior precision of an inner frame with itself and with the frame before it."""  # eq. S5
    inverse = np.linalg.inv(params.sigma)
    band = np.zeros((lags, *inverse.shape))
    band[lags - 1] = (1.0 + params.phi**2) * inverse
    band[lags - 2] = -params.phi * inverse
    return band


def log_prior_precision(params: SeriesParams, L: int) -> float:
    """Log determinant of the prior precision of L frames."""
    D = len(params.sigma)
    return float(-L * np.linalg.slogdet(params.sigma)[1] + D * np.log1p(-(params.phi**2)))


def _full_row(rows: np.ndarray, params: SeriesParams, S: int) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal block (lower triangle) and left block where every frame is rated by these rows."""
    Q, n, D = rows.shape
    flat, lags = rows.reshape(Q, n * D), lags_kept(n)
    band = causal_filters.lag_pairs((flat.T @ flat).reshape(n, D, n, D), lags).sum(axis=0) + prior_band(params, lags)
    return causal_filters.split_band(np.tile(np.swapaxes(band, 0, 1), (S, 1, 1, 1)))


def _changes(group: Group) -> Changes:
    kind, mask, frame = np.nonzero(group.window != group.masks.base[None, :, None])
    order = np.argsort(group.masks.of, kind="stable")
    size = np.bincount(group.masks.of, minlength=len(group.masks.base))
    # A mask stands for all of its rows: entry e becomes size[mask[e]] entries.
    entry = np.repeat(np.arange(len(mask)), size[mask])
    nth = np.arange(len(entry)) - np.repeat(np.cumsum(size[mask]) - size[mask], size[mask])
    row = order[(np.cumsum(size) - size)[mask[entry]] + nth]
    sign = np.where(group.masks.base[mask[entry]], -1.0, 1.0)
    first = np.searchsorted(kind[entry], np.arange(len(group.window) + 1))
    return Changes(first, row, frame[entry], sign)
