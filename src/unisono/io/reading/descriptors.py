"""Numbers that are no ratings: columns that describe the item, the person or the bookkeeping.

A rating is an answer of somebody about something, so it varies within items and within annotators. What does not vary
within items describes the item (its length, its year); what does not vary within annotators describes the person (an
age, a condition). Names give away ids, durations and counts; the shape of the numbers gives away trial numbers.
Arrays in, words out; nothing is read here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

# A word of the name that says what the numbers are, and what to call it.
_LAST_WORDS = {
    **dict.fromkeys(("id", "ids", "uuid", "guid", "pid", "key"), "an id"),
    **dict.fromkeys(("year", "yob", "birthyear"), "a year"),
    **dict.fromkeys(("age", "ages"), "an age"),
    **dict.fromkeys(
        ("duration", "elapsed", "latency", "rt", "seconds", "secs", "ms", "millis", "milliseconds", "minutes"),
        "a duration",
    ),
    **dict.fromkeys(("timestamp", "date", "datetime", "epoch"), "a date or time"),
    **dict.fromkeys(("trial", "trialnumber", "trialno", "rownumber", "lineno"), "a trial number"),
    **dict.fromkeys(("count", "counts"), "a count"),
    **dict.fromkeys(("zip", "postcode", "zipcode", "latitude", "longitude"), "a place"),
}
_FIRST_WORDS = {
    **dict.fromkeys(("n", "num", "nr", "number"), "a count"),
    **dict.fromkeys(("id",), "an id"),
    **dict.fromkeys(("trial",), "a trial number"),
}
_MOMENTS = re.compile(r"(submit|start|end|accept)_time$")
_TIMES = re.compile(r"(reaction|response|lead|work|answer|completion|dwell|reading|submit|start|end|accept)_time$")
# What programs write beside an estimate: valence_sd is no dimension where valence is one.
_COMPANIONS = (
    "sd",
    "se",
    "sem",
    "std",
    "var",
    "low",
    "high",
    "lower",
    "upper",
    "ci",
    "n",
    "min",
    "max",
    "rank",
    "z",
    "probability",
)
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
    known = ~np.isnan(value)
    number, item, annotator = value[known], item[known], annotator[known]
    if len(number) <= FEW_ROWS:
        return None
    if (number == number[0]).all():
        return "it is the same everywhere"
    if _repeats(item) and not _varies_within(number, item):
        return "everybody has the same number for an item, so it describes the item"
    if _repeats(annotator) and not _varies_within(number, annotator):
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


def _varies_within(number: np.ndarray, code: np.ndarray) -> bool:
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
