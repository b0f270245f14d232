"""Which column is which, by the user's word or else by the names people give such columns, and which hold no ratings.

A name counts without case, blanks and punctuation: `Worker ID`, `worker_id` and `WorkerId` are one. A rating varies
within items and within annotators: numbers that do not vary within items describe the item (its length, its year), and
those that do not vary within annotators the person (an age, a condition). Names give away ids, durations and counts;
the numbers themselves give away trial numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.tables.item_table import LeftOut
from unisono.tables.labels import listed
from unisono.tables.reading import problems
from unisono.tables.reading.raw_table import Table


def _read_names(text: str) -> dict[str, tuple[str, ...]]:
    """Names by what such columns hold, from `column_names.txt`."""
    found: dict[str, tuple[str, ...]] = {}
    title = ""
    for line in (line for line in text.splitlines() if line and not line.startswith("#")):
        if line.startswith(" "):
            found[title] = (*found.get(title, ()), *line.split())
        else:
            title = line
    return found


def _what_words_say(place: str) -> dict[str, str]:
    """What the numbers are, by the word that stands at this place of the name."""
    named = {title.partition(": "): words for title, words in _NAMES.items()}
    return {word: what for (at, _, what), words in named.items() if at == place for word in words}


_NAMES = _read_names(Path(__file__).with_name("column_names.txt").read_text(encoding="utf-8"))
_LAST_WORDS, _FIRST_WORDS = _what_words_say("ends"), _what_words_say("begins")
SYNONYMS = {role: _NAMES[role] for role in ("item", "annotator", "time", "dimension", "value")}
RESPONSES, _COMPANIONS = _NAMES["form"], _NAMES["companion"]
_BOOKKEEPING, NOT_CHOSEN = {"", *_NAMES["bookkeeping"]}, set(_NAMES["no answer"])
_MOMENTS = re.compile(r"(submit|start|end|accept)_time$")
_TIMES = re.compile(r"(reaction|response|lead|work|answer|completion|dwell|reading|submit|start|end|accept)_time$")
LARGEST_ANSWER = 1e6  # whole numbers beyond are ids or time stamps
FEW_ROWS = 5  # repeated rows below which a pattern may be chance: two people who agree on two items describe nothing


_UNITS = {
    **dict.fromkeys(("ms", "millis", "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), 1.0),
    **dict.fromkeys(("min", "minutes"), 60.0),
}


def unit_of_duration(column: str) -> float | None:
    """Seconds in the unit of a column that says how long an answer took; 0 if its name has no unit, None if it is none.

    Moments (start, end, submission) are no durations.
    """
    words = words_of(column)
    unit = _UNITS.get(words[-1], 0.0) if words else 0.0
    rest = "_".join(words[:-1] if unit else words)
    if _MOMENTS.search(rest):
        return None
    last = words[-2:-1] if unit else words[-1:]
    is_one = bool(_TIMES.search(rest)) or any(_LAST_WORDS.get(word) == "a duration" for word in (*last, rest))
    return unit if is_one or rest in ("worktime", "leadtime", "worktime_in", "work_time_in") else None


def words_of(column: str) -> list[str]:
    """`coupleID` and `couple_id` are both couple, id."""
    spaced = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", column)
    return [word for word in re.split(r"[\W_]+", spaced.lower()) if word]


def goes_with(column: str, columns: Sequence[str]) -> str | None:
    """Which other column this one is the error, the end of an interval or the like of."""
    *first, last = words_of(column) or [""]
    found = [other for other in columns if first and last in _COMPANIONS and words_of(other) == first]
    return f"it goes with '{found[0]}'" if found else None


def described_by_name(column: str) -> str | None:
    """What a column is by its name, if that is no rating."""
    words = words_of(column)
    if not words:
        return None
    if _TIMES.search("_".join(words)):
        return "by its name it is a duration"
    what = _LAST_WORDS.get(words[-1]) or (_FIRST_WORDS.get(words[0]) if len(words) > 1 else None)
    return f"by its name it is {what}" if what else None


def described_by_numbers(value: np.ndarray, item: np.ndarray, annotator: np.ndarray) -> str | None:
    """What a column (rows,) is by how it varies with the codes of items and annotators, if that is no rating."""
    known, number = ~np.isnan(value), value
    if not known.all():
        number, item, annotator = value[known], item[known], annotator[known]
    if len(number) <= FEW_ROWS:
        return None
    if (number == number[0]).all():
        return "it is the same everywhere"
    if _repeats(item) and not varies_within(number, item):
        return "everybody has the same number for an item, so it describes the item"
    if _repeats(annotator) and not varies_within(number, annotator):
        return "nobody has two different numbers, so it describes the person"
    if not (number == np.round(number)).all():
        return None
    if np.abs(number).max() > LARGEST_ANSWER:
        return "numbers this large are ids or time stamps"
    if _counts_up(number, annotator):
        return "it counts through the rows of each annotator"
    return None


def _repeats(code: np.ndarray) -> bool:
    """Whether there are rows enough beside the first of each group to see whether a column varies there."""
    count = np.bincount(code)
    return len(code) - int(np.count_nonzero(count)) >= FEW_ROWS


def varies_within(number: np.ndarray, code: np.ndarray) -> bool:
    """Whether any group has two different numbers."""
    anyone = np.empty(int(code.max()) + 1)
    anyone[code] = number
    return bool((anyone[code] != number).any())


def _counts_up(number: np.ndarray, annotator: np.ndarray) -> bool:
    """Whether the numbers of every annotator rise from row to row, mostly by one: answers, and ranks, do not."""
    if (np.diff(number[annotator == annotator[0]]) < 1).any():
        return False  # one is enough to tell, and sorting takes time
    order = np.argsort(annotator, kind="stable")
    step = np.diff(number[order])[np.diff(annotator[order]) == 0]
    # Gaps are left by rows that were taken out.
    return bool(len(step) >= FEW_ROWS and (step >= 1).all() and (step == 1).mean() > 0.9)


# The unit that a time column's name gives away.
UNIT_OF_NAME = {"timems": "ms", "milliseconds": "ms", "ms": "ms", "minutes": "min"} | dict.fromkeys(
    ("frame", "frameid", "frameindex", "framenumber"), "frames"
)
KIND = "kind"  # what an annotator is: human, judge, code


class Roles(NamedTuple):
    """Positions of the columns that label rows; `named` holds those that the user named."""

    place: dict[str, int]
    named: frozenset[str]
    parts: frozenset[str] = frozenset()  # columns that a label was made of

    @property
    def is_long(self) -> bool:
        """One row per number: a column says which dimension it is."""
        return "dimension" in self.place


def plain_name(column: str) -> str:
    """A column's name as it counts: `Worker ID` is `workerid`."""
    return re.sub(r"[\W_]+", "", column.lower())


def find_column(table: Table, wanted: str) -> int:
    """The position of a column the user named; case matters only if it must."""
    if wanted in table.columns:
        return table.columns.index(wanted)
    alike = [i for i, column in enumerate(table.columns) if column.lower() == wanted.strip().lower()]
    if len(alike) != 1:
        raise problems.no_such_column(table.name, wanted, table.columns)
    return alike[0]


def find_roles(
    table: Table, needed: Sequence[str], optional: Sequence[str], given: Mapping[str, str | None], taken: Sequence[int]
) -> Roles:
    """The columns for each role; `given` are the user's words, `taken` columns that are in use as dimensions."""
    place = {role: find_column(table, name) for role, name in given.items() if name is not None}
    named = frozenset(place)
    for role in (*needed, *optional):
        if role not in place:
            found = detect(table, role, {*place.values(), *taken})
            if found is not None:
                place[role] = found
            elif role in needed:
                raise problems.no_role_column(table.name, role, table.columns)
    return Roles(place, named)


def find_kind(table: Table, roles: Roles) -> dict[str, int]:
    """The column that says what annotators are, by its name; whether it does, its cells decide."""
    if "annotator" not in roles.place:
        return {}
    used = set(roles.place.values())
    found = [i for i, column in enumerate(table.columns) if plain_name(column) == KIND and i not in used]
    return {KIND: found[0]} if found else {}


def find_long(table: Table, roles: Roles, dimension_name: str | None = None, value_name: str | None = None) -> Roles:
    """The same roles, with dimension and value if the table has one row per number, or if they are given."""
    used = set(roles.place.values())
    given = {"dimension": dimension_name, "value": value_name}
    place = {role: find_column(table, name) for role, name in given.items() if name is not None}
    for role in given:
        if role not in place:
            found = detect(table, role, used | set(place.values()))
            if found is not None:
                place[role] = found
            elif any(given.values()):
                what = "names the dimension" if role == "dimension" else "holds the value"
                raise DataError(
                    f"{table.name}: no column looks like the one that {what}; it has {listed(table.columns, 12)}. "
                    f"Say --{role} COLUMN."
                )
    if len(place) < 2:
        return roles
    dimension, value = place["dimension"], place["value"]
    return roles._replace(place=roles.place | {"dimension": dimension, "value": value})


_BETTER = ("winner", "chosen", "preferred", "preference", "better", "choice", "vote", "answer", "label", "outcome")
_PAIRS = (("winner", "loser"), ("chosen", "rejected"), ("best", "worst"))
_SIDES = (("left", "right"), ("a", "b"), ("1", "2"), ("first", "second"))
_SIDED = ("", "item", "model", "system", "stimulus", "option", "response", "image", "video", "text", "output")


def compared(columns: Sequence[str]) -> tuple[str, ...]:
    """Columns that show by their names that a row compares two items or ranks several; empty if there are none."""
    place = {plain_name(column): column for column in columns}
    ranks = [column for plain, column in place.items() if re.fullmatch(r"rank\d+", plain)]
    if len(ranks) > 1:
        return tuple(ranks)
    found: tuple[str, ...] = next((two for two in _PAIRS if place.keys() >= set(two)), ())
    better = [plain for plain in _BETTER if plain in place]
    for stem in _SIDED if better else ():
        sides = ((stem + one, stem + other) for one, other in _SIDES if stem or one == "left")
        found = found or next(((*two, better[0]) for two in sides if place.keys() >= set(two)), ())
    return tuple(place[plain] for plain in found)


def are_ranks(number: np.ndarray, annotator: np.ndarray) -> bool:
    """Whether every annotator's numbers are 1, 2, 3, ... in some order, three at least."""
    known = ~np.isnan(number)
    number, annotator = number[known], annotator[known]
    order = np.lexsort((number, annotator))
    count = np.bincount(annotator)
    begin = np.cumsum(count) - count
    place = 1 + np.arange(len(number)) - begin[annotator[order]]
    return bool(len(number)) and bool(count[count > 0].min() > 2) and bool((number[order] == place).all())


def takes_no_dimension(column: str) -> bool:
    """Whether a column of this name is taken for a label, for bookkeeping, or for the name of the dimension."""
    plain = plain_name(column)
    return plain in _BOOKKEEPING | {KIND} or any(plain in SYNONYMS[role] for role in SYNONYMS if role != "value")


def named_otherwise(column: str) -> bool:
    """Whether the last word of a column's name says that it is no answer."""
    words = words_of(column)
    return bool(words) and words[-1] in NOT_CHOSEN


def may_rate(column: str) -> bool:
    """Whether nothing in a column's name speaks against answers in it."""
    return not (named_otherwise(column) or described_by_name(column) or takes_no_dimension(column))


def is_time(column: str) -> bool:
    """Whether a column is a time by its name."""
    return plain_name(column) in SYNONYMS["time"] or (described_by_name(column) or "").endswith("a date or time")


def candidates(table: Table, roles: Roles, *, companions: bool = False) -> tuple[list[int], list[LeftOut]]:
    """Columns that may hold numbers to use, and those that by their name do not.

    `companions` takes in what goes with another column: its error, the ends of its interval.
    """
    used = set(roles.place.values())
    kept, aside = [], []
    for index, column in enumerate(table.columns):
        if index in used or not column or column in roles.parts:
            continue
        label = _labels_rows(column)
        why = label or (None if companions else goes_with(column, table.columns))
        if why is None and "annotator" in roles.place:  # durations, counts and years are good features of items
            why = described_by_name(column)
        if why is None:
            kept.append(index)
        else:
            aside.append(LeftOut(column, why, numeric=label is None))
    return kept, aside


def _labels_rows(column: str) -> str | None:
    """What a column labels by its name, if it was not needed for that."""
    plain = plain_name(column)
    for role in ("item", "annotator", "time"):
        if plain in SYNONYMS[role]:
            return f"by its name it is {'an' if role[0] in 'ai' else 'a'} {role}"
    return "by its name it is bookkeeping" if plain in _BOOKKEEPING else None


def detect(table: Table, role: str, used: set[int]) -> int | None:
    """The first column that by its name is what is looked for, and not used otherwise."""
    plain = [plain_name(column) for column in table.columns]
    tails = [plain_name(re.split(r"[.:]", column)[-1]) for column in table.columns]
    for names in (plain, tails):  # `ASSIGNMENT:worker_id` counts as `worker_id` when nothing fits as a whole
        for synonym in SYNONYMS[role]:
            for index, name in enumerate(names):
                if name == synonym and index not in used:
                    return index
    return None
