"""The layouts in which comparisons come, recognised by the names and values of columns; each becomes pairs with sides.

Best and worst, rankings (one row each, or one row per item), winner and loser (perhaps with a number of times), sides
with left, tie and right (or dimension and answer), sides with strengths: docs/comparisons.md has the columns.

Pairs that come from a ranking, and from winners and losers, have no sides. A cell that is no answer is an error with
its row; an empty one is a missing answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables.comparisons import LEFT, RIGHT, TIE, Comparisons
from unisono.tables.labels import listed, sort_labels
from unisono.tables.reading import data_frames, raw_table
from unisono.tables.reading.column_roles import detect, find_column, plain_name

ANYBODY = "all"  # who answered, where no column says it
MISSING = -1
MOST_STRENGTHS = 5  # numerical: thresholds on either side; numbers of a slider are grouped
_TIES = ("tie", "ties", "draw", "equal", "same", "both", "neither", "none", "nopreference", "bothgood", "undecided")
_BOTH_BAD = ("tiebothbad", "bothbad")
# Ends of names of the two sides, of columns and of answers.
_SIDES = (("left", "right"), ("a", "b"), ("1", "2"), ("first", "second"), ("0", "1"))
_STEMS = ("", "item", "model", "system", "stimulus", "option", "response", "image", "video", "text", "answer")
_CHOSEN, _REJECTED = ("chosen", "winner", "preferred", "better"), ("rejected", "loser", "dispreferred", "worse")
_COUNTS = ("n", "count", "counts", "votes", "times", "weight")
_RANKINGS = ("ranking", "rankingid", "trial", "list", "ballot", "set", "question", "task", "prompt")
_STRENGTHS = ("score", "strength", "preference", "preferencestrength", "overallpreference", "rating", "value")
_UNNAMED = "No column says who answered: all answers count as one annotator's."
_WITHOUT_NAME = ("winner", "preference", "choice", "answer")
_PLAIN = "comparison"  # a dimension without a name of its own


class Words(NamedTuple):
    """Columns that the user named."""

    annotator: str | None = None
    left: str | None = None
    right: str | None = None
    dims: tuple[str, ...] = ()


class Cells(NamedTuple):
    """A table as text, '' where a cell is empty."""

    table: raw_table.Table
    frame: pl.DataFrame
    record: np.ndarray  # (rows,)
    numbers: dict[str, bool]  # columns whose cells were numbers
    from_text: bool

    def where(self, row: int) -> str:
        return self.table.where(int(self.record[row]))

    def plain(self) -> dict[str, str]:
        """Columns by their plain names."""
        return {plain_name(name): name for name in reversed(self.frame.columns)}

    def repeated(self, prefix: str) -> list[str]:
        """Columns item_1, item_2, ... in the order of their numbers."""
        numbered = [(re.fullmatch(rf"{prefix}(\d+)", plain_name(name)), name) for name in self.frame.columns]
        return [name for _, name in sorted((int(match[1]), name) for match, name in numbered if match)]


def told(cells: Cells, words: Words) -> Comparisons:
    """What a table says."""
    plain = cells.plain()
    who = _annotator(cells, words)
    if words.left is None:
        items = cells.repeated("item") or cells.repeated("option")
        if len(items) > 1 and "best" in plain and "worst" in plain:
            return _best_worst(cells, items, plain["best"], plain["worst"], who)
        ranks = cells.repeated("rank")
        if len(items) > 1 and len(ranks) == len(items):
            return _wide_ranking(cells, items, ranks, who)
        if "rank" in plain and (item := detect(cells.table, "item", set())) is not None:
            return _long_ranking(cells, cells.table.columns[item], plain["rank"], who)
        for first, second in ((a, b) for a in _CHOSEN for b in _REJECTED):
            if first in plain and second in plain:
                return _winners(cells, plain[first], plain[second], who)
    sides = sides_of(cells, words)
    if sides is None:
        raise DataError(
            f"{cells.table.name} has no two columns that look like the items of a pair; it has "
            f"{listed(cells.frame.columns, 12)}. Call them left and right, or say left=, right= "
            "(docs/comparisons.md has all layouts)."
        )
    return _sided(cells, sides, words)


def _annotator(cells: Cells, words: Words) -> str | None:
    table = cells.table
    if words.annotator is not None:
        return table.columns[find_column(table, words.annotator)]
    found = detect(table, "annotator", set())
    return None if found is None else table.columns[found]


def sides_of(cells: Cells, words: Words) -> tuple[str | None, str, str] | None:
    """The columns of annotator, left and right."""
    table, plain = cells.table, cells.plain()
    who = _annotator(cells, words)
    if words.left is not None and words.right is not None:
        left, right = (table.columns[find_column(table, name)] for name in (words.left, words.right))
        return who, left, right
    two = two_sides(plain)
    return None if two is None else (who, plain[two[0]], plain[two[1]])


def two_sides(plain: Collection[str]) -> tuple[str, str] | None:
    """The plain names, among these, of what is on the left and on the right."""
    for a, b in _SIDES:
        for stem in (*_STEMS, *(name.removesuffix(a) for name in plain if name.endswith(a))):
            for one, two in ((f"{stem}{a}", f"{stem}{b}"), (f"{a}{stem}", f"{b}{stem}")):
                if one in plain and two in plain:
                    return one, two
    return None


def refuse_empty(cells: Cells, column: pl.Series, rows: np.ndarray, what: str, remedy: str) -> None:
    """Raises an error where a cell of these rows is empty."""
    if (column == "").any():
        row = int(rows[int((column == "").arg_max() or 0)])
        raise DataError(f"{cells.where(row)}: {what}. {remedy}, or leave the row out.")


Blocks = tuple[list[pl.Series], list[pl.Series], list[np.ndarray], list[np.ndarray], list[int]]


def _compared(
    cells: Cells,
    layout: str,
    blocks: Blocks,
    who: str | None,
    dimensions: tuple[str, ...] = (_PLAIN,),
    *,
    items: str,
    sided: bool = False,
    notes: tuple[str, ...] = (),
    named: bool = False,
    ranking: np.ndarray | None = None,
    strength: list[np.ndarray] | None = None,
) -> Comparisons:
    """Blocks of pairs end to end: left, right, answer, row of the table, dimension.

    `items` is the column of items; `named`: each pair is about the dimension that its row says, where one does.
    """
    row, said = np.concatenate(blocks[3]), np.concatenate(blocks[2])
    of = np.repeat(blocks[4], [len(one) for one in blocks[3]])
    known = np.flatnonzero(said != MISSING)
    row, of = row[known], of[known]
    people = pl.Series([ANYBODY] * len(row), dtype=pl.String) if who is None else cells.frame[who].gather(row)
    refuse_empty(cells, people, row, f"'{who}' is empty", "Say who answered")
    sides = [pl.concat(side).gather(known) for side in blocks[:2]]
    for name, side in zip(("left", "right"), sides, strict=True):
        refuse_empty(cells, side, row, f"the {name} item has no name", "Fill it in")
    same = sides[0] == sides[1]
    if same.any():
        first = int(same.arg_max() or 0)
        raise DataError(f"{cells.where(row[first])} compares '{sides[0][first]}' with itself. Leave the row out.")
    if named and (column := cells.plain().get("dimension")) is not None:
        words = cells.frame[column]
        dimensions = tuple(words.unique(maintain_order=True).to_list())
        of = words.cast(pl.Enum(dimensions)).to_physical().to_numpy().astype(np.int64)[row]
    labels, (left, right) = _coded(sides)
    names, (person,) = _coded([people])
    numbers = cells.numbers | {None: False}
    return Comparisons.from_answers(
        (left, right, person, of, said[known], row if ranking is None else ranking[row]),
        (labels, names, dimensions),
        sided=sided,
        strength=None if strength is None else np.concatenate(strength)[known],
        source=cells.table.name,
        layout=layout,
        notes=(*cells.table.notes, *notes, *(() if who is not None else (_UNNAMED,))),
        whole_items=_whole(labels, numbers[items] or cells.from_text),
        whole_annotators=_whole(names, numbers[who] or cells.from_text),
    )


def _whole(labels: Sequence[str], may_be: bool) -> bool:
    return may_be and bool(pl.Series(labels, dtype=pl.String).str.contains(data_frames.WHOLE).all())


def _coded(columns: Sequence[pl.Series]) -> tuple[tuple[str, ...], list[np.ndarray]]:
    """The labels of several columns in canonical order, and the number of each cell's label."""
    labels = sort_labels(pl.concat([column.unique() for column in columns]).unique().to_list())
    place = pl.Enum(labels)
    return labels, [column.cast(place).to_physical().cast(pl.Int64).to_numpy() for column in columns]


def _sided(cells: Cells, sides: tuple[str | None, str, str], words: Words) -> Comparisons:
    """Left and right, and what was answered: a column per dimension, a column with its name, or strengths."""
    _, left, right = sides
    plain, free = cells.plain(), [name for name in cells.frame.columns if name not in sides]
    said = plain.get("answer")
    if plain.get("dimension") in free and said in free and not words.dims:
        answer, notes = _answers(cells, str(said), left, right)
        how: dict[str, Any] = {"layout": "sides, one row per dimension", "notes": notes, "named": True}
        return _dimension_by_column(cells, sides, [str(said)], [answer], **how)
    named = [cells.table.columns[find_column(cells.table, name)] for name in words.dims]
    numbers = bool(named) and all(_numbers(cells, name) is not None for name in named)
    chosen = [] if numbers else named or [name for name in free if _is_answer(cells, name, left, right)]
    if chosen:
        found = [_answers(cells, name, left, right) for name in chosen]
        notes = tuple(note for _, more in found for note in more)
        return _dimension_by_column(cells, sides, chosen, [one for one, _ in found], layout="sides", notes=notes)
    chosen = named or [name for name in free if plain_name(name) in _STRENGTHS and _numbers(cells, name) is not None]
    if not chosen:
        raise DataError(
            f"{cells.table.name} has no column of answers: nothing beside '{left}' and '{right}' holds left, tie "
            f"and right; it has {listed(free, 12)}."
        )
    answers, strong = zip(*(_strengths(cells, name) for name in chosen), strict=True)
    how = {"layout": "strengths", "notes": (_SIGNS,), "strength": list(strong)}
    return _dimension_by_column(cells, sides, chosen, list(answers), **how)


def _dimension_by_column(
    cells: Cells, sides: tuple[str | None, str, str], chosen: list[str], answers: list[np.ndarray], **how: Any
) -> Comparisons:
    who, left, right = sides
    D, every = len(chosen), np.arange(cells.frame.height)
    names = tuple(_PLAIN if plain_name(name) in _WITHOUT_NAME else name for name in chosen)
    columns = [cells.frame[left]] * D, [cells.frame[right]] * D, answers, [every] * D, list(range(D))
    return _compared(cells, blocks=columns, who=who, dimensions=names, items=left, sided=True, **how)


def _words_for(left: str, right: str) -> dict[str, int]:
    """Answers in words, by plain name."""
    found = dict.fromkeys((*_TIES, *_BOTH_BAD), TIE)
    for a, b in _SIDES[:4]:
        found |= {a: LEFT, b: RIGHT}
    for stem in _STEMS:
        found |= {f"{stem}{a}": side for pair in _SIDES[:4] for a, side in zip(pair, (LEFT, RIGHT), strict=True)}
    return found | {"l": LEFT, "r": RIGHT, plain_name(left): LEFT, plain_name(right): RIGHT}


def _coded_answers(cells: Cells, name: str, left: str, right: str) -> tuple[np.ndarray, pl.Series]:
    """(rows,) answers, `MISSING` also where a cell is none; and the cells."""
    column = cells.frame[name]
    said = _plain(column)
    each = said.unique()
    code = each.replace_strict(_words_for(left, right), default=MISSING, return_dtype=pl.Int8)
    words = said.replace_strict(each, code, return_dtype=pl.Int8).to_numpy().astype(np.int64)
    ties = said.is_in([*_TIES, *_BOTH_BAD]).to_numpy()
    labels = np.where(ties, TIE, MISSING)
    labels = np.where((column == cells.frame[left]).to_numpy(), LEFT, labels)
    labels = np.where((column == cells.frame[right]).to_numpy(), RIGHT, labels)
    filled = (column != "").to_numpy()
    best = labels if (labels[filled] != MISSING).sum() > (words[filled] != MISSING).sum() else words
    return np.where(filled, best, MISSING), column


def _plain(column: pl.Series) -> pl.Series:
    return column.str.to_lowercase().str.replace_all(r"[\W_]+", "")


def _is_answer(cells: Cells, name: str, left: str, right: str) -> bool:
    """Whether most cells are answers; digits alone are numbers of something."""
    answer, column = _coded_answers(cells, name, left, right)
    filled = (column != "").to_numpy()
    if not filled.any() or column.filter(pl.Series(filled)).str.contains(r"^-?[\d.]+$").all():
        return plain_name(name) in ("winner", "choice", "preferred") and bool((answer[filled] != MISSING).all())
    return bool((answer[filled] != MISSING).mean() > 0.5)


def _answers(cells: Cells, name: str, left: str, right: str) -> tuple[np.ndarray, tuple[str, ...]]:
    answer, column = _coded_answers(cells, name, left, right)
    wrong = (answer == MISSING) & (column != "").to_numpy()
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{cells.where(row)}: {name} is '{column[row]}', which is no answer to '{cells.frame[left][row]}' and "
            f"'{cells.frame[right][row]}'. Say left, tie or right; leave the cell empty if there is no answer."
        )
    bad = int(_plain(column).is_in(_BOTH_BAD).sum())
    return answer, (f"{bad:,} answers that both are bad count as ties.",) if bad else ()


def _numbers(cells: Cells, name: str) -> np.ndarray | None:
    """(rows,) the numbers of a column, NaN where it is empty; None where it holds text."""
    column = cells.frame[name]
    value = column.cast(pl.Float64, strict=False)
    if (value.is_null() & (column != "")).any() or value.is_null().all():
        return None
    return np.asarray(value.fill_null(np.nan).to_numpy(), dtype=float)


def _strengths(cells: Cells, name: str) -> tuple[np.ndarray, np.ndarray]:
    """(rows,) answers, and how strong they are: ranks of distances from 0, those of a slider in so many groups."""
    value = _numbers(cells, name)
    assert value is not None
    if not (value < 0).any():
        raise DataError(
            f"{cells.table.name}: '{name}' has no number below 0, so it does not say which side has more. "
            "Strengths are below 0 where the left item has more, above 0 where the right one has."
        )
    answer = np.where(np.isnan(value), MISSING, np.where(value < 0, LEFT, np.where(value > 0, RIGHT, TIE)))
    size = np.abs(value[(answer == LEFT) | (answer == RIGHT)])
    ends = np.unique(size)
    if len(ends) > MOST_STRENGTHS:
        ends = np.unique(np.quantile(size, np.arange(1, MOST_STRENGTHS + 1) / MOST_STRENGTHS, method="higher"))
    return answer, 1 + np.searchsorted(ends, np.abs(np.nan_to_num(value)))


def _winners(cells: Cells, first: str, second: str, who: str | None) -> Comparisons:
    """Winner and loser, perhaps with a number of times."""
    plain, rows = cells.plain(), np.arange(cells.frame.height)
    column = next((plain[name] for name in _COUNTS if name in plain), None)
    layout = "winner and loser"
    if column is not None:
        times = _whole_numbers(cells, column, "how many times")
        rows, layout = np.repeat(rows, times), "counts of wins"
    pair = cells.frame[first].gather(rows), cells.frame[second].gather(rows)
    columns = [pair[0]], [pair[1]], [np.full(len(rows), LEFT)], [rows], [0]
    note = ("The winner comes first, so that sides are not known and no order effect is estimated.",)
    return _compared(cells, layout, columns, who, notes=note, items=first)


def _whole_numbers(cells: Cells, name: str, what: str) -> np.ndarray:
    value = _numbers(cells, name)
    wrong = np.ones(cells.frame.height, dtype=bool) if value is None else ~((value >= 0) & (value == np.round(value)))
    if wrong.any():
        text = cells.frame[name].cast(pl.Float64, strict=False)
        row = int(np.argmax(wrong if value is not None else text.is_null().to_numpy()))
        raise DataError(f"{cells.where(row)}: {name} is '{cells.frame[name][row]}', and says {what}: a whole number.")
    assert value is not None
    return value.astype(np.int64)


_SIGNS = "Strengths are ordered answers: below 0 the left item has more, above 0 the right one, 0 is a tie."
_RANKED = "All pairs of a ranking count together what its choices tell; there are no sides, and no order effect."


def _wide_ranking(cells: Cells, items: list[str], ranks: list[str], who: str | None) -> Comparisons:
    rank = np.stack([_whole_numbers(cells, name, "the rank of an item") for name in ranks])
    return _all_pairs(cells, items, rank.astype(float), "rankings, one per row", who)


def _best_worst(cells: Cells, items: list[str], best: str, worst: str, who: str | None) -> Comparisons:
    """Best above all others, worst below them: ranks 1, 2 and 3, of which equal ones are not compared."""
    label = [cells.frame[name] for name in items]
    for name in (best, worst):
        chosen = cells.frame[name]
        there = np.any([(chosen == one).to_numpy() for one in label], axis=0) | (chosen == "").to_numpy()
        if not there.all():
            row = int(np.argmin(there))
            there_are = listed([one[row] for one in label], 8)
            raise DataError(f"{cells.where(row)}: {name} is '{chosen[row]}', which is none of {there_are}.")
    is_best, is_worst = (np.stack([(one == cells.frame[name]).to_numpy() for one in label]) for name in (best, worst))
    both = (is_best & is_worst).any(axis=0) & (cells.frame[best] != "").to_numpy()
    if both.any():
        row = int(np.argmax(both))
        raise DataError(f"{cells.where(row)}: '{cells.frame[best][row]}' is the best and the worst.")
    return _all_pairs(cells, items, 2.0 - is_best + is_worst, "best and worst", who, choices=True)


def _all_pairs(
    cells: Cells, items: list[str], rank: np.ndarray, layout: str, who: str | None, *, choices: bool = False
) -> Comparisons:
    """Of ranks (n, rows), all pairs of filled cells; of `choices` those that differ."""
    left, right, answer, rows = [], [], [], []
    for i in range(len(items)):
        for j in range(i + 1, len(items)):
            one, two = cells.frame[items[i]], cells.frame[items[j]]
            use = ((one != "") & (two != "")).to_numpy() & ((rank[i] != rank[j]) | (not choices))
            at = np.flatnonzero(use)
            left.append(one.gather(at))
            right.append(two.gather(at))
            answer.append(np.where(rank[i] < rank[j], LEFT, np.where(rank[i] > rank[j], RIGHT, TIE))[at])
            rows.append(at)
    columns = left, right, answer, rows, [0] * len(rows)
    return _compared(cells, layout, columns, who, notes=(_RANKED,), items=items[0], named=choices)


def _long_ranking(cells: Cells, item: str, rank: str, who: str | None) -> Comparisons:
    """One row per item of a ranking; a ranking is what a column of that name says, for every annotator."""
    plain, frame = cells.plain(), cells.frame
    of = [plain[name] for name in _RANKINGS if name in plain and plain[name] != item][:1]
    keys = [*of, *([who] if who is not None else [])]
    if not keys:
        raise DataError(f"{cells.table.name}: no column says which rows are one ranking. Add a column 'ranking'.")
    value = _whole_numbers(cells, rank, "the rank of an item")
    group = frame.select(pl.struct(keys).rank("dense").cast(pl.Int64)).to_series().to_numpy()
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    first, second = [], []
    for block in np.split(order, starts[1:]):
        i, j = np.triu_indices(len(block), 1)
        first.append(block[i])
        second.append(block[j])
    a, b = np.concatenate(first), np.concatenate(second)
    answer = np.where(value[a] < value[b], LEFT, np.where(value[a] > value[b], RIGHT, TIE))
    columns = [frame[item].gather(a)], [frame[item].gather(b)], [answer], [a], [0]
    layout = "rankings, one row per item"
    return _compared(cells, layout, columns, who, notes=(_RANKED,), items=item, ranking=group)
