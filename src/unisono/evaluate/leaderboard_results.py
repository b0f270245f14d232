"""What a leaderboard says: tables of systems and differences, groups that are tied, a summary, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from unisono.maths.systems.system_priors import POWER
from unisono.maths.systems.system_statements import Means, Statements
from unisono.tables.exporting.result_folder import write_results
from unisono.tables.labels import Introduction, counted, listed
from unisono.tables.reading.data_frames import frame_like

MULTIPLES = (1, 2, 4)  # convention: of the annotators and prompts there are
FORMAT = "leaderboard/1"  # of the plain values, as docs/schemas has it


class Board(NamedTuple):
    """One dimension of a leaderboard."""

    name: str
    means: Means
    influence: np.ndarray  # (prompts, S)
    variances: dict[str, float]
    scores: np.ndarray  # (S,) that count
    help: float  # share of the variance of means that judges took away; NaN without judges beside people
    apart: tuple[tuple[int, int, float], ...]  # pairs without a common annotator, with the share of who rated
    prompts: int
    annotators: int


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Means of systems with simultaneous statements on their differences and ranks; figures are (D, S)."""

    source: str
    names: tuple[str, ...]  # S systems
    dimensions: tuple[str, ...]  # D, the weighted mean of all last where weights were given
    boards: tuple[Board, ...]
    said: Statements
    limits: tuple[np.ndarray, np.ndarray]  # (D,) ends of the scale
    level: float
    whose: str  # whose scores these are, in words
    notes: tuple[str, ...]
    confounded: bool  # whether systems are confounded with annotators or prompts
    frame_kind: str | None = None
    page: Callable[[Leaderboard], str] | None = None  # draws report.html

    def __repr__(self) -> str:
        return self._introduction().text()

    def _repr_html_(self) -> str:
        parts = [self._introduction().html()]
        return "".join([*parts, *(f"<p>{note}</p>" for note in self.notes)])

    @property
    def systems(self) -> Any:
        """A frame with a row per dimension and system, the best first: mean, interval, ranks, chance to be best."""
        return self._frame(self.system_columns())

    @property
    def differences(self) -> Any:
        """A frame with a row per dimension and pair: difference, simultaneous interval, whether it is clear."""
        return self._frame(self.difference_columns())

    @property
    def needed(self) -> Any:
        """A frame with the smallest difference that is clear with power .8, by numbers of prompts and annotators."""
        return self._frame(self.needed_columns())

    @property
    def variances(self) -> Any:
        """A frame with a row per dimension and source of variance."""
        return self._frame(self.tables()["variances"])

    def system_columns(self) -> dict[str, Any]:
        """The columns of systems.csv."""
        rows: list[dict[str, Any]] = []
        for d, board in enumerate(self.boards):
            mean, low, high = self._intervals(d)
            for s in self._order(d):
                figures = {"mean": mean[s], "low": low[s], "high": high[s]}
                ranks = {"rank_low": int(self.said.rank_low[d, s]), "rank_high": int(self.said.rank_high[d, s])}
                named = {"dimension": board.name, "system": self.names[s]}
                rows.append(named | figures | ranks | {"best": float(self.said.best[d, s])})
        return _columns(rows)

    def difference_columns(self) -> dict[str, Any]:
        """The columns of differences.csv."""
        rows: list[dict[str, Any]] = []
        pairs = list(zip(*np.triu_indices(len(self.names), 1), strict=True))
        for d, board in enumerate(self.boards):
            for at, (a, b) in enumerate(pairs):
                gap, low, high = (float(x[d, at]) for x in (self.said.difference, self.said.low, self.said.high))
                named = {"dimension": board.name, "first": self.names[a], "second": self.names[b]}
                figures = {"difference": gap, "low": low, "high": high}
                rows.append(named | figures | {"clear": bool(self.said.clear[d, at])})
        return _columns(rows)

    def tables(self) -> dict[str, dict[str, Any]]:
        """All tables by the names of their files."""
        each = [
            {"dimension": board.name, "source": name, "variance": variance, "share": variance / total}
            for board in self.boards
            for total in [sum(board.variances.values()) or 1.0]
            for name, variance in board.variances.items()
        ]
        found = {
            "systems": self.system_columns(),
            "differences": self.difference_columns(),
            "variances": _columns(each),
            "needed": self.needed_columns(),
        }
        return {name: columns for name, columns in found.items() if columns}

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        tables = {name: _rows(columns) for name, columns in self.tables().items()}
        about = {"format": FORMAT, "source": self.source, "scores": self.whose, "level": self.level}
        return about | {"notes": list(self.notes)} | tables

    def tied(self, d: int) -> list[list[str]]:
        """Largest groups of systems, the best first, in which no difference is clear."""
        order = self._order(d)
        S = len(order)
        clear = np.zeros((S, S), dtype=bool)
        first, second = np.triu_indices(S, 1)
        clear[first, second] = clear[second, first] = self.said.clear[d]
        clear = clear[np.ix_(order, order)]
        groups: list[list[str]] = []
        reached = 0
        for start in range(S):
            end = start + 1
            while end < S and not clear[start : end + 1, start : end + 1].any():
                end += 1
            if end > reached:
                groups.append([self.names[s] for s in order[start:end]])
                reached = end
        return groups

    def smallest(self, d: int) -> float:
        """The difference that is clear with a probability of .8 between two typical systems of this design."""
        half = self.said.half[d]
        known = half[np.isfinite(half) & (half > 0)]
        if not len(known) or self.said.critical <= 0:
            return float("nan")
        return float(np.median(known) * (1 + special.ndtri(POWER) / self.said.critical))

    def needed_columns(self) -> dict[str, Any]:
        """The columns of needed.csv: what fewer and more prompts and annotators would show, errors in proportion."""
        rows = []
        for d, board in enumerate(self.boards):
            smallest, share = self.smallest(d), self._by_people(d)
            if not np.isfinite(smallest):
                continue
            half = float(np.median(self.said.half[d][self.said.half[d] > 0]))
            for k in MULTIPLES[-3:] if share > 0 else (1,):
                for p in (0.25, 0.5, *MULTIPLES):
                    factor = float(np.sqrt(share / k + (1 - share) / p))
                    counts = {"prompts": round(p * board.prompts), "annotators": k * board.annotators}
                    figures = {"smallest": factor * smallest, "half_width": factor * half}
                    rows.append({"dimension": board.name} | counts | figures)
        return _columns(rows)

    def _by_people(self, d: int) -> float:
        """Share of the variance of differences that is who rated."""
        board = self.boards[d]
        total, people = (float(np.trace(V) - V.sum() / len(V)) for V in (board.means.cov, board.means.by_people))
        return people / total if total > 0 else 0.0

    def _more(self, d: int) -> str:
        """What more prompts, and more annotators, would do to this difference: their parts of its variance shrink."""
        smallest, share = self.smallest(d), self._by_people(d)
        more = f"; four times the prompts would make it {smallest * np.sqrt(share + (1 - share) / 4):.2g}"
        return more + (f", four times the annotators as well {smallest / 2:.2g}" if share > 0 else "")

    def summary(self) -> str:
        """The result in words."""
        lines = [f"{self.source}: {self.whose}"]
        for d, board in enumerate(self.boards):
            lines.append("")
            lines.append(f"{board.name}:")
            mean, low, high = self._intervals(d)
            for s in self._order(d):
                lines.append(f"  {self._line(d, int(s), mean, low, high)}")
            lines += [f"  {line}" for line in self.conclusions(d)]
        lines.append("")
        lines += self.notes
        return "\n".join(lines) + "\n"

    def save(self, directory: Any) -> Any:
        """Writes all tables, summary.json, summary.txt and report.html; all or none."""
        texts = {"summary.txt": self.summary()} | ({} if self.page is None else {"report.html": self.page(self)})
        write_results(Path(directory), self.tables(), self.to_dict(), texts)
        return Path(directory)

    def _order(self, d: int) -> np.ndarray:
        """(S,) systems, the best first; those that nobody scored last."""
        return np.argsort(-np.nan_to_num(self.boards[d].means.mean, nan=-np.inf), kind="stable")

    def _intervals(self, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, low and high, cut at the ends of the scale."""
        mean, half, ends = self.boards[d].means.mean, self.said.own[d], (self.limits[0][d], self.limits[1][d])
        mean, low, high = (np.clip(x, *ends) for x in (mean, mean - half, mean + half))
        return mean, low, high

    def _line(self, d: int, s: int, mean: np.ndarray, low: np.ndarray, high: np.ndarray) -> str:
        ranks = self.said.rank_low[d, s], self.said.rank_high[d, s]
        rank = f"rank {ranks[0]}" if ranks[0] == ranks[1] else f"rank {ranks[0]} to {ranks[1]}"
        width = max(len(name) for name in self.names)
        figures = f"{mean[s]:.3g} [{low[s]:.3g}, {high[s]:.3g}]"
        return f"{self.names[s]:<{width}}  {figures:<24} {rank:<14} best with probability {self.said.best[d, s]:.2f}"

    def conclusions(self, d: int) -> list[str]:
        """Sentences on a dimension: how many differences are clear, who is tied, what could have been seen."""
        clear = int(self.said.clear[d].sum())
        found = [f"{clear} of {counted(len(self.said.clear[d]), 'difference')} clear."]
        tied = [group for group in self.tied(d) if len(group) > 1]
        if tied:
            found.append("Cannot be told apart: " + "; ".join(listed(group) for group in tied[:5]) + ".")
        smallest = self.smallest(d)
        if np.isfinite(smallest):
            found.append(
                f"Smallest difference that is clear with a probability of {POWER:g}: {smallest:.2g}{self._more(d)}."
            )
        return found

    def _introduction(self) -> Introduction:
        rows = []
        for d, board in enumerate(self.boards):
            mean, low, high = self._intervals(d)
            for s in self._order(d):
                rank = f"{self.said.rank_low[d, s]} to {self.said.rank_high[d, s]}"
                figures = f"{mean[s]:.3g}", f"{low[s]:.3g} to {high[s]:.3g}", rank, f"{self.said.best[d, s]:.2f}"
                rows.append((self.names[s], board.name, *figures))
        header = ("system", "dimension", "mean", f"{self.level:.0%} interval", "rank", "best")
        hint = "See .systems, .differences, .variances, .summary() and .save(directory)."
        return Introduction.of(f"Leaderboard of {counted(len(self.names), 'system')}: {self.whose}", header, rows, hint)

    def _frame(self, columns: dict[str, Any]) -> Any:
        return frame_like(self.frame_kind, columns)


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
