"""The cells of a column that are text: which text stands in which row, until there are too many different ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

MOST_WORDS = 200  # different texts beyond which a column holds prose


class Cell(NamedTuple):
    """A cell to show to the user."""

    record: int
    text: str


class WordCells:
    """Collects texts part by part; they are taken out once they have a meaning."""

    def __init__(self) -> None:
        self._code: dict[str, int] = {}
        self._held: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # rows, records, which text
        self._prose = False

    def add(self, rows: np.ndarray, records: np.ndarray, texts: pl.Series) -> None:
        """Texts with the rows and the records in which they stand."""
        if self._prose:
            return
        for word in texts.unique(maintain_order=True).head(MOST_WORDS + 1).to_list():
            self._code.setdefault(word, len(self._code))
        if len(self._code) > MOST_WORDS:
            self._prose, self._code, self._held = True, {}, []
            return
        self._held.append((rows, records, texts.replace_strict(self._code, return_dtype=pl.Int32).to_numpy()))

    def words(self, among: np.ndarray | None = None) -> list[str]:
        """The different texts (in the rows `among`, a mask) in the order in which they occur; none of prose."""
        rows, _, codes = self._all()
        found, first = np.unique(codes if among is None else codes[among[rows]], return_index=True)
        known = list(self._code)
        return [known[code] for code in found[np.argsort(first)].tolist()]

    def take(self, numbers: Mapping[str, float], among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Rows whose texts have a number, and the numbers; they are no texts any more."""
        rows, records, codes = self._all()
        now = np.array([word in numbers for word in self._code], dtype=bool)[codes]
        if among is not None:
            now &= among[rows]
        self._held = [(rows[~now], records[~now], codes[~now])]
        return rows[now], np.array([numbers.get(word, np.nan) for word in self._code])[codes[now]]

    @property
    def first(self) -> Cell | None:
        """The first text that is left."""
        _, records, codes = self._all()
        return Cell(int(records[0]), list(self._code)[codes[0]]) if len(codes) else None

    def _all(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if not self._held:
            empty = np.zeros(0, dtype=np.int64)
            return empty, empty, empty
        if len(self._held) > 1:
            rows, records, codes = (np.concatenate(arrays) for arrays in zip(*self._held, strict=True))
            self._held = [(rows, records, codes)]
        return self._held[0]
