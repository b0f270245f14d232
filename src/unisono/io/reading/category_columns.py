"""Which columns of words hold categories, if nobody says so: few words, shared by annotators, chosen item by item.

A category is an answer, so it varies within items and within annotators, and different annotators use the same words.
Free text does not repeat; words about the item or the person do not vary there; words about how an answer was
collected (a status, a condition) are known by their names. Arrays in, words out; nothing is read here.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from unisono.io.reading.descriptors import words_of
from unisono.io.reading.numbers import MISSING_WORDS
from unisono.io.reading.table import Chunk

MOST_CLASSES = 50  # more distinct words are names or text
LONGEST_CLASS = 60  # characters; a longer one is a sentence
LEAST_PER_CLASS = 2.0  # answers per distinct word, on average
SHARED = 0.9  # share of answers whose word a second annotator used too
PEEKED = 2000  # cells that decide whether a column is worth reading
# Names of columns that say how an answer came about, or what somebody thought of the task.
_NOT_CHOSEN = {
    *("status", "condition", "group", "block", "batch", "phase", "split", "fold", "session", "version", "list"),
    *("device", "browser", "platform", "system", "model", "source", "language", "lang", "locale", "country", "city"),
    *("gender", "sex", "education", "occupation", "kind", "type", "comment", "comments", "note", "notes", "remark"),
    *("remarks", "feedback", "reason", "reasoning", "rationale", "explanation", "justification", "text", "description"),
    *("name", "email", "url", "link", "path", "file", "filename", "title", "date", "time", "day", "order", "position"),
}


def named_otherwise(column: str) -> bool:
    """Whether the last word of a column's name says that it is no answer."""
    words = words_of(column)
    return bool(words) and words[-1] in _NOT_CHOSEN


def worth_reading(part: Chunk, index: int) -> bool:
    """Whether the first cells of a column are words (no number among them), and not too many different ones."""
    column = part.column(index).head(PEEKED)
    if column.dtype != pl.String:
        return False
    cells = column.drop_nulls().str.strip_chars()
    cells = cells.filter(~cells.str.to_lowercase().is_in(["", *MISSING_WORDS]))
    if not len(cells) or cells.cast(pl.Float64, strict=False).is_not_null().any():
        return False
    return cells.n_unique() <= MOST_CLASSES


def are_categories(answer: np.ndarray, item: np.ndarray, annotator: np.ndarray, classes: tuple[str, ...]) -> bool:
    """Whether the answers (n,) look chosen from the same few words by everybody; codes of items and annotators."""
    if not 2 <= len(classes) <= MOST_CLASSES or len(answer) < LEAST_PER_CLASS * len(classes):
        return False
    if max(len(name) for name in classes) > LONGEST_CLASS:
        return False
    if not (_varies_within(answer, item) and _varies_within(answer, annotator)):
        return False
    pairs = np.unique(np.stack([answer, annotator]), axis=1)
    users = np.bincount(pairs[0], minlength=len(classes))
    return bool(np.mean(users[answer] >= 2) >= SHARED)


def _varies_within(answer: np.ndarray, group: np.ndarray) -> bool:
    anyone = np.zeros(int(group.max()) + 1, dtype=answer.dtype)
    anyone[group] = answer
    return bool((anyone[group] != answer).any())
