"""The latent clock: recordings of equal length and equal gaps become one group of right-hand sides.

Clock of a group: `pre` frames before the first rated one (start `preroll`: the n - 1 frames its filters reach back to;
start `zero`: none), the T frames of the recording, then unrated frames up to a whole block. L = nb S frames in all.
Edges, gaps and the ragged end are unrated frames and nothing else; unrated frames at the end leave the likelihood as
it is. A mask says on which frames a channel is rated; it is kept as "all frames but these" or "these alone" (exceptions
with a sign), so that few gaps cost little everywhere.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.linalg.lagged import Lagged, add_lagged, lagged_moments, with_one
from unisono.maths.series.channels import FOLLOWING, Channels, find_channels, split
from unisono.maths.series.params import SeriesData, Structure

BLOCK_ENTRIES = 24  # least block size in numbers (frames x dimensions): below it the loops cost more than the algebra


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
    row: np.ndarray  # (Q_g,) rows present
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
    features: Lagged  # lagged moments of [1, x]
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
    features = add_lagged([lagged_moments(with_one(g.X[:, : g.stop]), with_one(g.X[:, : g.stop])) for g in groups])
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
        row=np.flatnonzero(np.isin(channels.row_channel, channel)),
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
        value = data.y[offset[j] : offset[j + 1], channels.raw_dim[index]]
        if channels.channel[c].role == FOLLOWING and channels.raw_back[index]:
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
