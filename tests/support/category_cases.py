"""Simulated answers that are categories, with the truth behind them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from unisono.maths.category_votes import Votes

WORDS = ("Ärger", "Freude", "悲しみ", "none of these", "Überraschung")


class Crowd(NamedTuple):
    """Answers, and the true class of every item."""

    votes: Votes
    truth: np.ndarray  # (M,)

    def frame(self) -> pl.DataFrame:
        """The same as a table with words."""
        item, annotator, answer = self.votes.item, self.votes.annotator, self.votes.answer
        return pl.DataFrame(
            {
                "item": [f"clip{m}" for m in item],
                "annotator": [f"w{k}" for k in annotator],
                "feeling": [WORDS[c] for c in answer],
            }
        )

    def reference(self) -> pl.DataFrame:
        return pl.DataFrame(
            {"item": [f"clip{m}" for m in range(self.votes.M)], "feeling": [WORDS[c] for c in self.truth]}
        )


def crowd(seed: int, *, M: int = 60, K: int = 12, C: int = 3, per_item: int = 5, spammers: int = 0, lure: float = 0.0):
    """Annotators of different accuracy; `spammers` answer at random; a share `lure` of items misleads everybody."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, C, M)
    skill = rng.beta(8, 3, K)
    skill[:spammers] = 0.0
    misled = rng.random(M) < lure
    seems = np.where(misled, rng.integers(0, C, M), truth)
    rows = []
    for m in range(M):
        for k in rng.choice(K, per_item, replace=False):
            target = seems[m] if rng.random() < 0.5 else truth[m]
            rows.append((m, k, target if rng.random() < skill[k] else rng.integers(0, C)))
    item, annotator, answer = np.array(rows).T
    return Crowd(Votes(item, annotator, answer, M, K, C), truth)
