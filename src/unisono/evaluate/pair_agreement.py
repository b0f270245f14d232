"""How far annotators agree who compared: alpha of answers about the same pair with sides aligned, circular triads.

Alpha is nominal: of left, tie and right, after sides are put in one order, so that the order of showing is no part of
it. Who contradicts himself in triads as often as chance does (.25), or answers a pair otherwise when asked again, has
no order of the items to tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unisono.evaluate.agreement_measure import Drawing
from unisono.maths.agreement.agreement_bootstrap import Interval, bootstrap, make_blocks
from unisono.maths.agreement.chance_corrected import nominal_agreement
from unisono.maths.comparisons.circular_triads import Triads, circular_triads
from unisono.tables.comparisons import LEFT, RIGHT, TIE, Comparisons
from unisono.tables.labels import Introduced, Introduction, counted, rows_of

ENOUGH_TRIADS = 20  # convention: closed triads from which somebody is said to contradict himself as chance does
CLEARLY_BELOW = 1.645  # convention: deviations below chance that take the doubt away


@dataclass(frozen=True)
class AgreementOnPairs:
    """Of one dimension."""

    name: str
    answers: int
    pairs: int  # distinct ones
    shared: int  # of them with two answers or more
    alpha: Interval  # Krippendorff's, nominal, sides aligned
    ac1: Interval  # Gwet's


@dataclass(frozen=True, eq=False, repr=False)
class PairAgreement(Introduced):
    """What `unisono agreement --comparisons` prints."""

    source: str
    level: float
    draws: int
    dimensions: tuple[AgreementOnPairs, ...]
    people: dict[str, Any]  # one row per annotator and dimension

    def _introduction(self) -> Introduction:
        rows = [(one.name, f"{one.answers:,}", f"{one.shared:,}", _told(one.alpha)) for one in self.dimensions]
        header = ("dimension", "comparisons", "pairs shared", "alpha")
        return Introduction.of(
            f"Agreement on pairs of {self.source}", header, rows, "See .annotator_columns() and .lines()."
        )

    def columns(self) -> dict[str, Any]:
        """One row per dimension."""
        return {
            "dimension": [one.name for one in self.dimensions],
            **{name: [getattr(one, name) for one in self.dimensions] for name in ("answers", "pairs", "shared")},
            **{
                f"{figure}{end}": [getattr(getattr(one, figure), end[1:] or "value") for one in self.dimensions]
                for figure in ("alpha", "ac1")
                for end in ("", "_low", "_high")
            },
        }

    def annotator_columns(self) -> dict[str, Any]:
        """One row per annotator and dimension: circular triads, Kendall's zeta, answers to the same pair again."""
        return self.people

    @cached_property
    def intransitive(self) -> tuple[str, ...]:
        """Who contradicts himself so often that answers by chance cannot be ruled out."""
        rows = zip(*(self.people[name] for name in ("annotator", "closed_triads", "below_chance")), strict=True)
        return tuple(dict.fromkeys(who for who, n, z in rows if n >= ENOUGH_TRIADS and z < CLEARLY_BELOW))

    def lines(self) -> list[str]:
        """In sentences."""
        found = [f"{self.source}: agreement on pairs, sides aligned ({self.level:.0%} intervals, {self.draws} draws)."]
        for one in self.dimensions:
            found.append(
                f"{one.name}: alpha {_told(one.alpha)}, AC1 {_told(one.ac1)}; {one.answers:,} answers about "
                f"{counted(one.pairs, 'pair')}, {one.shared:,} of them with two answers or more."
            )
        circular, closed = (int(sum(self.people[name])) for name in ("circular_triads", "closed_triads"))
        if closed:
            found.append(
                f"{circular:,} of {closed:,} triads within annotators are circular ({circular / closed:.1%}; by chance "
                "25 %)."
            )
        for who in self.intransitive[:10]:
            found.append(f"{who} contradicts themselves in triads about as often as chance does.")
        return found

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        plain = {name: getattr(self, name) for name in ("source", "level", "draws")}
        tables = {"dimensions": rows_of(self.columns()), "annotators": rows_of(self.people)}
        return plain | tables | {"intransitive": list(self.intransitive)}


def _told(found: Interval) -> str:
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def pair_agreement(compared: Comparisons, drawing: Drawing) -> PairAgreement:
    """Agreement by dimension, and everybody's contradictions."""
    low, high = np.minimum(compared.left, compared.right), np.maximum(compared.left, compared.right)
    pair = low * len(compared.items) + high
    aligned = np.where(compared.left == low, compared.answer, RIGHT - compared.answer)
    dims = tuple(_of_dimension(compared, d, pair, aligned, drawing) for d in range(len(compared.dimensions)))
    return PairAgreement(compared.source, drawing.level, drawing.draws, dims, _people(compared, pair, aligned))


def _of_dimension(
    compared: Comparisons, d: int, pair: np.ndarray, aligned: np.ndarray, drawing: Drawing
) -> AgreementOnPairs:
    rows = compared.dimension_of == d
    _, unit = np.unique(pair[rows], return_inverse=True)
    count = int(unit.max(initial=-1)) + 1
    votes = np.bincount(unit * 3 + aligned[rows], minlength=3 * count).reshape(-1, 3).astype(float)
    rng = np.random.default_rng(drawing.seed)
    blocks = make_blocks(np.arange(count), rng)
    alpha, ac1 = bootstrap(lambda W: nominal_agreement(votes, blocks, W), blocks.G, drawing.draws, drawing.level, rng)
    shared = int((votes.sum(axis=1) > 1).sum())
    return AgreementOnPairs(compared.dimensions[d], int(rows.sum()), count, shared, alpha, ac1)


def _people(compared: Comparisons, pair: np.ndarray, aligned: np.ndarray) -> dict[str, Any]:
    D, found = len(compared.dimensions), []
    cell = compared.annotator_of * D + compared.dimension_of
    order = np.argsort(cell, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(cell[order])) + 1):
        k, d = divmod(int(cell[rows[0]]), D)
        decided = rows[compared.answer[rows] != TIE]
        left = compared.answer[decided] == LEFT
        sides = compared.left[decided], compared.right[decided]
        triads = circular_triads(np.where(left, *sides), np.where(left, *sides[::-1]))
        again = _asked_again(pair[rows], aligned[rows])
        found.append((compared.annotators[k], compared.dimensions[d], len(rows), *_figures(triads), *again))
    triads_names = ("circular_triads", "closed_triads", "circular_share", "zeta", "below_chance")
    names = ("annotator", "dimension", "comparisons", *triads_names, "asked_again", "same_answer_again")
    return dict(zip(names, (list(column) for column in zip(*found, strict=True)), strict=True))


def _figures(triads: Triads) -> tuple[int, int, float, float, float]:
    return triads.circular, triads.closed, triads.share, triads.zeta, triads.below_chance


def _asked_again(pair: np.ndarray, aligned: np.ndarray) -> tuple[int, float]:
    """How many answers were about a pair that came before, and how often two answers about a pair are the same."""
    found, unit = np.unique(pair, return_inverse=True)
    votes = np.bincount(unit * 3 + aligned, minlength=3 * len(found)).reshape(-1, 3)
    n = votes.sum(axis=1)
    met = int((n * (n - 1)).sum())
    return len(pair) - len(found), float((votes * (votes - 1)).sum() / met) if met else float("nan")


def win_shares(compared: Comparisons, d: int, items: np.ndarray) -> np.ndarray:
    """(n, n) how often each of these items was found to have more than each other, ties as half; NaN if never met."""
    place = np.full(len(compared.items), -1)
    place[items] = np.arange(len(items))
    rows = (compared.dimension_of == d) & (place[compared.left] >= 0) & (place[compared.right] >= 0)
    one, other = place[compared.left[rows]], place[compared.right[rows]]
    more, n = 1 - compared.answer[rows] / 2, len(items)
    won = np.bincount(one * n + other, more, n * n) + np.bincount(other * n + one, 1 - more, n * n)
    met = np.bincount(one * n + other, minlength=n * n) + np.bincount(other * n + one, minlength=n * n)
    return np.asarray(np.divide(won, met, out=np.full(n * n, np.nan), where=met > 0).reshape(n, n))


def most_compared(compared: Comparisons, mean: np.ndarray, most: int) -> np.ndarray:
    """The item of most comparisons and those compared most with it and one another, the highest truth (M,) first."""
    M = len(compared.items)
    sides = np.concatenate([compared.left, compared.right]), np.concatenate([compared.right, compared.left])
    chosen, met = [int(np.bincount(sides[0], minlength=M).argmax())], np.zeros(M)
    while len(chosen) < min(most, M):
        met += np.bincount(sides[1][sides[0] == chosen[-1]], minlength=M)
        met[chosen] = -1
        chosen.append(int(met.argmax()))
    found = np.array(chosen)
    return np.asarray(found[np.argsort(-mean[found], kind="stable")])
