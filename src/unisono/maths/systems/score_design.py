"""Scores of systems and their design: which random effects it can tell apart, with their degrees of freedom."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

PROMPTS, CELLS, OUTPUTS = "prompts", "systems by prompts", "outputs"
ANNOTATORS, FAVOURITES, NOISE = "annotators", "annotators by systems", "noise"
NESTED, CROSSED = (OUTPUTS, CELLS, PROMPTS), (ANNOTATORS, FAVOURITES)


class Scores(NamedTuple):
    """Scores (N,) with the codes of what they are of; every array is (N,)."""

    y: np.ndarray
    system: np.ndarray
    prompt: np.ndarray
    output: np.ndarray
    annotator: np.ndarray
    S: int


class Effects(NamedTuple):
    """Codes (N,) of the levels of every random effect that the design can tell apart, from fine to coarse."""

    nested: dict[str, np.ndarray]
    crossed: dict[str, np.ndarray]
    merged: tuple[str, ...]  # effects that others stand for here

    @property
    def names(self) -> tuple[str, ...]:
        """All components, the noise last."""
        return (*self.nested, *self.crossed, NOISE)


def effects(scores: Scores) -> Effects:
    """The random effects that the design can tell from each other and from noise."""
    cell = codes(scores.prompt, scores.system)
    favourite = codes(scores.annotator, scores.system)
    nested = dict(zip(NESTED, (scores.output, cell, scores.prompt), strict=True))
    kept: dict[str, np.ndarray] = {}
    N, last = len(scores.y), len(scores.y)
    for name, code in nested.items():
        levels = int(code.max()) + 1
        if name == OUTPUTS and levels == int(cell.max()) + 1:
            continue  # one output of a system on a prompt
        if levels < last and levels > 1:
            kept[name], last = code, levels
    crossed: dict[str, np.ndarray] = {}
    K, pairs = int(scores.annotator.max()) + 1, int(favourite.max()) + 1
    if 1 < K < N:
        crossed[ANNOTATORS] = scores.annotator
        if max(K, scores.S) < pairs < N:
            crossed[FAVOURITES] = favourite
    merged = tuple(name for name in (*NESTED, *CROSSED) if name not in kept and name not in crossed)
    return Effects(kept, crossed, merged)


def freedoms(scores: Scores, found: Effects) -> np.ndarray:
    """(c,) degrees of freedom of every component: its levels that coarser effects and the systems do not make up."""
    system, prompt, who = scores.system, scores.prompt, scores.annotator
    of = {
        PROMPTS: _levels(prompt) - _parts(prompt, system),
        CELLS: _interaction(prompt, system),
        OUTPUTS: _levels(scores.output) - _levels(codes(prompt, system)),
        ANNOTATORS: _levels(who) - _parts(who, system),
        FAVOURITES: _interaction(who, system),
    }
    kept = [of[name] for name in found.names[:-1]]
    return np.array([*kept, max(len(scores.y) - scores.S - sum(kept), 1)], dtype=float)


def _levels(code: np.ndarray) -> int:
    return int(code.max()) + 1


def _parts(one: np.ndarray, other: np.ndarray) -> int:
    """Connected parts of the design of two factors."""
    n, m = _levels(one), _levels(other)
    graph = sparse.coo_array((np.ones(len(one)), (one, n + other)), shape=(n + m, n + m))
    return int(csgraph.connected_components(graph, directed=False)[0])


def _interaction(one: np.ndarray, other: np.ndarray) -> int:
    return _levels(codes(one, other)) - _levels(one) - _levels(other) + _parts(one, other)


def codes(*of: np.ndarray) -> np.ndarray:
    """(N,) one code, from 0, for every combination of codes that occurs."""
    joined = of[0].astype(np.int64)
    for code in of[1:]:
        joined = joined * (int(code.max(initial=0)) + 1) + code
    return np.unique(joined, return_inverse=True)[1].reshape(-1)


class Layout(NamedTuple):
    """The design as matrices."""

    X: sparse.csr_array  # (N, F)
    Z: tuple[sparse.csr_array, ...]  # of nested, then crossed effects
    levels: int  # nested ones among them
    who: sparse.csr_array | None  # (N, pairs) of systems and annotators, which tell X and crossed Z; None: covariates
    up: tuple[sparse.csr_array, ...]  # which level of the next, coarser effect those of a nested one belong to


def layout_of(scores: Scores, found: Effects, covariates: np.ndarray) -> Layout:
    X = indicator(scores.system, scores.S)
    if covariates.shape[1]:
        X = sparse.hstack([X, sparse.csr_array(covariates)], format="csr")
    each = [*found.nested.values(), *found.crossed.values()]
    nested = list(found.nested.values())
    first = [np.unique(fine, return_index=True)[1] for fine in nested[:-1]]
    up = tuple(indicator(coarse[at], _levels(coarse)) for at, coarse in zip(first, nested[1:], strict=True))
    pair = codes(scores.system, scores.annotator)
    who = None if covariates.shape[1] else indicator(pair, _levels(pair))
    return Layout(X, tuple(indicator(code, _levels(code)) for code in each), len(nested), who, up)


def indicator(code: np.ndarray, levels: int) -> sparse.csr_array:
    N = len(code)
    return sparse.csr_array((np.ones(N), code, np.arange(N + 1)), shape=(N, levels))
