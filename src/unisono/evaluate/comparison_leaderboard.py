"""Leaderboards from comparisons: which system is preferred, which differences are real, what ranks systems may have.

Items are systems, or belong to them; comparisons inside a system say nothing and are left out. Strengths are those of
`maths.systems.compared_strengths`, statements those of other leaderboards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from unisono.errors import DataError
from unisono.evaluate import leaderboard_results, system_leaderboard
from unisono.maths.systems import compared_strengths, system_priors, system_statements
from unisono.maths.systems.score_design import ANNOTATORS, PROMPTS, codes
from unisono.tables.comparisons import LEFT, TIE, Comparisons
from unisono.tables.labels import counted, listed, sort_labels

BY_ITEM = "rankings, one row per item"
LOGITS = "Means are logits around the average system: of two that are 1 apart the better one is preferred by 73%."


def compared_systems(comparisons: Comparisons, system_of: Mapping[str, str] | None) -> Comparisons:
    """Comparisons of systems, without those inside a system; items are systems where nothing else is said."""
    if system_of is None:
        return comparisons
    missing = [item for item in comparisons.items if not system_of.get(item)]
    if missing:
        raise DataError(f"{comparisons.source}: item {listed(missing)} has no system.")
    names = sort_labels({system_of[item] for item in comparisons.items})
    place = np.array([names.index(system_of[item]) for item in comparisons.items])
    left, right = place[comparisons.left], place[comparisons.right]
    return replace(comparisons, items=tuple(names), left=left, right=right).rows(left != right)


def measure_compared(
    comparisons: Comparisons,
    *,
    system_of: Mapping[str, str] | None = None,
    prompt_of: Sequence[str] | None = None,
    these: str | Sequence[str] = (),
    level: float = system_priors.LEVEL,
    seed: int = 0,
) -> leaderboard_results.Leaderboard:
    """Strengths of systems on every dimension; `prompt_of` says of every row of the table what systems were asked."""
    if prompt_of is not None and comparisons.layout == BY_ITEM:
        raise DataError(f"{comparisons.source}: a ranking stands in several rows: leave the prompt out.")
    pairs = compared_systems(comparisons, system_of)
    if len(pairs.items) < 2 or not pairs.n:
        raise DataError(f"{pairs.source}: there are no comparisons of two systems.")
    words, fixed = system_leaderboard.fixed_components(these)
    asked = None if prompt_of is None else codes(np.unique(prompt_of, return_inverse=True)[1][pairs.ranking])
    boards = tuple(_board(pairs, d, asked, fixed) for d in range(len(pairs.dimensions)))
    alike = system_statements.dimension_correlation([board.influence for board in boards])
    said = system_statements.statements([board.means for board in boards], alike, level, np.random.default_rng(seed))
    ends = np.full(len(boards), -np.inf), np.full(len(boards), np.inf)
    whose = f"{counted(pairs.n, 'comparison')} by {counted(len(pairs.annotators), 'annotator')}"
    names = pairs.source, pairs.items, pairs.dimensions
    notes = _about(words, prompt_of is not None, len(pairs.annotators)), LOGITS
    return leaderboard_results.Leaderboard(*names, boards, said, ends, level, whose, notes, False, pairs.frame_kind)


def _about(words: Sequence[str], prompted: bool, annotators: int) -> str:
    these = {"people", "judges", "annotators"} & set(words) or annotators == 1
    whom = "these annotators" if these else "other annotators of the kind"
    if not prompted:
        return f"Nothing says what systems were asked (prompt): intervals hold for these prompts and {whom}."
    return f"Intervals hold for {'these prompts' if 'prompts' in words else 'other prompts of the kind'} and {whom}."


def _board(pairs: Comparisons, d: int, asked: np.ndarray | None, fixed: Sequence[str]) -> leaderboard_results.Board:
    S, name = len(pairs.items), pairs.dimensions[d]
    rows = np.flatnonzero(pairs.dimension_of == d)
    left, right = pairs.left[rows], pairs.right[rows]
    _require_connected(pairs, left, right, name)
    y = np.where(pairs.answer[rows] == LEFT, 1.0, np.where(pairs.answer[rows] == TIE, 0.5, 0.0))
    answers = compared_strengths.Answers(left, right, y, S, pairs.sided)
    groups = {ANNOTATORS: pairs.annotator_of[rows]} | ({} if asked is None else {PROMPTS: asked[rows]})
    means, variances = compared_strengths.compared_means(answers, groups, fixed)
    found = compared_strengths.strengths(answers)
    clusters = pairs.ranking if asked is None else asked
    influence = np.zeros((int(clusters.max()) + 1, S))
    pulled = compared_strengths.pulls(answers, found.surprise, clusters[rows]) @ found.inverse
    influence[: len(pulled)] = pulled
    n = np.bincount(np.concatenate([left, right]), minlength=S)
    sizes = len(np.unique(clusters[rows])), len(np.unique(pairs.annotator_of[rows]))
    return leaderboard_results.Board(name, means, influence, variances, n, float("nan"), (), *sizes)


def _require_connected(pairs: Comparisons, left: np.ndarray, right: np.ndarray, dimension: str) -> None:
    S = len(pairs.items)
    graph = sparse.coo_array((np.ones(len(left)), (left, right)), shape=(S, S))
    parts, of = csgraph.connected_components(graph, directed=False)
    if parts > 1:
        one, other = (listed([name for name, c in zip(pairs.items, of, strict=True) if c == part]) for part in (0, 1))
        raise DataError(
            f"{pairs.source}: on {dimension} no chain of comparisons connects {one} with {other}. Compare some of both."
        )
