"""Figures of single judges: beside people, favourites among systems and their families, agreement with themselves."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from scipy import special

from unisono.maths.groups import judge_tests
from unisono.tables.ratings import Ratings
from unisono.tables.reading.scores_of_systems import SystemScores


class JudgeRow(NamedTuple):
    """One judge on one dimension."""

    judge: int  # place among the annotators
    dimension: int
    verdict: str
    beside: judge_tests.Beside
    test: judge_tests.Alternative
    favours: str  # the system whose outputs it rates higher than people do, beyond its leniency
    favours_family: str = ""  # likewise of families of systems, by their names
    consistency: float = float("nan")  # correlation of its answers about one item; NaN where it answered once
    repeat_sd: float = float("nan")  # sd of such an answer


def judge_rows(
    ratings: Ratings,
    judges: np.ndarray,
    people: np.ndarray,
    epsilon: float,
    scores: SystemScores | None,
    again: RepeatedAnswers | None = None,
) -> list[JudgeRow]:
    """All judges on all dimensions, the best on average first; `judges` and `people` are places of annotators."""
    found, nothing = [], (float("nan"), float("nan"))
    for d in range(ratings.D):
        table = _answers(ratings, d)
        labelled = np.isfinite(table[:, people]).any(axis=1)
        table = table[labelled]
        groups = [None, None] if scores is None else _systems_and_families(scores, labelled)
        for k in judges:
            beside = judge_tests.beside_people(table[:, k], table[:, people])
            test = judge_tests.alternative_test(table[:, k], table[:, people], epsilon)
            favours, kin = (_favourite(one, table[:, k], table[:, people]) for one in groups)
            consistency, sd = nothing if again is None else again.consistency(ratings.annotators[k], d)
            said = judge_tests.verdict(beside, test, epsilon)
            found.append(JudgeRow(int(k), d, said, beside, test, favours, kin, consistency, sd))
    mean = {
        k: np.mean([np.nan_to_num(row.beside.correlation, nan=-1.0) for row in found if row.judge == k]) for k in judges
    }
    return sorted(found, key=lambda row: (-mean[row.judge], row.judge, row.dimension))


def people_with_each_other(ratings: Ratings, people: np.ndarray) -> np.ndarray:
    """(D,) correlation of a person with the mean of the others, on average; NaN where too few items tell."""
    found = np.full(ratings.D, np.nan)
    for d in range(ratings.D):
        table = _answers(ratings, d)[:, people]
        several = table[np.isfinite(table).sum(axis=1) > 1]
        own = [several[np.isfinite(several[:, j])] for j in range(len(people))]  # only what this person rated
        each = [
            judge_tests.beside_people(part[:, j], np.delete(part, j, axis=1)).correlation for j, part in enumerate(own)
        ]
        if np.isfinite(each).any():
            found[d] = np.nanmean(each)
    return found


def _answers(ratings: Ratings, d: int) -> np.ndarray:
    """(M, K) on dimension d, NaN where there are none."""
    table = np.full((ratings.M, ratings.K), np.nan)
    table[ratings.item_of, ratings.annotator_of] = ratings.value[:, d]
    return table


def family(name: str) -> str:
    """What systems of one family have in common in their names: 'openai/gpt-4o-mini' is of the family 'gpt'."""
    last = re.split(r"[/:]", name.strip())[-1] or name
    found = re.match(r"[^\W\d_]+", last)
    return found.group().lower() if found else last.lower()


class Grouped(NamedTuple):
    """Items in groups by their systems, or by families of these."""

    names: tuple[str, ...]
    of: np.ndarray  # (M,)


def _systems_and_families(scores: SystemScores, chosen: np.ndarray) -> list[Grouped | None]:
    """Of the items chosen; no families where every system is one of its own."""
    of, families = scores.system[chosen], tuple(sorted({family(name) for name in scores.systems}))
    place = np.array([families.index(family(name)) for name in scores.systems])
    kin = Grouped(families, place[of]) if len(families) < len(scores.systems) else None
    return [Grouped(scores.systems, of), kin]


def _favourite(groups: Grouped | None, judge: np.ndarray, people: np.ndarray) -> str:
    """The group that a judge favours beyond chance; empty: none."""
    at = -1 if groups is None else _favoured(groups.of, judge, people)
    return "" if groups is None or at < 0 else groups.names[at]


class RepeatedAnswers(NamedTuple):
    """Answers that annotators gave several times about an item: an annotator for every repetition."""

    ratings: Ratings
    who: tuple[str, ...]  # whose repetition each of these annotators is

    def merged(self) -> Ratings:
        """One answer of everybody about an item: the mean."""
        ratings, names = self.ratings, tuple(dict.fromkeys(self.who))
        place = np.array([names.index(name) for name in self.who])[ratings.annotator_of]
        pair, at = np.unique(ratings.item_of * len(names) + place, return_inverse=True)
        seen = ~np.isnan(ratings.value)
        total, n = (np.zeros((len(pair), ratings.D)) for _ in range(2))
        np.add.at(total, at.reshape(-1), np.where(seen, ratings.value, 0.0))
        np.add.at(n, at.reshape(-1), seen)
        kinds = None if ratings.kinds is None else [ratings.kinds[self.who.index(name)] for name in names]
        return Ratings.from_judgements(
            np.where(n > 0, total / np.maximum(n, 1), np.nan),
            pair // len(names),
            pair % len(names),
            items=ratings.items,
            annotators=names,
            dimensions=ratings.dimensions,
            scale=ratings.scale,
            source=ratings.source,
            frame_kind=ratings.frame_kind,
            kinds=kinds,
        )

    def consistency(self, name: str, d: int) -> tuple[float, float]:
        """Of an annotator's answers on a dimension with each other, and their sd around its mean."""
        ratings, own = self.ratings, [k for k, who in enumerate(self.who) if who == name]
        return judge_tests.own_consistency(_answers(ratings, d)[:, own])


def _favoured(of: np.ndarray, judge: np.ndarray, people: np.ndarray) -> int:
    """The system that a judge favours beyond chance: of residuals after a line through people's means; -1: none."""
    use = np.isfinite(judge) & np.isfinite(people).any(axis=1)
    if use.sum() < judge_tests.FEWEST_ITEMS or np.ptp(judge[use]) == 0:
        return -1
    y, system = np.nanmean(people[use], axis=1), of[use]
    away = judge[use] - np.polyval(np.polyfit(y, judge[use], 1), y) if np.ptp(y) > 0 else judge[use] - judge[use].mean()
    n = np.bincount(system, minlength=1)
    mean = np.bincount(system, away, minlength=len(n)) / np.maximum(n, 1)
    spread = np.sqrt(np.bincount(system, (away - mean[system]) ** 2, minlength=len(n)) / np.maximum(n - 1, 1))
    clear = np.where((n > 2) & (spread > 0), mean * np.sqrt(n) / np.where(spread > 0, spread, 1.0), 0.0)
    beyond = special.ndtri(1 - 0.01 / max(len(n), 1))
    return int(clear.argmax()) if clear.max() > beyond else -1
