"""Scores of systems: ratings whose items are outputs of systems, with the system and the prompt of every item.

    scores = read_scores("ratings.csv", "system", "article")

A row is about an output: it names its system, and perhaps its prompt and its annotator. A name that several systems
share (an instance of a benchmark) is that of a prompt; outputs are then named by both. Where nobody is named, scores
are measurements by one annotator; repeated rows are several outputs.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from unisono.errors import DataError, NoNumbersError
from unisono.tables.labels import listed, sort_labels
from unisono.tables.ratings import Ratings
from unisono.tables.reading.column_roles import detect, find_column
from unisono.tables.reading.data_frames import kind_of
from unisono.tables.reading.open_table import open_table
from unisono.tables.reading.ratings_reader import read_ratings
from unisono.tables.reading.raw_table import Chunk, CoveredTable, Table, WithColumn, as_text
from unisono.tables.reading.side_information import read_item_labels
from unisono.tables.reading.table_layout import JOINER, join_columns

Labels = str | Mapping[str, str] | None  # a column, or a mapping from items
NOBODY, OUTPUT = "score", "output"  # the annotator of scores that nobody gave; the column that names outputs
VERDICTS = {
    **dict.fromkeys(("pass", "passed", "correct", "resolved", "solved", "success", "succeeded", "yes", "true"), 1.0),
    **dict.fromkeys(("fail", "failed", "incorrect", "wrong", "unresolved", "unsolved", "failure", "no", "false"), 0.0),
}


@dataclass(frozen=True, eq=False)
class SystemScores:
    """Ratings of outputs, with the system and the prompt of each."""

    ratings: Ratings
    systems: tuple[str, ...]
    system: np.ndarray  # (M,)
    prompt: np.ndarray  # (M,)
    paired: bool  # whether any prompt has outputs of two systems
    annotated: bool = True  # whether scores have annotators


def labelled_scores(ratings: Ratings, system: Mapping[str, str], prompt: Mapping[str, str] | None) -> SystemScores:
    """From ratings and the words that their items have."""
    words = _words_of(ratings, system, "system")
    systems = sort_labels(words.unique())
    of = words.replace_strict({name: s for s, name in enumerate(systems)}, return_dtype=pl.Int64).to_numpy()
    prompts = np.arange(ratings.M)
    if prompt is not None:
        prompts = (_words_of(ratings, prompt, "prompt").rank("dense") - 1).cast(pl.Int64).to_numpy()
    pairs = len(np.unique(prompts * len(systems) + of))
    return SystemScores(ratings, systems, of, prompts, pairs > len(np.unique(prompts)))


def _words_of(ratings: Ratings, of: Mapping[str, str], what: str) -> pl.Series:
    """(M,) the labels that items have."""
    words = [of.get(item) for item in ratings.items]
    missing = [item for item, word in zip(ratings.items, words, strict=True) if not word]
    if missing:
        raise DataError(f"{ratings.source}: item {listed(missing)} has no {what}.")
    return pl.Series(words, dtype=pl.String)


def read_scores(source: Any, by: Labels, prompt: Labels = None, *, items: Any = None, **reading: Any) -> SystemScores:
    """From ratings, a path or a data frame; `by` and `prompt` are columns there or in the table `items`, or mappings.

    `reading` are keyword arguments of `read_ratings`.
    """
    if by is None:
        raise DataError("A leaderboard needs to know which system an item belongs to: by= a column, or a mapping.")
    apart = isinstance(source, Ratings) or items is not None or isinstance(by, Mapping)
    if apart or (isinstance(source, str) and source == "-"):
        ratings = source if isinstance(source, Ratings) else read_ratings(source, **reading)
        told = [item_words(source, items, one, what, reading) for one, what in ((by, "system"), (prompt, "prompt"))]
        assert told[0] is not None
        return labelled_scores(ratings, told[0], told[1])
    assert isinstance(by, str)
    return _from_columns(source, by, prompt, dict(reading))


def item_words(source: Any, items: Any, of: Labels, what: str, reading: Mapping[str, Any]) -> Mapping[str, str] | None:
    """What a column, there or in the table `items`, says of every item; a mapping, or nothing, as it is."""
    if of is None or not isinstance(of, str):
        return of
    told = source if items is None else items
    if isinstance(told, Ratings) or (isinstance(told, str) and told == "-"):
        raise DataError(f"The {what} of items is a column of a table: give items=, or a mapping from items.")
    return read_item_labels(told, of, item=reading.get("item"), sheet=reading.get("sheet"))


def _from_columns(source: Any, by: str, prompt: Labels, reading: dict[str, Any]) -> SystemScores:
    """From a table whose columns say what a row is about."""
    table = open_table(source, reading.pop("sheet", None))
    place = {"system": find_column(table, by)}
    if isinstance(prompt, str):
        place["prompt"] = find_column(table, prompt)
    for role in ("item", "annotator"):
        table, name, _ = join_columns(table, reading.pop(role, None))
        found = detect(table, role, set(place.values())) if name is None else find_column(table, name)
        if found is not None:
            place[role] = found
    words = _filled(table, {role: index for role, index in place.items() if role != "annotator"})
    if "annotator" in place:
        words = words.with_columns(_column(table, place["annotator"]).alias("annotator"))
    named = _named_outputs(words, table.name)
    hidden = [index for role, index in place.items() if role != "annotator"]
    added = {OUTPUT: named.get_column(OUTPUT)}
    if "annotator" not in place:
        added["annotator"] = pl.Series([NOBODY]).new_from_index(0, named.height)
    whole: Table = CoveredTable(table, hidden)
    for name, column in added.items():
        whole = WithColumn(whole, name, functools.partial(_of_part, column))
    who = table.columns[place["annotator"]] if "annotator" in place else "annotator"
    ratings = _numbers(whole, item=OUTPUT, annotator=who, **reading)
    once = named.unique(OUTPUT)
    labels = once.get_column(OUTPUT).to_list()
    system = dict(zip(labels, once.get_column("system").to_list(), strict=True))
    prompts = dict(zip(labels, once.get_column("of").to_list(), strict=True)) if "of" in once.columns else prompt
    assert not isinstance(prompts, str)
    scores = labelled_scores(replace(ratings, frame_kind=kind_of(source)), system, prompts)
    return replace(scores, annotated="annotator" in place)


def _numbers(table: Table, **reading: Any) -> Ratings:
    """The ratings; where there is no number, verdicts in words that are one for passed and zero for failed."""
    try:
        return read_ratings(table, **reading)
    except NoNumbersError:
        if reading.get("labels") is not None:
            raise
        return read_ratings(table, **reading, labels=VERDICTS)


def _filled(table: Table, place: Mapping[str, int]) -> pl.DataFrame:
    """The words of every row by role, none of them empty but in empty rows."""
    words = pl.DataFrame([_column(table, index).alias(role) for role, index in place.items()])
    for role in words.columns:
        empty = np.flatnonzero((words.get_column(role) == "").to_numpy() & (words.max_horizontal() != "").to_numpy())
        if len(empty):
            records = [part.records(np.arange(part.frame.height)) for part in table.parts()]
            row = int(np.concatenate(records)[empty[0]])
            raise DataError(f"{table.where(row)}: the column '{table.columns[place[role]]}' is empty. Fill it in.")
    return words


def _named_outputs(words: pl.DataFrame, source: str) -> pl.DataFrame:
    """With the name of each row's output, and, where it is known, the prompt that this one is `of`."""
    own = "item" in words.columns and words.select("item").n_unique() == words.select("item", "system").n_unique()
    told = next((role for role in ("prompt", "item") if role in words.columns), None)
    if told is None:
        raise DataError(f"{source}: no column names what was scored. Say --prompt COLUMN, or --item COLUMN.")
    if own:
        found = words.with_columns(pl.col("item").alias(OUTPUT))
        return found.with_columns(pl.col("prompt").alias("of")) if "prompt" in words.columns else found
    parts = [role for role in ("system", "prompt", "item") if role in words.columns]
    found = words.with_columns(pl.concat_str(parts, separator=JOINER).alias(OUTPUT), pl.col(told).alias("of"))
    again = [OUTPUT, *(["annotator"] if "annotator" in words.columns else [])]
    time = pl.int_range(pl.len()).over(again)
    return found.with_columns(
        pl.when(time > 0).then(pl.col(OUTPUT) + JOINER + (time + 1).cast(pl.String)).otherwise(pl.col(OUTPUT))
    )


def _column(table: Table, index: int) -> pl.Series:
    """A whole column as text, without blanks around the words."""
    parts = [as_text(part.column(index)).fill_null("").str.strip_chars() for part in table.parts()]
    return pl.concat(parts) if parts else pl.Series([], dtype=pl.String)


def _of_part(column: pl.Series, part: Chunk) -> pl.Series:
    """What a column, with a word for every record, says of the rows of a part."""
    return column.gather(part.records(np.arange(part.frame.height)))
